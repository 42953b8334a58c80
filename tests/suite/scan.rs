//! Every scan x dtype x layout x axis, compared with a running value per line.

use crate::common::*;
use flex::ops::{self, Cumulative};
use flex::{DType, Error, Tensor};

fn available() -> impl Iterator<Item = DType> {
    DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.is_storage())
}

/// The elements of each line along `axis`, lines in row-major order.
fn lines(x: &Tensor, axis: usize) -> Vec<Vec<Value>> {
    let n = x.shape()[axis];
    let mut order: Vec<isize> = (0..x.rank() as isize).collect();
    order.remove(axis);
    order.push(axis as isize);
    let all = values(&x.permute(&order).unwrap());
    let count = all.len().checked_div(n).unwrap_or(0);
    (0..count)
        .map(|k| all[k * n..(k + 1) * n].to_vec())
        .collect()
}

fn parts(v: Value) -> [f64; 2] {
    if let Value::Complex(a, b) = v {
        [a, b]
    } else {
        [v.float(), 0.0]
    }
}

/// Sums and products of a line in float64 or wrapping integers, with the rounding error allowed for
/// each.
fn running(line: &[Value], d: DType, product: bool) -> Vec<(Value, f64)> {
    let unit = epsilon(if d.is_float() { d.wide() } else { d });
    let (mut int, mut re, mut im, mut size) = (
        product as i128,
        product as i128 as f64,
        0.0f64,
        product as i128 as f64,
    );
    line.iter()
        .enumerate()
        .map(|(i, v)| {
            let [a, b] = parts(*v);
            if product {
                int = int.wrapping_mul(v.int()) as i64 as i128;
                (re, im) = (re * a - im * b, re * b + im * a);
                size *= a.hypot(b);
            } else {
                int += v.int();
                (re, im) = (re + a, im + b);
                size += a.abs() + b.abs();
            }
            if d.is_integer() || d.is_bool() {
                let unsigned = d.is_integer() && !d.is_signed() && DType::U64.is_available();
                (
                    Value::Int(if unsigned {
                        int as u64 as i128
                    } else {
                        int as i64 as i128
                    }),
                    0.0,
                )
            } else {
                let depth = (i as f64 + 4.0).min(400.0);
                (Value::Complex(re, im), size * (depth * unit + epsilon(d)))
            }
        })
        .collect()
}

fn expect(what: &str, got: &[Value], want: &[(Value, f64)]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, (w, tolerance))) in got.iter().zip(want).enumerate() {
        if let Value::Int(_) = w {
            assert_eq!(g, w, "{what} [{i}]");
            continue;
        }
        for (g, w) in parts(*g).into_iter().zip(parts(*w)) {
            assert!(
                g == w || (g - w).abs() <= *tolerance || g.is_nan() && w.is_nan(),
                "{what} [{i}] of {}: {g:e}, not {w:e}",
                got.len()
            );
        }
    }
}

fn check(name: &str, x: &Tensor, axis: usize) {
    let d = x.dtype();
    let a = Some(axis as isize);
    for initial in [false, true] {
        let what = |op: &str| {
            format!(
                "{op} {d} {name} {:?} along {axis}, initial: {initial}",
                x.shape()
            )
        };
        let sum = ops::cumulative_sum(
            x,
            Cumulative {
                include_initial: initial,
                ..a.into()
            },
        )
        .unwrap();
        let prod = ops::cumulative_prod(
            x,
            Cumulative {
                include_initial: initial,
                ..a.into()
            },
        )
        .unwrap();
        let mut shape = x.shape().to_vec();
        shape[axis] += initial as usize;
        assert_eq!((sum.shape(), prod.shape()), (&shape[..], &shape[..]));
        let with = |first: i128, mut line: Vec<(Value, f64)>| {
            let exact = d.is_integer() || d.is_bool();
            let first = if exact {
                Value::Int(first)
            } else {
                Value::Complex(first as f64, 0.0)
            };
            line.splice(0..0, initial.then_some((first, 0.0)));
            line
        };
        for (got, line) in lines(&sum, axis).iter().zip(lines(x, axis)) {
            expect(&what("sum"), got, &with(0, running(&line, d, false)));
        }
        for (got, line) in lines(&prod, axis).iter().zip(lines(x, axis)) {
            // products of floats: as long as they stay in the range of all accumulators
            let mut want = with(1, running(&line, d, true));
            if d.is_float() || d.is_complex() {
                let end = want.iter().position(|(v, _)| {
                    !(1e-4..6e4).contains(&parts(*v).iter().fold(0.0, |s: f64, p| s.max(p.abs())))
                });
                want.truncate(end.unwrap_or(want.len()));
            }
            expect(&what("prod"), &got[..want.len()], &want);
        }
    }
    if d.is_complex() {
        return;
    }
    let (max, min) = (
        ops::cumulative_max(x, a).unwrap(),
        ops::cumulative_min(x, a).unwrap(),
    );
    for (op, y, better) in [
        ("max", max, (|a, b| a > b) as fn(f64, f64) -> bool),
        ("min", min, |a, b| a < b),
    ] {
        assert_eq!(y.dtype(), d);
        for (got, line) in lines(&y, axis).iter().zip(lines(x, axis)) {
            let mut best = line.first().copied();
            for (i, v) in line.iter().enumerate() {
                let b = best.as_mut().unwrap();
                if better(v.float(), b.float()) || v.float().is_nan() {
                    *b = *v;
                }
                assert!(
                    got[i] == *b || got[i].float().is_nan() && b.float().is_nan(),
                    "{op} {d} {name} {:?} {i}",
                    x.shape()
                );
            }
        }
    }
}

