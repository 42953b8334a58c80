//! Reductions that skip NaN against loops over the numbers that are left, and comparisons.

use crate::common::{Rng, close, epsilon, floats};
use flex::ops::{self, Allclose, NanToNum};
use flex::{DType, Tensor};

/// A matrix with NaN for a third of its elements, and its rows without them.
fn gaps(rng: &mut Rng, rows: usize, columns: usize, dtype: DType) -> (Tensor, Vec<Vec<f64>>) {
    let values: Vec<f64> = (0..rows * columns)
        .map(|_| match rng.below(3) {
            0 => f64::NAN,
            _ => rng.between(0, 16) as f64 / 4.0 - 2.0,
        })
        .collect();
    let numbers = |row: &[f64]| row.iter().copied().filter(|v| !v.is_nan()).collect();
    let rows_of = values.chunks(columns).map(numbers).collect();
    let x = Tensor::from_slice(&values, [rows, columns]).unwrap();
    (x.astype(dtype).unwrap(), rows_of)
}

#[test]
fn reductions_skip_nan() {
    let mut rng = Rng(21);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for columns in [1, 2, 7, 40, 300] {
            let (x, rows) = gaps(&mut rng, 9, columns, dtype);
            let check = |y: flex::Result<Tensor>, of: &dyn Fn(&[f64]) -> f64| {
                let y = y.unwrap();
                assert_eq!((y.dtype(), y.shape()), (dtype, &[9][..]));
                for (got, row) in floats(&y).into_iter().zip(&rows) {
                    let expected = of(row);
                    assert!(
                        close(got, expected, epsilon(dtype), 1e-5),
                        "{dtype}: {got}, not {expected}"
                    );
                }
            };
            let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
            let var = |row: &[f64], correction: f64| {
                let away = row.iter().map(|v| (v - mean(row)).powi(2)).sum::<f64>();
                let freedom = row.len() as f64 - correction;
                if freedom > 0.0 {
                    away / freedom
                } else {
                    f64::NAN
                }
            };
            let or_nan = |row: &[f64], v: f64| if row.is_empty() { f64::NAN } else { v };
            check(ops::nansum(&x, 1), &|row| row.iter().sum());
            check(ops::nanmean(&x, 1), &mean);
            check(ops::nanmax(&x, 1), &|row| {
                or_nan(row, row.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            });
            check(ops::nanmin(&x, 1), &|row| {
                or_nan(row, row.iter().copied().fold(f64::INFINITY, f64::min))
            });
            check(ops::nanvar(&x, 1, 0.0), &|row| var(row, 0.0));
            check(ops::nanvar(&x, 1, 1.0), &|row| var(row, 1.0));
            check(ops::nanstd(&x, 1, 1.0), &|row| var(row, 1.0).sqrt());
        }
    }
}

#[test]
fn integers_have_no_nan() {
    let x = Tensor::from([[1, 2], [3, 6]]);
    assert_eq!(ops::nansum(&x, 0).unwrap(), ops::sum(&x, 0).unwrap());
    assert_eq!(ops::nanmean(&x, 1).unwrap(), ops::mean(&x, 1).unwrap());
    assert_eq!(ops::nanmax(&x, ()).unwrap(), ops::max(&x, ()).unwrap());
    assert_eq!(ops::nanmin(&x, ()).unwrap(), ops::min(&x, ()).unwrap());
    assert_eq!(
        ops::nanvar(&x, 0, 0.0).unwrap(),
        ops::var(&x, 0, 0.0).unwrap()
    );
    assert_eq!(
        ops::nanstd(&x, 0, 0.0).unwrap(),
        ops::std(&x, 0, 0.0).unwrap()
    );
    assert!(ops::nan_to_num(&x, ()).unwrap().shares_storage(&x));
    let none = Tensor::zeros([0, 2], DType::F32).unwrap();
    assert!(
        ops::nanmax(&none, 0)
            .unwrap_err()
            .to_string()
            .starts_with("nanmax: ")
    );
    assert!(
        ops::nanstd(&none, 2, 0.0)
            .unwrap_err()
            .to_string()
            .starts_with("nanstd: ")
    );
}

#[test]
fn infinities_become_the_largest_numbers() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5];
    for (dtype, largest) in [
        (DType::F16, 65504.0),
        (DType::BF16, 255.0 * 2f64.powi(120)),
        (DType::F32, f64::from(f32::MAX)),
        (DType::F64, f64::MAX),
    ] {
        let x = Tensor::from(values).astype(dtype).unwrap();
        let y = ops::nan_to_num(&x, ()).unwrap();
        assert_eq!(
            (y.dtype(), floats(&y)),
            (dtype, vec![0.0, largest, -largest, 0.5])
        );
        let by = NanToNum {
            nan: 1.0,
            posinf: Some(2.0),
            neginf: Some(3.0),
        };
        assert_eq!(
            floats(&ops::nan_to_num(&x, by).unwrap()),
            [1.0, 2.0, 3.0, 0.5]
        );
    }
}

#[test]
fn elements_are_close() {
    let x = Tensor::from([1.0, 1.0, f64::INFINITY, f64::NAN, -2.0]);
    let y = Tensor::from([1.1, 1.2, f64::INFINITY, f64::NAN, f64::NEG_INFINITY]);
    let within = |equal_nan| Allclose {
        rtol: 0.0,
        atol: 0.15,
        equal_nan,
    };
    let close = |equal_nan| {
        let y = ops::isclose(&x, &y, within(equal_nan)).unwrap();
        y.to_vec::<bool>().unwrap()
    };
    assert_eq!(close(false), [true, false, true, false, false]);
    assert_eq!(close(true), [true, false, true, true, false]);
    let short = Tensor::from([1.0, 2.0]);
    assert!(
        ops::isclose(&x, &short, ())
            .unwrap_err()
            .to_string()
            .starts_with("isclose: ")
    );
    assert!(!ops::array_equal(&x, &x, false).unwrap() && ops::array_equal(&x, &x, true).unwrap());
    assert!(!ops::array_equal(&x, &short, true).unwrap());
}
