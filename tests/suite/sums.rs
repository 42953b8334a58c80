//! Products of quantised tensors, exact in integers: bytes at the ends of their ranges, of all sizes
//! around those of tiles, against sums in 64 bits.
#![cfg(feature = "quant")]

use crate::common::{Rng, indices};
use flex::nn::{Activation, Conv};
use flex::quant::{self, Inputs, Levels, Output, QLinear, QTensor};
#[cfg(feature = "std")]
use flex::with_threads;
use flex::{DType, Result, Tensor, ops};

/// Without the standard library there is one thread.
#[cfg(not(feature = "std"))]
fn with_threads<T>(_: usize, f: impl FnOnce() -> T) -> T {
    f()
}

/// Bytes of one kind: two neighbours whose magnitudes add up to 128 at most, as much as 16 bits hold
/// of their products with unsigned bytes; one beyond that; or any.
fn weights(rng: &mut Rng, kind: usize, count: usize) -> Vec<i8> {
    let mut values = Vec::new();
    while values.len() < count {
        let pairs: [[i8; 2]; 8] = [
            [64, 64],
            [-64, -64],
            [-128, 0],
            [0, -128],
            [127, -1],
            [-1, -127],
            [1, 127],
            [-64, 64],
        ];
        values.extend(match kind {
            0 | 1 => pairs[rng.below(8)],
            2 => [-128; 2],
            3 => [127; 2],
            4 => [[-128, 127], [127, 127], [-128; 2]][rng.below(3)],
            _ => [rng.next() as i8, rng.next() as i8],
        });
    }
    values.truncate(count);
    if kind == 1 && count > 1 {
        // the only pair that is too wide
        let last = (count - 2) / 2 * 2;
        (values[last], values[last + 1]) = (-128, -1);
    }
    values
}
/// Bytes of inputs, unsigned or signed.
fn inputs(rng: &mut Rng, kind: usize, signed: bool, count: usize) -> Vec<i64> {
    let [low, high] = if signed { [-127, 127] } else { [0, 255] };
    let value = |rng: &mut Rng| match kind % 4 {
        0 => high,
        1 => low,
        2 => [low, high][rng.below(2)],
        _ => low + rng.below((high - low) as usize + 1) as i64,
    };
    let mut values: Vec<i64> = (0..count).map(|_| value(rng)).collect();
    // the scale that is found is 1
    if let Some(first) = values.first_mut() {
        *first = high;
    }
    values
}
fn of_rows(values: &[i8], shape: &[usize]) -> Result<QTensor> {
    let values = Tensor::from_slice(values, shape)?;
    let ones: Vec<usize> = shape.iter().map(|n| 1.min(*n)).collect();
    QTensor::from_parts(
        values,
        Tensor::ones(&ones, DType::F32)?,
        None,
        Levels::I8,
        shape,
    )
}
fn floats(values: &[i64], zero: i64, shape: &[usize]) -> Result<Tensor> {
    let values: Vec<f32> = values.iter().map(|x| (x - zero) as f32).collect();
    Tensor::from_slice(&values, shape)
}

