//! Operations of models against naive formulas in `f64`.

use crate::common::Rng;
use flex::{DType, Tensor, nn};

mod attention;

/// Values in [-2, 2).
fn values(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng(seed);
    (0..n).map(|_| 4.0 * rng.short() - 2.0).collect()
}
fn tensor(shape: &[usize], seed: u64) -> Tensor {
    Tensor::from_slice(&values(shape.iter().product(), seed), shape).unwrap()
}
fn doubles(t: &Tensor) -> Vec<f64> {
    t.to_vec::<f32>()
        .unwrap()
        .into_iter()
        .map(f64::from)
        .collect()
}
#[track_caller]
fn close(got: &Tensor, want: &[f64], tolerance: f64) {
    let got = doubles(got);
    assert_eq!(got.len(), want.len());
    for (i, (x, y)) in got.iter().zip(want).enumerate() {
        assert!(
            (x - y).abs() <= tolerance * y.abs().max(1.0) || x.is_nan() && y.is_nan(),
            "[{i}]: {x} for {y}"
        );
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    row.iter().map(|x| (x - max).exp() / sum).collect()
}

#[test]
fn softmax_of_every_length_along_every_axis() {
    for n in (1..70).chain([127, 128, 129, 1000, 4099]) {
        let x = tensor(&[3, n], n as u64);
        let want: Vec<f64> = doubles(&x).chunks(n).flat_map(softmax).collect();
        close(&nn::softmax(&x, 1).unwrap(), &want, 1e-6);
        let logs: Vec<f64> = want.iter().map(|x| x.ln()).collect();
        close(&nn::log_softmax(&x, -1).unwrap(), &logs, 2e-6);
        let columns = nn::softmax(&x.transpose(0, 1).unwrap(), 0).unwrap();
        close(&columns.transpose(0, 1).unwrap(), &want, 1e-6);
    }
}

#[test]
fn softmax_of_special_values() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = Tensor::from_slice(
        &[-inf, -inf, -inf, 0.0, 1e30, 0.0, nan, 0.0, -inf, 3.0],
        [5, 2],
    )
    .unwrap();
    close(
        &nn::softmax(&x, 1).unwrap(),
        &[
            f64::NAN,
            f64::NAN,
            0.0,
            1.0,
            1.0,
            0.0,
            f64::NAN,
            f64::NAN,
            0.0,
            1.0,
        ],
        0.0,
    );
    let empty = tensor(&[2, 0], 1);
    assert_eq!(nn::softmax(&empty, 1).unwrap().shape(), [2, 0]);
    assert!(matches!(
        nn::softmax(&x, 2),
        Err(flex::Error::Axis {
            op: "softmax",
            axis: 2,
            ..
        })
    ));
}

