//! Reductions, scans and sorts of floats.

use crate::common::*;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{BoolDType, FloatDType, IntDType};
use flex_burn::{Flex, FlexTensor};

type Reduction = (
    &'static str,
    fn(FlexTensor) -> FlexTensor,
    fn(FlexTensor, usize) -> FlexTensor,
    fn(&[f64]) -> f64,
);

const REDUCTIONS: &[Reduction] = &[
    ("sum", Flex::float_sum, Flex::float_sum_dim, |x| {
        x.iter().sum()
    }),
    ("prod", Flex::float_prod, Flex::float_prod_dim, |x| {
        x.iter().product()
    }),
    ("mean", Flex::float_mean, Flex::float_mean_dim, |x| {
        x.iter().sum::<f64>() / x.len() as f64
    }),
    ("max", Flex::float_max, Flex::float_max_dim, |x| {
        x.iter().copied().fold(f64::MIN, f64::max)
    }),
    ("min", Flex::float_min, Flex::float_min_dim, |x| {
        x.iter().copied().fold(f64::MAX, f64::min)
    }),
    (
        "max_abs",
        Flex::float_max_abs,
        Flex::float_max_abs_dim,
        |x| x.iter().map(|x| x.abs()).fold(0.0, f64::max),
    ),
];

#[test]
fn reductions() {
    let a = Array::random(&[3, 4, 5], -1.5, 1.5, 3);
    for (name, all, along, oracle) in REDUCTIONS {
        for dtype in FLOATS {
            for layout in 0..LAYOUTS {
                println!("{name} {dtype:?} {layout}");
                let whole = Array::new(&[1], vec![oracle(&a.values)]);
                close(all(floats(&a, dtype, layout)), &whole, dtype, 16.0, 1.0);
                for dim in 0..3 {
                    let want = a.fold(dim, oracle);
                    close(
                        along(floats(&a, dtype, layout), dim),
                        &want,
                        dtype,
                        8.0,
                        1.0,
                    );
                }
            }
        }
    }
    let want = a.fold(0, |x| x.iter().sum()).fold(2, |x| x.iter().sum());
    close(
        Flex::float_sum_dims(floats(&a, FloatDType::F32, 1), &[0, 2]),
        &want,
        FloatDType::F32,
        8.0,
        1.0,
    );
}

#[test]
fn truths() {
    let a = Array::new(&[2, 3], vec![0.0, 0.0, 0.0, 1.0, -2.0, 0.5]);
    for dtype in FLOATS {
        for out in [BoolDType::Native, BoolDType::U8] {
            let x = || floats(&a, dtype, 1);
            equal(Flex::float_any(x(), out), &Array::new(&[1], vec![1.0]), out);
            equal(Flex::float_all(x(), out), &Array::new(&[1], vec![0.0]), out);
            equal(
                Flex::float_any_dim(x(), 1, out),
                &Array::new(&[2, 1], vec![0.0, 1.0]),
                out,
            );
            equal(
                Flex::float_all_dim(x(), 1, out),
                &Array::new(&[2, 1], vec![0.0, 1.0]),
                out,
            );
        }
    }
}

fn scan(f: fn(f64, f64) -> f64) -> impl Fn(&[f64]) -> Vec<f64> {
    move |x| {
        let mut last = x[0];
        let rest = x[1..].iter().map(|x| {
            last = f(last, *x);
            last
        });
        std::iter::once(x[0]).chain(rest).collect()
    }
}

#[test]
fn cumulative() {
    type Scan = (fn(FlexTensor, usize) -> FlexTensor, fn(f64, f64) -> f64);
    let all: &[Scan] = &[
        (Flex::float_cumsum, |x, y| x + y),
        (Flex::float_cumprod, |x, y| x * y),
        (Flex::float_cummin, f64::min),
        (Flex::float_cummax, f64::max),
    ];
    let a = Array::random(&[3, 4, 5], -1.5, 1.5, 3);
    for (f, oracle) in all {
        for dtype in FLOATS {
            for layout in 0..LAYOUTS {
                for dim in 0..3 {
                    let want = a.lines(dim, scan(*oracle));
                    close(f(floats(&a, dtype, layout), dim), &want, dtype, 10.0, 1.0);
                }
            }
        }
    }
}

/// The order of a line: stable, descending or not.
fn order(line: &[f64], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..line.len()).collect();
    order.sort_by(|a, b| match descending {
        true => line[*b].total_cmp(&line[*a]),
        false => line[*a].total_cmp(&line[*b]),
    });
    order
}

#[test]
fn sorts_and_positions() {
    let a = Array::integers(&[4, 5, 6], -3, 4, 5);
    for dtype in FLOATS {
        for layout in 0..LAYOUTS {
            for dim in 0..3 {
                let x = || floats(&a, dtype, layout);
                let out = IntDType::I32;
                for down in [false, true] {
                    let values = a.lines(dim, |l| order(l, down).iter().map(|i| l[*i]).collect());
                    let at = a.lines(dim, |l| order(l, down).iter().map(|i| *i as f64).collect());
                    equal(Flex::float_sort(x(), dim, down), &values, dtype);
                    equal(Flex::float_argsort(x(), dim, down, out), &at, out);
                    let (v, i) = Flex::float_sort_with_indices(x(), dim, down, IntDType::I64);
                    equal(v, &values, dtype);
                    equal(i, &at, IntDType::I64);
                }
                let values = a.lines(dim, |l| order(l, true)[..2].iter().map(|i| l[*i]).collect());
                let at = a.lines(dim, |l| {
                    order(l, true)[..2].iter().map(|i| *i as f64).collect()
                });
                equal(Flex::float_topk(x(), dim, 2), &values, dtype);
                equal(Flex::float_argtopk(x(), dim, 2, out), &at, out);
                let (v, i) = Flex::float_topk_with_indices(x(), dim, 2, out);
                equal(v, &values, dtype);
                equal(i, &at, out);
                let most = a.fold(dim, |l| order(l, true)[0] as f64);
                let least = a.fold(dim, |l| order(l, false)[0] as f64);
                equal(Flex::float_argmax(x(), dim, out), &most, out);
                equal(Flex::float_argmin(x(), dim, out), &least, out);
                let (v, i) = Flex::float_max_dim_with_indices(x(), dim, out);
                equal(v, &a.fold(dim, |l| l[order(l, true)[0]]), dtype);
                equal(i, &most, out);
                let (v, i) = Flex::float_min_dim_with_indices(x(), dim, out);
                equal(v, &a.fold(dim, |l| l[order(l, false)[0]]), dtype);
                equal(i, &least, out);
            }
        }
    }
}
