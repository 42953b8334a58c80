//! Taking, putting, masks, positions against naive oracles: every dtype, layout and mode.
#![cfg(all(
    feature = "ints",
    feature = "f64",
    feature = "half",
    feature = "complex"
))]

use crate::common::{Rng, Value, close, epsilon, indices, layouts, random, values};
use flex::ops::{self, Index, ScatterMode};
use flex::{DType, Error, Tensor};

/// The position of an index in row-major order.
fn place(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |p, (n, i)| p * n + i)
}
/// NaN equals NaN.
fn same(a: &[Value], b: &[Value]) -> bool {
    let nan = |v: &Value| matches!(v, Value::Float(x) if x.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || nan(a) && nan(b))
}
/// Random positions in an axis of `size`, some negative, in a random integer dtype.
fn positions(rng: &mut Rng, shape: &[usize], size: usize) -> Tensor {
    let n = shape.iter().product::<usize>();
    let p: Vec<i64> = (0..n)
        .map(|_| rng.between(0, 2 * size - 1) as i64 - size as i64)
        .collect();
    let dtypes = [DType::I8, DType::I16, DType::I32, DType::I64];
    Tensor::from_slice(&p, shape)
        .unwrap()
        .astype(dtypes[rng.between(0, 3)])
        .unwrap()
}
fn wrapped(p: &Value, size: usize) -> usize {
    p.int().rem_euclid(size as i128) as usize
}

#[test]
fn take_and_index_add_match_the_oracle() {
    let mut rng = Rng(1);
    for dtype in DType::ALL {
        for (shape, axis) in [
            (&[7][..], 0),
            (&[3, 5], 0),
            (&[3, 5], 1),
            (&[2, 3, 4], 1),
            (&[4, 1, 3, 2], 2),
            (&[2, 0, 3], 2),
        ] {
            let base = random(&mut rng, shape, dtype);
            let v = values(&base);
            let positions_shape = [vec![], vec![0], vec![6], vec![2, 3]][rng.between(0, 3)].clone();
            let p = positions(&mut rng, &positions_shape, shape[axis]);
            let pv = values(&p);
            let mut out_shape = shape.to_vec();
            out_shape.splice(axis..=axis, positions_shape.iter().copied());
            let source = |index: &[usize]| {
                let mut from = index.to_vec();
                let at = place(&positions_shape, &index[axis..axis + positions_shape.len()]);
                from.splice(
                    axis..axis + positions_shape.len(),
                    [wrapped(&pv[at], shape[axis])],
                );
                place(shape, &from)
            };
            let expected: Vec<Value> = indices(&out_shape).iter().map(|i| v[source(i)]).collect();
            let added = random(&mut rng, &out_shape, dtype);
            for (name, x) in layouts(&base) {
                let y = ops::take(&x, &p, axis as isize).unwrap();
                assert_eq!(y.shape(), out_shape);
                assert!(
                    same(&values(&y), &expected),
                    "{dtype} {name} {shape:?} {axis}"
                );
                if dtype.is_integer() {
                    let mut sums = v.clone();
                    for (i, a) in indices(&out_shape).iter().zip(values(&added)) {
                        sums[source(i)] = Value::Int(sums[source(i)].int() + a.int());
                    }
                    let exact = Tensor::from_slice(
                        &sums.iter().map(|v| v.int() as i64).collect::<Vec<_>>(),
                        shape,
                    )
                    .unwrap();
                    let y = ops::index_add(&x, &p, &added, axis as isize).unwrap();
                    assert_eq!(
                        values(&y),
                        values(&exact.astype(dtype).unwrap()),
                        "{dtype} {name} {shape:?} {axis}"
                    );
                }
            }
        }
    }
}

