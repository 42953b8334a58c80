//! Tensors of integers: arithmetic wraps in the tensor's dtype.

use crate::common::*;
use burn_backend::ops::IntTensorOps;
use burn_backend::{BoolDType, IntDType, Scalar};
use flex_burn::{Flex, FlexTensor};

/// Small integers of a dtype, some of them negative where it has such.
fn small(shape: &[usize], dtype: IntDType, seed: u64) -> Array {
    Array::integers(shape, if is_signed(dtype) { -9 } else { 0 }, 10, seed)
}
/// Without zeros.
fn divisors(shape: &[usize], dtype: IntDType, seed: u64) -> Array {
    small(shape, dtype, seed).map(|x| if x == 0.0 { 3.0 } else { x })
}
/// Computed in 128 bits and wrapped.
fn by(dtype: IntDType, f: impl Fn(i128, i128) -> i128) -> impl Fn(f64, f64) -> f64 {
    move |x, y| wrap(f(x as i128, y as i128), dtype)
}

type Binary = (
    &'static str,
    fn(FlexTensor, FlexTensor) -> FlexTensor,
    fn(i128, i128) -> i128,
);
const BINARY: &[Binary] = &[
    ("add", Flex::int_add, |x, y| x + y),
    ("sub", Flex::int_sub, |x, y| x - y),
    ("mul", Flex::int_mul, |x, y| x * y),
    ("div", Flex::int_div, |x, y| x / y),
    ("remainder", Flex::int_remainder, |x, y| {
        x - y * (x as f64 / y as f64).floor() as i128
    }),
    ("and", Flex::bitwise_and, |x, y| x & y),
    ("or", Flex::bitwise_or, |x, y| x | y),
    ("xor", Flex::bitwise_xor, |x, y| x ^ y),
];
type WithNumber = (
    &'static str,
    fn(FlexTensor, Scalar) -> FlexTensor,
    fn(i128, i128) -> i128,
);
const WITH_NUMBER: &[WithNumber] = &[
    ("add", Flex::int_add_scalar, |x, y| x + y),
    ("sub", Flex::int_sub_scalar, |x, y| x - y),
    ("mul", Flex::int_mul_scalar, |x, y| x * y),
    ("div", Flex::int_div_scalar, |x, y| x / y),
    ("remainder", Flex::int_remainder_scalar, |x, y| {
        x.rem_euclid(y)
    }),
    ("and", Flex::bitwise_and_scalar, |x, y| x & y),
    ("or", Flex::bitwise_or_scalar, |x, y| x | y),
    ("xor", Flex::bitwise_xor_scalar, |x, y| x ^ y),
    ("left shift", Flex::bitwise_left_shift_scalar, |x, y| x << y),
    ("right shift", Flex::bitwise_right_shift_scalar, |x, y| {
        x >> y
    }),
    ("clamp_min", Flex::int_clamp_min, |x, y| x.max(y)),
    ("clamp_max", Flex::int_clamp_max, |x, y| x.min(y)),
    ("powi", Flex::int_powi_scalar, |x, y| x.pow(y as u32)),
];

#[test]
fn arithmetic() {
    for dtype in INTS {
        for (k, (left, right)) in [([3, 4, 5], [3, 4, 5]), ([3, 1, 5], [3, 4, 1])]
            .iter()
            .enumerate()
        {
            let (a, b) = (small(left, dtype, 1), divisors(right, dtype, 2));
            for (name, f, oracle) in BINARY {
                for layout in 0..LAYOUTS {
                    println!("{name} {dtype:?} {k} {layout}");
                    let (x, y) = (ints(&a, dtype, layout), ints(&b, dtype, 3 - layout));
                    equal(f(x, y), &a.zip(&b, by(dtype, *oracle)), dtype);
                }
            }
        }
        let a = small(&[4, 5], dtype, 3);
        for (name, f, oracle) in WITH_NUMBER {
            for layout in 0..LAYOUTS {
                println!("{name} {dtype:?} {layout}");
                let want = a.map(|x| by(dtype, oracle)(x, 3.0));
                equal(f(ints(&a, dtype, layout), 3.into()), &want, dtype);
            }
        }
        let of = |f: fn(i128) -> i128| a.map(|x| wrap(f(x as i128), dtype));
        let x = || ints(&a, dtype, 1);
        equal(Flex::int_neg(x()), &of(|x| -x), dtype);
        equal(Flex::int_abs(x()), &of(|x| x.abs()), dtype);
        equal(Flex::int_sign(x()), &of(|x| x.signum()), dtype);
        equal(Flex::int_square(x()), &of(|x| x * x), dtype);
        equal(Flex::bitwise_not(x()), &of(|x| !x), dtype);
        equal(Flex::int_powi_scalar(x(), 1.into()), &of(|x| x), dtype);
        equal(Flex::int_powi_scalar(x(), 0.into()), &of(|_| 1), dtype);
        let clamped = a.map(|x| x.clamp(0.0, 4.0));
        equal(Flex::int_clamp(x(), 0.into(), 4.into()), &clamped, dtype);
        // bounds beyond the dtype bound nothing
        equal(
            Flex::int_clamp(x(), i64::MIN.into(), u64::MAX.into()),
            &a,
            dtype,
        );
    }
}