#[test]
fn every_dtype_and_length() {
    let mut rng = Rng(11);
    for d in available() {
        for n in (0..=70).chain([127, 128, 129, 1000]) {
            for (name, x) in layouts(&random(&mut rng, &[n], d)) {
                check(name, &x, 0);
            }
        }
    }
}

#[test]
fn every_layout_and_axis() {
    let mut rng = Rng(12);
    for d in available() {
        for shape in [
            &[3, 5][..],
            &[40, 33],
            &[2, 70],
            &[70, 2],
            &[3, 4, 20],
            &[9, 1, 40],
            &[2, 3, 4, 5],
            &[1, 1],
            &[0, 3],
            &[3, 0, 2],
        ] {
            for (name, x) in layouts(&random(&mut rng, shape, d)) {
                (0..x.rank()).for_each(|axis| check(name, &x, axis));
            }
            let wide = random(&mut rng, &[1, 20], d).broadcast_to([6, 20]).unwrap();
            (0..2).for_each(|axis| check("broadcast", &wide, axis));
        }
    }
}

#[test]
fn long_lines_match_the_oracle() {
    let mut rng = Rng(13);
    for d in [DType::F32, DType::I32, DType::BF16, DType::U8, DType::Bool]
        .into_iter()
        .filter(|d| d.is_available())
    {
        for shape in [&[40_003][..], &[2, 12_000], &[20, 1500]] {
            for (name, x) in layouts(&random(&mut rng, shape, d)) {
                (0..x.rank()).for_each(|axis| check(name, &x, axis));
            }
        }
    }
}

#[test]
fn nan_propagates() {
    let mut x = vec![1.0f32; 100];
    (x[37], x[60]) = (f32::NAN, f32::INFINITY);
    let x = Tensor::from_slice(&x, [100]).unwrap();
    for y in [
        ops::cumulative_sum(&x, ()),
        ops::cumulative_max(&x, ()),
        ops::cumulative_min(&x, ()),
    ] {
        let y = y.unwrap().to_vec::<f32>().unwrap();
        assert!(y[..37].iter().all(|v| v.is_finite()) && y[37..].iter().all(|v| v.is_nan()));
    }
    let zeros = ops::cumulative_sum(
        &Tensor::from_slice(&[-0.0f32; 20], [20]).unwrap(),
        Cumulative {
            include_initial: true,
            ..().into()
        },
    )
    .unwrap()
    .to_vec::<f32>()
    .unwrap();
    assert!(zeros[0].is_sign_positive() && zeros[1..].iter().all(|v| v.is_sign_negative()));
}

#[test]
fn diff_matches_the_oracle() {
    let x = Tensor::from_slice(&[1i32, 4, 9, 16, 25, 36], [2, 3]).unwrap();
    let ints = |t: flex::Result<Tensor>| t.unwrap().to_vec::<i32>().unwrap();
    assert_eq!(ints(ops::diff(&x, 1, -1, None, None)), [3, 5, 9, 11]);
    assert_eq!(ops::diff(&x, 1, 0, None, None).unwrap().shape(), [1, 3]);
    assert_eq!(ints(ops::diff(&x, 0, 0, None, None)), [1, 4, 9, 16, 25, 36]);
    assert_eq!(ops::diff(&x, 9, 1, None, None).unwrap().shape(), [2, 0]);
    let edge = Tensor::from_slice(&[0i32, 0], [2, 1]).unwrap();
    assert_eq!(
        ints(ops::diff(&x, 1, 1, Some(&edge), None)),
        [1, 3, 5, 16, 9, 11]
    );
    assert_eq!(
        ints(ops::diff(&x, 2, 1, Some(&edge), Some(&edge))),
        [2, 2, -14, -7, 2, -47]
    );
    let u = Tensor::from_slice(&[1u8, 0], [2]).unwrap();
    assert_eq!(
        ops::diff(&u, 1, 0, None, None)
            .unwrap()
            .to_vec::<u8>()
            .unwrap(),
        [255]
    );
    let b = Tensor::from_slice(&[true, false], [2]).unwrap();
    assert!(matches!(
        ops::diff(&b, 1, 0, None, None),
        Err(Error::DType { op: "diff", .. })
    ));
    assert!(matches!(
        ops::diff(&x, 1, 2, None, None),
        Err(Error::Axis { op: "diff", .. })
    ));
    assert!(ops::diff(&x, 1, 0, Some(&edge), None).is_err());
}

