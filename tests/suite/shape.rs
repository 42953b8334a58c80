//! Shape operations that copy, and tensors made from a rule, against naive oracles.
#![cfg(all(
    feature = "ints",
    feature = "f64",
    feature = "half",
    feature = "complex"
))]

use crate::common::{Rng, Value, indices, layouts, random, values};
use flex::ops::{self, Indexing, Linspace};
use flex::{DType, Error, Tensor};

/// The values of a tensor whose element at each index is that of `x` at `source(index)`, or
/// `other`.
fn moved(
    x: &Tensor,
    shape: &[usize],
    other: Value,
    source: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Vec<Value> {
    let v = values(x);
    let at = |i: Vec<usize>| v[x.shape().iter().zip(&i).fold(0, |p, (n, i)| p * n + i)];
    indices(shape)
        .iter()
        .map(|i| source(i).map_or(other, at))
        .collect()
}
fn zero(dtype: DType) -> Value {
    values(&Tensor::zeros([1], dtype).unwrap())[0]
}

#[test]
fn concat_and_stack_match_the_oracle() {
    let mut rng = Rng(1);
    for dtype in DType::ALL {
        for (a, b, axis) in [
            (&[3][..], &[4][..], 0),
            (&[2, 3], &[2, 0], 1),
            (&[2, 3], &[4, 3], -2),
            (&[2, 3, 4], &[2, 1, 4], 1),
        ] {
            let (a, b) = (random(&mut rng, a, dtype), random(&mut rng, b, dtype));
            let k = isize::rem_euclid(axis, a.rank() as isize) as usize;
            let split = a.shape()[k];
            for ((name, a), (_, b)) in layouts(&a).into_iter().zip(layouts(&b).into_iter().cycle())
            {
                let y = ops::concat(&[&a, &b, &a], axis).unwrap();
                assert_eq!(y.shape()[k], 2 * split + b.shape()[k]);
                for (part, x) in y
                    .split(&[split, b.shape()[k], split], axis)
                    .unwrap()
                    .iter()
                    .zip([&a, &b, &a])
                {
                    assert_eq!(
                        (part.shape(), values(part)),
                        (x.shape(), values(x)),
                        "{dtype} {name}"
                    );
                }
                let lines = ops::concat(&[&b, &a], ()).unwrap();
                assert_eq!(values(&lines), [values(&b), values(&a)].concat());
                let y = ops::stack(&[&a, &a], axis).unwrap();
                let parts = y.unstack(axis).unwrap();
                assert!(
                    parts.len() == 2
                        && parts
                            .iter()
                            .all(|p| p.shape() == a.shape() && values(p) == values(&a)),
                    "{dtype} {name}"
                );
            }
        }
    }
    let parts = [
        Tensor::from_slice(&[1u8], [1]).unwrap(),
        Tensor::from_slice(&[-1i8], [1]).unwrap(),
        Tensor::from_slice(&[true], [1]).unwrap(),
    ];
    assert_eq!(
        ops::concat(&parts, 0).unwrap().to_vec::<i16>().unwrap(),
        [1, -1, 1]
    );
}

/// Sizes around the blocks and strips of transposes.
#[test]
fn permuted_views_copy_exactly() {
    let mut rng = Rng(9);
    let axes: [&[isize]; 5] = [&[2, 1, 0], &[0, 2, 1], &[1, 2, 0], &[2, 0, 1], &[1, 0, 2]];
    for dtype in [
        DType::U8,
        DType::I16,
        DType::F32,
        DType::F64,
        DType::Complex128,
    ] {
        for shape in [
            [1, 16, 16],
            [2, 17, 33],
            [3, 15, 64],
            [1, 65, 80],
            [2, 130, 23],
            [40, 3, 50],
        ] {
            let x = random(&mut rng, &shape, dtype);
            for (name, x) in layouts(&x) {
                for axes in axes {
                    let view = x.permute(axes).unwrap();
                    assert_eq!(
                        values(&view.copy().unwrap()),
                        values(&view),
                        "{dtype} {shape:?} {name} {axes:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn repeat_tile_and_roll_match_the_oracle() {
    let mut rng = Rng(2);
    for dtype in DType::ALL {
        let base = random(&mut rng, &[3, 4], dtype);
        for (name, x) in layouts(&base) {
            for n in [0, 1, 3] {
                let y = ops::repeat(&x, n, 0).unwrap();
                assert_eq!(
                    values(&y),
                    moved(&x, &[3 * n, 4], zero(dtype), |i| Some(vec![i[0] / n, i[1]])),
                    "{dtype} {name}"
                );
                let y = ops::repeat(&x, n, -1).unwrap();
                assert_eq!(
                    (y.shape(), values(&y)),
                    (
                        &[3, 4 * n][..],
                        moved(&x, &[3, 4 * n], zero(dtype), |i| Some(vec![i[0], i[1] / n]))
                    )
                );
            }
            let counts = Tensor::from_slice(&[1u8, 0, 2], [3]).unwrap();
            let y = ops::repeat_counts(&x, &counts, 0).unwrap();
            assert_eq!(
                values(&y),
                moved(&x, &[3, 4], zero(dtype), |i| Some(vec![
                    [0, 2, 2][i[0]],
                    i[1]
                ])),
                "{dtype} {name}"
            );

            let y = ops::tile(&x, [2, 1, 3]).unwrap();
            assert_eq!(
                (y.shape(), values(&y)),
                (
                    &[2, 3, 12][..],
                    moved(&x, &[2, 3, 12], zero(dtype), |i| Some(vec![i[1], i[2] % 4]))
                )
            );
            let y = ops::tile(&x, [2]).unwrap();
            assert_eq!(
                (y.shape(), values(&y)),
                (
                    &[3, 8][..],
                    moved(&x, &[3, 8], zero(dtype), |i| Some(vec![i[0], i[1] % 4]))
                )
            );
            assert_eq!(ops::tile(&x, [0]).unwrap().shape(), [3, 0]);

            for shift in [0i64, 1, -1, 2, 9, -13] {
                let y = ops::roll(&x, [shift, -1], [0, 1]).unwrap();
                let from = |i: usize, s: i64, n: i64| (i as i64 - s).rem_euclid(n) as usize;
                let expected = moved(&x, &[3, 4], zero(dtype), |i| {
                    Some(vec![from(i[0], shift, 3), from(i[1], -1, 4)])
                });
                assert_eq!(values(&y), expected, "{dtype} {name} {shift}");
                let y = ops::roll(&x, [shift], ()).unwrap();
                let flat = |i: &[usize]| from(4 * i[0] + i[1], shift, 12);
                assert_eq!(
                    values(&y),
                    moved(&x, &[3, 4], zero(dtype), |i| Some(vec![
                        flat(i) / 4,
                        flat(i) % 4
                    ])),
                    "{dtype} {name} {shift}"
                );
            }
        }
    }
}

#[test]
fn triangles_and_padding_match_the_oracle() {
    let mut rng = Rng(3);
    for dtype in DType::ALL {
        for shape in [&[3, 4][..], &[2, 5, 3], &[2, 3, 2, 4], &[0, 3], &[2, 3, 0]] {
            let base = random(&mut rng, shape, dtype);
            let (r, c) = (shape.len() - 2, shape.len() - 1);
            for (name, x) in layouts(&base) {
                for k in [-9, -2, -1, 0, 1, 3, i64::MAX, i64::MIN] {
                    let below = |i: &[usize]| i[c] as i128 - i[r] as i128 <= k as i128;
                    let y = ops::tril(&x, k).unwrap();
                    assert_eq!(
                        values(&y),
                        moved(&x, shape, zero(dtype), |i| below(i).then(|| i.to_vec())),
                        "{dtype} {name} {shape:?} {k}"
                    );
                    let strictly = |i: &[usize]| (i[c] as i128 - (i[r] as i128)) < k as i128;
                    let y = ops::triu(&x, k).unwrap();
                    assert_eq!(
                        values(&y),
                        moved(&x, shape, zero(dtype), |i| (!strictly(i))
                            .then(|| i.to_vec())),
                        "{dtype} {name} {shape:?} {k}"
                    );
                }
                // some axes are padded, those between and around them not
                for padded in 0..1 << shape.len() {
                    let widths: Vec<(usize, usize)> = (0..shape.len())
                        .map(|k| match padded >> k & 1 {
                            1 => [(1, 2), (3, 0), (0, 2), (1, 1)][k],
                            _ => (0, 0),
                        })
                        .collect();
                    let sizes: Vec<usize> = shape
                        .iter()
                        .zip(&widths)
                        .map(|(n, (a, b))| n + a + b)
                        .collect();
                    let one = values(&ops::ones([1], dtype).unwrap())[0];
                    let inside = |i: &[usize]| {
                        (0..i.len())
                            .map(|k| i[k].checked_sub(widths[k].0).filter(|i| *i < shape[k]))
                            .collect::<Option<Vec<_>>>()
                    };
                    let y = ops::pad(&x, &widths, true).unwrap();
                    assert_eq!(
                        (y.shape(), values(&y)),
                        (&sizes[..], moved(&x, &sizes, one, inside)),
                        "{dtype} {name} {shape:?} {widths:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn broadcast_views_repeat_elements() {
    let (x, y) = (
        Tensor::from_slice(&[1, 2, 3], [3]).unwrap(),
        Tensor::from_slice(&[0.5f32, 1.5], [2]).unwrap(),
    );
    let z = Tensor::scalar(7, DType::U8).unwrap();
    for (indexing, shape, steps) in [
        (Indexing::Ij, [3, 2, 1], [1, 0, 0]),
        (Indexing::Xy, [2, 3, 1], [0, 1, 0]),
    ] {
        let grid = ops::meshgrid(&[&x, &y, &z], indexing).unwrap();
        assert!(
            grid.iter().all(|g| g.shape() == shape) && grid[0].strides()[..2] == steps[..2],
            "{indexing:?}"
        );
        assert!(
            grid[0].shares_storage(&x) && grid[1].shares_storage(&y),
            "{indexing:?}"
        );
        assert_eq!(
            (grid[0].dtype(), grid[1].dtype(), grid[2].dtype()),
            (DType::I32, DType::F32, DType::U8)
        );
    }
    let open = ops::open_meshgrid(&[&x, &y, &z], Indexing::Xy).unwrap();
    let shapes: Vec<&[usize]> = open.iter().map(|t| t.shape()).collect();
    assert_eq!(shapes, [[1, 3, 1], [2, 1, 1], [1, 1, 1]]);
    assert!(open[0].shares_storage(&x) && open[1].shares_storage(&y));
    assert!(
        ops::meshgrid::<Tensor>(&[], Indexing::Xy)
            .unwrap()
            .is_empty()
    );
    assert_eq!(ops::meshgrid(&[&x], Indexing::Xy).unwrap()[0].shape(), [3]);
    let views =
        ops::broadcast_arrays(&[&x.reshape([3, 1]).unwrap(), &y.reshape([1, 2]).unwrap()]).unwrap();
    assert!(
        views[0].shape() == [3, 2]
            && views[0].as_ptr() == x.as_ptr()
            && views[1].as_ptr() == y.as_ptr()
    );
}

#[test]
fn constants_and_identities() {
    for dtype in DType::ALL {
        let (zero, one) = (zero(dtype), values(&ops::full([], true, dtype).unwrap())[0]);
        for (rows, columns) in [(3, 3), (2, 4), (4, 2), (0, 2), (1, 1)] {
            for k in [-5, -2, -1, 0, 1, 2, 5] {
                let y = ops::eye(rows, columns, k, dtype).unwrap();
                let expected: Vec<Value> = indices(&[rows, columns])
                    .iter()
                    .map(|i| {
                        if i[0] as i64 + k == i[1] as i64 {
                            one
                        } else {
                            zero
                        }
                    })
                    .collect();
                assert_eq!(
                    (y.shape(), values(&y)),
                    (&[rows, columns][..], expected),
                    "{dtype} {k}"
                );
            }
        }
    }
    assert_eq!(
        ops::full([2], 1.5, None).unwrap().to_vec::<f32>().unwrap(),
        [1.5, 1.5]
    );
    assert_eq!(ops::full([0], 3, None).unwrap().dtype(), DType::I64);
}

#[test]
fn errors_say_what_is_wrong() {
    let message = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    let (a, b) = (
        Tensor::zeros([2, 3], DType::F32).unwrap(),
        Tensor::zeros([3, 3], DType::F32).unwrap(),
    );
    let none: [Tensor; 0] = [];
    assert_eq!(
        message(ops::concat(&none, 0)),
        "concat: at least one tensor is needed"
    );
    assert_eq!(
        message(ops::concat(&[&a, &b], 1)),
        "concat: shapes [2, 3] and [3, 3] must be equal except along axis 1"
    );
    assert_eq!(
        message(ops::concat(&[&a], 2)),
        "concat: axis 2 is out of range for 2 dimensions (valid: -2 to 1)"
    );
    assert_eq!(
        message(ops::stack(&[&a, &b], 0)),
        "stack: shapes [2, 3] and [3, 3] differ"
    );
    let (i, u) = (
        Tensor::zeros([1], DType::I64).unwrap(),
        Tensor::zeros([1], DType::U64).unwrap(),
    );
    assert!(matches!(
        ops::concat(&[i, u], 0),
        Err(Error::DType { op: "concat", .. })
    ));
    let counts = |c: &[i32]| ops::repeat_counts(&a, &Tensor::from_slice(c, [c.len()]).unwrap(), 0);
    assert_eq!(message(counts(&[1, -1])), "repeat: count -1 is negative");
    assert_eq!(
        message(counts(&[1, 2, 3])),
        "repeat: counts of shape [3] for axis 0 of size 2"
    );
    assert_eq!(
        message(ops::repeat_counts(&a, &a, ())),
        "repeat: counts must be integers, not float32"
    );
    assert_eq!(
        message(ops::roll(&a, [1, 2, 3], [0, 1])),
        "roll: 3 shifts for 2 axes"
    );
    assert_eq!(
        message(ops::tril(&Tensor::zeros([3], DType::F32).unwrap(), 0)),
        "tril: shape [3] has fewer than two dimensions"
    );
    assert_eq!(
        message(ops::pad(&a, &[(1, 1)], 0)),
        "pad: 1 pairs of widths for shape [2, 3]"
    );
    assert!(matches!(
        ops::pad(&a.astype(DType::I32).unwrap(), &[(1, 1), (0, 0)], 0.5),
        Err(Error::DType { op: "pad", .. })
    ));
    for wide in [(usize::MAX / 4, 0), (0, isize::MAX as usize)] {
        for widths in [[wide, (0, 0)], [(1, 0), wide], [wide, (1, 1)]] {
            let refused = ops::pad(&a, &widths, 0);
            assert!(matches!(refused, Err(Error::Memory { .. })), "{widths:?}");
        }
    }
    assert_eq!(message(ops::arange(0, 1, 0, None)), "arange: step is 0");
    assert_eq!(
        message(ops::arange(0, 200, 1, DType::I8)),
        "arange: 199 is out of range for int8"
    );
    assert!(matches!(
        ops::arange(0.5, 2, 1, DType::I8),
        Err(Error::DType { op: "arange", .. })
    ));
    assert!(matches!(
        ops::arange(0, f64::INFINITY, 1, None),
        Err(Error::Value { op: "arange", .. })
    ));
    assert!(matches!(
        ops::arange(0, f64::NAN, 1, None),
        Err(Error::Value { op: "arange", .. })
    ));
    assert!(matches!(
        ops::linspace(
            0,
            1,
            Linspace {
                dtype: Some(DType::I32),
                ..5.into()
            }
        ),
        Err(Error::DType { op: "linspace", .. })
    ));
    assert!(matches!(
        ops::full([2], 300, DType::U8),
        Err(Error::Range { op: "full", .. })
    ));
    assert!(matches!(
        ops::full([usize::MAX / 1000, usize::MAX / 1000], 1, None),
        Err(Error::Memory { .. })
    ));
    assert!(matches!(
        ops::repeat(&a, usize::MAX, 0),
        Err(Error::Memory { .. })
    ));
    for count in [usize::MAX / 4 + 1, usize::MAX] {
        assert!(matches!(
            ops::repeat(&a, count, ()),
            Err(Error::Memory { .. })
        ));
        assert!(matches!(
            ops::tile(&a, [count, 2]),
            Err(Error::Memory { .. })
        ));
    }
    assert!(matches!(
        ops::arange(0, 1i64 << 60, 1, None),
        Err(Error::Memory { .. })
    ));
}

#[test]
#[cfg(target_pointer_width = "64")] // 32 bits may address no more than there is
fn pieces_beyond_memory_are_an_error() {
    let x = Tensor::zeros([1], DType::F32)
        .unwrap()
        .broadcast_to([1 << 58])
        .unwrap();
    assert!(matches!(x.unstack(0), Err(Error::Memory { .. })));
    assert!(matches!(x.chunk(1 << 58, 0), Err(Error::Memory { .. })));
    assert_eq!(x.chunk(2, 0).unwrap()[1].len(), 1 << 57);
}
