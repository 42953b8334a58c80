//! Products of tensors against naive loops over indices.

use flex::{DType, Tensor, ops};

/// Deterministic small integers.
fn integers(shape: &[usize], seed: usize) -> Tensor {
    let n: usize = shape.iter().product();
    let values: Vec<i64> = (0..n as u64)
        .map(|i| ((i * 7919 + seed as u64 * 104_729) >> 3) as i64 % 9 - 4)
        .collect();
    Tensor::from_slice(&values, shape).unwrap()
}

/// The batched product of `[.., m, k]` and `[.., k, n]`, whose leading dimensions are the same.
fn naive(a: &Tensor, b: &Tensor) -> Vec<i64> {
    let (m, k) = (a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]);
    let n = b.shape()[b.rank() - 1];
    let batch: usize = a.shape()[..a.rank() - 2].iter().product();
    let (a, b) = (a.to_vec::<i64>().unwrap(), b.to_vec::<i64>().unwrap());
    let at = |i: usize| {
        let (batch, i, j) = (i / (m * n), i / n % m, i % n);
        (0..k)
            .map(|p| a[(batch * m + i) * k + p] * b[(batch * k + p) * n + j])
            .sum()
    };
    (0..batch * m * n).map(at).collect()
}

/// The dtypes in which sums of these numbers are exact for the sizes used here.
const NUMBERS: [DType; 14] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
    DType::Complex128,
];

#[test]
fn every_dtype_and_layout_matches_the_oracle() {
    for dtype in NUMBERS.into_iter().filter(|d| d.is_available()) {
        for (m, k, n) in [
            (1, 1, 1),
            (5, 3, 4),
            (7, 40, 66),
            (1, 33, 70),
            (70, 65, 1),
            (13, 17, 130),
        ] {
            let (a, b) = (integers(&[2 * m, k], m), integers(&[k, 2 * n], n));
            let at = |t: &Tensor| {
                t.transpose(0, 1)
                    .unwrap()
                    .copy()
                    .unwrap()
                    .transpose(0, 1)
                    .unwrap()
            };
            let views = |t: &Tensor, axis: isize| -> Vec<Tensor> {
                let half = t.shape()[axis as usize] / 2;
                vec![
                    t.narrow(axis, half, half).unwrap(),
                    t.slice_axis(axis, None, None, 2).unwrap(),
                    t.slice_axis(axis, None, None, -2).unwrap(),
                    at(t).narrow(axis, 0, half).unwrap(),
                    t.narrow(axis, 0, 1)
                        .unwrap()
                        .broadcast_to(if axis == 0 {
                            [half, t.shape()[1]]
                        } else {
                            [t.shape()[0], half]
                        })
                        .unwrap(),
                    at(t)
                        .flip([0, 1])
                        .unwrap()
                        .narrow(axis, half, half)
                        .unwrap(),
                ]
            };
            let (of_a, of_b) = (views(&a, 0), views(&b, 1));
            for (i, (a, b)) in of_a
                .iter()
                .flat_map(|a| of_b.iter().map(move |b| (a, b)))
                .enumerate()
            {
                // every pair for one dtype, some for the others
                if dtype != DType::F32 && i % 7 != 0 {
                    continue;
                }
                let want = Tensor::from_slice(&naive(a, b), [m, n])
                    .unwrap()
                    .astype(dtype)
                    .unwrap();
                // astype makes a contiguous copy, so the layout is restored by an operation on the
                // converted whole
                let (x, y) = (relaid(a, dtype), relaid(b, dtype));
                let got = ops::matmul(&x, &y).unwrap();
                assert_eq!((got.dtype(), got.shape()), (dtype, &[m, n][..]));
                // by value: integers don't tell the sign of a zero
                let same = bytes(&ops::equal(&got, &want).unwrap())
                    .iter()
                    .all(|x| *x == 1);
                assert!(
                    same,
                    "{dtype} {m}x{k}x{n} {:?} {:?}: {got:?} for {want:?}",
                    x.strides(),
                    y.strides()
                );
            }
        }
    }
}

