//! Elementwise functions, comparisons, products and conversions of floats.

use crate::common::*;
use burn_backend::ops::{ActivationOps, FloatTensorOps};
use burn_backend::{BoolDType, DType, FloatDType, IntDType, Scalar};
use flex_burn::{Flex, FlexTensor};

type Unary = (
    &'static str,
    fn(FlexTensor) -> FlexTensor,
    fn(f64) -> f64,
    (f64, f64),
);

fn erf(x: f64) -> f64 {
    // a series of terms of one sign
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-18 * sum.abs() {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    sum * (-x * x).exp() * 2.0 / std::f64::consts::PI.sqrt()
}
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

const UNARY: &[Unary] = &[
    ("neg", Flex::float_neg, |x| -x, (-9.0, 9.0)),
    ("recip", Flex::float_recip, |x| 1.0 / x, (0.1, 9.0)),
    ("abs", Flex::float_abs, f64::abs, (-9.0, 9.0)),
    ("sign", Flex::float_sign, f64::signum, (-9.0, 9.0)),
    ("sqrt", Flex::float_sqrt, f64::sqrt, (0.0, 90.0)),
    ("exp", Flex::float_exp, f64::exp, (-6.0, 6.0)),
    ("log", Flex::float_log, f64::ln, (0.1, 90.0)),
    ("log1p", Flex::float_log1p, f64::ln_1p, (-0.9, 9.0)),
    ("erf", Flex::float_erf, erf, (-3.0, 3.0)),
    ("sin", Flex::float_sin, f64::sin, (-9.0, 9.0)),
    ("cos", Flex::float_cos, f64::cos, (-9.0, 9.0)),
    ("tan", Flex::float_tan, f64::tan, (-1.4, 1.4)),
    ("asin", Flex::float_asin, f64::asin, (-1.0, 1.0)),
    ("acos", Flex::float_acos, f64::acos, (-1.0, 1.0)),
    ("atan", Flex::float_atan, f64::atan, (-9.0, 9.0)),
    ("sinh", Flex::float_sinh, f64::sinh, (-6.0, 6.0)),
    ("cosh", Flex::float_cosh, f64::cosh, (-6.0, 6.0)),
    ("tanh", Flex::float_tanh, f64::tanh, (-4.0, 4.0)),
    (
        "asinh",
        Flex::float_asinh,
        |x| f64::signum(x) * (x.abs() + x.hypot(1.0)).ln(),
        (0.5, 9.0),
    ),
    ("acosh", Flex::float_acosh, f64::acosh, (1.5, 9.0)),
    (
        "atanh",
        Flex::float_atanh,
        |x| 0.5 * (f64::ln_1p(x) - f64::ln_1p(-x)),
        (-0.9, 0.9),
    ),
    (
        "round",
        Flex::float_round,
        f64::round_ties_even,
        (-9.0, 9.0),
    ),
    ("floor", Flex::float_floor, f64::floor, (-9.0, 9.0)),
    ("ceil", Flex::float_ceil, f64::ceil, (-9.0, 9.0)),
    ("trunc", Flex::float_trunc, f64::trunc, (-9.0, 9.0)),
    ("relu", Flex::relu, |x| x.max(0.0), (-9.0, 9.0)),
    (
        "gelu",
        Flex::gelu,
        |x| 0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2)),
        (-3.0, 3.0),
    ),
    ("sigmoid", Flex::sigmoid, sigmoid, (-6.0, 6.0)),
    (
        "log_sigmoid",
        Flex::log_sigmoid,
        |x| -f64::ln_1p((-x).exp()),
        (-6.0, 6.0),
    ),
    (
        "leaky_relu",
        |x| Flex::leaky_relu(x, 0.25.into()),
        |x| x.max(0.25 * x),
        (-9.0, 9.0),
    ),
    (
        "hard_sigmoid",
        |x| Flex::hard_sigmoid(x, 0.25.into(), 0.5.into()),
        |x| (0.25 * x + 0.5).clamp(0.0, 1.0),
        (-9.0, 9.0),
    ),
    (
        "powi 0",
        |x| Flex::float_powi_scalar(x, 0.into()),
        |_| 1.0,
        (-3.0, 3.0),
    ),
    (
        "powi 1",
        |x| Flex::float_powi_scalar(x, 1.into()),
        |x| x,
        (-3.0, 3.0),
    ),
    (
        "powi 2",
        |x| Flex::float_powi_scalar(x, 2.into()),
        |x| x * x,
        (-3.0, 3.0),
    ),
    (
        "powi 3",
        |x| Flex::float_powi_scalar(x, 3.into()),
        |x| x.powi(3),
        (-3.0, 3.0),
    ),
    (
        "powi -1",
        |x| Flex::float_powi_scalar(x, (-1).into()),
        |x| 1.0 / x,
        (0.5, 3.0),
    ),
    (
        "powi -2",
        |x| Flex::float_powi_scalar(x, (-2).into()),
        |x| 1.0 / (x * x),
        (0.5, 3.0),
    ),
    (
        "powf 2.5",
        |x| Flex::float_powf_scalar(x, 2.5.into()),
        |x| x.powf(2.5),
        (0.5, 3.0),
    ),
    (
        "powf 3",
        |x| Flex::float_powf_scalar(x, 3.0.into()),
        |x| x.powi(3),
        (-3.0, 3.0),
    ),
    (
        "add",
        |x| Flex::float_add_scalar(x, 1.5.into()),
        |x| x + 1.5,
        (-9.0, 9.0),
    ),
    (
        "sub",
        |x| Flex::float_sub_scalar(x, 1.5.into()),
        |x| x - 1.5,
        (-9.0, 9.0),
    ),
    (
        "mul",
        |x| Flex::float_mul_scalar(x, 1.5.into()),
        |x| x * 1.5,
        (-9.0, 9.0),
    ),
    (
        "div",
        |x| Flex::float_div_scalar(x, 1.5.into()),
        |x| x / 1.5,
        (-9.0, 9.0),
    ),
    (
        "remainder",
        |x| Flex::float_remainder_scalar(x, (-1.5).into()),
        |x| x - (x / -1.5).floor() * -1.5,
        (-9.0, 9.0),
    ),
    (
        "clamp",
        |x| Flex::float_clamp(x, (-2).into(), 3.into()),
        |x| x.clamp(-2.0, 3.0),
        (-9.0, 9.0),
    ),
    (
        "clamp_min",
        |x| Flex::float_clamp_min(x, 1.into()),
        |x| x.max(1.0),
        (-9.0, 9.0),
    ),
    (
        "clamp_max",
        |x| Flex::float_clamp_max(x, 1.into()),
        |x| x.min(1.0),
        (-9.0, 9.0),
    ),
];