/// Long rows are cut in chunks, on all threads where they are few: the same bits as one by one.
#[test]
fn long_rows() {
    for n in [4095, 4096, 4097, 8192, 8193, 20_001] {
        let (x, w, b) = (tensor(&[3, n], 1), tensor(&[n], 2), tensor(&[n], 3));
        let wide = doubles(&x);
        let want: Vec<f64> = wide.chunks(n).flat_map(softmax).collect();
        let soft = nn::softmax(&x, 1).unwrap();
        let times = |v: &f64| v * n as f64;
        close(
            &flex::ops::multiply(&soft, n as f32).unwrap(),
            &want.iter().map(times).collect::<Vec<_>>(),
            2e-6,
        );
        let logs: Vec<f64> = want.iter().map(|v| v.ln()).collect();
        close(&nn::log_softmax(&x, 1).unwrap(), &logs, 2e-6);
        let (weight, bias) = (doubles(&w), doubles(&b));
        let norm = |row: &[f64], shift: bool| -> Vec<f64> {
            let mean = if shift {
                row.iter().sum::<f64>() / n as f64
            } else {
                0.0
            };
            let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (0..n)
                .map(|j| {
                    (row[j] - mean) / (var + 1e-3).sqrt() * weight[j]
                        + if shift { bias[j] } else { 0.0 }
                })
                .collect()
        };
        let layer = nn::layer_norm(&x, [n], Some(&w), Some(&b), 1e-3).unwrap();
        close(
            &layer,
            &wide
                .chunks(n)
                .flat_map(|row| norm(row, true))
                .collect::<Vec<_>>(),
            3e-6,
        );
        let rms = nn::rms_norm(&x, [n], Some(&w), Some(1e-3)).unwrap();
        close(
            &rms,
            &wide
                .chunks(n)
                .flat_map(|row| norm(row, false))
                .collect::<Vec<_>>(),
            3e-6,
        );

        // so many rows that none is cut; and lines that are packed
        let bits = |t: &Tensor| {
            t.to_vec::<f32>()
                .unwrap()
                .into_iter()
                .map(f32::to_bits)
                .collect::<Vec<_>>()
        };
        let all = x
            .reshape([1, 3, n as isize])
            .unwrap()
            .broadcast_to([6, 3, n])
            .unwrap();
        assert_eq!(
            bits(&nn::softmax(&all, 2).unwrap().narrow(0, 4, 1).unwrap()),
            bits(&soft)
        );
        assert_eq!(
            bits(
                &nn::layer_norm(&all, [n], Some(&w), Some(&b), 1e-3)
                    .unwrap()
                    .narrow(0, 4, 1)
                    .unwrap()
            ),
            bits(&layer)
        );
        assert_eq!(
            bits(
                &nn::rms_norm(&all, [n], Some(&w), Some(1e-3))
                    .unwrap()
                    .narrow(0, 4, 1)
                    .unwrap()
            ),
            bits(&rms)
        );
        let columns = nn::softmax(&x.transpose(0, 1).unwrap().copy().unwrap(), 0).unwrap();
        assert_eq!(bits(&columns.transpose(0, 1).unwrap()), bits(&soft));
    }
    // chunks of minus infinities alone, and with what makes NaN of a whole row
    let (inf, n) = (f32::INFINITY, 20_000);
    let row = |k: usize, v: f32| {
        let mut row = vec![-inf; n];
        row[5000] = 1.0;
        row[k] = v;
        Tensor::from_slice(&row, [1, n]).unwrap()
    };
    let y = nn::softmax(&row(15_000, 1.0), 1)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!((0..n).all(|k| y[k] == if k == 5000 || k == 15_000 { 0.5 } else { 0.0 }));
    let y = nn::log_softmax(&row(15_000, 1.0), 1)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!((0..n).all(|k| if k == 5000 || k == 15_000 {
        (y[k] + 2f32.ln()).abs() < 1e-6
    } else {
        y[k] == -inf
    }));
    for x in [row(15_000, f32::NAN), row(15_000, inf), row(5000, -inf)] {
        assert!(
            nn::softmax(&x, 1)
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
                .iter()
                .all(|v| v.is_nan())
        );
        assert!(
            nn::log_softmax(&x, 1)
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
                .iter()
                .all(|v| v.is_nan())
        );
    }
}

#[test]
fn half_and_double_rows() {
    for dtype in [DType::F16, DType::BF16, DType::F64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let x = tensor(&[4, 130], 3).astype(dtype).unwrap();
        let exact = x.astype(DType::F32).unwrap();
        let unit = match dtype {
            DType::F16 => 1e-3,
            DType::BF16 => 8e-3,
            _ => 1e-6,
        };
        let check = |got: Tensor, want: Tensor| {
            assert_eq!(got.dtype(), dtype);
            close(&got.astype(DType::F32).unwrap(), &doubles(&want), unit);
        };
        check(
            nn::softmax(&x, -1).unwrap(),
            nn::softmax(&exact, -1).unwrap(),
        );
        check(
            nn::layer_norm(&x, [130], None, None, 1e-5).unwrap(),
            nn::layer_norm(&exact, [130], None, None, 1e-5).unwrap(),
        );
        check(
            nn::rms_norm(&x, [130], None, Some(1e-5)).unwrap(),
            nn::rms_norm(&exact, [130], None, Some(1e-5)).unwrap(),
        );
        let (long, exact_long) = (
            tensor(&[1, 9000], 4).astype(dtype).unwrap(),
            tensor(&[1, 9000], 4)
                .astype(dtype)
                .unwrap()
                .astype(DType::F32)
                .unwrap(),
        );
        check(
            nn::layer_norm(&long, [9000], None, None, 1e-5).unwrap(),
            nn::layer_norm(&exact_long, [9000], None, None, 1e-5).unwrap(),
        );
        let head = x.reshape([2, 10, 26]).unwrap();
        let exact = exact.reshape([2, 10, 26]).unwrap();
        let attend = |t: &Tensor| {
            nn::scaled_dot_product_attention(t, t, t, nn::Attention::default()).unwrap()
        };
        check(attend(&head), attend(&exact));
    }
}