/// The values in another dtype, with strides of the same kind.
fn relaid(t: &Tensor, dtype: DType) -> Tensor {
    let strides = t.strides().to_vec();
    let mut x = t.clone();
    let backwards: Vec<isize> = (0..2)
        .filter(|k| strides[*k] < 0)
        .map(|k| k as isize)
        .collect();
    x = x.flip(&backwards).unwrap();
    let columns = strides[0].abs() < strides[1].abs();
    x = if columns {
        x.transpose(0, 1).unwrap()
    } else {
        x
    };
    x = x.astype(dtype).unwrap().contiguous().unwrap();
    x = if columns {
        x.transpose(0, 1).unwrap()
    } else {
        x
    };
    x = x.flip(&backwards).unwrap();
    if strides[0] == 0 {
        x.narrow(0, 0, 1).unwrap().broadcast_to(x.shape()).unwrap()
    } else {
        x
    }
}

fn bytes(t: &Tensor) -> Vec<u8> {
    let t = t.contiguous().unwrap();
    let n = t.len() * t.dtype().size();
    // SAFETY: the bytes of a contiguous tensor's elements.
    unsafe { core::slice::from_raw_parts(t.as_ptr(), n) }.to_vec()
}

#[test]
fn batches_broadcast() {
    let cases: [(&[usize], &[usize]); 7] = [
        (&[3, 2, 4], &[4, 5]),
        (&[2, 4], &[3, 4, 5]),
        (&[3, 1, 2, 4], &[5, 4, 3]),
        (&[2, 3, 4, 5], &[2, 3, 5, 1]),
        (&[1, 70, 80], &[4, 80, 66]),
        (&[0, 2, 3], &[3, 4]),
        (&[2, 2, 0], &[2, 0, 3]),
    ];
    for (sa, sb) in cases {
        let (a, b) = (integers(sa, 1), integers(sb, 2));
        let lead =
            flex::layout::broadcast("test", &[&sa[..sa.len() - 2], &sb[..sb.len() - 2]]).unwrap();
        let whole = |t: &Tensor| {
            let shape: Vec<usize> = lead
                .iter()
                .chain(&t.shape()[t.rank() - 2..])
                .copied()
                .collect();
            t.broadcast_to(&shape).unwrap()
        };
        let want = naive(&whole(&a), &whole(&b));
        let c = ops::matmul(&a, &b).unwrap();
        let shape: Vec<usize> = lead
            .iter()
            .copied()
            .chain([sa[sa.len() - 2], sb[sb.len() - 1]])
            .collect();
        assert_eq!(
            (c.shape(), c.to_vec::<i64>().unwrap()),
            (&shape[..], want),
            "{sa:?} {sb:?}"
        );
        // transposed and flipped batches
        let flipped = a.flip([0]).unwrap();
        assert_eq!(
            ops::matmul(&flipped, &b).unwrap().to_vec::<i64>().unwrap(),
            naive(&whole(&flipped), &whole(&b))
        );
    }
}

#[test]
fn vectors_act_as_rows_and_columns() {
    let (v, m) = (integers(&[4], 1), integers(&[2, 3, 4], 2));
    assert_eq!(ops::matmul(&m, &v).unwrap().shape(), [2, 3]);
    let want = naive(
        &m.reshape([1, 6, 4]).unwrap(),
        &v.reshape([1, 4, 1]).unwrap(),
    );
    assert_eq!(ops::matmul(&m, &v).unwrap().to_vec::<i64>().unwrap(), want);
    let t = ops::matrix_transpose(&m).unwrap();
    assert_eq!(ops::matmul(&v, &t).unwrap().to_vec::<i64>().unwrap(), want);
    let dot = ops::matmul(&v, &v).unwrap();
    assert_eq!(
        (dot.rank(), dot.item::<i64>().unwrap()),
        (0, v.to_vec::<i64>().unwrap().iter().map(|x| x * x).sum())
    );
    let empty = integers(&[0], 0);
    assert_eq!(
        ops::matmul(&empty, &empty).unwrap().item::<i64>().unwrap(),
        0
    );
}

#[test]
fn dtypes_promote() {
    let a = integers(&[2, 3], 1).astype(DType::I32).unwrap();
    let b = integers(&[3, 2], 2).astype(DType::F32).unwrap();
    let c = ops::matmul(&a, &b).unwrap();
    assert_eq!(c.dtype(), DType::F32);
    let want: Vec<f32> = naive(&integers(&[2, 3], 1), &integers(&[3, 2], 2))
        .iter()
        .map(|x| *x as f32)
        .collect();
    assert_eq!(c.to_vec::<f32>().unwrap(), want);
}