#[test]
fn functions_of_one_tensor() {
    for (k, (name, f, oracle, (low, high))) in UNARY.iter().enumerate() {
        let a = Array::random(&[3, 4, 5], *low, *high, k as u64);
        for dtype in FLOATS {
            for layout in 0..LAYOUTS {
                println!("{name} {dtype:?} {layout}");
                let x = floats(&a, dtype, layout);
                // a tensor that others hold keeps its values
                let other = x.clone();
                close(f(x), &a.map(oracle), dtype, 6.0, 0.1);
                equal(other, &a, dtype);
                close(
                    f(floats(&a, dtype, layout)),
                    &a.map(oracle),
                    dtype,
                    6.0,
                    0.1,
                );
            }
        }
    }
}

type Binary = (
    &'static str,
    fn(FlexTensor, FlexTensor) -> FlexTensor,
    fn(f64, f64) -> f64,
);

const BINARY: &[Binary] = &[
    ("add", Flex::float_add, |x, y| x + y),
    ("sub", Flex::float_sub, |x, y| x - y),
    ("mul", Flex::float_mul, |x, y| x * y),
    ("div", Flex::float_div, |x, y| x / y),
    ("remainder", Flex::float_remainder, |x, y| {
        x - (x / y).floor() * y
    }),
    ("powf", Flex::float_powf, f64::powf),
    ("atan2", Flex::float_atan2, f64::atan2),
    ("hypot", Flex::float_hypot, f64::hypot),
    ("prelu", Flex::prelu, |x, y| if x < 0.0 { x * y } else { x }),
];

