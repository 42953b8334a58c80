//! Linear layers: fused epilogues, accumulation dtypes, packed weights.

use super::*;

#[test]
fn linear_matches_the_oracle() {
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
        close(&nn::linear(&x, &w, Some(&b)).unwrap(), &want, 2e-6);
        let stacked = nn::linear(
            &x.reshape([1, m as isize, 1, k as isize]).unwrap(),
            &w,
            Some(&b),
        )
        .unwrap();
        assert_eq!(stacked.shape(), [1, m, 1, n]);
        close(&stacked, &want, 2e-6);
        // fused epilogues have the bits of separate passes
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
                (Some(nn::Activation::Sigmoid), |x| nn::sigmoid(x)),
                (Some(nn::Activation::Tanh), |x| flex::ops::tanh(x)),
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
        "linear: residual does not broadcast to [2, 4] (x: [2, 3] float32, weight: [4, 3] \
            float32, residual: [2, 3] float32)"
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
        "linear: last axis of x is 3 but that of weight is 5 (x: [2, 3] float32, weight: [4, 5] \
            float32)"
    );
}

/// Sums of bytes in int32 are exact, including the bias; other dtypes are converted.
#[test]
fn relu_in_registers_keeps_nan() {
    let (w, b) = (tensor(&[70, 40], 2), tensor(&[70], 3));
    let mut x = tensor(&[50, 40], 1);
    x.as_mut_slice::<f32>().unwrap()[17 * 40 + 3] = f32::NAN;
    let options = nn::Linear {
        bias: Some(&b),
        activation: Some(nn::Activation::Relu),
        ..Default::default()
    };
    let y = nn::linear(&x, &w, options).unwrap();
    for (i, row) in y.as_slice::<f32>().unwrap().chunks(70).enumerate() {
        let is_right = |y: &f32| if i == 17 { y.is_nan() } else { *y >= 0.0 };
        assert!(row.iter().all(is_right));
    }
}

#[test]
fn linear_accumulates_in_the_requested_dtype() {
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

/// 16-bit floats in float32 give the bits of converted operands, whatever their strides.
#[test]
fn linear_widens_halves() {
    for dtype in [DType::F16, DType::BF16] {
        if !dtype.is_available() {
            continue;
        }
        for m in [1, 3, 60] {
            let half = |shape: &[usize], seed| tensor(shape, seed).astype(dtype).unwrap();
            let (x, w) = (half(&[m, 170], 1), half(&[70, 170], 2));
            let (wide_x, wide_w) = (half(&[m, 340], 1), half(&[340, 70], 2));
            let cut = |t: &Tensor, axis| t.slice_axis(axis, None, None, 2).unwrap();
            let other = cut(&wide_w, 0).transpose(0, 1).unwrap();
            for (x, w) in [(&x, &w), (&cut(&wide_x, 1), &w), (&x, &other)] {
                for activation in [None, Some(nn::Activation::Tanh)] {
                    let options = nn::Linear {
                        activation,
                        dtype: Some(DType::F32),
                        ..Default::default()
                    };
                    let [a, b] = [x, w].map(|t| t.astype(DType::F32).unwrap());
                    let want = nn::linear(&a, &b, options).unwrap();
                    let got = nn::linear(x, w, options).unwrap();
                    assert_eq!(got.to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
                }
            }
        }
    }
}

/// The second product with a weight packs it, later ones find it packed: no bit changes until the
/// weight does.
#[cfg(feature = "std")]
#[test]
fn packed_weights_change_no_bit() {
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
        // a write changes only the tensor that was written to
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