#[test]
fn numbers_wrap() {
    for dtype in [IntDType::I8, IntDType::U8, IntDType::I16, IntDType::U32] {
        let a = Array::new(&[3], vec![1.0, 2.0, 100.0]);
        let of = |f: fn(i128) -> i128| a.map(|x| wrap(f(x as i128), dtype));
        let x = || ints(&a, dtype, 0);
        equal(
            Flex::int_add_scalar(x(), 1000.into()),
            &of(|x| x + 1000),
            dtype,
        );
        equal(Flex::int_mul_scalar(x(), (-1).into()), &of(|x| -x), dtype);
        equal(Flex::int_sub_scalar(x(), 2.9.into()), &of(|x| x - 2), dtype);
        equal(
            Flex::int_full(shape(&[3]), 300.into(), &DEVICE, dtype),
            &of(|_| 300),
            dtype,
        );
        // comparisons are with the number itself
        let out = BoolDType::Native;
        equal(
            Flex::int_lower_elem(x(), 1_000_000_000_000i64.into(), out),
            &a.map(|_| 1.0),
            out,
        );
        equal(
            Flex::int_equal_elem(x(), (1i64 << 40).into(), out),
            &a.map(|_| 0.0),
            out,
        );
        equal(
            Flex::int_greater_elem(x(), (-1).into(), out),
            &a.map(|_| 1.0),
            out,
        );
    }
}

#[test]
fn shifts_count_modulo_the_width() {
    let a = Array::new(&[4], vec![1.0, 3.0, 100.0, 7.0]);
    for dtype in INTS {
        let width = Flex::int_empty(shape(&[1]), &DEVICE, dtype)
            .tensor()
            .dtype()
            .size()
            * 8;
        for by in [0, 1, 5, width, width + 2] {
            let amounts = a.map(|_| by as f64);
            let n = (by % width) as u32;
            let left = a.map(|x| wrap((x as i128) << n, dtype));
            let right = a.map(|x| wrap((x as i128) >> n, dtype));
            let (x, y) = (|| ints(&a, dtype, 0), || ints(&amounts, dtype, 0));
            equal(Flex::bitwise_left_shift(x(), y()), &left, dtype);
            equal(Flex::bitwise_right_shift(x(), y()), &right, dtype);
            equal(
                Flex::bitwise_left_shift_scalar(x(), by.into()),
                &left,
                dtype,
            );
            equal(
                Flex::bitwise_right_shift_scalar(x(), by.into()),
                &right,
                dtype,
            );
        }
    }
    let minus = Array::new(&[2], vec![-8.0, -1.0]);
    let x = ints(&minus, IntDType::I16, 0);
    equal(
        Flex::bitwise_right_shift_scalar(x, 2.into()),
        &Array::new(&[2], vec![-2.0, -1.0]),
        IntDType::I16,
    );
}

#[test]
fn quotients_truncate() {
    let (a, b) = (
        Array::new(&[4], vec![7., -7., 7., -7.]),
        Array::new(&[4], vec![2., 2., -2., -2.]),
    );
    let want = Array::new(&[4], vec![3., -3., -3., 3.]);
    for dtype in INTS.into_iter().filter(|d| is_signed(*d)) {
        equal(
            Flex::int_div(ints(&a, dtype, 0), ints(&b, dtype, 0)),
            &want,
            dtype,
        );
    }
    for dtype in INTS {
        let x = ints(&Array::new(&[2], vec![1., 2.]), dtype, 0);
        let zero = ints(&Array::new(&[2], vec![1., 0.]), dtype, 0);
        let (a, b) = (x.clone(), zero);
        assert!(panic_message(move || Flex::int_div(a, b)).contains("zero"));
        let a = x.clone();
        assert!(panic_message(move || Flex::int_div_scalar(a, 0.into())).contains("zero"));
        assert!(panic_message(move || Flex::int_remainder_scalar(x, 0.into())).contains("zero"));
    }
}