#[test]
fn functions_of_two_tensors() {
    let shapes = [
        ([3, 4, 5], [3, 4, 5]),
        ([3, 4, 5], [3, 1, 5]),
        ([1, 4, 1], [3, 4, 5]),
    ];
    for (name, f, oracle) in BINARY {
        for (k, (left, right)) in shapes.iter().enumerate() {
            let (a, b) = (
                Array::random(left, 0.5, 3.0, 7),
                Array::random(right, 0.5, 3.0, 8),
            );
            let want = a.zip(&b, oracle);
            for dtype in FLOATS {
                println!("{name} {k} {dtype:?}");
                let (x, y) = (floats(&a, dtype, k), floats(&b, dtype, 3 - k));
                close(f(x, y), &want, dtype, 8.0, 1.0);
                // into the memory of either, where it fits
                let (x, y) = (floats(&a, dtype, 0), floats(&b, dtype, 0));
                let kept = y.clone();
                close(f(x, y), &want, dtype, 8.0, 1.0);
                equal(kept, &b, dtype);
            }
        }
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
        (Flex::float_equal, Flex::float_equal_elem, f64::eq),
        (Flex::float_not_equal, Flex::float_not_equal_elem, f64::ne),
        (Flex::float_greater, Flex::float_greater_elem, f64::gt),
        (
            Flex::float_greater_equal,
            Flex::float_greater_equal_elem,
            f64::ge,
        ),
        (Flex::float_lower, Flex::float_lower_elem, f64::lt),
        (
            Flex::float_lower_equal,
            Flex::float_lower_equal_elem,
            f64::le,
        ),
    ];
    let (a, b) = (
        Array::integers(&[4, 6], -2, 3, 1),
        Array::integers(&[4, 6], -2, 3, 2),
    );
    for (f, with, oracle) in all {
        let want = a.zip(&b, |x, y| oracle(&x, &y).into());
        let of_one = a.map(|x| oracle(&x, &1.0).into());
        for dtype in FLOATS {
            for (layout, out) in [
                (0, BoolDType::Native),
                (1, BoolDType::U8),
                (3, BoolDType::Native),
            ] {
                let [x, y] = [&a, &b].map(|t| floats(t, dtype, layout));
                equal(f(x.clone(), y, out), &want, out);
                equal(with(x, 1.0.into(), out), &of_one, out);
            }
        }
    }
}

#[test]
fn special_values() {
    let a = Array::new(
        &[5],
        vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0],
    );
    for dtype in FLOATS {
        let x = || floats(&a, dtype, 0);
        let native = BoolDType::Native;
        equal(
            Flex::float_is_nan(x(), native),
            &Array::new(&[5], vec![1., 0., 0., 0., 0.]),
            native,
        );
        equal(
            Flex::float_is_inf(x(), native),
            &Array::new(&[5], vec![0., 1., 1., 0., 0.]),
            native,
        );
        let clamped = array(Flex::float_clamp(x(), (-1).into(), 1.into())).values;
        assert!(clamped[0].is_nan() && clamped[1..] == [1.0, -1.0, 0.0, 0.0]);
        let signs = array(Flex::float_sign(x())).values;
        assert!(signs[1..] == [1.0, -1.0, 0.0, 0.0] && signs[4].is_sign_positive());
    }
}

#[test]
fn products() {
    let (a, b) = (
        Array::integers(&[2, 3, 4], -3, 4, 1),
        Array::integers(&[2, 4, 5], -3, 4, 2),
    );
    let want = Array::of(&[2, 3, 5], |at| {
        (0..4)
            .map(|k| a.at(&[at[0], at[1], k]) * b.at(&[at[0], k, at[2]]))
            .sum()
    });
    let (u, v) = (
        Array::integers(&[3, 4], -3, 4, 3),
        Array::integers(&[3, 4], -3, 4, 4),
    );
    let cross = Array::of(&[3, 4], |at| {
        let (i, j, c) = ((at[0] + 1) % 3, (at[0] + 2) % 3, at[1]);
        u.at(&[i, c]) * v.at(&[j, c]) - u.at(&[j, c]) * v.at(&[i, c])
    });
    for dtype in FLOATS {
        for layout in 0..LAYOUTS {
            let [x, y] = [(&a, layout), (&b, 3 - layout)].map(|(t, l)| floats(t, dtype, l));
            equal(Flex::float_matmul(x, y), &want, dtype);
            let [x, y] = [(&u, layout), (&v, 3 - layout)].map(|(t, l)| floats(t, dtype, l));
            equal(Flex::float_cross(x, y, 0), &cross, dtype);
        }
    }
}