#[test]
fn dtypes_and_errors() {
    let x = Tensor::from_slice(&[100i8, 100, 100], [3]).unwrap();
    assert_eq!(
        ops::cumulative_sum(
            &x,
            Cumulative {
                dtype: Some(DType::I8),
                ..().into()
            }
        )
        .unwrap()
        .to_vec::<i8>()
        .unwrap(),
        [100, -56, 44]
    );
    assert_eq!(
        ops::cumulative_sum(
            &x,
            Cumulative {
                dtype: Some(DType::F32),
                ..().into()
            }
        )
        .unwrap()
        .to_vec::<f32>()
        .unwrap(),
        [100.0, 200.0, 300.0]
    );
    assert!(matches!(
        ops::cumulative_sum(
            &x,
            Cumulative {
                dtype: Some(DType::Bool),
                ..().into()
            }
        ),
        Err(Error::DType {
            op: "cumulative_sum",
            ..
        })
    ));
    let y = x.reshape([3, 1]).unwrap();
    assert!(matches!(
        ops::cumulative_prod(&y, ()),
        Err(Error::Value {
            op: "cumulative_prod",
            ..
        })
    ));
    assert!(matches!(
        ops::cumulative_max(&y, 2),
        Err(Error::Axis {
            op: "cumulative_max",
            ..
        })
    ));
    assert!(matches!(
        ops::cumulative_max(&Tensor::scalar(1, DType::I8).unwrap(), ()),
        Err(Error::Value { .. })
    ));
    if DType::Complex64.is_available() {
        let z = Tensor::zeros([2], DType::Complex64).unwrap();
        assert!(matches!(
            ops::cumulative_min(&z, ()),
            Err(Error::DType {
                op: "cumulative_min",
                ..
            })
        ));
    }
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(14);
    for shape in [&[200_001][..], &[3, 70_000], &[300, 700], &[1000, 3]] {
        let x = random(&mut rng, shape, DType::F32);
        for axis in 0..shape.len() {
            let run = || {
                ops::cumulative_sum(&x, axis as isize)
                    .unwrap()
                    .bitcast(DType::I32)
                    .unwrap()
                    .to_vec::<i32>()
                    .unwrap()
            };
            let one = flex::with_threads(1, run);
            for threads in [2, 3, 7] {
                assert!(
                    flex::with_threads(threads, run) == one,
                    "{shape:?} {axis} {threads}"
                );
            }
        }
    }
}

/// Narrow results of columns, against running values of 64 bits that are cut off.
#[cfg(feature = "ints")]
#[test]
fn columns_of_narrow_integers_wrap() {
    const COLUMNS: usize = 70;
    let x = random(&mut Rng(15), &[3, 40, COLUMNS], DType::I32);
    let all = x.to_vec::<i32>().unwrap();
    for product in [false, true] {
        let mut wide: Vec<i64> = Vec::new();
        for (k, x) in all.iter().map(|x| *x as i64).enumerate() {
            wide.push(match (k / COLUMNS % 40, product) {
                (0, _) => x,
                (_, false) => wide[k - COLUMNS].wrapping_add(x),
                (_, true) => wide[k - COLUMNS].wrapping_mul(x),
            });
        }
        for dtype in [DType::I8, DType::U16, DType::I32, DType::I64] {
            let how = Cumulative {
                dtype: Some(dtype),
                ..1.into()
            };
            let y = match product {
                false => ops::cumulative_sum(&x, how).unwrap(),
                true => ops::cumulative_prod(&x, how).unwrap(),
            };
            assert_eq!((y.dtype(), y.shape()), (dtype, x.shape()));
            let want = wide.iter().map(|x| match dtype {
                DType::I8 => *x as i8 as i64,
                DType::U16 => *x as u16 as i64,
                DType::I32 => *x as i32 as i64,
                _ => *x,
            });
            let got = y.astype(DType::I64).unwrap().to_vec::<i64>().unwrap();
            assert!(got.into_iter().eq(want), "{dtype} {product}");
        }
    }
}
