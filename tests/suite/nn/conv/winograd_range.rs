//! Winograd's algorithm where elements of a tile differ widely: rounding errors follow the elements
//! that a place reads, not its neighbours'.

use super::winograd_transposed::{CASES, transposed};
use super::*;

/// Shapes of images, outputs and kernels.
const FORMS: &[(&[usize], usize, &[usize])] = &[
    (&[1, 16, 30, 30], 16, &[3, 3]),
    (&[2, 64, 17, 25], 48, &[3, 3]),
    (&[1, 200, 14, 22], 100, &[3, 3]),
    (&[1, 32, 5, 9, 14], 24, &[3, 3, 3]),
    (&[1, 64, 500], 48, &[3]),
    (&[2, 16, 400], 32, &[5]),
];

fn conv(x: &Tensor, w: &Tensor, precise: bool) -> Tensor {
    let options = Conv {
        padding: 1.into(),
        precise,
        ..Default::default()
    };
    run(x, w, options).unwrap()
}

/// `x` with element `at` replaced, and zeros with a one there, in float64.
fn with_outlier(x: &Tensor, at: usize, value: f64) -> [Tensor; 2] {
    let of = |values: Vec<f64>| Tensor::from_slice(&values, x.shape()).unwrap();
    let mut values = x.astype(DType::F64).unwrap().to_vec::<f64>().unwrap();
    let mut mark = vec![0.0; values.len()];
    (values[at], mark[at]) = (value, 1.0);
    [of(values).astype(x.dtype()).unwrap(), of(mark)]
}

/// The largest errors, fast and precise, at places that don't read the outlier.
fn errors_beside(
    x: &Tensor,
    mark: &Tensor,
    w: &Tensor,
    f: &dyn Fn(&Tensor, &Tensor, bool) -> Tensor,
) -> [f64; 2] {
    let wide = |t: &Tensor| t.astype(DType::F64).unwrap();
    let ones = ops::ones(w.shape(), DType::F64).unwrap();
    let of = |t: Tensor| wide(&t).to_vec::<f64>().unwrap();
    let (touched, want) = (of(f(mark, &ones, true)), of(f(&wide(x), &wide(w), true)));
    assert!(touched.iter().any(|n| *n != 0.0) && touched.contains(&0.0));
    [false, true].map(|precise| {
        let y = of(f(x, w, precise));
        let beside = y.iter().zip(&want).zip(&touched);
        let beside = beside.filter(|(_, touched)| **touched == 0.0);
        beside.fold(0.0, |far, ((y, want), _)| f64::max(far, (y - want).abs()))
    })
}

/// The documented bound, whatever the outlier.
#[test]
fn outliers_do_not_spoil_their_neighbours() {
    let conv: &dyn Fn(&Tensor, &Tensor, bool) -> Tensor = &conv;
    let check =
        |x: &Tensor, w: &Tensor, f: &dyn Fn(&Tensor, &Tensor, bool) -> Tensor, name: &str| {
            for (k, large) in [5.0, 25.0, 33.0, 70.0, 1e3, 1e4, 1e8, 1e20]
                .into_iter()
                .enumerate()
            {
                let at = [x.len() / 3 + 7 * k, x.len() / 2 + 11 * k][k % 2];
                let [x, mark] = with_outlier(x, at, large);
                let [fast, precise] = errors_beside(&x, &mark, w, f);
                assert!(
                    fast <= 4.0 * precise,
                    "{name}, {large:e}: {fast:e} {precise:e}"
                );
            }
        };
    for (seed, (shape, outputs, kernel)) in FORMS.iter().enumerate() {
        let weight: Vec<usize> = [&[*outputs, shape[1]], *kernel].concat();
        let (x, w) = (
            tensor(shape, seed as u64),
            tensor(&weight, seed as u64 + 10),
        );
        check(&x, &w, conv, &format!("{shape:?}"));
    }
    for (i, (shape, weight, ..)) in CASES.iter().enumerate().step_by(2) {
        let (x, w) = (tensor(shape, 1), tensor(weight, 2));
        let f = |x: &Tensor, w: &Tensor, precise: bool| transposed(i, x, w, None, precise);
        check(&x, &w, &f, &format!("transposed {shape:?}"));
    }
}