#[test]
fn integers_wrap() {
    let a = Tensor::from_slice(&[100i8, 100, 100], [1, 3]).unwrap();
    let b = Tensor::from_slice(&[100i8, 1, 1], [3, 1]).unwrap();
    assert_eq!(
        ops::matmul(&a, &b).unwrap().to_vec::<i8>().unwrap(),
        [10_200i32 as i8]
    );
    let (p, q) = (
        Tensor::from_slice(&[-128i8; 5], [5]).unwrap(),
        Tensor::from_slice(&[255u8; 5], [5]).unwrap(),
    );
    assert_eq!(
        ops::matmul_as(&p, &q, DType::I32)
            .unwrap()
            .item::<i32>()
            .unwrap(),
        -5 * 128 * 255
    );
    assert_eq!(
        ops::matmul_as(&q, &q, DType::I32)
            .unwrap()
            .item::<i32>()
            .unwrap(),
        5 * 255 * 255
    );
    let big = Tensor::from_slice(&[i64::MAX, 2], [2]).unwrap();
    assert_eq!(
        ops::matmul(&big, &big).unwrap().item::<i64>().unwrap(),
        i64::MAX.wrapping_mul(i64::MAX).wrapping_add(4)
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let (a, b) = (
        Tensor::zeros([2, 3], DType::F32).unwrap(),
        Tensor::zeros([4, 5], DType::F32).unwrap(),
    );
    let error = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    assert_eq!(
        error(ops::matmul(&a, &b)),
        "matmul: last axis of a is 3 but second-last axis of b is 4 (a: [2, 3] float32, b: [4, 5] \
            float32)"
    );
    let scalar = Tensor::zeros([], DType::F32).unwrap();
    assert!(error(ops::matmul(&a, &scalar)).contains("at least one dimension"));
    let (x, y) = (
        Tensor::zeros([2, 2, 3], DType::F32).unwrap(),
        Tensor::zeros([3, 3, 2], DType::F32).unwrap(),
    );
    assert!(
        error(ops::matmul(&x, &y))
            .contains("do not broadcast (a: [2, 2, 3] float32, b: [3, 3, 2] float32)")
    );
    let flags = Tensor::zeros([2, 2], DType::Bool).unwrap();
    assert!(matches!(
        ops::matmul(&flags, &flags),
        Err(flex::Error::DType { op: "matmul", .. })
    ));
    assert!(error(ops::tensordot(&a, &b, 1)).contains("axis 1 of a is 3 but axis 0 of b is 4"));
    assert!(error(ops::tensordot(&a, &b, 3)).contains("cannot sum over 3 axes"));
    assert!(error(ops::vecdot(&a, &b, -1)).contains("axis -1 of a is 3 but that of b is 5"));
    assert!(matches!(
        ops::vecdot(&a, &b, -3),
        Err(flex::Error::Axis { axis: -3, .. })
    ));
    let vector = Tensor::zeros([3], DType::F32).unwrap();
    for axis in [1, 2, isize::MAX, isize::MIN] {
        assert!(
            matches!(
                ops::vecdot(&vector, &vector, axis),
                Err(flex::Error::Axis { .. })
            ),
            "{axis}"
        );
    }
    assert!(ops::matrix_transpose(&scalar).is_err());
}

#[test]
fn tensordot_sums_over_pairs_of_axes() {
    let (a, b) = (integers(&[2, 3, 4], 1), integers(&[4, 5, 3], 2));
    let c = ops::tensordot(&a, &b, ([1, 2], [2, 0])).unwrap();
    let (x, y) = (a.to_vec::<i64>().unwrap(), b.to_vec::<i64>().unwrap());
    let want: Vec<i64> = (0..10)
        .map(|q| {
            (0..12)
                .map(|p| x[q / 5 * 12 + p] * y[p % 4 * 15 + q % 5 * 3 + p / 4])
                .sum()
        })
        .collect();
    assert_eq!((c.shape(), c.to_vec::<i64>().unwrap()), (&[2, 5][..], want));
    let outer = ops::tensordot(&a, &integers(&[2], 3), 0).unwrap();
    assert_eq!(outer.shape(), [2, 3, 4, 2]);
}

#[test]
fn vecdot_takes_any_axis() {
    let (a, b) = (integers(&[2, 3, 4], 1), integers(&[3, 1], 2));
    let c = ops::vecdot(&a, &b, -2).unwrap();
    let (x, y) = (a.to_vec::<i64>().unwrap(), b.to_vec::<i64>().unwrap());
    let want: Vec<i64> = (0..8)
        .map(|q| (0..3).map(|p| x[q / 4 * 12 + p * 4 + q % 4] * y[p]).sum())
        .collect();
    assert_eq!((c.shape(), c.to_vec::<i64>().unwrap()), (&[2, 4][..], want));
    assert_eq!(
        ops::vecdot(&a, &b, 1).unwrap().to_vec::<i64>().unwrap(),
        c.to_vec::<i64>().unwrap()
    );
}

#[test]
fn cross_matches_the_definition() {
    let (a, b) = (integers(&[4, 3, 2], 1), integers(&[3, 1], 2));
    let c = ops::cross(&a, &b, -2).unwrap();
    let (x, y) = (a.to_vec::<i64>().unwrap(), b.to_vec::<i64>().unwrap());
    let at = |i: usize| {
        let (batch, p, q) = (i / 6, i / 2 % 3, i % 2);
        let x = |p: usize| x[batch * 6 + p % 3 * 2 + q];
        x(p + 1) * y[(p + 2) % 3] - x(p + 2) * y[(p + 1) % 3]
    };
    assert_eq!(
        (c.shape(), c.to_vec::<i64>().unwrap()),
        (&[4, 3, 2][..], (0..24).map(at).collect())
    );
    // the same axis from the front differs from the end for operands of different ranks
    let (m, v) = (integers(&[3, 3], 3), integers(&[3], 4));
    let columns = ops::cross(&m, &v.expand_dims([1]).unwrap(), 0).unwrap();
    for (got, want) in [
        (ops::cross(&m, &v, 0), columns.clone()),
        (ops::cross(&v, &m, 0), ops::negative(&columns).unwrap()),
    ] {
        let got = got.unwrap();
        assert_eq!(
            (got.shape(), got.to_vec::<i64>().unwrap()),
            (&[3, 3][..], want.to_vec::<i64>().unwrap())
        );
    }
    assert!(
        ops::cross(&a, &b, -1)
            .unwrap_err()
            .to_string()
            .contains("must have 3 elements")
    );
    assert!(
        ops::outer(&a, &b)
            .unwrap_err()
            .to_string()
            .contains("one dimension")
    );
}

#[test]
fn cross_of_floats_needs_no_integer_features() {
    let (x, y) = ([1.0f32, 2.0, 3.0], [4.0f32, -5.0, 6.0]);
    let c = ops::cross(
        &Tensor::from_slice(&x, [3]).unwrap(),
        &Tensor::from_slice(&y, [3]).unwrap(),
        0,
    )
    .unwrap();
    assert_eq!(c.to_vec::<f32>().unwrap(), [27.0, 6.0, -13.0]);
}

#[cfg(feature = "complex")]
#[test]
fn vecdot_conjugates_its_first_operand() {
    let i = Tensor::from_slice(&[flex::dtype::Complex64::new(0.0, 1.0)], [1]).unwrap();
    assert_eq!(
        ops::vecdot(&i, &i, -1)
            .unwrap()
            .item::<flex::dtype::Complex64>()
            .unwrap()
            .re,
        1.0
    );
    assert_eq!(
        ops::matmul(&i, &i)
            .unwrap()
            .item::<flex::dtype::Complex64>()
            .unwrap()
            .re,
        -1.0
    );
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::par::with_threads;
    let fractions = |shape: &[usize], dtype: DType| {
        let x = integers(shape, 3).astype(DType::F32).unwrap();
        ops::divide(&x, 7.0).unwrap().astype(dtype).unwrap()
    };
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::Complex64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        for (a, b) in [
            ([700, 300], [300, 600]),
            ([1, 3000], [3000, 900]),
            ([2000, 700], [700, 1]),
            ([3, 1024], [1024, 1024]),
            ([9, 500], [500, 1000]),
            ([197, 130], [130, 205]),
        ] {
            let (a, b) = (fractions(&a, dtype), fractions(&b, dtype));
            let t = b
                .transpose(0, 1)
                .unwrap()
                .copy()
                .unwrap()
                .transpose(0, 1)
                .unwrap();
            for b in [b, t] {
                let run = |threads| bytes(&with_threads(threads, || ops::matmul(&a, &b).unwrap()));
                let alone = run(1);
                assert!(
                    (2..5).all(|threads| run(threads) == alone),
                    "{dtype} {a:?} {b:?}"
                );
            }
        }
    }
}