#[test]
fn norms_over_the_last_dimensions() {
    for n in [1, 2, 5, 63, 64, 65, 384, 1000] {
        let (x, w, b) = (tensor(&[7, n], 1), tensor(&[n], 2), tensor(&[n], 3));
        let (wide_w, wide_b) = (doubles(&w), doubles(&b));
        for (weight, bias) in [
            (None, None),
            (Some(&w), None),
            (None, Some(&b)),
            (Some(&w), Some(&b)),
        ] {
            let scale = |j: usize| weight.map_or(1.0, |_| wide_w[j]);
            let shift = |j: usize| bias.map_or(0.0, |_| wide_b[j]);
            let row = |row: &[f64]| -> Vec<f64> {
                let mean = row.iter().sum::<f64>() / n as f64;
                let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
                row.iter()
                    .enumerate()
                    .map(|(j, x)| (x - mean) / (var + 1e-3).sqrt() * scale(j) + shift(j))
                    .collect()
            };
            let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
            close(
                &nn::layer_norm(&x, [n], weight, bias, 1e-3).unwrap(),
                &want,
                3e-6,
            );
        }
        let row = |row: &[f64]| -> Vec<f64> {
            let square = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
            row.iter()
                .enumerate()
                .map(|(j, x)| x / (square + 1e-6).sqrt() * wide_w[j])
                .collect()
        };
        let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
        close(
            &nn::rms_norm(&x, [n], Some(&w), Some(1e-6)).unwrap(),
            &want,
            3e-6,
        );
    }
    // two dimensions at once, and a strided operand
    let (x, w) = (tensor(&[4, 6, 5], 4), tensor(&[5, 6], 5));
    let view = x.transpose(1, 2).unwrap();
    let flat = view.copy().unwrap().reshape([4, 30]).unwrap();
    let want = nn::layer_norm(&flat, [30], Some(&w.reshape([30]).unwrap()), None, 1e-5).unwrap();
    let got = nn::layer_norm(&view, [5, 6], Some(&w), None, 1e-5).unwrap();
    assert_eq!(
        (got.shape(), got.to_vec::<f32>().unwrap()),
        (&[4, 5, 6][..], want.to_vec::<f32>().unwrap())
    );
    let error = nn::layer_norm(&x, [6], None, None, 1e-5)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "layer_norm: the last dimensions are not normalized_shape [6] (x: [4, 6, 5] float32)"
    );
}

