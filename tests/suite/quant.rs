//! Quantised tensors against loops over their elements.
#![cfg(feature = "i8")]

use crate::common::{Rng, indices};
use flex::quant::{self, Calibration, Inputs, Levels, Per, QLinear, QTensor, Quantization};
use flex::{DType, Error, Result, Tensor, ops};

fn numbers(rng: &mut Rng, shape: &[usize]) -> Tensor {
    let n = shape.iter().product();
    let x: Vec<f32> = (0..n).map(|_| rng.uniform(-3.0, 3.0) as f32).collect();
    Tensor::from_slice(&x, shape).unwrap()
}

/// The index of an element's scale.
fn step_of(q: &QTensor, index: &[usize]) -> Vec<usize> {
    let block = q.block();
    index
        .iter()
        .zip(&block)
        .map(|(i, b)| i / b.max(&1))
        .collect()
}

fn each(per: Per) -> Quantization {
    Quantization {
        per,
        ..Default::default()
    }
}

#[test]
fn values_are_within_half_a_step() -> Result<()> {
    let mut rng = Rng(1);
    for round in 0..60 {
        let shape = [rng.between(1, 4), 4 * rng.between(1, 5), 6];
        let x = numbers(&mut rng, &shape);
        let levels = [Levels::I8, Levels::U8, Levels::I4, Levels::I2][round % 4];
        let per = [
            Per::Tensor,
            Per::Channel(rng.below(3) as isize),
            Per::Block {
                axis: 1,
                size: [2, 4][round % 2],
            },
            Per::Block { axis: -1, size: 3 },
        ][rng.below(4)];
        let affine = levels == Levels::U8 || levels == Levels::I8 && round % 2 == 0;
        let q = quant::quantize(
            &x,
            Quantization {
                levels,
                per,
                affine,
                ..Default::default()
            },
        )?;
        let y = q.dequantize()?;
        assert_eq!((y.shape(), y.dtype()), (x.shape(), DType::F32));
        for index in indices(&shape) {
            let at: Vec<isize> = index.iter().map(|i| *i as isize).collect();
            let step: Vec<isize> = step_of(&q, &index).iter().map(|i| *i as isize).collect();
            let scale = q.scales().at::<f32>(&step[..])?;
            let error = (x.at::<f32>(&at[..])? - y.at::<f32>(&at[..])?).abs();
            // the zero point is rounded too, so values at the ends may saturate by as much
            let bound = if affine { 1.01 } else { 0.501 };
            assert!(
                error <= bound * scale,
                "{levels:?} {per:?} {index:?}: {error} of {scale}"
            );
        }
    }
    Ok(())
}

#[test]
fn nan_infinity_and_zeros() -> Result<()> {
    let x = Tensor::from([f32::NAN, f32::INFINITY, -2.0, f32::NEG_INFINITY]);
    let q = quant::quantize(&x, Quantization::default())?;
    assert_eq!(q.values().to_vec::<i8>()?, [0, 127, -127, -127]);
    for affine in [false, true] {
        let q = quant::quantize(
            &Tensor::zeros(5, DType::F32)?,
            Quantization {
                affine,
                ..Default::default()
            },
        )?;
        assert_eq!(q.dequantize()?.to_vec::<f32>()?, [0.0; 5]);
        assert_eq!(q.scales().to_vec::<f32>()?, [1.0]);
    }
    Ok(())
}

/// Numbers next to the middle between two levels, where a quotient that is not rounded as a division
/// rounds it would give the other level.
#[test]
fn levels_are_those_of_the_quotient() -> Result<()> {
    let mut rng = Rng(61);
    let extremes = [f32::MIN_POSITIVE, 1e-40, 1e-27, 1e27, 2e38];
    let scales = extremes.into_iter();
    let scales = scales.chain((0..200).map(|_| rng.uniform(0.001, 3.0) as f32));
    for scale in scales.collect::<Vec<_>>() {
        let mut x = vec![
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            0.0,
            -0.0,
            f32::MAX,
        ];
        for k in -260..=260 {
            let middle = ((k as f64 + 0.5) * scale as f64) as f32;
            x.extend([middle.next_down(), middle, middle.next_up()]);
        }
        for zero in [0u8, 9, 255] {
            let (by, from) = (Tensor::from([scale]), Tensor::from([zero]));
            let given = Tensor::from_slice(&x, [x.len()])?;
            let q = quant::quantize_by(&given, Levels::U8, &by, Some(&from))?;
            let level = |x: f32| match x / scale {
                v if v.is_nan() => zero,
                v => (v.round_ties_even() as f64 + zero as f64).clamp(0.0, 255.0) as u8,
            };
            let want: Vec<u8> = x.iter().map(|x| level(*x)).collect();
            assert_eq!(q.values().to_vec::<u8>()?, want, "{scale} {zero}");
        }
    }
    Ok(())
}

