//! Operations of models, compared with naive formulas in `f64`.

mod activation;
mod attention;
mod attention_options;
mod cache;
mod conv;
mod distance;
mod figures;
#[cfg(feature = "f64")]
mod grad;
mod linear;
mod loss;
mod norm;
mod pool;
mod recurrent;
#[cfg(feature = "f64")]
mod relations;
mod resample;
mod rotary;
mod rows;

use crate::common::Rng;
use flex::{DType, Tensor, nn};

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

/// The elements of any dtype, exact in float32.
fn exact(t: &Tensor) -> Vec<f64> {
    doubles(&t.astype(DType::F32).unwrap())
}

/// The same elements with channels last in memory.
fn channels_last(t: &Tensor) -> Tensor {
    let last = t.moveaxis(1, -1).unwrap().contiguous().unwrap();
    last.moveaxis(-1, 1).unwrap()
}

/// Each element is within `tolerance` times the largest of them.
#[track_caller]
fn close(got: &Tensor, want: &[f64], tolerance: f64) {
    let got = doubles(got);
    assert_eq!(got.len(), want.len());
    let finite = want.iter().filter(|y| y.is_finite());
    let tolerance = tolerance * finite.fold(0.0, |most, y| y.abs().max(most));
    for (i, (x, y)) in got.iter().zip(want).enumerate() {
        assert!(
            (x - y).abs() <= tolerance || x == y || x.is_nan() && y.is_nan(),
            "[{i}]: {x} for {y}"
        );
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    row.iter().map(|x| (x - max).exp() / sum).collect()
}

/// The target gets the same bits as a new tensor: in its own memory if that is unshared, never in
/// shared memory.
#[test]
fn into_functions_write_to_their_target() {
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
        "softmax: the result is [5, 40] of float32, its destination [5, 7] of float32"
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
                nn::layer_norm(&x, [512], ()).unwrap(),
                nn::softmax(&line, 1).unwrap(),
                nn::log_softmax(&line, 1).unwrap(),
                nn::layer_norm(&line, [153_600], ()).unwrap(),
                nn::rms_norm(&line, [153_600], ()).unwrap(),
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