/// The second product of bytes packs the right operand, later ones find it packed: exact before and
/// after a write to it.
#[cfg(feature = "std")]
#[test]
fn packed_byte_weights_stay_exact() {
    use flex::par::with_threads;
    if !DType::I8.is_available() || !DType::I32.is_available() {
        return;
    }
    let bytes = |shape: [usize; 2], seed: usize, dtype| {
        let values: Vec<u8> = (0..shape[0] * shape[1])
            .map(|i| (((i + seed) as u32).wrapping_mul(2_654_435_761) >> 7) as u8)
            .collect();
        let unsigned = Tensor::from_slice(&values, shape).unwrap();
        // all values of either dtype
        if dtype == DType::U8 {
            unsigned
        } else {
            unsigned.astype(DType::I8).unwrap()
        }
    };
    let exact = |a: &Tensor, b: &Tensor| {
        let wide = |t: &Tensor| t.astype(DType::I32).unwrap();
        ops::matmul(&wide(a), &wide(b))
            .unwrap()
            .to_vec::<i32>()
            .unwrap()
    };
    for (da, db) in [
        (DType::I8, DType::I8),
        (DType::I8, DType::U8),
        (DType::U8, DType::I8),
        (DType::U8, DType::U8),
    ] {
        for (m, k, n) in [
            (1, 16, 16),
            (5, 301, 70),
            (8, 1040, 200),
            (33, 64, 333),
            (64, 1500, 130),
        ] {
            let (a, b) = (bytes([m, k], 1, da), bytes([k, n], 2, db));
            // alternating signedness: panels for one are not used for the other
            let other = a
                .astype(if da == DType::I8 {
                    DType::U8
                } else {
                    DType::I8
                })
                .unwrap();
            let run = |b: &Tensor| {
                for a in [&a, &other] {
                    let want = exact(a, b);
                    for threads in [1, 2, 1, 2] {
                        let got =
                            with_threads(threads, || ops::matmul_as(a, b, DType::I32)).unwrap();
                        assert_eq!(
                            got.to_vec::<i32>().unwrap(),
                            want,
                            "{da} {db} {m} {k} {n} {:?}",
                            b.strides()
                        );
                    }
                }
            };
            run(&b);
            let columns = bytes([n, k], 3, db);
            run(&columns.transpose(0, 1).unwrap());
            // views of one storage
            let large = bytes([2 * k, n + 3], 4, db);
            for first in [0, 1] {
                run(&large
                    .slice_axis(0, Some(first), None, 2)
                    .unwrap()
                    .narrow(1, 3, n)
                    .unwrap());
            }
            let mut written = b.clone();
            for _ in 0..2 {
                // SAFETY: the first element of a tensor of bytes, this one's alone.
                unsafe { *written.as_mut_ptr().unwrap() ^= 0x5a }
                run(&written);
                run(&b);
            }
        }
    }
}