#[test]
fn linear_matches_sums_of_products() -> Result<()> {
    let mut rng = Rng(2);
    for round in 0..40 {
        let (m, n, k) = (
            rng.between(1, 9),
            rng.between(1, 40),
            8 * rng.between(1, 20),
        );
        let (x, w) = (numbers(&mut rng, &[m, k]), numbers(&mut rng, &[n, k]));
        let bias = numbers(&mut rng, &[n]);
        let whole = quant::quantize(&w, each(Per::Channel(0)))?;
        let blocks = Quantization {
            levels: [Levels::I8, Levels::I4, Levels::I2][round % 3],
            ..each(Per::Block { axis: 1, size: 8 })
        };
        let blocks = quant::quantize(&w, blocks)?;
        for (weight, inputs) in [
            (&whole, Inputs::Dynamic),
            (&whole, Inputs::DynamicSymmetric),
            (
                &whole,
                Inputs::Static {
                    scale: 3.0 / 127.0,
                    zero: 128,
                },
            ),
            (&whole, Inputs::Float),
            (&blocks, Inputs::Float),
        ] {
            let y = quant::linear(
                &x,
                weight,
                QLinear {
                    bias: Some(&bias),
                    inputs,
                    ..Default::default()
                },
            )?;
            let (y, w) = (y.to_vec::<f32>()?, weight.dequantize()?.to_vec::<f32>()?);
            let (x, bias) = (x.to_vec::<f32>()?, bias.to_vec::<f32>()?);
            // each input is off by up to half a step
            let error = if inputs == Inputs::Float {
                1e-6
            } else {
                0.5 * 6.0 / 254.0
            };
            for i in 0..m {
                for j in 0..n {
                    let (a, b) = (&x[i * k..][..k], &w[j * k..][..k]);
                    let exact: f64 = a.iter().zip(b).map(|(a, b)| *a as f64 * *b as f64).sum();
                    let bound: f64 = b.iter().map(|b| b.abs() as f64 * error + 1e-5).sum();
                    let got = (y[i * n + j] - bias[j]) as f64;
                    assert!(
                        (got - exact).abs() <= bound,
                        "{inputs:?} {m} {n} {k}: {got} for {exact}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn views_match_those_of_dequantised_tensors() -> Result<()> {
    let mut rng = Rng(3);
    let x = numbers(&mut rng, &[4, 6, 8]);
    for levels in [Levels::I8, Levels::I4, Levels::I2] {
        let how = Quantization {
            levels,
            ..each(Per::Block { axis: 2, size: 4 })
        };
        let q = quant::quantize(&x, how)?;
        let y = q.dequantize()?;
        let same = |q: QTensor, y: Tensor| {
            assert_eq!(
                q.dequantize().unwrap().to_vec::<f32>().unwrap(),
                y.to_vec::<f32>().unwrap()
            )
        };
        same(q.permute([2, 0, 1])?, y.permute([2, 0, 1])?);
        same(q.transpose(0, 1)?, y.transpose(0, 1)?);
        same(q.flip([0, 1])?, y.flip([0, 1])?);
        same(
            q.slice_axis(1, Some(1), None, 2)?,
            y.slice_axis(1, Some(1), None, 2)?,
        );
        same(
            q.slice_axis(2, Some(4), None, 1)?,
            y.slice_axis(2, Some(4), None, 1)?,
        );
        same(q.select(0, -1)?, y.select(0, -1)?);
        same(q.reshape([24, 2, 4])?, y.reshape([24, 2, 4])?);
        same(
            q.expand_dims(0)?.broadcast_to([2, 4, 6, 8])?,
            y.broadcast_to([2, 4, 6, 8])?,
        );
        assert!(matches!(
            q.slice_axis(2, Some(1), Some(7), 1),
            Err(Error::Value { op: "slice", .. })
        ));
        assert!(matches!(
            q.reshape([4, 48 / 3, 3]),
            Err(Error::Shape { op: "reshape", .. })
        ));
        assert_eq!(q.flip(2).is_err(), levels != Levels::I8);
    }
    Ok(())
}

#[test]
fn map_quantises_what_a_function_returns() -> Result<()> {
    let mut rng = Rng(9);
    let halves = ops::full([2, 1, 1], 0.5, DType::F32)?;
    for levels in [Levels::I8, Levels::U8, Levels::I4, Levels::I2] {
        for (per, scales) in [
            (Per::Tensor, [1, 1, 1]),
            (Per::Channel(1), [1, 1, 8]),
            (Per::Block { axis: 1, size: 4 }, [1, 3, 2]),
        ] {
            let affine = levels == Levels::U8;
            let how = Quantization {
                levels,
                affine,
                ..each(per)
            };
            let q = quant::quantize(&numbers(&mut rng, &[3, 8]), how)?;
            let found = q.map(|x| ops::add(x, &halves))?;
            assert_eq!((found.levels(), found.shape()), (levels, &[2, 3, 8][..]));
            assert_eq!(found.scales().shape(), scales);
            assert_eq!(found.zeros().is_some(), affine);
            let (x, y) = (q.dequantize()?, found.dequantize()?);
            for index in indices(&[2, 3, 8]) {
                let at: Vec<isize> = index.iter().map(|i| *i as isize).collect();
                let step: Vec<isize> = step_of(&found, &index)
                    .iter()
                    .map(|i| *i as isize)
                    .collect();
                let scale = found.scales().at::<f32>(&step[..])?;
                let error = x.at::<f32>(&at[1..])? + 0.5 - y.at::<f32>(&at[..])?;
                let bound = if affine { 1.01 } else { 0.501 };
                assert!(error.abs() <= bound * scale, "{levels:?} {per:?} {index:?}");
            }
            let flags = q.map(|x| ops::greater(x, x));
            assert!(matches!(flags, Err(Error::DType { op: "map", .. })));
            let row = q.map(|x| x.select(0, 0));
            assert_eq!(row.is_err(), per != Per::Tensor);
        }
    }
    Ok(())
}

#[test]
fn gathered_elements_keep_their_scale() -> Result<()> {
    let mut rng = Rng(10);
    for levels in [Levels::I8, Levels::I4, Levels::I2] {
        let how = Quantization {
            levels,
            ..each(Per::Channel(0))
        };
        let q = quant::quantize(&numbers(&mut rng, &[3, 7]), how)?;
        let order = q.argsort(1)?;
        let sorted = q.take_along_axis(&order, 1)?;
        let (y, found) = (q.dequantize()?, sorted.dequantize()?.to_vec::<f32>()?);
        for (i, row) in found.chunks(7).enumerate() {
            let mut expected = y.select(0, i as i64)?.to_vec::<f32>()?;
            expected.sort_by(f32::total_cmp);
            // -0.0 is 0 in integers
            assert!(row.iter().zip(&expected).all(|(a, b)| a == b));
        }
        let across = q.take_along_axis(&Tensor::zeros([1, 7], DType::I64)?, 0);
        assert!(matches!(
            across,
            Err(Error::Value {
                op: "take_along_axis",
                ..
            })
        ));
    }
    Ok(())
}

#[test]
fn percentile_calibration_saturates_outliers() -> Result<()> {
    let mut x: Vec<f32> = (0..1000).map(|i| (i as f32 - 500.0) / 500.0).collect();
    x[7] = 1e6;
    let x = Tensor::from_vec(x, 1000)?;
    let of = |calibration| {
        quant::quantize(
            &x,
            Quantization {
                calibration,
                ..Default::default()
            },
        )
    };
    assert_eq!(
        of(Calibration::MinMax)?.scales().to_vec::<f32>()?,
        [1e6 / 127.0]
    );
    assert!(
        of(Calibration::Percentile(99.0))?
            .scales()
            .to_vec::<f32>()?[0]
            < 1.0 / 127.0
    );
    assert!(
        of(Calibration::Percentile(101.0)).is_err()
            && of(Calibration::Percentile(f32::NAN)).is_err()
    );
    Ok(())
}

#[test]
fn quantised_tensors_round_trip_through_safetensors() -> Result<()> {
    use flex::io::safetensors;
    let x = numbers(&mut Rng(4), &[3, 8]);
    for levels in [Levels::I8, Levels::I4, Levels::I2] {
        if levels != Levels::I8 && !cfg!(feature = "i64") {
            continue; // shapes are stored as int64
        }
        let how = Quantization {
            levels,
            ..each(Per::Channel(0))
        };
        let q = quant::quantize(&x, how)?;
        let parts = quant::to_tensors("layer", &q)?;
        let parts = parts.iter().map(|(name, t)| (name, t));
        let file = safetensors::write(parts, &Default::default())?;
        let file = safetensors::parse(&file)?;
        let read = quant::from_tensors(&file, "layer")?;
        assert!(read.equal(&q)? && read.levels() == levels);
        assert!(quant::from_tensors(&file, "other").is_err());
    }
    Ok(())
}

#[test]
fn errors_name_the_operation() -> Result<()> {
    let x = Tensor::zeros([2, 6], DType::F32)?;
    let q = quant::quantize(&x, Quantization::default())?;
    assert!(matches!(
        quant::quantize(&x, each(Per::Channel(2))),
        Err(Error::Axis {
            op: "quant.quantize",
            axis: 2,
            ..
        })
    ));
    assert!(matches!(
        quant::quantize(&x, each(Per::Block { axis: 1, size: 4 })),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(
        quant::linear(&x, &q.permute(())?, QLinear::default()),
        Err(Error::Shape {
            op: "quant.linear",
            ..
        })
    ));
    let wrong = QLinear {
        inputs: Inputs::Static {
            scale: -1.0,
            zero: 0,
        },
        ..Default::default()
    };
    assert!(matches!(
        quant::linear(&x, &q, wrong),
        Err(Error::Value {
            op: "quant.linear",
            ..
        })
    ));
    assert!(
        QTensor::from_parts(
            q.values().clone(),
            Tensor::zeros([3, 1], DType::F32)?,
            None,
            Levels::I8,
            [2, 6]
        )
        .is_err()
    );
    Ok(())
}

/// Sizes and options of convolutions: batch, channels, outputs, groups, image, kernel, stride,
/// padding, dilation.
const CONVOLUTIONS: [[usize; 9]; 9] = [
    [2, 8, 6, 1, 9, 3, 1, 1, 1],
    [1, 5, 7, 1, 12, 3, 2, 2, 2],
    [1, 1, 3, 1, 6, 2, 1, 0, 1],
    [3, 3, 20, 1, 11, 3, 2, 1, 1],
    [2, 12, 9, 3, 7, 3, 1, 1, 1],
    [1, 6, 6, 6, 8, 3, 1, 1, 1],
    [2, 16, 10, 1, 13, 1, 1, 0, 1],
    [1, 9, 4, 1, 10, 1, 3, 2, 1],
    [1, 64, 70, 1, 18, 3, 1, 1, 1],
];

#[test]
fn convolutions_match_sums_of_products() -> Result<()> {
    use flex::nn::Conv;
    let mut rng = Rng(11);
    for [
        batch,
        channels,
        outputs,
        groups,
        size,
        kernel,
        stride,
        padding,
        dilation,
    ] in CONVOLUTIONS
    {
        let seen = channels / groups;
        let x = numbers(&mut rng, &[batch, channels, size, size]);
        let weight = numbers(&mut rng, &[outputs, seen, kernel, kernel]);
        let (bias, q) = (
            numbers(&mut rng, &[outputs]),
            quant::quantize(&weight, each(Per::Channel(0)))?,
        );
        let options = || Conv {
            bias: Some(&bias),
            stride: stride.into(),
            padding: padding.into(),
            dilation: dilation.into(),
            groups,
            precise: true,
            ..Default::default()
        };
        let (step, zero) = (6.0 / 255.0, 117u8);
        let static_of = Inputs::Static { scale: step, zero };
        for inputs in [
            Inputs::Dynamic,
            Inputs::DynamicSymmetric,
            static_of,
            Inputs::Float,
        ] {
            // how `conv2d` quantises the images, if it does
            let levels = match inputs {
                Inputs::DynamicSymmetric => Levels::I8,
                _ => Levels::U8,
            };
            let how = Quantization {
                levels,
                affine: levels == Levels::U8,
                ..each(Per::Channel(0))
            };
            let seen_as = match inputs {
                Inputs::Float => x.clone(),
                Inputs::Static { .. } => {
                    let s = Tensor::from([step]).reshape([1; 4])?;
                    let z = Tensor::from([zero]).reshape([1; 4])?;
                    quant::quantize_by(&x, Levels::U8, &s, Some(&z))?.dequantize()?
                }
                _ => quant::quantize(&x, how)?.dequantize()?,
            };
            let y = quant::conv2d(&x, &q, inputs, options())?;
            let again = quant::conv2d(&x, &q, inputs, options())?;
            assert_eq!(y.to_vec::<f32>()?, again.to_vec::<f32>()?);
            let (x, w) = (seen_as.to_vec::<f32>()?, q.dequantize()?.to_vec::<f32>()?);
            let bias = bias.to_vec::<f32>()?;
            let places = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
            assert_eq!(y.shape(), [batch, outputs, places, places]);
            let taps = indices(&[seen, kernel, kernel]);
            for (index, y) in indices(y.shape()).iter().zip(y.to_vec::<f32>()?) {
                let (n, o) = (index[0], index[1]);
                let (mut sum, mut products) = (bias[o] as f64, 1.0);
                for tap in &taps {
                    let at = [0, 1].map(|a| {
                        (index[2 + a] * stride + tap[1 + a] * dilation).wrapping_sub(padding)
                    });
                    if at.iter().any(|at| *at >= size) {
                        continue;
                    }
                    let channel = o / (outputs / groups) * seen + tap[0];
                    let x = x[((n * channels + channel) * size + at[0]) * size + at[1]];
                    let w = w[((o * seen + tap[0]) * kernel + tap[1]) * kernel + tap[2]];
                    sum += x as f64 * w as f64;
                    products += (x as f64 * w as f64).abs();
                }
                assert!(
                    (y as f64 - sum).abs() < 1e-6 * products,
                    "{inputs:?} {channels} {kernel} {index:?}: {y} for {sum}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn convolution_errors_name_the_operation() -> Result<()> {
    let conv = |x: &Tensor, w: &QTensor, inputs| quant::conv2d(x, w, inputs, None);
    let x = Tensor::zeros([1, 8, 4, 4], DType::F32)?;
    let w = Tensor::zeros([2, 8, 3, 3], DType::F32)?;
    let q = quant::quantize(&w, each(Per::Channel(0)))?;
    let wrong = conv(&Tensor::zeros([1, 7, 4, 4], DType::F32)?, &q, Inputs::Float);
    assert!(matches!(
        wrong,
        Err(Error::Shape {
            op: "quant.conv2d",
            ..
        })
    ));
    for other in [
        each(Per::Channel(1)),
        Quantization {
            levels: Levels::I4,
            ..each(Per::Tensor)
        },
    ] {
        let q = quant::quantize(&w, other)?;
        assert!(conv(&x, &q, Inputs::Float).is_ok());
        assert!(matches!(
            conv(&x, &q, Inputs::Dynamic),
            Err(Error::Value {
                op: "quant.conv2d",
                ..
            })
        ));
    }
    let wrong = Inputs::Static {
        scale: f32::NAN,
        zero: 0,
    };
    assert!(conv(&x, &q, wrong).is_err());
    assert!(matches!(
        conv(&Tensor::zeros([1, 8, 4, 4], DType::I32)?, &q, Inputs::Float),
        Err(Error::DType { .. })
    ));
    Ok(())
}
