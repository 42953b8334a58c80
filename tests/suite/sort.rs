//! Sorting along axes against a naive oracle: every ordered dtype, every layout, both directions.
#![cfg(all(
    feature = "ints",
    feature = "f64",
    feature = "half",
    feature = "complex"
))]

use crate::common::{Rng, Value, layouts, random, special, tensor, values};
use flex::ops::{self, Side, Sort, TopK};
use flex::{DType, Error, Tensor};
use std::cmp::Ordering;

fn is_nan(v: &Value) -> bool {
    matches!(v, Value::Float(x) if x.is_nan())
}
/// The same value, with the sign of a zero; any NaN for NaN.
fn same(a: &Value, b: &Value) -> bool {
    let sign = |v: &Value| matches!(v, Value::Float(x) if x.is_sign_negative());
    a == b && sign(a) == sign(b) || is_nan(a) && is_nan(b)
}
/// NaN last in both directions.
fn compare(a: &Value, b: &Value, descending: bool) -> Ordering {
    match (is_nan(a), is_nan(b)) {
        (false, false) => {
            let order = match (a, b) {
                (Value::Int(a), Value::Int(b)) => a.cmp(b),
                _ => a.float().partial_cmp(&b.float()).unwrap(),
            };
            if descending { order.reverse() } else { order }
        }
        (a, b) => a.cmp(&b),
    }
}
/// The positions, in row-major order, of the elements of each line along an axis.
fn lines(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let (n, outer) = (shape[axis], shape[..axis].iter().product::<usize>());
    let line = |o: usize, i: usize| (0..n).map(|k| (o * n + k) * inner + i).collect();
    (0..outer)
        .flat_map(|o| (0..inner).map(move |i| (o, i)))
        .map(|(o, i)| line(o, i))
        .collect()
}
/// Ordinary and special values, many of them equal.
fn mixed(rng: &mut Rng, shape: &[usize], dtype: DType) -> Tensor {
    let special = special(dtype);
    let n: usize = shape.iter().product();
    let few: Vec<_> = (0..n)
        .map(|_| special[rng.between(0, special.len() - 1)])
        .collect();
    let (few, many) = (tensor(&few, shape, dtype), random(rng, shape, dtype));
    ops::where_(random(rng, shape, DType::Bool), &few, &many).unwrap()
}
fn ordered() -> impl Iterator<Item = DType> {
    DType::ALL
        .into_iter()
        .filter(|d| !d.is_complex() && !d.is_storage())
}