#[test]
fn linear_layers() {
    for (m, k, n) in [(1, 384, 384), (3, 64, 10), (33, 40, 130), (200, 170, 190)] {
        let (x, w, b) = (tensor(&[m, k], 1), tensor(&[n, k], 2), tensor(&[n], 3));
        let (wx, ww, wb) = (doubles(&x), doubles(&w), doubles(&b));
        let at = |i: usize| {
            (0..k)
                .map(|p| wx[i / n * k + p] * ww[i % n * k + p])
                .sum::<f64>()
                + wb[i % n]
        };
        let want: Vec<f64> = (0..m * n).map(at).collect();
        close(&nn::linear(&x, &w, Some(&b)).unwrap(), &want, 2e-5);
        let stacked = nn::linear(
            &x.reshape([1, m as isize, 1, k as isize]).unwrap(),
            &w,
            Some(&b),
        )
        .unwrap();
        assert_eq!(stacked.shape(), [1, m, 1, n]);
        close(&stacked, &want, 2e-5);
        // what is fused has the same bits as passes of their own
        let plain = nn::linear(&x, &w, Some(&b)).unwrap();
        let full = tensor(&[n, m], 4);
        for residual in [
            None,
            Some(tensor(&[m, n], 3)),
            Some(full.transpose(0, 1).unwrap()),
            Some(b.clone()),
        ] {
            for (activation, f) in [
                (
                    None,
                    (|x| Ok(x.clone())) as fn(&Tensor) -> flex::Result<Tensor>,
                ),
                (Some(nn::Activation::Relu), |x| nn::relu(x)),
                (Some(nn::Activation::Gelu), |x| nn::gelu(x)),
                (Some(nn::Activation::GeluTanh), |x| nn::gelu_tanh(x)),
                (Some(nn::Activation::Silu), |x| nn::silu(x)),
            ] {
                let fused = nn::linear(
                    &x,
                    &w,
                    nn::Linear {
                        bias: Some(&b),
                        activation,
                        residual: residual.as_ref(),
                        dtype: None,
                    },
                )
                .unwrap();
                let apart = f(&plain).unwrap();
                let apart = residual
                    .as_ref()
                    .map_or(apart.clone(), |r| flex::ops::add(&apart, r).unwrap());
                assert_eq!(
                    fused.to_vec::<f32>().unwrap(),
                    apart.to_vec::<f32>().unwrap(),
                    "{m} {k} {n} {activation:?}"
                );
            }
        }
    }
    let (x, w) = (tensor(&[2, 3], 1), tensor(&[4, 3], 2));
    let error = nn::linear(
        &x,
        &w,
        nn::Linear {
            residual: Some(&x),
            ..Default::default()
        },
    )
    .unwrap_err()
    .to_string();
    assert_eq!(
        error,
        "linear: residual does not broadcast to [2, 4] (x: [2, 3] float32, weight: [4, 3] float32, residual: [2, 3] float32)"
    );
    let whole = |t: &Tensor| t.astype(flex::DType::I32).unwrap();
    let relu = nn::Linear {
        activation: Some(nn::Activation::Relu),
        ..Default::default()
    };
    assert_eq!(
        nn::linear(&whole(&x), &whole(&w), relu)
            .unwrap_err()
            .to_string(),
        "linear: activations need a float dtype, not int32"
    );
    let error = nn::linear(&tensor(&[2, 3], 1), &tensor(&[4, 5], 2), None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "linear: last axis of x is 3 but that of weight is 5 (x: [2, 3] float32, weight: [4, 5] float32)"
    );
}

/// The same bits as in a fresh tensor; in the target's own memory where that is its alone, never in
/// what others see.
#[test]
fn results_go_into_tensors_given() {
    let (x, w, b) = (tensor(&[5, 40], 1), tensor(&[7, 40], 2), tensor(&[7], 3));
    let want = nn::linear(&x, &w, Some(&b)).unwrap();
    let probabilities = |axis| nn::softmax(&want, axis).unwrap().to_vec::<f32>().unwrap();
    let mut out = tensor(&[5, 7], 4);
    let memory = out.as_ptr();
    for _ in 0..2 {
        nn::linear_into(&x, &w, Some(&b), &mut out).unwrap();
        assert_eq!(
            (out.to_vec::<f32>().unwrap(), out.as_ptr()),
            (want.to_vec().unwrap(), memory)
        );
        for axis in [0, 1] {
            nn::softmax_into(&want, axis, &mut out).unwrap();
            assert_eq!(
                (out.to_vec::<f32>().unwrap(), out.as_ptr()),
                (probabilities(axis), memory)
            );
        }
    }
    let seen = out.clone();
    nn::linear_into(&x, &w, Some(&b), &mut out).unwrap();
    assert_eq!(
        (out.to_vec::<f32>().unwrap(), seen.to_vec::<f32>().unwrap()),
        (want.to_vec().unwrap(), probabilities(1))
    );
    // an operand's own storage, and a target that is a view
    let mut same = want.clone();
    nn::softmax_into(&want, 1, &mut same).unwrap();
    let mut turned = tensor(&[7, 5], 5).transpose(0, 1).unwrap();
    nn::softmax_into(&want, 1, &mut turned).unwrap();
    assert_eq!(
        (
            same.to_vec::<f32>().unwrap(),
            turned.to_vec::<f32>().unwrap()
        ),
        (probabilities(1), probabilities(1))
    );

    let kept = out.to_vec::<f32>().unwrap();
    let error = nn::softmax_into(&x, 1, &mut out).unwrap_err().to_string();
    assert_eq!(
        error,
        "softmax: the result is [5, 40] of float32, the tensor for it [5, 7] of float32"
    );
    let mut whole = out.astype(flex::DType::I32).unwrap();
    assert!(
        nn::linear_into(&x, &w, Some(&b), &mut whole).is_err()
            && nn::linear_into(&x, &x, None, &mut out).is_err()
    );
    let flags = flex::ops::greater(&x, 0.0).unwrap();
    assert!(nn::linear_into(&flags, &flags, None, &mut out).is_err());
    assert_eq!(out.to_vec::<f32>().unwrap(), kept);
}