#[test]
fn powers() {
    let a = Array::new(&[5], vec![-2., -1., 0., 1., 2.]);
    let n = Array::new(&[5], vec![3., 2., 5., 7., 6.]);
    let want = Array::new(&[5], vec![-8., 1., 0., 1., 64.]);
    for dtype in INTS.into_iter().filter(|d| is_signed(*d)) {
        equal(
            Flex::int_powi(ints(&a, dtype, 0), ints(&n, dtype, 0)),
            &want,
            dtype,
        );
        let odd = array(Flex::int_powi_scalar(ints(&a, dtype, 0), (-3).into())).values;
        assert_eq!((odd[0], odd[1], odd[3], odd[4]), (0.0, -1.0, 1.0, 0.0));
        let even = array(Flex::int_powi_scalar(ints(&a, dtype, 0), (-2).into())).values;
        assert_eq!((even[1], even[3]), (1.0, 1.0));
    }
}

type Comparison = (
    fn(FlexTensor, FlexTensor, BoolDType) -> FlexTensor,
    fn(FlexTensor, Scalar, BoolDType) -> FlexTensor,
    fn(&f64, &f64) -> bool,
);

#[test]
fn comparisons() {
    let all: &[Comparison] = &[
        (Flex::int_equal, Flex::int_equal_elem, f64::eq),
        (Flex::int_not_equal, Flex::int_not_equal_elem, f64::ne),
        (Flex::int_greater, Flex::int_greater_elem, f64::gt),
        (
            Flex::int_greater_equal,
            Flex::int_greater_equal_elem,
            f64::ge,
        ),
        (Flex::int_lower, Flex::int_lower_elem, f64::lt),
        (Flex::int_lower_equal, Flex::int_lower_equal_elem, f64::le),
    ];
    for dtype in INTS {
        let [a, b] = [1, 2].map(|seed| small(&[4, 6], dtype, seed));
        for (f, with, oracle) in all {
            for out in [BoolDType::Native, BoolDType::U8] {
                let want = a.zip(&b, |x, y| oracle(&x, &y).into());
                equal(f(ints(&a, dtype, 1), ints(&b, dtype, 2), out), &want, out);
                let want = a.map(|x| oracle(&x, &2.0).into());
                equal(with(ints(&a, dtype, 3), 2.into(), out), &want, out);
            }
        }
        let some = Array::new(&[2, 2], vec![0., 0., 1., 2.]);
        let (x, out) = (|| ints(&some, dtype, 0), BoolDType::Native);
        equal(Flex::int_any(x(), out), &Array::new(&[1], vec![1.]), out);
        equal(Flex::int_all(x(), out), &Array::new(&[1], vec![0.]), out);
        equal(
            Flex::int_any_dim(x(), 1, out),
            &Array::new(&[2, 1], vec![0., 1.]),
            out,
        );
        equal(
            Flex::int_all_dim(x(), 1, out),
            &Array::new(&[2, 1], vec![0., 1.]),
            out,
        );
    }
}

type Reduction = (
    &'static str,
    fn(FlexTensor) -> FlexTensor,
    fn(FlexTensor, usize) -> FlexTensor,
    fn(&[i128]) -> i128,
);

#[test]
fn reductions() {
    let all: &[Reduction] = &[
        ("sum", Flex::int_sum, Flex::int_sum_dim, |x| x.iter().sum()),
        ("prod", Flex::int_prod, Flex::int_prod_dim, |x| {
            x.iter().fold(1i128, |p, x| p.wrapping_mul(*x))
        }),
        ("mean", Flex::int_mean, Flex::int_mean_dim, |x| {
            x.iter().sum::<i128>() / x.len() as i128
        }),
        ("max", Flex::int_max, Flex::int_max_dim, |x| {
            *x.iter().max().unwrap()
        }),
        ("min", Flex::int_min, Flex::int_min_dim, |x| {
            *x.iter().min().unwrap()
        }),
        ("max_abs", Flex::int_max_abs, Flex::int_max_abs_dim, |x| {
            x.iter().map(|x| x.abs()).max().unwrap()
        }),
    ];
    for dtype in INTS {
        let a = small(&[3, 4, 5], dtype, 4).map(|x| x + 3.0);
        for (name, whole, along, oracle) in all {
            let wrapped = |l: &[f64]| {
                let l: Vec<i128> = l.iter().map(|x| *x as i128).collect();
                wrap(oracle(&l), dtype)
            };
            for layout in 0..LAYOUTS {
                println!("{name} {dtype:?} {layout}");
                let x = || ints(&a, dtype, layout);
                equal(
                    whole(x()),
                    &Array::new(&[1], vec![wrapped(&a.values)]),
                    dtype,
                );
                for dim in 0..3 {
                    equal(along(x(), dim), &a.fold(dim, wrapped), dtype);
                }
            }
        }
    }
}