/// In float64 and 16-bit floats too: the difference from plain sums is one of rounding.
#[test]
fn outliers_are_confined_in_every_float() {
    for (dtype, large, bound) in [
        (DType::F64, 1e12, 1e-12),
        (DType::F16, 6e4, 1.0 / 1024.0),
        (DType::BF16, 1e12, 1.0 / 128.0),
    ] {
        if !dtype.is_available() {
            continue;
        }
        let x = tensor(&[1, 16, 25, 25], 1).astype(dtype).unwrap();
        let w = tensor(&[16, 16, 3, 3], 2).astype(dtype).unwrap();
        let ones = ops::ones(w.shape(), DType::F64).unwrap();
        let [x, mark] = with_outlier(&x, 5 * 625 + 312, large);
        let of = |t: Tensor| t.astype(DType::F64).unwrap().to_vec::<f64>().unwrap();
        let touched = of(conv(&mark, &ones, true));
        let all = of(conv(&x, &w, false))
            .into_iter()
            .zip(of(conv(&x, &w, true)));
        for ((fast, precise), touched) in all.zip(&touched) {
            let near = (fast - precise).abs() <= bound * precise.abs().max(1.0);
            assert!(near || *touched != 0.0, "{dtype}: {fast} for {precise}");
        }
    }
}

/// A kernel that reads nothing but zeros gives zero, beside any elements.
#[test]
fn zeros_give_zeros() {
    for (seed, (shape, outputs, kernel)) in FORMS.iter().enumerate() {
        let weight: Vec<usize> = [&[*outputs, shape[1]], *kernel].concat();
        let (x, w) = (tensor(shape, seed as u64), tensor(&weight, 3));
        let width = *shape.last().unwrap();
        let empty = width / 2 + seed % 3;
        let columns: Vec<f32> = (0..width).map(|at| f32::from(at >= empty)).collect();
        let x = ops::multiply(&x, Tensor::from_slice(&columns, [width]).unwrap()).unwrap();
        let y = conv(&x, &w, false);
        // a window ends as many columns behind its place as there is padding
        let reach = kernel.last().unwrap() - 1;
        let zeros = y.narrow(-1, 0, empty + 1 - reach).unwrap().copy().unwrap();
        assert!(doubles(&zeros).iter().all(|y| *y == 0.0), "{shape:?}");
        let rest = doubles(&y);
        assert!(rest.iter().filter(|y| **y != 0.0).count() > rest.len() / 4);
    }
}

/// Places that padding alone surrounds are no reason to compute plain sums: the bits differ from
/// those of `precise`.
#[test]
fn padding_is_no_outlier() {
    for (shape, pad) in [
        ([1, 16, 24, 24], 1),
        ([1, 16, 13, 18], 6),
        ([2, 16, 9, 31], 2),
    ] {
        let (x, w) = (tensor(&shape, 1), tensor(&[16, 16, 3, 3], 2));
        let [fast, precise] = [false, true].map(|precise| {
            let options = Conv {
                padding: pad.into(),
                precise,
                ..Default::default()
            };
            doubles(&nn::conv2d(&x, &w, options).unwrap())
        });
        let rows = |y: &[f64]| -> Vec<Vec<f64>> {
            y.chunks(shape[3] + 2 * pad - 2)
                .map(<[f64]>::to_vec)
                .collect()
        };
        let all = rows(&fast).into_iter().zip(rows(&precise));
        for (fast, precise) in all {
            let none = precise.iter().all(|y| *y == 0.0);
            assert!(none || fast != precise, "{shape:?}");
        }
    }
}

/// The choice depends on ratios alone.
#[test]
fn results_scale_by_powers_of_two() {
    let x = tensor(&[1, 16, 25, 25], 1);
    let mut values = x.to_vec::<f32>().unwrap();
    (values[3 * 625 + 100], values[700], values[9000]) = (1e4, 40.0, 1e-4);
    let x = Tensor::from_slice(&values, x.shape()).unwrap();
    let w = tensor(&[16, 16, 3, 3], 2);
    let y = doubles(&conv(&x, &w, false));
    for power in [-60, -7, 9, 60] {
        let factor = 2f64.powi(power);
        let scaled = doubles(&conv(&ops::multiply(&x, factor).unwrap(), &w, false));
        assert!(y.iter().zip(&scaled).all(|(y, z)| y * factor == *z));
    }
}