#[test]
fn layers_are_exact() -> Result<()> {
    let mut rng = Rng(3);
    let mut sizes = vec![
        [1, 1, 1],
        [6, 16, 8],
        [13, 33, 1100],
        [7, 17, 2050],
        [50, 40, 130],
    ];
    for _ in 0..60 {
        sizes.push([rng.between(1, 14), rng.between(1, 36), rng.between(1, 21)]);
    }
    for (round, [m, n, k]) in sizes.into_iter().enumerate() {
        for kind in 0..6 {
            let signed = round % 4 == 3;
            let (zero, how) = match signed {
                true => (0, Inputs::DynamicSymmetric),
                false => {
                    let zero = [0, 117, 255][round % 3];
                    (
                        zero,
                        Inputs::Static {
                            scale: 1.0,
                            zero: zero as u8,
                        },
                    )
                }
            };
            let x = inputs(&mut rng, round + kind, signed, m * k);
            // rows have scales of their own
            let x: Vec<i64> = match signed {
                true => x
                    .chunks(k)
                    .flat_map(|row| [&[127], &row[1..]].concat())
                    .collect(),
                false => x,
            };
            let w = weights(&mut rng, kind, n * k);
            let (q, at) = (of_rows(&w, &[n, k])?, floats(&x, zero, &[m, k])?);
            let options = QLinear {
                inputs: how,
                ..Default::default()
            };
            for threads in 1..=3 {
                let y = with_threads(threads, || quant::linear(&at, &q, options))?;
                for (i, y) in y.to_vec::<f32>()?.into_iter().enumerate() {
                    let (x, w) = (&x[i / n * k..][..k], &w[i % n * k..][..k]);
                    let sum: i64 = x.iter().zip(w).map(|(x, w)| (x - zero) * *w as i64).sum();
                    assert_eq!(
                        y, sum as f32,
                        "{m} {n} {k}, {kind} {how:?}, {threads} threads"
                    );
                }
            }
        }
    }
    Ok(())
}

/// `[batch, channels, outputs, groups, height, width, kernel, stride, padding]`
const CONVOLUTIONS: [[usize; 9]; 12] = [
    [1, 1, 1, 1, 1, 1, 1, 1, 0],
    [2, 5, 7, 1, 5, 7, 1, 1, 0],
    [1, 4, 6, 1, 4, 4, 1, 1, 0],
    [1, 9, 13, 1, 7, 7, 1, 1, 0],
    [2, 8, 6, 2, 6, 5, 1, 1, 0],
    [1, 6, 5, 1, 7, 6, 1, 2, 0],
    [1, 3, 8, 1, 9, 11, 3, 2, 1],
    [2, 5, 6, 1, 6, 17, 3, 1, 1],
    [1, 10, 4, 2, 5, 5, 3, 1, 1],
    [1, 7, 3, 1, 6, 6, 1, 1, 1],
    [1, 130, 14, 1, 3, 6, 3, 1, 1],
    [1, 1060, 9, 1, 2, 9, 1, 1, 0],
];

#[test]
fn convolutions_are_exact() -> Result<()> {
    let mut rng = Rng(4);
    for (
        case,
        [
            batch,
            channels,
            outputs,
            groups,
            height,
            width,
            kernel,
            stride,
            padding,
        ],
    ) in CONVOLUTIONS.into_iter().enumerate()
    {
        let seen = channels / groups;
        for kind in 0..6 {
            let signed = (case + kind) % 4 == 3;
            let (zero, how) = match signed {
                true => (0, Inputs::DynamicSymmetric),
                false => (
                    100,
                    Inputs::Static {
                        scale: 1.0,
                        zero: 100,
                    },
                ),
            };
            let size = channels * height * width;
            let x: Vec<i64> = (0..batch)
                .flat_map(|n| inputs(&mut rng, kind + n, signed, size))
                .collect();
            // neighbours are channels
            let area = kernel * kernel;
            let turned = weights(&mut rng, kind, outputs * area * seen);
            let w: Vec<i8> = indices(&[outputs, seen, area])
                .iter()
                .map(|at| turned[(at[0] * area + at[2]) * seen + at[1]])
                .collect();
            let q = of_rows(&w, &[outputs, seen, kernel, kernel])?;
            let image = floats(&x, zero, &[batch, channels, height, width])?;
            let options = || Conv {
                stride: stride.into(),
                padding: padding.into(),
                groups,
                ..Default::default()
            };
            let places = [height, width].map(|n| (n + 2 * padding - kernel) / stride + 1);
            let shape = [batch, outputs, places[0], places[1]];
            let taps = indices(&[seen, kernel, kernel]);
            let sum_at = |index: &[usize]| -> i64 {
                let (n, o) = (index[0], index[1]);
                let products = taps.iter().map(|tap| {
                    let y = (index[2] * stride + tap[1]).wrapping_sub(padding);
                    let x_at = (index[3] * stride + tap[2]).wrapping_sub(padding);
                    if y >= height || x_at >= width {
                        return 0;
                    }
                    let channel = o / (outputs / groups) * seen + tap[0];
                    let x = x[((n * channels + channel) * height + y) * width + x_at];
                    let w = w[((o * seen + tap[0]) * kernel + tap[1]) * kernel + tap[2]];
                    (x - zero) * w as i64
                });
                products.sum()
            };
            let want: Vec<f32> = indices(&shape).iter().map(|at| sum_at(at) as f32).collect();
            for threads in 1..=3 {
                let y = with_threads(threads, || quant::conv2d(&image, &q, how, options()))?;
                assert_eq!(y.shape(), shape);
                assert_eq!(
                    y.to_vec::<f32>()?,
                    want,
                    "{case} {kind} {how:?}, {threads} threads"
                );
            }
        }
    }
    Ok(())
}