#[test]
fn cumulative_and_ordered() {
    type Scan = (fn(FlexTensor, usize) -> FlexTensor, fn(i128, i128) -> i128);
    let scans: &[Scan] = &[
        (Flex::int_cumsum, |x, y| x + y),
        (Flex::int_cumprod, |x, y| x.wrapping_mul(y)),
        (Flex::int_cummin, |x, y| x.min(y)),
        (Flex::int_cummax, |x, y| x.max(y)),
    ];
    for dtype in INTS {
        let a = small(&[3, 4, 7], dtype, 5).map(|x| x + 1.0);
        for layout in 0..LAYOUTS {
            let x = || ints(&a, dtype, layout);
            for dim in 0..3 {
                for (f, oracle) in scans {
                    let want = a.lines(dim, |l| {
                        let mut last = None;
                        let next = l.iter().map(|x| {
                            let x = *x as i128;
                            let y = last.map_or(x, |last| oracle(last, x));
                            let y = wrap(y, dtype) as i128;
                            last = Some(y);
                            y as f64
                        });
                        next.collect()
                    });
                    equal(f(x(), dim), &want, dtype);
                }
                for down in [false, true] {
                    let order = |l: &[f64]| {
                        let mut o: Vec<usize> = (0..l.len()).collect();
                        o.sort_by(|i, j| match down {
                            true => l[*j].total_cmp(&l[*i]),
                            false => l[*i].total_cmp(&l[*j]),
                        });
                        o
                    };
                    let values = a.lines(dim, |l| order(l).iter().map(|i| l[*i]).collect());
                    let at = a.lines(dim, |l| order(l).iter().map(|i| *i as f64).collect());
                    equal(Flex::int_sort(x(), dim, down), &values, dtype);
                    equal(Flex::int_argsort(x(), dim, down), &at, dtype);
                    let (v, i) = Flex::int_sort_with_indices(x(), dim, down);
                    equal(v, &values, dtype);
                    equal(i, &at, dtype);
                    let first = a.fold(dim, |l| order(l)[0] as f64);
                    let best = a.fold(dim, |l| l[order(l)[0]]);
                    let (arg, (v, i)) = match down {
                        true => (
                            Flex::int_argmax(x(), dim),
                            Flex::int_max_dim_with_indices(x(), dim),
                        ),
                        false => (
                            Flex::int_argmin(x(), dim),
                            Flex::int_min_dim_with_indices(x(), dim),
                        ),
                    };
                    equal(arg, &first, dtype);
                    equal(v, &best, dtype);
                    equal(i, &first, dtype);
                    if down {
                        let values =
                            a.lines(dim, |l| order(l)[..2].iter().map(|i| l[*i]).collect());
                        let at =
                            a.lines(dim, |l| order(l)[..2].iter().map(|i| *i as f64).collect());
                        equal(Flex::int_topk(x(), dim, 2), &values, dtype);
                        equal(Flex::int_argtopk(x(), dim, 2), &at, dtype);
                        let (v, i) = Flex::int_topk_with_indices(x(), dim, 2);
                        equal(v, &values, dtype);
                        equal(i, &at, dtype);
                    }
                }
            }
        }
    }
}

#[test]
fn products_ranges_and_conversions() {
    for dtype in INTS {
        let (a, b) = (small(&[2, 3, 4], dtype, 1), small(&[2, 4, 5], dtype, 2));
        let want = Array::of(&[2, 3, 5], |at| {
            let terms = (0..4).map(|k| a.at(&[at[0], at[1], k]) * b.at(&[at[0], k, at[2]]));
            wrap(terms.sum::<f64>() as i128, dtype)
        });
        equal(
            Flex::int_matmul(ints(&a, dtype, 1), ints(&b, dtype, 2)),
            &want,
            dtype,
        );
        let range = |from: usize, step: usize| {
            let all: Vec<f64> = (from..20).step_by(step).map(|x| x as f64).collect();
            Array::new(&[all.len()], all)
        };
        equal(Flex::int_arange(3..20, &DEVICE, dtype), &range(3, 1), dtype);
        equal(
            Flex::int_arange_step(3..20, 4, &DEVICE, dtype),
            &range(3, 4),
            dtype,
        );
        assert_eq!(array(Flex::int_arange(5..5, &DEVICE, dtype)).shape, [0]);
        for to in INTS {
            let want = a.map(|x| wrap(x as i128, to));
            equal(Flex::int_cast(ints(&a, dtype, 3), to), &want, to);
        }
        for to in FLOATS {
            equal(Flex::int_into_float(ints(&a, dtype, 1), to), &a, to);
        }
        let of = |value: f64| Array::of(&[2, 3], |_| value);
        equal(
            Flex::int_zeros(shape(&[2, 3]), &DEVICE, dtype),
            &of(0.0),
            dtype,
        );
        equal(
            Flex::int_ones(shape(&[2, 3]), &DEVICE, dtype),
            &of(1.0),
            dtype,
        );
        equal(
            Flex::int_full(shape(&[2, 3]), 7.into(), &DEVICE, dtype),
            &of(7.0),
            dtype,
        );
    }
}