#[test]
fn products_by_numpys_rules() {
    let (a, b) = (integers(&[2, 2, 3], 1), integers(&[4, 3, 2], 2));
    let ints = |x: &Tensor| x.to_vec::<i64>().unwrap();
    let dot = ops::dot(&a, &b).unwrap();
    assert_eq!(dot.shape(), [2, 2, 4, 2]);
    let sums = ops::einsum("ijk,lkm->ijlm", &[&a, &b]).unwrap();
    assert_eq!(ints(&dot), ints(&sums));
    let inner = ops::inner(&a, &b.transpose(1, 2).unwrap()).unwrap();
    assert_eq!(ints(&inner), ints(&sums));
    let kron = ops::kron(&a, &integers(&[2], 3)).unwrap();
    let (x, y) = (ints(&a), ints(&integers(&[2], 3)));
    let expected: Vec<i64> = x
        .iter()
        .flat_map(|x| y.iter().map(move |y| x * y))
        .collect();
    assert_eq!((kron.shape(), ints(&kron)), (&[2, 2, 6][..], expected));
    let i = Tensor::scalar(flex::Scalar::Complex(0.0, 1.0), DType::Complex64).unwrap();
    if DType::Complex64.is_available() {
        let one = ops::vdot(&i, &i).unwrap();
        assert!(ops::array_equal(&one, &Tensor::from([1i64]).squeeze(()).unwrap(), false).unwrap());
    }
    for e in [ops::dot(&a, &a), ops::inner(&a, &b), ops::vdot(&a, &b)] {
        assert!(e.is_err());
    }
}
