//! Quantiles against sorted lists.

use crate::common::{Rng, close, epsilon, floats, random};
use flex::ops::{self, Interpolation};
use flex::{Axes, DType, Tensor};

/// The element of number `k`, from 1, of sorted ones; those beyond the ends are the ends.
fn element(line: &[f64], k: f64) -> f64 {
    line[(k.clamp(1.0, line.len() as f64)) as usize - 1]
}

/// Between the elements of numbers around `h`.
fn around(line: &[f64], h: f64) -> f64 {
    let (low, high) = (element(line, h.floor()), element(line, h.floor() + 1.0));
    low + (high - low) * (h - h.floor())
}

fn expected(line: &[f64], q: f64, by: Interpolation) -> f64 {
    let mut line = line.to_vec();
    line.sort_by(f64::total_cmp);
    let n = line.len() as f64;
    let position = q * (n - 1.0);
    let (low, high) = (
        line[position.floor() as usize],
        line[position.ceil() as usize],
    );
    match by {
        Interpolation::Linear => low + (high - low) * position.fract(),
        Interpolation::Lower => low,
        Interpolation::Higher => high,
        Interpolation::Nearest => line[position.round_ties_even() as usize],
        Interpolation::Midpoint => (low + high) / 2.0,
        // Hyndman and Fan's definitions 1 to 6, 8 and 9
        Interpolation::InvertedCdf => element(&line, (n * q).ceil()),
        Interpolation::AveragedInvertedCdf => {
            (element(&line, (n * q).ceil()) + element(&line, (n * q).floor() + 1.0)) / 2.0
        }
        Interpolation::ClosestObservation => element(&line, (n * q).round_ties_even()),
        Interpolation::InterpolatedInvertedCdf => around(&line, n * q),
        Interpolation::Hazen => around(&line, n * q + 0.5),
        Interpolation::Weibull => around(&line, (n + 1.0) * q),
        Interpolation::MedianUnbiased => around(&line, (n + 1.0 / 3.0) * q + 1.0 / 3.0),
        Interpolation::NormalUnbiased => around(&line, (n + 0.25) * q + 0.375),
    }
}

#[test]
fn quantiles_match_sorted_lists() {
    let mut rng = Rng(31);
    let methods = [
        Interpolation::Linear,
        Interpolation::Lower,
        Interpolation::Higher,
        Interpolation::Nearest,
        Interpolation::Midpoint,
        Interpolation::InvertedCdf,
        Interpolation::AveragedInvertedCdf,
        Interpolation::ClosestObservation,
        Interpolation::InterpolatedInvertedCdf,
        Interpolation::Hazen,
        Interpolation::Weibull,
        Interpolation::MedianUnbiased,
        Interpolation::NormalUnbiased,
    ];
    let q = [0.0, 0.1, 0.25, 0.5, 0.625, 1.0];
    for dtype in [
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::I32,
        DType::U8,
    ] {
        for n in [1, 2, 5, 9, 64] {
            let x = random(&mut rng, &[n, 3], dtype);
            let elements = floats(&x);
            for by in methods {
                let y = ops::quantile(&x, &q, 0, by).unwrap();
                // a line of NaN below changes nothing for those who skip it
                let nan = ops::full([1, 3], f64::NAN, dtype.inexact()).unwrap();
                if dtype.is_float() {
                    let more = ops::concat(&[&x, &nan, &nan], 0).unwrap();
                    assert_eq!(ops::nanquantile(&more, &q, 0, by).unwrap(), y, "{by:?}");
                }
                assert_eq!((y.shape(), y.dtype()), (&[q.len(), 3][..], dtype.inexact()));
                for (k, got) in floats(&y).into_iter().enumerate() {
                    let line: Vec<f64> = elements[k % 3..].iter().copied().step_by(3).collect();
                    let right = expected(&line, q[k / 3], by);
                    let error = epsilon(dtype.inexact());
                    assert!(
                        close(got, right, error, 1e-6),
                        "{dtype} {by:?}: {got}, not {right}"
                    );
                }
            }
            let medians = ops::median(&x, Axes::from(0).keepdims()).unwrap();
            assert_eq!(medians.shape(), [1, 3]);
            let all = ops::median(&x, ()).unwrap();
            let right = expected(&elements, 0.5, Interpolation::Linear);
            assert!(close(
                floats(&all)[0],
                right,
                epsilon(dtype.inexact()),
                1e-6
            ));
        }
    }
}

#[test]
fn special_elements() {
    let inf = f64::INFINITY;
    let x = Tensor::from([[inf, inf, 1.0], [f64::NAN, 1.0, 2.0], [-inf, 3.0, 4.0]]);
    let median = floats(&ops::median(&x, 1).unwrap());
    assert!(median[0] == inf && median[1].is_nan() && median[2] == 3.0);
    let some = floats(&ops::nanmedian(&x, 1).unwrap());
    assert_eq!(some, [inf, 1.5, 3.0]);
    let upper = floats(&ops::quantile(&x, &[0.75], 1, Interpolation::Linear).unwrap());
    assert!(upper[0] == inf && upper[1].is_nan() && upper[2] == 3.5);
    let none = Tensor::from([[f64::NAN, f64::NAN], [1.0, f64::NAN]]);
    let some = floats(&ops::nanmedian(&none, 1).unwrap());
    assert!(some[0].is_nan() && some[1] == 1.0);
    let none = Tensor::zeros([2, 0], DType::F32).unwrap();
    assert!(
        floats(&ops::median(&none, 1).unwrap())
            .iter()
            .all(|v| v.is_nan())
    );
    assert_eq!(
        ops::quantile(&x, &[], 1, Interpolation::Linear)
            .unwrap()
            .shape(),
        [0, 3]
    );
    let error = |e: flex::Result<Tensor>| e.unwrap_err().to_string();
    for q in [-0.1, 1.1, f64::NAN] {
        let e = error(ops::quantile(&x, &[q], 1, Interpolation::Linear));
        assert!(e.starts_with("quantile: q is"), "{e}");
    }
    assert!(error(ops::median(&x, 2)).starts_with("median: axis 2"));
    assert!(
        error(ops::median(
            &Tensor::zeros([2], DType::Complex64).unwrap(),
            0
        ))
        .contains("median")
    );
    assert_eq!(
        ops::ptp(&Tensor::from([[1u8, 9], [4, 2]]), 0).unwrap(),
        Tensor::from([3u8, 7])
    );
    assert!(error(ops::ptp(&none, 1)).starts_with("ptp: "));
}