/// An element combined with one value.
fn join(mode: ScatterMode, old: Value, new: Value) -> Value {
    use Value::{Complex, Float, Int};
    match (mode, old, new) {
        (ScatterMode::Max, ..) if new.float() <= old.float() => old,
        (ScatterMode::Min, ..) if new.float() >= old.float() => old,
        (ScatterMode::Add, Int(a), Int(b)) => Int(a + b),
        (ScatterMode::Add, Complex(a, b), Complex(c, d)) => Complex(a + c, b + d),
        (ScatterMode::Add, ..) => Float(old.float() + new.float()),
        (ScatterMode::Multiply, Int(a), Int(b)) => Int(a * b),
        (ScatterMode::Multiply, Complex(a, b), Complex(c, d)) => {
            Complex(a * c - b * d, a * d + b * c)
        }
        (ScatterMode::Multiply, ..) => Float(old.float() * new.float()),
        _ => new,
    }
}

#[test]
fn take_and_put_along_an_axis_match_the_oracle() {
    let mut rng = Rng(2);
    for dtype in DType::ALL {
        for (shape, axis, k) in [
            (&[7][..], 0, 9),
            (&[3, 5], 0, 2),
            (&[3, 5], 1, 4),
            (&[2, 3, 4], 1, 5),
            (&[2, 3, 4], -1, 0),
            (&[2, 0, 3], 2, 2),
        ] {
            let base = random(&mut rng, shape, dtype);
            let v = values(&base);
            let a = isize::rem_euclid(axis, shape.len() as isize) as usize;
            let mut out_shape = shape.to_vec();
            out_shape[a] = k;
            let p = positions(&mut rng, &out_shape, shape[a]);
            let pv = values(&p);
            let source = |n: usize, index: &[usize]| {
                let mut from = index.to_vec();
                from[a] = wrapped(&pv[n], shape[a]);
                place(shape, &from)
            };
            let all = indices(&out_shape);
            let expected: Vec<Value> = all
                .iter()
                .enumerate()
                .map(|(n, i)| v[source(n, i)])
                .collect();
            let put = random(&mut rng, &out_shape, dtype);
            let put_values = values(&put);
            for ((name, x), (_, p)) in layouts(&base).into_iter().zip(layouts(&p)) {
                let y = ops::take_along_axis(&x, &p, axis).unwrap();
                assert_eq!(y.shape(), out_shape);
                assert!(
                    same(&values(&y), &expected),
                    "{dtype} {name} {shape:?} {axis}"
                );
                for mode in [
                    ScatterMode::Set,
                    ScatterMode::Add,
                    ScatterMode::Multiply,
                    ScatterMode::Max,
                    ScatterMode::Min,
                ] {
                    let got = ops::scatter(&x, &p, &put, axis, mode);
                    let lacking = mode != ScatterMode::Set
                        && (dtype.is_bool() || dtype.is_storage())
                        || matches!(mode, ScatterMode::Max | ScatterMode::Min)
                            && dtype.is_complex();
                    if lacking {
                        assert!(matches!(got, Err(Error::DType { .. })), "{dtype} {mode:?}");
                        continue;
                    }
                    let mut joined = v.clone();
                    for (n, i) in all.iter().enumerate() {
                        let (old, new) = (joined[source(n, i)], put_values[n]);
                        joined[source(n, i)] = join(mode, old, new);
                    }
                    let got = values(&got.unwrap());
                    assert_eq!(got.len(), joined.len());
                    for (g, e) in got.iter().zip(&joined) {
                        // integers wrap; the others are rounded a few times
                        let ok = match (g, e) {
                            (Value::Int(g), e) => {
                                (g - e.int()) % (1i128 << (8 * dtype.size())) == 0
                            }
                            (Value::Complex(a, b), Value::Complex(c, d)) => {
                                close(*a, *c, 1e-5, 1e-2) && close(*b, *d, 1e-5, 1e-2)
                            }
                            (g, e) => close(g.float(), e.float(), 4.0 * epsilon(dtype), 1e-4),
                        };
                        assert!(ok, "{dtype} {name} {shape:?} {axis} {mode:?}: {g:?} {e:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn masks_match_the_oracle() {
    let mut rng = Rng(3);
    for dtype in DType::ALL {
        for (shape, mask_shape) in [
            (&[5][..], &[5][..]),
            (&[3, 4], &[3, 4]),
            (&[3, 4], &[4]),
            (&[3, 1], &[3, 4]),
            (&[], &[2]),
            (&[0, 3], &[3]),
            (&[300, 200], &[300, 200]),
        ] {
            if shape.len() == 2
                && shape[0] == 300
                && !matches!(dtype, DType::F32 | DType::Bool | DType::Complex128)
            {
                continue; // more than one piece, once per width
            }
            let base = random(&mut rng, shape, dtype);
            let mask = random(&mut rng, mask_shape, DType::Bool);
            let together = flex::layout::broadcast("test", &[shape, mask_shape]).unwrap();
            let (v, m) = (
                values(&base.broadcast_to(&together).unwrap()),
                values(&mask.broadcast_to(&together).unwrap()),
            );
            let chosen: Vec<Value> = v
                .iter()
                .zip(&m)
                .filter(|(_, m)| **m == Value::Bool(true))
                .map(|(v, _)| *v)
                .collect();
            let one = ops::full([], true, dtype).unwrap();
            let filled: Vec<Value> = v
                .iter()
                .zip(&m)
                .map(|(v, m)| {
                    if *m == Value::Bool(true) {
                        values(&one)[0]
                    } else {
                        *v
                    }
                })
                .collect();
            for ((name, x), (_, mask)) in layouts(&base)
                .into_iter()
                .zip(layouts(&mask).into_iter().cycle())
            {
                assert_eq!(
                    values(&ops::masked_select(&x, &mask).unwrap()),
                    chosen,
                    "{dtype} {name} {shape:?}"
                );
                let y = ops::masked_fill(&x, &mask, true).unwrap();
                assert_eq!(y.shape(), together.as_slice());
                assert_eq!(values(&y), filled, "{dtype} {name} {shape:?}");
            }
        }
    }
}

#[test]
fn nonzero_matches_the_oracle() {
    let mut rng = Rng(4);
    for dtype in DType::ALL {
        for shape in [&[9][..], &[4, 5], &[2, 3, 4], &[3, 0, 2], &[40_000]] {
            let base = random(&mut rng, shape, dtype);
            let zero =
                ops::masked_fill(&base, &random(&mut rng, shape, DType::Bool), false).unwrap();
            let nonzero = |v: &Value| {
                !matches!(v, Value::Bool(false) | Value::Int(0))
                    && *v != Value::Float(0.0)
                    && *v != Value::Complex(0.0, 0.0)
            };
            let expected: Vec<_> = indices(shape)
                .into_iter()
                .zip(values(&zero))
                .filter(|(_, v)| nonzero(v))
                .map(|(i, _)| i)
                .collect();
            for (name, x) in layouts(&zero) {
                let found = ops::nonzero(&x).unwrap();
                assert_eq!(found.len(), shape.len());
                for (k, p) in found.iter().enumerate() {
                    let p = p.to_vec::<i64>().unwrap();
                    assert!(
                        p.iter()
                            .map(|i| *i as usize)
                            .eq(expected.iter().map(|e| e[k])),
                        "{dtype} {name} {shape:?}"
                    );
                }
                let rows = ops::argwhere(&x).unwrap();
                assert_eq!(rows.shape(), [expected.len(), shape.len()]);
                assert!(
                    rows.to_vec::<i64>()
                        .unwrap()
                        .iter()
                        .map(|i| *i as usize)
                        .eq(expected.concat()),
                    "{dtype} {name} {shape:?}"
                );
            }
        }
    }
    assert_eq!(
        ops::argwhere(&Tensor::scalar(3, DType::I8).unwrap())
            .unwrap()
            .shape(),
        [1, 0]
    );
    assert_eq!(
        ops::argwhere(&Tensor::scalar(0, DType::I8).unwrap())
            .unwrap()
            .shape(),
        [0, 0]
    );
}

/// One position anywhere in a tile that is out of range is found, and nothing else is: elements of
/// all widths, lines with a stride or backwards, an empty one.
#[test]
fn each_position_is_checked() {
    let mut rng = Rng(9);
    for dtype in [
        DType::U8,
        DType::F16,
        DType::F32,
        DType::I64,
        DType::Complex128,
    ] {
        for (n, size) in [(1, 1), (3, 7), (4, 300), (515, 40), (1030, 5000)] {
            let x = random(&mut rng, &[size], dtype);
            let at: Vec<i64> = (0..n)
                .map(|_| rng.below(2 * size) as i64 - size as i64)
                .collect();
            for (name, x) in layouts(&x) {
                let v = values(&x);
                let positions = Tensor::from_slice(&at, [n]).unwrap();
                let want: Vec<Value> = at
                    .iter()
                    .map(|at| v[at.rem_euclid(size as i64) as usize])
                    .collect();
                let got = ops::take(&x, &positions, ()).unwrap();
                assert!(same(&values(&got), &want), "{dtype} {name} {n} of {size}");
                let every_other = positions.slice(flex::s![..; -2]).unwrap();
                let want: Vec<Value> = want.into_iter().rev().step_by(2).collect();
                let got = ops::take(&x, &every_other, ()).unwrap();
                assert!(same(&values(&got), &want), "{dtype} {name} {n} of {size}");
                for wrong in [size as i64, -(size as i64) - 1, i64::MAX, i64::MIN] {
                    let mut at = at.clone();
                    at[rng.below(n)] = wrong;
                    let e = ops::take(&x, &Tensor::from_slice(&at, [n]).unwrap(), ()).unwrap_err();
                    assert!(
                        matches!(e, flex::Error::Index { index, .. } if index == wrong),
                        "{e}"
                    );
                }
            }
        }
    }
    let nothing = Tensor::zeros([0], DType::F32).unwrap();
    let none = Tensor::zeros([0], DType::I64).unwrap();
    assert_eq!(ops::take(&nothing, &none, ()).unwrap().shape(), [0]);
    let first = Tensor::zeros([5], DType::I64).unwrap();
    assert!(ops::take(&nothing, &first, ()).is_err());
}

/// Sizes around the blocks of masks, the tiles of positions, and the pieces for threads; all
/// widths.
#[test]
fn long_masks_and_positions_match_the_oracle() {
    let mut rng = Rng(7);
    for n in [63, 64, 65, 130, 511, 512, 513, 1600, 40_000] {
        for dtype in [
            DType::U8,
            DType::I16,
            DType::F32,
            DType::F64,
            DType::Complex128,
        ] {
            let x = random(&mut rng, &[n], dtype);
            let v = values(&x);
            for share in [0, 1, 8, 16] {
                let mask: Vec<bool> = (0..n).map(|_| rng.between(0, 15) < share).collect();
                let m = Tensor::from_slice(&mask, [n]).unwrap();
                let chosen: Vec<Value> = v
                    .iter()
                    .zip(&mask)
                    .filter(|(_, m)| **m)
                    .map(|(v, _)| *v)
                    .collect();
                assert_eq!(
                    values(&ops::masked_select(&x, &m).unwrap()),
                    chosen,
                    "{dtype} {n} {share}"
                );
                let places: Vec<i64> = (0..n).filter(|i| mask[*i]).map(|i| i as i64).collect();
                assert_eq!(
                    ops::nonzero(&m).unwrap()[0].to_vec::<i64>().unwrap(),
                    places,
                    "{n} {share}"
                );
                let one = ops::full([], true, dtype).unwrap();
                let filled: Vec<Value> = v
                    .iter()
                    .zip(&mask)
                    .map(|(v, m)| if *m { values(&one)[0] } else { *v })
                    .collect();
                assert_eq!(
                    values(&ops::masked_fill(&x, &m, true).unwrap()),
                    filled,
                    "{dtype} {n} {share}"
                );
                let mut y = x.clone();
                ops::set(&mut y, &[Index::Mask(m)], &one).unwrap();
                assert_eq!(values(&y), filled, "{dtype} {n} {share}");
                assert_eq!(values(&x), v, "a shared tensor was written");
            }
            let square = random(&mut rng, &[37, 11], dtype);
            let (i, j) = (positions(&mut rng, &[n], 37), positions(&mut rng, &[n], 11));
            let (iv, jv, sv) = (values(&i), values(&j), values(&square));
            let expected: Vec<Value> = iv
                .iter()
                .zip(&jv)
                .map(|(i, j)| sv[wrapped(i, 37) * 11 + wrapped(j, 11)])
                .collect();
            for (name, x) in layouts(&square) {
                let y = ops::get(&x, &[Index::Array(i.clone()), Index::Array(j.clone())]).unwrap();
                assert_eq!(values(&y), expected, "{dtype} {name} {n}");
            }
            // each broadcast along a dimension of the other
            let column = i.narrow(0, 0, 20).unwrap().reshape([20, 1]).unwrap();
            let y = ops::get(&square, &[Index::Array(column), Index::Array(j.clone())]).unwrap();
            let expected: Vec<Value> = (0..20)
                .flat_map(|a| {
                    jv.iter()
                        .map(|j| sv[wrapped(&iv[a], 37) * 11 + wrapped(j, 11)])
                        .collect::<Vec<_>>()
                })
                .collect();
            assert_eq!(values(&y), expected, "{dtype} {n}");
            // the last one out of range
            let mut outside = j.astype(DType::I64).unwrap().to_vec::<i64>().unwrap();
            outside[n - 1] = 11;
            let outside = Tensor::from_slice(&outside, [n]).unwrap();
            let error = ops::get(&square, &[Index::Array(i), Index::Array(outside)]).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Index {
                        index: 11,
                        axis: 1,
                        size: 11,
                        ..
                    }
                ),
                "{error:?}"
            );
        }
    }
}

#[test]
fn scatter_max_and_min_propagate_nan() {
    let x = Tensor::from_slice(&[f32::NAN, 1.0, 1.0], [3]).unwrap();
    let i = Tensor::from_slice(&[0i64, 1, 1, 2], [4]).unwrap();
    let v = Tensor::from_slice(&[5.0f32, f32::NAN, 7.0, 7.0], [4]).unwrap();
    for (mode, last) in [(ScatterMode::Max, 7.0), (ScatterMode::Min, 1.0)] {
        let y = ops::scatter(&x, &i, &v, 0, mode)
            .unwrap()
            .to_vec::<f32>()
            .unwrap();
        assert!(
            y[0].is_nan() && y[1].is_nan() && y[2] == last,
            "{mode:?}: {y:?}"
        );
    }
}

#[test]
fn scatter_add_of_halves_accumulates_in_float32() {
    // 2048 + 1 is 2048 in float16: a running sum in it would stay there
    let x = Tensor::scalar(2048, DType::F16)
        .unwrap()
        .reshape([1])
        .unwrap();
    let i = Tensor::zeros([64], DType::I64).unwrap();
    let v = ops::ones([64], DType::F16).unwrap();
    assert_eq!(
        values(&ops::index_add(&x, &i, &v, 0).unwrap()),
        [Value::Float(2112.0)]
    );
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(6);
    let (rows, width) = (500, 96);
    let x = random(&mut rng, &[rows, width], DType::F32);
    let p = positions(&mut rng, &[20_000], rows);
    let v = random(&mut rng, &[20_000, width], DType::F32);
    let lines = positions(&mut rng, &[rows, 700], width);
    let more = random(&mut rng, &[rows, 700], DType::F32);
    let run = || {
        let bits = |t: Tensor| t.bitcast(DType::I32).unwrap().to_vec::<i32>().unwrap();
        let mask = ops::greater(&x, 0.0).unwrap();
        (
            bits(ops::index_add(&x, &p, &v, 0).unwrap()),
            bits(ops::scatter_add(&x, &lines, &more, 1).unwrap()),
            bits(
                ops::scatter_add(&x.reshape([-1]).unwrap(), &p, &v.select(1, 0).unwrap(), 0)
                    .unwrap(),
            ),
            bits(ops::take(&x, &p, 0).unwrap()),
            bits(ops::masked_select(&x, &mask).unwrap()),
        )
    };
    let one = flex::with_threads(1, run);
    for n in [2, 3, 7] {
        assert!(flex::with_threads(n, run) == one, "{n} threads");
    }
}
