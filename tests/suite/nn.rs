//! Operations of models against naive formulas in `f64`.

use flex::{DType, Tensor, nn};

/// Deterministic values in -2..2.
fn values(n: usize, seed: u64) -> Vec<f32> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..n).map(|_| next()).collect()
}
fn tensor(shape: &[usize], seed: u64) -> Tensor {
    Tensor::from_slice(&values(shape.iter().product(), seed), shape).unwrap()
}
fn doubles(t: &Tensor) -> Vec<f64> {
    t.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect()
}
#[track_caller]
fn close(got: &Tensor, want: &[f64], tolerance: f64) {
    let got = doubles(got);
    assert_eq!(got.len(), want.len());
    for (i, (x, y)) in got.iter().zip(want).enumerate() {
        assert!((x - y).abs() <= tolerance * y.abs().max(1.0) || x.is_nan() && y.is_nan(), "[{i}]: {x} for {y}");
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
    let x = Tensor::from_slice(&[-inf, -inf, -inf, 0.0, 1e30, 0.0, nan, 0.0, -inf, 3.0], [5, 2]).unwrap();
    close(&nn::softmax(&x, 1).unwrap(), &[f64::NAN, f64::NAN, 0.0, 1.0, 1.0, 0.0, f64::NAN, f64::NAN, 0.0, 1.0], 0.0);
    let empty = tensor(&[2, 0], 1);
    assert_eq!(nn::softmax(&empty, 1).unwrap().shape(), [2, 0]);
    assert!(matches!(nn::softmax(&x, 2), Err(flex::Error::Axis { op: "softmax", axis: 2, .. })));
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
        close(&flex::ops::multiply(&soft, n as f32).unwrap(), &want.iter().map(times).collect::<Vec<_>>(), 2e-6);
        let logs: Vec<f64> = want.iter().map(|v| v.ln()).collect();
        close(&nn::log_softmax(&x, 1).unwrap(), &logs, 2e-6);
        let (weight, bias) = (doubles(&w), doubles(&b));
        let norm = |row: &[f64], shift: bool| -> Vec<f64> {
            let mean = if shift { row.iter().sum::<f64>() / n as f64 } else { 0.0 };
            let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (0..n).map(|j| (row[j] - mean) / (var + 1e-3).sqrt() * weight[j] + if shift { bias[j] } else { 0.0 }).collect()
        };
        let layer = nn::layer_norm(&x, &[n], Some(&w), Some(&b), 1e-3).unwrap();
        close(&layer, &wide.chunks(n).flat_map(|row| norm(row, true)).collect::<Vec<_>>(), 3e-6);
        let rms = nn::rms_norm(&x, &[n], Some(&w), Some(1e-3)).unwrap();
        close(&rms, &wide.chunks(n).flat_map(|row| norm(row, false)).collect::<Vec<_>>(), 3e-6);

        // so many rows that none is cut; and lines that are packed
        let bits = |t: &Tensor| t.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let all = x.reshape(&[1, 3, n as isize]).unwrap().broadcast_to(&[6, 3, n]).unwrap();
        assert_eq!(bits(&nn::softmax(&all, 2).unwrap().narrow(0, 4, 1).unwrap()), bits(&soft));
        assert_eq!(bits(&nn::layer_norm(&all, &[n], Some(&w), Some(&b), 1e-3).unwrap().narrow(0, 4, 1).unwrap()), bits(&layer));
        assert_eq!(bits(&nn::rms_norm(&all, &[n], Some(&w), Some(1e-3)).unwrap().narrow(0, 4, 1).unwrap()), bits(&rms));
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
    let y = nn::softmax(&row(15_000, 1.0), 1).unwrap().to_vec::<f32>().unwrap();
    assert!((0..n).all(|k| y[k] == if k == 5000 || k == 15_000 { 0.5 } else { 0.0 }));
    let y = nn::log_softmax(&row(15_000, 1.0), 1).unwrap().to_vec::<f32>().unwrap();
    assert!((0..n).all(|k| if k == 5000 || k == 15_000 { (y[k] + 2f32.ln()).abs() < 1e-6 } else { y[k] == -inf }));
    for x in [row(15_000, f32::NAN), row(15_000, inf), row(5000, -inf)] {
        assert!(nn::softmax(&x, 1).unwrap().to_vec::<f32>().unwrap().iter().all(|v| v.is_nan()));
        assert!(nn::log_softmax(&x, 1).unwrap().to_vec::<f32>().unwrap().iter().all(|v| v.is_nan()));
    }
}

#[test]
fn half_and_double_rows() {
    for dtype in [DType::F16, DType::BF16, DType::F64].into_iter().filter(|d| d.is_available()) {
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
        check(nn::softmax(&x, -1).unwrap(), nn::softmax(&exact, -1).unwrap());
        check(nn::layer_norm(&x, &[130], None, None, 1e-5).unwrap(), nn::layer_norm(&exact, &[130], None, None, 1e-5).unwrap());
        check(nn::rms_norm(&x, &[130], None, Some(1e-5)).unwrap(), nn::rms_norm(&exact, &[130], None, Some(1e-5)).unwrap());
        let (long, exact_long) =
            (tensor(&[1, 9000], 4).astype(dtype).unwrap(), tensor(&[1, 9000], 4).astype(dtype).unwrap().astype(DType::F32).unwrap());
        check(nn::layer_norm(&long, &[9000], None, None, 1e-5).unwrap(), nn::layer_norm(&exact_long, &[9000], None, None, 1e-5).unwrap());
        let head = x.reshape(&[2, 10, 26]).unwrap();
        let exact = exact.reshape(&[2, 10, 26]).unwrap();
        let attend = |t: &Tensor| nn::scaled_dot_product_attention(t, t, t, nn::Attention::default()).unwrap();
        check(attend(&head), attend(&exact));
    }
}

#[test]
fn norms_over_the_last_dimensions() {
    for n in [1, 2, 5, 63, 64, 65, 384, 1000] {
        let (x, w, b) = (tensor(&[7, n], 1), tensor(&[n], 2), tensor(&[n], 3));
        let (wide_w, wide_b) = (doubles(&w), doubles(&b));
        for (weight, bias) in [(None, None), (Some(&w), None), (None, Some(&b)), (Some(&w), Some(&b))] {
            let scale = |j: usize| weight.map_or(1.0, |_| wide_w[j]);
            let shift = |j: usize| bias.map_or(0.0, |_| wide_b[j]);
            let row = |row: &[f64]| -> Vec<f64> {
                let mean = row.iter().sum::<f64>() / n as f64;
                let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
                row.iter().enumerate().map(|(j, x)| (x - mean) / (var + 1e-3).sqrt() * scale(j) + shift(j)).collect()
            };
            let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
            close(&nn::layer_norm(&x, &[n], weight, bias, 1e-3).unwrap(), &want, 3e-6);
        }
        let row = |row: &[f64]| -> Vec<f64> {
            let square = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
            row.iter().enumerate().map(|(j, x)| x / (square + 1e-6).sqrt() * wide_w[j]).collect()
        };
        let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
        close(&nn::rms_norm(&x, &[n], Some(&w), Some(1e-6)).unwrap(), &want, 3e-6);
    }
    // two dimensions at once, and a strided operand
    let (x, w) = (tensor(&[4, 6, 5], 4), tensor(&[5, 6], 5));
    let view = x.transpose(1, 2).unwrap();
    let flat = view.copy().unwrap().reshape(&[4, 30]).unwrap();
    let want = nn::layer_norm(&flat, &[30], Some(&w.reshape(&[30]).unwrap()), None, 1e-5).unwrap();
    let got = nn::layer_norm(&view, &[5, 6], Some(&w), None, 1e-5).unwrap();
    assert_eq!((got.shape(), got.to_vec::<f32>().unwrap()), (&[4, 5, 6][..], want.to_vec::<f32>().unwrap()));
    let error = nn::layer_norm(&x, &[6], None, None, 1e-5).unwrap_err().to_string();
    assert_eq!(error, "layer_norm: the last dimensions are not normalized_shape [6] (x: [4, 6, 5] float32)");
}

#[test]
fn linear_layers() {
    for (m, k, n) in [(1, 384, 384), (3, 64, 10), (33, 40, 130), (200, 170, 190)] {
        let (x, w, b) = (tensor(&[m, k], 1), tensor(&[n, k], 2), tensor(&[n], 3));
        let (wx, ww, wb) = (doubles(&x), doubles(&w), doubles(&b));
        let at = |i: usize| (0..k).map(|p| wx[i / n * k + p] * ww[i % n * k + p]).sum::<f64>() + wb[i % n];
        let want: Vec<f64> = (0..m * n).map(at).collect();
        close(&nn::linear(&x, &w, Some(&b)).unwrap(), &want, 2e-5);
        let stacked = nn::linear(&x.reshape(&[1, m as isize, 1, k as isize]).unwrap(), &w, Some(&b)).unwrap();
        assert_eq!(stacked.shape(), [1, m, 1, n]);
        close(&stacked, &want, 2e-5);
        // what is fused has the same bits as passes of their own
        let plain = nn::linear(&x, &w, Some(&b)).unwrap();
        let full = tensor(&[n, m], 4);
        for residual in [None, Some(tensor(&[m, n], 3)), Some(full.transpose(0, 1).unwrap()), Some(b.clone())] {
            for (activation, f) in [
                (None, (|x| Ok(x.clone())) as fn(&Tensor) -> flex::Result<Tensor>),
                (Some(nn::Activation::Relu), |x| nn::relu(x)),
                (Some(nn::Activation::Gelu), |x| nn::gelu(x)),
                (Some(nn::Activation::GeluTanh), |x| nn::gelu_tanh(x)),
                (Some(nn::Activation::Silu), |x| nn::silu(x)),
            ] {
                let fused =
                    nn::linear(&x, &w, nn::Linear { bias: Some(&b), activation, residual: residual.as_ref(), dtype: None }).unwrap();
                let apart = f(&plain).unwrap();
                let apart = residual.as_ref().map_or(apart.clone(), |r| flex::ops::add(&apart, r).unwrap());
                assert_eq!(fused.to_vec::<f32>().unwrap(), apart.to_vec::<f32>().unwrap(), "{m} {k} {n} {activation:?}");
            }
        }
    }
    let (x, w) = (tensor(&[2, 3], 1), tensor(&[4, 3], 2));
    let error = nn::linear(&x, &w, nn::Linear { residual: Some(&x), ..Default::default() }).unwrap_err().to_string();
    assert_eq!(
        error,
        "linear: residual does not broadcast to [2, 4] (x: [2, 3] float32, weight: [4, 3] float32, residual: [2, 3] float32)"
    );
    let whole = |t: &Tensor| t.astype(flex::DType::I32).unwrap();
    let relu = nn::Linear { activation: Some(nn::Activation::Relu), ..Default::default() };
    assert_eq!(nn::linear(&whole(&x), &whole(&w), relu).unwrap_err().to_string(), "linear: activations are of floats, not of int32");
    let error = nn::linear(&tensor(&[2, 3], 1), &tensor(&[4, 5], 2), None).unwrap_err().to_string();
    assert_eq!(error, "linear: last axis of x is 3 but that of weight is 5 (x: [2, 3] float32, weight: [4, 5] float32)");
}

/// The same bits as in a fresh tensor; in the target's own memory where that is its alone, never in what others see.
#[test]
fn results_go_into_tensors_given() {
    let (x, w, b) = (tensor(&[5, 40], 1), tensor(&[7, 40], 2), tensor(&[7], 3));
    let want = nn::linear(&x, &w, Some(&b)).unwrap();
    let probabilities = |axis| nn::softmax(&want, axis).unwrap().to_vec::<f32>().unwrap();
    let mut out = tensor(&[5, 7], 4);
    let memory = out.as_ptr();
    for _ in 0..2 {
        nn::linear_into(&x, &w, Some(&b), &mut out).unwrap();
        assert_eq!((out.to_vec::<f32>().unwrap(), out.as_ptr()), (want.to_vec().unwrap(), memory));
        for axis in [0, 1] {
            nn::softmax_into(&want, axis, &mut out).unwrap();
            assert_eq!((out.to_vec::<f32>().unwrap(), out.as_ptr()), (probabilities(axis), memory));
        }
    }
    let seen = out.clone();
    nn::linear_into(&x, &w, Some(&b), &mut out).unwrap();
    assert_eq!((out.to_vec::<f32>().unwrap(), seen.to_vec::<f32>().unwrap()), (want.to_vec().unwrap(), probabilities(1)));
    // an operand's own storage, and a target that is a view
    let mut same = want.clone();
    nn::softmax_into(&want, 1, &mut same).unwrap();
    let mut turned = tensor(&[7, 5], 5).transpose(0, 1).unwrap();
    nn::softmax_into(&want, 1, &mut turned).unwrap();
    assert_eq!((same.to_vec::<f32>().unwrap(), turned.to_vec::<f32>().unwrap()), (probabilities(1), probabilities(1)));

    let kept = out.to_vec::<f32>().unwrap();
    let error = nn::softmax_into(&x, 1, &mut out).unwrap_err().to_string();
    assert_eq!(error, "softmax: the result is [5, 40] of float32, the tensor for it [5, 7] of float32");
    let mut whole = out.astype(flex::DType::I32).unwrap();
    assert!(nn::linear_into(&x, &w, Some(&b), &mut whole).is_err() && nn::linear_into(&x, &x, None, &mut out).is_err());
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
    let bits = |t: &Tensor| t.bitcast(flex::DType::I16).unwrap().to_vec::<i16>().unwrap();
    assert_eq!((bits(&out), out.as_ptr()), (bits(&nn::softmax(&x, 1).unwrap()), memory));
}

/// Sums of bytes in int32 are exact, with what is added to them; other dtypes are converted.
#[test]
fn linear_layers_sum_in_the_dtype_asked_for() {
    use flex::ops::{add, matmul};
    if !DType::I8.is_available() || !DType::I32.is_available() {
        return;
    }
    let (x, w, b) = (tensor(&[5, 70], 1), tensor(&[33, 70], 2), tensor(&[33], 3));
    let bytes = |t: &Tensor, dtype| flex::ops::multiply(t, 50.0).unwrap().astype(DType::I8).unwrap().astype(dtype).unwrap();
    for (dx, dw) in [(DType::I8, DType::I8), (DType::I8, DType::U8), (DType::U8, DType::I8), (DType::U8, DType::U8)] {
        let (x, w) = (bytes(&x, dx), bytes(&w, dw));
        let wide = |t: &Tensor| t.astype(DType::I32).unwrap();
        let want = matmul(&wide(&x), &wide(&w).transpose(0, 1).unwrap()).unwrap();
        for bias in [None, Some(bytes(&b, DType::I8)), Some(bytes(&b, DType::I32))] {
            let want = bias.as_ref().map_or(want.clone(), |b| add(&want, wide(b)).unwrap());
            let options = nn::Linear { bias: bias.as_ref(), dtype: Some(DType::I32), ..Default::default() };
            assert_eq!(nn::linear(&x, &w, options).unwrap().to_vec::<i32>().unwrap(), want.to_vec::<i32>().unwrap());
        }
        let relu = nn::Linear { activation: Some(nn::Activation::Relu), dtype: Some(DType::F32), ..Default::default() };
        let want = nn::relu(want.astype(DType::F32).unwrap()).unwrap();
        assert_eq!(nn::linear(&x, &w, relu).unwrap().to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
    }
    let narrow = nn::Linear { dtype: Some(DType::I32), ..Default::default() };
    let error = nn::linear(&x, &w, narrow).unwrap_err().to_string();
    assert_eq!(error, "linear: products of float32 cannot be summed in int32: convert the operands");
}

/// The second product with a weight packs it, later ones find it packed: no bit changes, unless the weight does.
#[cfg(feature = "std")]
#[test]
fn weights_used_again_are_packed() {
    let bits = |t: Tensor| t.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
    for (m, k, n) in [(2, 16, 16), (7, 384, 100), (40, 1030, 70), (300, 64, 200)] {
        let (x, mut w, b) = (tensor(&[m, k], 1), tensor(&[n, k], 2), tensor(&[n], 3));
        let run = |w: &Tensor| bits(nn::linear(&x, w, Some(&b)).unwrap());
        let first = run(&w);
        assert!((0..3).all(|_| run(&w) == first), "{m} {k} {n}");
        // parts of the same storage are weights of their own
        let half = w.narrow(0, n / 2, n - n / 2).unwrap();
        let apart = run_of(&x, &half.copy().unwrap(), &b.narrow(0, n / 2, n - n / 2).unwrap());
        assert!((0..3).all(|_| run_of(&x, &half, &b.narrow(0, n / 2, n - n / 2).unwrap()) == apart));
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
        nn::linear(x, w, Some(b)).unwrap().to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
    }
}

/// One head in `f64`; `takes_part(query, key)` and what is added to the score.
fn attend(q: &[f64], k: &[f64], v: &[f64], sizes: [usize; 4], scale: f64, mask: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let [queries, keys, depth, width] = sizes;
    let mut out = vec![0.0; queries * width];
    for i in 0..queries {
        let score = |j: usize| (0..depth).map(|p| q[i * depth + p] * k[j * depth + p]).sum::<f64>() * scale + mask(i, j);
        let scores: Vec<f64> = (0..keys).map(score).collect();
        if scores.iter().all(|s| *s == f64::NEG_INFINITY) {
            continue;
        }
        for (j, weight) in softmax(&scores).into_iter().enumerate() {
            (0..width).for_each(|p| out[i * width + p] += weight * v[j * width + p]);
        }
    }
    out
}

#[test]
fn attention_with_every_mask() {
    for (queries, keys, depth, width) in [
        (1, 1, 1, 1),
        (1, 700, 64, 64),
        (5, 7, 3, 2),
        (64, 256, 32, 32),
        (130, 300, 16, 20),
        (70, 65, 64, 33),
        (300, 600, 24, 20),
        (290, 270, 8, 64),
    ] {
        let (q, k, v) = (tensor(&[queries, depth], 1), tensor(&[keys, depth], 2), tensor(&[keys, width], 3));
        let (wq, wk, wv) = (doubles(&q), doubles(&k), doubles(&v));
        let sizes = [queries, keys, depth, width];
        let scale = 1.0 / (depth as f64).sqrt();
        let run = |options: nn::Attention| nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap();
        let none = f64::NEG_INFINITY;
        close(&run(nn::Attention::default()), &attend(&wq, &wk, &wv, sizes, scale, |_, _| 0.0), 3e-6);
        let causal = attend(&wq, &wk, &wv, sizes, scale, |i, j| if j <= i { 0.0 } else { none });
        close(&run(nn::Attention { causal: true, ..Default::default() }), &causal, 3e-6);
        let scaled = attend(&wq, &wk, &wv, sizes, 0.25, |_, _| 0.0);
        close(&run(nn::Attention { scale: Some(0.25), ..Default::default() }), &scaled, 3e-6);
        let bias = tensor(&[queries, keys], 4);
        let wide = doubles(&bias);
        let biased = attend(&wq, &wk, &wv, sizes, scale, |i, j| wide[i * keys + j]);
        close(&run(nn::Attention { mask: Some(&bias), ..Default::default() }), &biased, 3e-6);
        // row 0 and every fifth take no key at all
        let takes = |i: usize, j: usize| !i.is_multiple_of(5) && !(i + 3 * j).is_multiple_of(4);
        let flags: Vec<bool> = (0..queries * keys).map(|x| takes(x / keys, x % keys)).collect();
        let flags = Tensor::from_slice(&flags, [queries, keys]).unwrap();
        let masked = attend(&wq, &wk, &wv, sizes, scale, |i, j| if takes(i, j) { 0.0 } else { none });
        let got = run(nn::Attention { mask: Some(&flags), ..Default::default() });
        close(&got, &masked, 3e-6);
        assert!(got.to_vec::<f32>().unwrap()[..width].iter().all(|x| *x == 0.0));
        // keys alone: one row for all queries, as padding
        let padding: Vec<bool> = (0..keys).map(|j| j < keys.div_ceil(2)).collect();
        let padding = Tensor::from_slice(&padding, [keys]).unwrap();
        let padded = attend(&wq, &wk, &wv, sizes, scale, |_, j| if j < keys.div_ceil(2) { 0.0 } else { none });
        close(&run(nn::Attention { mask: Some(&padding), ..Default::default() }), &padded, 3e-6);
    }
}

#[test]
fn attention_heads_in_place_and_grouped() {
    // [batch, tokens, heads, depth] seen as [batch, heads, tokens, depth]
    let (batch, tokens, heads, depth) = (2, 70, 4, 16);
    let make = |heads: usize, seed: u64| tensor(&[batch, tokens, heads, depth], seed).transpose(1, 2).unwrap();
    let (q, k, v) = (make(heads, 1), make(heads, 2), make(heads, 3));
    let got = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default()).unwrap();
    assert_eq!(got.shape(), [batch, heads, tokens, depth]);
    let one = |t: &Tensor, b: usize, h: usize| doubles(&t.select(0, b as i64).unwrap().select(0, h as i64).unwrap().copy().unwrap());
    let sizes = [tokens, tokens, depth, depth];
    for (b, h) in [(0, 0), (1, 3)] {
        let want = attend(&one(&q, b, h), &one(&k, b, h), &one(&v, b, h), sizes, 0.25, |_, _| 0.0);
        assert!(one(&got, b, h).iter().zip(&want).all(|(x, y)| (x - y).abs() < 3e-6));
    }
    let (k, v) = (make(2, 4), make(2, 5));
    let grouped = nn::Attention { grouped: true, ..Default::default() };
    let got = nn::scaled_dot_product_attention(&q, &k, &v, grouped).unwrap();
    assert_eq!(got.shape(), [batch, heads, tokens, depth]);
    for h in 0..heads {
        let want = attend(&one(&q, 1, h), &one(&k, 1, h / 2), &one(&v, 1, h / 2), sizes, 0.25, |_, _| 0.0);
        assert!(one(&got, 1, h).iter().zip(&want).all(|(x, y)| (x - y).abs() < 3e-6));
    }
}

#[test]
fn attention_of_columns_and_of_many_heads() {
    let (queries, keys, depth, width) = (300, 280, 40, 24);
    let columns = |rows: usize, cols: usize, seed: u64| tensor(&[cols, rows], seed).transpose(0, 1).unwrap();
    let (q, k, v) = (columns(queries, depth, 1), columns(keys, depth, 2), columns(keys, width, 3));
    let rows = |t: &Tensor| doubles(&t.copy().unwrap());
    let run = |q: &Tensor, k: &Tensor, v: &Tensor| nn::scaled_dot_product_attention(q, k, v, nn::Attention::default()).unwrap();
    let alone = run(&q, &k, &v);
    let want = attend(&rows(&q), &rows(&k), &rows(&v), [queries, keys, depth, width], 1.0 / (depth as f64).sqrt(), |_, _| 0.0);
    close(&alone, &want, 3e-6);
    // How many heads there are decides how large blocks are, and nothing else.
    let heads = |t: &Tensor| t.broadcast_to(&[200, t.shape()[0], t.shape()[1]]).unwrap();
    let all = run(&heads(&q), &heads(&k), &heads(&v)).to_vec::<f32>().unwrap();
    let alone = alone.to_vec::<f32>().unwrap();
    assert!(all.chunks_exact(alone.len()).all(|head| head == alone));
}

#[test]
fn attention_keeps_nan_to_its_query_and_nothing_of_far_keys() {
    let (n, depth) = (70, 16);
    let (k, v) = (tensor(&[n, depth], 2), tensor(&[n, depth], 3));
    for nan in [f32::NAN, f32::from_bits(0x7fc0_01ff), f32::from_bits(0xffff_ffff)] {
        let mut values = tensor(&[n, depth], 1).to_vec::<f32>().unwrap();
        values[5 * depth + 3] = nan;
        let q = Tensor::from_slice(&values, [n, depth]).unwrap();
        let got = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default()).unwrap().to_vec::<f32>().unwrap();
        assert!(got.chunks(depth).enumerate().all(|(i, row)| row.iter().all(|x| x.is_nan() == (i == 5))));
    }
    // Scores so far apart that one key has all the weight.
    let q = Tensor::from_slice(&[1.0f32; 20], [20, 1]).unwrap();
    let k = Tensor::from_slice(&[0.0f32, -3e38, -200.0, -88.0], [4, 1]).unwrap();
    let v = Tensor::from_slice(&[2.0f32, 1e30, 1e30, 3e37], [4, 1]).unwrap();
    let got = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention { scale: Some(1.0), ..Default::default() }).unwrap();
    assert!(got.to_vec::<f32>().unwrap().iter().all(|x| (x - 2.0).abs() < 0.5), "{got:?}");
}