/// One long row of 16-bit floats is computed as float32, and yet written where the result is to be.
#[cfg(feature = "half")]
#[test]
fn results_of_long_rows_stay_in_their_place() {
    let x = tensor(&[1, 100_000], 6).astype(flex::DType::BF16).unwrap();
    let mut out = x.copy().unwrap();
    let memory = out.as_ptr();
    nn::softmax_into(&x, 1, &mut out).unwrap();
    let bits = |t: &Tensor| {
        t.bitcast(flex::DType::I16)
            .unwrap()
            .to_vec::<i16>()
            .unwrap()
    };
    assert_eq!(
        (bits(&out), out.as_ptr()),
        (bits(&nn::softmax(&x, 1).unwrap()), memory)
    );
}

/// Sums of bytes in int32 are exact, with what is added to them; other dtypes are converted.
#[test]
fn linear_layers_sum_in_the_dtype_asked_for() {
    use flex::ops::{add, matmul};
    if !DType::I8.is_available() || !DType::I32.is_available() {
        return;
    }
    let (x, w, b) = (tensor(&[5, 70], 1), tensor(&[33, 70], 2), tensor(&[33], 3));
    let bytes = |t: &Tensor, dtype| {
        flex::ops::multiply(t, 50.0)
            .unwrap()
            .astype(DType::I8)
            .unwrap()
            .astype(dtype)
            .unwrap()
    };
    for (dx, dw) in [
        (DType::I8, DType::I8),
        (DType::I8, DType::U8),
        (DType::U8, DType::I8),
        (DType::U8, DType::U8),
    ] {
        let (x, w) = (bytes(&x, dx), bytes(&w, dw));
        let wide = |t: &Tensor| t.astype(DType::I32).unwrap();
        let want = matmul(&wide(&x), &wide(&w).transpose(0, 1).unwrap()).unwrap();
        for bias in [
            None,
            Some(bytes(&b, DType::I8)),
            Some(bytes(&b, DType::I32)),
        ] {
            let want = bias
                .as_ref()
                .map_or(want.clone(), |b| add(&want, wide(b)).unwrap());
            let options = nn::Linear {
                bias: bias.as_ref(),
                dtype: Some(DType::I32),
                ..Default::default()
            };
            assert_eq!(
                nn::linear(&x, &w, options)
                    .unwrap()
                    .to_vec::<i32>()
                    .unwrap(),
                want.to_vec::<i32>().unwrap()
            );
        }
        let relu = nn::Linear {
            activation: Some(nn::Activation::Relu),
            dtype: Some(DType::F32),
            ..Default::default()
        };
        let want = nn::relu(want.astype(DType::F32).unwrap()).unwrap();
        assert_eq!(
            nn::linear(&x, &w, relu).unwrap().to_vec::<f32>().unwrap(),
            want.to_vec::<f32>().unwrap()
        );
    }
    let narrow = nn::Linear {
        dtype: Some(DType::I32),
        ..Default::default()
    };
    let error = nn::linear(&x, &w, narrow).unwrap_err().to_string();
    assert_eq!(
        error,
        "linear: products of float32 cannot be summed in int32: convert the operands"
    );
}