/// A result that is quantised at once is that of two steps, whatever comes in between.
#[test]
fn convolutions_quantise_their_results() -> Result<()> {
    let mut rng = Rng(5);
    for (
        case,
        [
            batch,
            channels,
            outputs,
            groups,
            height,
            width,
            kernel,
            stride,
            padding,
        ],
    ) in CONVOLUTIONS.into_iter().enumerate()
    {
        let x = inputs(&mut rng, 3, false, batch * channels * height * width);
        let x = floats(&x, 100, &[batch, channels, height, width])?;
        let seen = channels / groups;
        for kind in [0, 5] {
            let w = weights(&mut rng, kind, outputs * seen * kernel * kernel);
            let q = of_rows(&w, &[outputs, seen, kernel, kernel])?;
            let bias: Vec<f32> = (0..outputs)
                .map(|_| rng.uniform(-900.0, 900.0) as f32)
                .collect();
            let bias = Tensor::from_slice(&bias, [outputs])?;
            let inputs = Inputs::Static {
                scale: 1.0,
                zero: 100,
            };
            let plain = quant::conv2d(
                &x,
                &q,
                inputs,
                Conv {
                    stride: stride.into(),
                    padding: padding.into(),
                    groups,
                    ..Default::default()
                },
            )?;
            for (round, activation) in [None, Some(Activation::Relu), Some(Activation::Sigmoid)]
                .into_iter()
                .enumerate()
            {
                let residual = (round + case) % 3 == 2;
                let options = || Conv {
                    bias: (case % 2 == 0).then_some(&bias),
                    activation,
                    residual: residual.then_some(&plain),
                    stride: stride.into(),
                    padding: padding.into(),
                    groups,
                    ..Default::default()
                };
                let (levels, zero) =
                    [(Levels::U8, 0), (Levels::U8, 130), (Levels::I8, -7)][case % 3];
                let scale = [311.7f32, 0.004][(round == 2) as usize];
                let y = quant::conv2d(&x, &q, inputs, options())?;
                let s = Tensor::scalar(scale as f64, DType::F32)?;
                let z = Tensor::scalar(zero, levels.dtype())?;
                let want = quant::quantize_by(&y, levels, &s, Some(&z))?;
                let output = Output {
                    levels,
                    step: Some((scale, Some(zero))),
                };
                for threads in 1..=3 {
                    let to = || quant::conv2d_to(&x, &q, inputs, options(), output);
                    let y = with_threads(threads, to)?;
                    assert_eq!(y.values().dtype(), want.values().dtype());
                    let same = ops::all(&ops::equal(y.values(), want.values())?, ())?;
                    assert!(
                        same.item::<bool>()?,
                        "{case} {kind} {round}, {threads} threads"
                    );
                }
            }
        }
    }
    Ok(())
}