#[test]
fn attention_of_sequences_of_unequal_lengths() {
    let offsets = [0, 0, 1, 70, 70, 83, 300, 300];
    let (tokens, heads, groups, depth, width) = (300, 4, 2, 16, 24);
    // the queries lie among others, as where one product gave queries, keys and values
    let q = tensor(&[tokens, 2 * heads, depth], 1).narrow(1, heads, heads).unwrap();
    let (k, v) = (tensor(&[tokens, groups, depth], 2), tensor(&[tokens, groups, width], 3));
    let part = |t: &Tensor, start: usize, len: usize, h: usize| {
        doubles(&t.narrow(0, start, len).unwrap().select(1, h as i64).unwrap().copy().unwrap())
    };
    for causal in [false, true] {
        let got = nn::varlen_attention(&q, &k, &v, &offsets, causal, None).unwrap();
        assert_eq!(got.shape(), [tokens, heads, width]);
        for pair in offsets.windows(2) {
            let (start, len) = (pair[0], pair[1] - pair[0]);
            for h in 0..heads {
                let see = |i: usize, j: usize| if causal && j > i { f64::NEG_INFINITY } else { 0.0 };
                let (one_k, one_v) = (part(&k, start, len, h / 2), part(&v, start, len, h / 2));
                let want = attend(&part(&q, start, len, h), &one_k, &one_v, [len, len, depth, width], 0.25, see);
                assert!(part(&got, start, len, h).iter().zip(&want).all(|(x, y)| (x - y).abs() < 3e-6), "{causal} {pair:?} {h}");
            }
        }
    }
    let none = tensor(&[0, 2, 3], 1);
    assert_eq!(nn::varlen_attention(&none, &none, &none, &[0, 0], false, None).unwrap().shape(), [0, 2, 3]);
    for offsets in [&[][..], &[0], &[0, 299], &[1, 300], &[0, 200, 100, 300], &[0, usize::MAX, 300]] {
        let error = nn::varlen_attention(&q, &k, &v, offsets, false, None).unwrap_err().to_string();
        assert_eq!(error, "varlen_attention: offsets must lead from 0 to the 300 tokens without a step back");
    }
    let error = nn::varlen_attention(&q, &tensor(&[tokens, 3, depth], 1), &v, &[0, 300], false, None).unwrap_err().to_string();
    assert!(error.contains("are no multiple of those of k and v (q: [300, 4, 16] float32"), "{error}");
}