/// The second product with a weight packs it, later ones find it packed: no bit changes, unless the
/// weight does.
#[cfg(feature = "std")]
#[test]
fn weights_used_again_are_packed() {
    let bits = |t: Tensor| {
        t.to_vec::<f32>()
            .unwrap()
            .into_iter()
            .map(f32::to_bits)
            .collect::<Vec<_>>()
    };
    for (m, k, n) in [(2, 16, 16), (7, 384, 100), (40, 1030, 70), (300, 64, 200)] {
        let (x, mut w, b) = (tensor(&[m, k], 1), tensor(&[n, k], 2), tensor(&[n], 3));
        let run = |w: &Tensor| bits(nn::linear(&x, w, Some(&b)).unwrap());
        let first = run(&w);
        assert!((0..3).all(|_| run(&w) == first), "{m} {k} {n}");
        // parts of the same storage are weights of their own
        let half = w.narrow(0, n / 2, n - n / 2).unwrap();
        let apart = run_of(
            &x,
            &half.copy().unwrap(),
            &b.narrow(0, n / 2, n - n / 2).unwrap(),
        );
        assert!(
            (0..3).all(|_| run_of(&x, &half, &b.narrow(0, n / 2, n - n / 2).unwrap()) == apart)
        );
        // a write is seen, by the tensor that was written to alone
        drop(half);
        let before = w.clone();
        add_one(&mut w);
        let fresh = run(&w.copy().unwrap());
        assert!(fresh != first && (0..3).all(|_| run(&w) == fresh && run(&before) == first));
        drop(before);
        add_one(&mut w);
        let fresh = run(&w.copy().unwrap());
        assert!((0..3).all(|_| run(&w) == fresh));
    }
    fn add_one(w: &mut Tensor) {
        // SAFETY: the first element of a float32 tensor, this one's alone.
        unsafe { *(w.as_mut_ptr().unwrap() as *mut f32) += 1.0 }
    }
    fn run_of(x: &Tensor, w: &Tensor, b: &Tensor) -> Vec<u32> {
        nn::linear(x, w, Some(b))
            .unwrap()
            .to_vec::<f32>()
            .unwrap()
            .into_iter()
            .map(f32::to_bits)
            .collect()
    }
}

#[test]
fn embeddings_are_rows() {
    let (weight, indices) = (
        tensor(&[10, 6], 1),
        Tensor::from_slice(&[3i64, 0, 9, 3], [2, 2]).unwrap(),
    );
    let rows = nn::embedding(&indices, &weight).unwrap();
    let all = weight.to_vec::<f32>().unwrap();
    let want: Vec<f32> = [3, 0, 9, 3]
        .iter()
        .flat_map(|i| all[i * 6..i * 6 + 6].to_vec())
        .collect();
    assert_eq!(
        (rows.shape(), rows.to_vec::<f32>().unwrap()),
        (&[2, 2, 6][..], want)
    );
    let error = nn::embedding(&Tensor::from_slice(&[10i64], [1]).unwrap(), &weight)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "embedding: index 10 is out of range for axis 0 of size 10"
    );
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::par::with_threads;
    let (x, w, b) = (
        tensor(&[300, 512], 1),
        tensor(&[600, 512], 2),
        tensor(&[600], 3),
    );
    let heads = tensor(&[2, 4, 200, 32], 4);
    let line = x.reshape([1, -1]).unwrap();
    let all = |threads| {
        with_threads(threads, || {
            let causal = nn::Attention {
                causal: true,
                ..Default::default()
            };
            [
                nn::linear(
                    &x,
                    &w,
                    nn::Linear {
                        activation: Some(nn::Activation::Gelu),
                        bias: Some(&b),
                        ..Default::default()
                    },
                )
                .unwrap(),
                nn::softmax(&x, 0).unwrap(),
                nn::layer_norm(&x, [512], None, None, 1e-5).unwrap(),
                nn::softmax(&line, 1).unwrap(),
                nn::log_softmax(&line, 1).unwrap(),
                nn::layer_norm(&line, [153_600], None, None, 1e-5).unwrap(),
                nn::rms_norm(&line, [153_600], None, None).unwrap(),
                nn::scaled_dot_product_attention(&heads, &heads, &heads, causal).unwrap(),
            ]
            .map(|t| {
                t.to_vec::<f32>()
                    .unwrap()
                    .into_iter()
                    .map(f32::to_bits)
                    .collect::<Vec<_>>()
            })
        })
    };
    assert!((2..5).all(|threads| all(threads) == all(1)));
}
