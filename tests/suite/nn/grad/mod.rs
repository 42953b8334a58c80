//! Gradients against finite differences, in float64.

mod activation;
mod attention;
mod channel_norm;
mod conv;
mod grid;
mod pool;
mod resample;
mod unpool;

use super::*;
use nn::grad;

/// Float64 in [-2, 2).
fn wide(shape: &[usize], seed: u64) -> Tensor {
    tensor(shape, seed).astype(DType::F64).unwrap()
}

fn numbers(t: &Tensor) -> Vec<f64> {
    t.astype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

/// The gradient of `sum(g * f(x))` by central differences.
fn differences(x: &Tensor, g: &Tensor, f: impl Fn(&Tensor) -> Tensor) -> Vec<f64> {
    const H: f64 = 1e-6;
    let values = numbers(x);
    let at = |k: usize, h: f64| {
        let mut v = values.clone();
        v[k] += h;
        numbers(&f(&Tensor::from_slice(&v, x.shape()).unwrap()))
    };
    let g = numbers(g);
    let slope = |k: usize| {
        let (above, below) = (at(k, H), at(k, -H));
        let each = above.iter().zip(&below).zip(&g);
        each.map(|((a, b), g)| (a - b) / (2.0 * H) * g).sum()
    };
    (0..x.len()).map(slope).collect()
}

#[track_caller]
fn agree(got: &Tensor, want: &[f64]) {
    let got = numbers(got);
    assert_eq!(got.len(), want.len());
    for (i, (x, y)) in got.iter().zip(want).enumerate() {
        assert!(
            (x - y).abs() <= 1e-7 * y.abs().max(1.0),
            "[{i}]: {x} for {y}"
        );
    }
}

#[test]
fn softmax_matches_differences() {
    for (shape, axis) in [([3, 7], 1), ([3, 7], 0), ([2, 70], -1), ([1, 1], 0)] {
        let (x, g) = (wide(&shape, 1), wide(&shape, 2));
        let f = |x: &Tensor| nn::softmax(x, axis).unwrap();
        agree(
            &grad::softmax(&g, &f(&x), axis).unwrap(),
            &differences(&x, &g, f),
        );
        let f = |x: &Tensor| nn::log_softmax(x, axis).unwrap();
        agree(
            &grad::log_softmax(&g, &f(&x), axis).unwrap(),
            &differences(&x, &g, f),
        );
    }
}

#[test]
fn norms_match_differences() {
    for (rows, n) in [(3, 5), (2, 64), (1, 130), (9, 2)] {
        let (x, g, w) = (wide(&[rows, n], 1), wide(&[rows, n], 2), wide(&[n], 3));
        for weight in [None, Some(&w)] {
            let b = wide(&[n], 4);
            let norm = |x: &Tensor, w: Option<&Tensor>, b: Option<&Tensor>| {
                nn::layer_norm(
                    x,
                    n,
                    nn::LayerNorm {
                        weight: w,
                        bias: b,
                        eps: 1e-3,
                    },
                )
                .unwrap()
            };
            let [dx, dw, db] = grad::layer_norm(
                &g,
                &x,
                n,
                nn::LayerNorm {
                    weight,
                    eps: 1e-3,
                    ..Default::default()
                },
            )
            .unwrap();
            agree(&dx, &differences(&x, &g, |x| norm(x, weight, None)));
            agree(&dw, &differences(&w, &g, |w| norm(&x, Some(w), None)));
            agree(&db, &differences(&b, &g, |b| norm(&x, weight, Some(b))));
            let norm = |x: &Tensor, w: Option<&Tensor>| {
                nn::rms_norm(
                    x,
                    n,
                    nn::RmsNorm {
                        weight: w,
                        eps: Some(1e-3),
                    },
                )
                .unwrap()
            };
            let [dx, dw] = grad::rms_norm(
                &g,
                &x,
                n,
                nn::RmsNorm {
                    weight,
                    eps: Some(1e-3),
                },
            )
            .unwrap();
            agree(&dx, &differences(&x, &g, |x| norm(x, weight)));
            agree(&dw, &differences(&w, &g, |w| norm(&x, Some(w))));
        }
    }
}

/// Several dimensions at once, strided operands, and 16-bit floats, computed in float32.
#[test]
fn norms_support_any_layout_and_float() {
    let (x, g) = (tensor(&[4, 6, 2], 1), tensor(&[4, 6, 2], 2));
    let [dx, dw, db] = grad::layer_norm(&g, &x, [6, 2], ()).unwrap();
    assert_eq!(
        (dx.shape(), dw.shape(), db.shape()),
        (&[4, 6, 2][..], &[6, 2][..], &[6, 2][..])
    );
    let turned = |t: &Tensor| {
        let t = t.permute([2, 0, 1]).unwrap().contiguous().unwrap();
        t.permute([1, 2, 0]).unwrap()
    };
    let again = grad::layer_norm(&turned(&g), &turned(&x), [6, 2], ()).unwrap();
    for (a, b) in [dx, dw, db].iter().zip(&again) {
        assert_eq!(a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let (x, g) = (x.astype(dtype).unwrap(), g.astype(dtype).unwrap());
        let single = |t: &Tensor| t.astype(DType::F32).unwrap();
        let got = grad::rms_norm(
            &g,
            &x,
            [6, 2],
            nn::RmsNorm {
                eps: Some(1e-5),
                ..Default::default()
            },
        )
        .unwrap();
        let want = grad::rms_norm(
            &single(&g),
            &single(&x),
            [6, 2],
            nn::RmsNorm {
                eps: Some(1e-5),
                ..Default::default()
            },
        )
        .unwrap();
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(got.dtype(), dtype);
            let want = want.astype(dtype).unwrap();
            assert_eq!(numbers(got), numbers(&want));
        }
    }
}

#[test]
fn linear_and_embedding_match_differences() {
    let (x, w, g) = (wide(&[2, 3, 4], 1), wide(&[5, 4], 2), wide(&[2, 3, 5], 3));
    let b = wide(&[5], 4);
    let [dx, dw, db] = grad::linear(&g, &x, &w).unwrap();
    agree(
        &dx,
        &differences(&x, &g, |x| nn::linear(x, &w, None).unwrap()),
    );
    agree(
        &dw,
        &differences(&w, &g, |w| nn::linear(&x, w, None).unwrap()),
    );
    agree(
        &db,
        &differences(&b, &g, |b| nn::linear(&x, &w, Some(b)).unwrap()),
    );
    assert_eq!(dx.shape(), x.shape());

    let indices = Tensor::from_slice(&[3i64, 0, 3, -1], [2, 2]).unwrap();
    let (weight, g) = (wide(&[5, 3], 5), wide(&[2, 2, 3], 6));
    let dw = grad::embedding(&g, &indices, 5).unwrap();
    agree(
        &dw,
        &differences(&weight, &g, |w| nn::embedding(&indices, w).unwrap()),
    );
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (x, y) = (tensor(&[2, 3], 1), tensor(&[3, 2], 2));
    assert!(grad::softmax(&y, &x, -1).is_err());
    assert!(grad::softmax(&x, &x, 2).is_err());
    assert!(grad::layer_norm(&y, &x, 3, ()).is_err());
    assert!(grad::layer_norm(&x, &x, 2, ()).is_err());
    assert!(
        grad::rms_norm(
            &x,
            &x,
            3,
            nn::RmsNorm {
                weight: Some(&tensor(&[2], 1)),
                ..Default::default()
            }
        )
        .is_err()
    );
    assert!(grad::linear(&x, &x, &x).is_err());
    assert!(grad::linear(&tensor(&[2, 4], 3), &x, &y).is_err());
    let indices = Tensor::from_slice(&[9i64, 0], [2]).unwrap();
    assert!(grad::embedding(&x, &indices, 3).is_err());
    assert!(grad::embedding(&x, &x, 3).is_err());
    let integers = x.astype(DType::I64).unwrap();
    assert!(grad::softmax(&integers, &integers, -1).is_err());
    let none = tensor(&[0, 3], 1);
    assert_eq!(
        grad::layer_norm(&none, &none, 3, ()).unwrap()[1]
            .to_vec::<f32>()
            .unwrap(),
        [0.0; 3]
    );
}