#[test]
fn conversions() {
    let a = Array::random(&[3, 4], -9.0, 9.0, 1);
    for from in FLOATS {
        for layout in 0..LAYOUTS {
            for to in FLOATS {
                equal(Flex::float_cast(floats(&a, from, layout), to), &a, to);
            }
            for to in INTS {
                let want = a.map(|x| {
                    if is_signed(to) {
                        x.trunc()
                    } else {
                        x.trunc().max(0.0)
                    }
                });
                equal(
                    Flex::float_into_int(floats(&a, from, layout), to),
                    &want.map(|x| x + 0.0),
                    to,
                );
            }
        }
    }
    let beyond = Array::new(&[3], vec![1e9, -1e9, f64::NAN]);
    let x = floats(&beyond, FloatDType::F64, 0);
    equal(
        Flex::float_into_int(x, IntDType::I8),
        &Array::new(&[3], vec![127.0, -128.0, 0.0]),
        DType::I8,
    );
}

#[test]
fn made_of_one_number() {
    for dtype in FLOATS {
        let of = |value: f64| Array::of(&[2, 3], |_| value);
        equal(
            Flex::float_zeros(shape(&[2, 3]), &DEVICE, dtype),
            &of(0.0),
            dtype,
        );
        equal(
            Flex::float_ones(shape(&[2, 3]), &DEVICE, dtype),
            &of(1.0),
            dtype,
        );
        equal(
            Flex::float_full(shape(&[2, 3]), 2.5.into(), &DEVICE, dtype),
            &of(2.5),
            dtype,
        );
        assert_eq!(
            array(Flex::float_empty(shape(&[2, 3]), &DEVICE, dtype)).shape,
            [2, 3]
        );
    }
}

#[test]
fn gradients_of_activations() {
    let x = Array::random(&[4, 5], -3.0, 3.0, 1);
    let g = Array::random(&[4, 5], -3.0, 3.0, 2);
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let gelu = |x: f64| 0.5 * (1.0 + erf(x / std::f64::consts::SQRT_2)) + x * density(x);
    for dtype in FLOATS {
        for layout in 0..LAYOUTS {
            let (at, grad) = (
                || floats(&x, dtype, layout),
                || floats(&g, dtype, 3 - layout),
            );
            let of = |f: &dyn Fn(f64) -> f64| x.zip(&g, |x, g| f(x) * g);
            close(
                Flex::gelu_backward(at(), grad()),
                &of(&gelu),
                dtype,
                8.0,
                1.0,
            );
            close(
                Flex::relu_backward(at(), grad()),
                &of(&|x| if x > 0.0 { 1.0 } else { 0.0 }),
                dtype,
                1.0,
                1.0,
            );
            close(
                Flex::sigmoid_backward(at(), grad()),
                &of(&|y| y * (1.0 - y)),
                dtype,
                8.0,
                1.0,
            );
            close(
                Flex::log_sigmoid_backward(at(), grad()),
                &of(&|x| sigmoid(-x)),
                dtype,
                8.0,
                1.0,
            );
        }
    }
}

#[test]
fn softmaxes() {
    let a = Array::random(&[3, 4, 5], -3.0, 3.0, 1);
    let softmax = |l: &[f64]| {
        let sum: f64 = l.iter().map(|x| x.exp()).sum();
        l.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
    };
    for dtype in FLOATS {
        for layout in 0..LAYOUTS {
            for dim in 0..3 {
                let x = || floats(&a, dtype, layout);
                let want = a.lines(dim, softmax);
                close(Flex::softmax(x(), dim), &want, dtype, 8.0, 0.1);
                close(
                    Flex::log_softmax(x(), dim),
                    &want.map(f64::ln),
                    dtype,
                    8.0,
                    0.5,
                );
                let negative = a.map(|x| -x).lines(dim, softmax);
                close(Flex::softmin(x(), dim), &negative, dtype, 8.0, 0.1);
            }
        }
    }
}