#[test]
fn sorts_match_the_oracle_in_every_layout() {
    let mut rng = Rng(1);
    for dtype in ordered() {
        for (shape, axis) in [
            (&[1][..], 0),
            (&[37], 0),
            (&[500], 0),
            (&[5, 33], 1),
            (&[70, 6], 0),
            (&[3, 40, 4], -2),
            (&[2, 0, 3], 1),
            (&[0, 4], 1),
        ] {
            let base = mixed(&mut rng, shape, dtype);
            let v = values(&base);
            let k = isize::rem_euclid(axis, shape.len() as isize) as usize;
            for (name, x) in layouts(&base) {
                for descending in [false, true] {
                    let at = format!("{dtype} {shape:?} {axis} {name} {descending}");

                    let sorted = ops::sort(&x, Sort { axis, descending }).unwrap();
                    let order = ops::argsort(&x, Sort { axis, descending }).unwrap();
                    let (with_values, indices) =
                        ops::sort_with_indices(&x, Sort { axis, descending }).unwrap();
                    assert_eq!(
                        (sorted.shape(), order.shape(), with_values.shape()),
                        (shape, shape, shape)
                    );
                    assert_eq!(
                        (sorted.dtype(), order.dtype(), indices.dtype()),
                        (dtype, DType::I64, DType::I64)
                    );
                    let (s, o, w, i) = (
                        values(&sorted),
                        values(&order),
                        values(&with_values),
                        values(&indices),
                    );
                    for line in lines(shape, k) {
                        let mut expected: Vec<usize> = (0..line.len()).collect();
                        expected.sort_by(|a, b| compare(&v[line[*a]], &v[line[*b]], descending));
                        for (to, e) in line.iter().zip(&expected) {
                            let value = v[line[*e]];
                            assert!(same(&s[*to], &value) && same(&w[*to], &value), "{at}");
                            assert!(
                                o[*to].int() == *e as i128 && i[*to].int() == *e as i128,
                                "{at}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn zeros_of_both_signs_keep_their_order() {
    let negative = |x: &[f32]| {
        x.iter()
            .map(|x| x.is_sign_negative())
            .collect::<Vec<bool>>()
    };
    let x = Tensor::from([0.0f32, -0.0]);
    for descending in [false, true] {
        let how = Sort {
            axis: 0,
            descending,
        };
        let signs = |t: Tensor| negative(&t.to_vec::<f32>().unwrap());
        assert_eq!(signs(ops::sort(&x, how).unwrap()), [false, true]);
        assert_eq!(
            signs(ops::sort(&x.flip(0).unwrap(), how).unwrap()),
            [true, false]
        );
    }
    // long enough for partitions, and for all threads
    let mut rng = Rng(9);
    let n = 300_000;
    let few = |_| [-1.0f32, -0.0, 0.0, 0.0, 2.0][rng.below(5)];
    let x: Vec<f32> = (0..n).map(few).collect();
    let zeros = |x: Vec<f32>| negative(&x.into_iter().filter(|x| *x == 0.0).collect::<Vec<f32>>());
    let t = Tensor::from_slice(&x, [n]).unwrap();
    for descending in [false, true] {
        let sorted = ops::sort(
            &t,
            Sort {
                axis: 0,
                descending,
            },
        )
        .unwrap();
        assert_eq!(zeros(sorted.to_vec().unwrap()), zeros(x.clone()));
    }
}

#[test]
fn topk_is_the_front_of_a_sort() {
    let mut rng = Rng(2);
    for dtype in ordered() {
        for (shape, axis) in [(&[1][..], 0), (&[3000], 0), (&[5, 33], 1), (&[70, 6], 0)] {
            let x = mixed(&mut rng, shape, dtype);
            let n = shape[axis];
            for k in [0, 1, 2.min(n), n / 2, n] {
                for largest in [false, true] {
                    let order = ops::argsort(
                        &x,
                        Sort {
                            axis: axis as isize,
                            descending: largest,
                        },
                    )
                    .unwrap()
                    .narrow(axis as isize, 0, k)
                    .unwrap();
                    let expected = ops::take_along_axis(&x, &order, axis as isize).unwrap();
                    let same = |a: &Tensor, b: &Tensor| {
                        values(a)
                            .iter()
                            .zip(&values(b))
                            .all(|(a, b)| a == b || is_nan(a) && is_nan(b))
                    };
                    for (name, x) in layouts(&x) {
                        let (v, i) = ops::topk(
                            &x,
                            k,
                            TopK {
                                axis: axis as isize,
                                largest,
                                sorted: true,
                            },
                        )
                        .unwrap();
                        assert_eq!((v.shape(), i.shape()), (order.shape(), order.shape()));
                        assert!(
                            same(&v, &expected) && values(&i) == values(&order),
                            "{dtype} {shape:?} {k} {largest} {name}"
                        );
                        // the same ones in any order
                        let (v, i) = ops::topk(
                            &x,
                            k,
                            TopK {
                                axis: axis as isize,
                                largest,
                                sorted: false,
                            },
                        )
                        .unwrap();
                        assert!(same(
                            &v,
                            &ops::take_along_axis(&x, &i, axis as isize).unwrap()
                        ));
                        let (i, order) = (
                            ops::sort(&i, axis as isize),
                            ops::sort(&order, axis as isize),
                        );
                        assert_eq!(
                            values(&i.unwrap()),
                            values(&order.unwrap()),
                            "{dtype} {shape:?} {k} {largest} {name}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn partitions_match_the_oracle() {
    let mut rng = Rng(17);
    for dtype in ordered() {
        for (shape, axis) in [
            (&[1][..], 0),
            (&[63], 0),
            (&[3000], 0),
            (&[5, 130], 1),
            (&[200, 3], 0),
            (&[2, 0, 3], 2),
        ] {
            let base = mixed(&mut rng, shape, dtype);
            let (v, n) = (values(&base), shape[axis]);
            for (name, x) in layouts(&base) {
                for count in [0, 1, 3] {
                    let kth: Vec<usize> = (0..count).map(|_| rng.between(0, n - 1)).collect();
                    let y = values(&x.partition(&kth, axis as isize).unwrap());
                    for line in lines(shape, axis) {
                        let at = format!("{dtype} {shape:?} {name} {kth:?}");
                        let mut sorted: Vec<_> = line.iter().map(|i| v[*i]).collect();
                        sorted.sort_by(|a, b| compare(a, b, false));
                        let mut found: Vec<_> = line.iter().map(|i| y[*i]).collect();
                        let equal = |a: &Value, b: &Value| compare(a, b, false).is_eq();
                        for k in &kth {
                            assert!(equal(&found[*k], &sorted[*k]), "{at}");
                            let is_less = |a: &Value| compare(a, &found[*k], false).is_lt();
                            assert!(!found[*k..].iter().any(is_less), "{at}");
                            let is_more = |a: &Value| compare(a, &found[*k], false).is_gt();
                            assert!(!found[..*k].iter().any(is_more), "{at}");
                        }
                        found.sort_by(|a, b| compare(a, b, false));
                        assert!(found.iter().zip(&sorted).all(|(a, b)| equal(a, b)), "{at}");
                    }
                }
            }
        }
    }
    let x = Tensor::from([3, 1, 2]);
    assert!(
        x.partition(&[3], 0)
            .is_err_and(|e| e.to_string().contains("kth is 3"))
    );
    assert!(x.partition(&[0], 1).is_err());
}

#[test]
fn searchsorted_counts_smaller_elements() {
    let mut rng = Rng(3);
    for dtype in ordered() {
        for n in [0, 1, 2, 50] {
            let unsorted = mixed(&mut rng, &[n], dtype);
            let sorter = ops::argsort(&unsorted, 0).unwrap();
            let sorted = ops::sort(&unsorted, 0).unwrap();
            let wanted = mixed(&mut rng, &[3, 7], dtype);
            let (s, w) = (values(&sorted), values(&wanted));
            for side in [Side::Left, Side::Right] {
                let before = |w: &Value| {
                    s.iter()
                        .filter(|s| {
                            compare(s, w, false) < Ordering::Equal
                                || side == Side::Right && compare(s, w, false) == Ordering::Equal
                        })
                        .count()
                };
                let expected: Vec<Value> =
                    w.iter().map(|w| Value::Int(before(w) as i128)).collect();
                for (name, wanted) in layouts(&wanted) {
                    let found = ops::searchsorted(&sorted, &wanted, side, None).unwrap();
                    assert_eq!(
                        (found.shape(), values(&found)),
                        (&[3, 7][..], expected.clone()),
                        "{dtype} {n} {name} {side:?}"
                    );
                }
                let found = ops::searchsorted(&unsorted, &wanted, side, Some(&sorter)).unwrap();
                assert_eq!(values(&found), expected, "{dtype} {n} {side:?} by a sorter");
            }
        }
    }
    // dtypes promote
    let found = ops::searchsorted(
        &Tensor::from_slice(&[1i32, 2], [2]).unwrap(),
        &Tensor::from_slice(&[1.5f32], [1]).unwrap(),
        Side::Left,
        None,
    );
    assert_eq!(found.unwrap().to_vec::<i64>().unwrap(), [1]);
}

#[test]
fn errors_say_what_is_wrong() {
    let message = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    let x = Tensor::zeros([300], DType::F32).unwrap();
    let c = Tensor::zeros([2], DType::Complex64).unwrap();
    for r in [
        ops::sort(&c, 0),
        ops::argsort(&c, 0),
        ops::searchsorted(&c, &c, Side::Left, None),
    ] {
        assert!(matches!(r, Err(Error::DType { .. })));
    }
    assert_eq!(message(ops::sort(&c, 0)), "sort: not defined for complex64");
    assert_eq!(
        message(ops::sort(&x, 1)),
        "sort: axis 1 is out of range for 1 dimensions (valid: -1 to 0)"
    );
    let top = ops::topk(&x, 301, 0).map(|t| t.0);
    assert_eq!(message(top), "topk: k is 301, but axis 0 has 300 elements");
    let two = Tensor::zeros([2, 2], DType::F32).unwrap();
    assert_eq!(
        message(ops::searchsorted(&two, &x, Side::Left, None)),
        "searchsorted: the sorted tensor has shape [2, 2]; it must have one dimension"
    );
    let short = Tensor::zeros([3], DType::I64).unwrap();
    assert_eq!(
        message(ops::searchsorted(&x, &x, Side::Left, Some(&short))),
        "searchsorted: the sorter has shape [3], the sorted tensor [300]"
    );
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(4);
    let x = mixed(&mut rng, &[64, 3000], DType::F32);
    // with fewer lines than threads, lines are split
    let long = [DType::F32, DType::I64, DType::F64, DType::I16]
        .map(|dtype| mixed(&mut rng, &[2, 90_000], dtype));
    let run_long = || {
        let order = |x: &Tensor| {
            ops::argsort(
                x,
                Sort {
                    axis: 1,
                    descending: true,
                },
            )
            .unwrap()
            .to_vec::<i64>()
            .unwrap()
        };
        let sorted = |x: &Tensor| format!("{:?}", values(&ops::sort(x, 1).unwrap()));
        (long.each_ref().map(order), long.each_ref().map(sorted))
    };
    let one = flex::with_threads(1, run_long);
    for n in [2, 5] {
        assert!(flex::with_threads(n, run_long) == one, "{n} threads");
    }
    let run = || {
        let bits = |t: Tensor| t.bitcast(DType::I32).unwrap().to_vec::<i32>().unwrap();
        let order = ops::argsort(
            &x,
            Sort {
                axis: 1,
                descending: true,
            },
        )
        .unwrap()
        .to_vec::<i64>()
        .unwrap();
        let (values, indices) = ops::topk(&x, 20, 0).unwrap();
        (
            bits(ops::sort(&x, 0).unwrap()),
            order,
            bits(values),
            indices.to_vec::<i64>().unwrap(),
        )
    };
    let one = flex::with_threads(1, run);
    for n in [2, 5] {
        assert!(flex::with_threads(n, run) == one, "{n} threads");
    }
}