#[test]
fn attention_errors_name_the_operands() {
    let (q, k, v) = (tensor(&[4, 8], 1), tensor(&[6, 7], 2), tensor(&[6, 3], 3));
    let error = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default()).unwrap_err().to_string();
    assert!(error.contains("the depth, differ (q: [4, 8] float32, k: [6, 7] float32"), "{error}");
    let mask = tensor(&[5, 6], 4);
    let options = nn::Attention { mask: Some(&mask), ..Default::default() };
    let error = nn::scaled_dot_product_attention(&q, &tensor(&[6, 8], 2), &v, options).unwrap_err().to_string();
    assert!(error.contains("the mask does not broadcast to [4, 6]"), "{error}");
}

#[test]
fn embeddings_are_rows() {
    let (weight, indices) = (tensor(&[10, 6], 1), Tensor::from_slice(&[3i64, 0, 9, 3], [2, 2]).unwrap());
    let rows = nn::embedding(&indices, &weight).unwrap();
    let all = weight.to_vec::<f32>().unwrap();
    let want: Vec<f32> = [3, 0, 9, 3].iter().flat_map(|i| all[i * 6..i * 6 + 6].to_vec()).collect();
    assert_eq!((rows.shape(), rows.to_vec::<f32>().unwrap()), (&[2, 2, 6][..], want));
    let error = nn::embedding(&Tensor::from_slice(&[10i64], [1]).unwrap(), &weight).unwrap_err().to_string();
    assert_eq!(error, "embedding: index 10 is out of range for axis 0 of size 10");
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::exec::par::with_threads;
    let (x, w, b) = (tensor(&[300, 512], 1), tensor(&[600, 512], 2), tensor(&[600], 3));
    let heads = tensor(&[2, 4, 200, 32], 4);
    let line = x.reshape(&[1, -1]).unwrap();
    let all = |threads| {
        with_threads(threads, || {
            let causal = nn::Attention { causal: true, ..Default::default() };
            [
                nn::linear(&x, &w, nn::Linear { activation: Some(nn::Activation::Gelu), bias: Some(&b), ..Default::default() }).unwrap(),
                nn::softmax(&x, 0).unwrap(),
                nn::layer_norm(&x, &[512], None, None, 1e-5).unwrap(),
                nn::softmax(&line, 1).unwrap(),
                nn::log_softmax(&line, 1).unwrap(),
                nn::layer_norm(&line, &[153_600], None, None, 1e-5).unwrap(),
                nn::rms_norm(&line, &[153_600], None, None).unwrap(),
                nn::scaled_dot_product_attention(&heads, &heads, &heads, causal).unwrap(),
            ]
            .map(|t| t.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>())
        })
    };
    assert!((2..5).all(|threads| all(threads) == all(1)));
}
