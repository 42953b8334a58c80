//! The elementwise driver: layouts, lengths, promotion, reuse of operands' memory.

use crate::common::*;
use flex::op::Op;
use flex::ops::{self, Arg};
use flex::{DType, Scalar, Tensor};

/// Lengths around vector and tile sizes.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=67).chain([127, 128, 129, 255, 511, 512, 513, 1023, 1025, 4097])
}

#[test]
fn every_length_and_offset_writes_exactly_its_elements() {
    let mut rng = Rng(7);
    for n in lengths() {
        for start in [0, 1, 3] {
            let x = random(&mut rng, &[n + start], DType::F32)
                .narrow(0, start, n)
                .unwrap();
            let y = random(&mut rng, &[n + start], DType::F32)
                .narrow(0, start, n)
                .unwrap();
            let want: Vec<f64> = floats(&x)
                .iter()
                .zip(floats(&y))
                .map(|(a, b)| (*a as f32 + b as f32) as f64)
                .collect();
            assert_eq!(floats(&ops::add(&x, &y).unwrap()), want, "{n} from {start}");
            // in place, in a storage whose other elements must not change
            let mut z = x.copy().unwrap();
            z += &y;
            assert_eq!(floats(&z), want);
        }
    }
}

#[test]
fn layouts_and_broadcasts_agree_with_contiguous_operands() {
    let mut rng = Rng(11);
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[], &[]),
        (&[7], &[1]),
        (&[5, 9], &[5, 9]),
        (&[33, 70], &[70]),
        (&[33, 70], &[33, 1]),
        (&[2, 3, 4, 5], &[3, 1, 5]),
        (&[130, 140], &[130, 140]),
        (&[3, 600], &[1, 600]),
        (&[2, 1, 2, 1, 3, 1, 2, 2], &[2, 3, 2, 1, 2]),
    ];
    for d in [
        DType::F32,
        DType::I8,
        DType::BF16,
        DType::Complex64,
        DType::F64,
    ]
    .into_iter()
    .filter(|d| d.is_available())
    {
        for (sa, sb) in shapes {
            let (a, b) = (random(&mut rng, sa, d), random(&mut rng, sb, d));
            let want = ops::subtract(&a, &b).unwrap();
            let compared = ops::equal(&a, &b).unwrap();
            // the first result is checked element by element, the others against the first
            let (av, bv) = (
                a.broadcast_to(want.shape()).unwrap(),
                b.broadcast_to(want.shape()).unwrap(),
            );
            for ((x, y), z) in values(&av).into_iter().zip(values(&bv)).zip(values(&want)) {
                let exact = if d.is_integer() {
                    wrap(x.int() - y.int(), d) as f64
                } else {
                    x.float() - y.float()
                };
                assert!(
                    close(z.float(), exact, epsilon(d) * 0.51, 0.0)
                        || d.is_integer() && z.float() == exact,
                    "{d} {sa:?} {sb:?}"
                );
            }
            for (la, x) in layouts(&a) {
                for (lb, y) in layouts(&b) {
                    let got = ops::subtract(&x, &y).unwrap();
                    assert_eq!(values(&got), values(&want), "{d} {sa:?} {la} - {sb:?} {lb}");
                    assert_eq!(values(&ops::equal(&x, &y).unwrap()), values(&compared));
                }
                // the target of an assignment may have any layout too
                let mut target = Tensor::zeros(sa, d).unwrap();
                target.copy_from(&x).unwrap();
                assert_eq!(values(&target), values(&a), "{la}");
            }
        }
    }
}

/// Rectangles of a transposed traversal that begin at the same element and have the same size, but
/// other shapes.
#[test]
fn packed_tiles_of_equal_size_are_distinguished() {
    if !DType::F16.is_available() {
        return;
    }
    let numbers: Vec<flex::Scalar> = (0..960).map(|i| flex::Scalar::Int(i % 509)).collect();
    let a = tensor(&numbers, &[960], DType::F16)
        .slice_axis(0, None, None, 2)
        .unwrap()
        .unfold(0, 192, 32)
        .unwrap();
    let b = Tensor::zeros([192, 10], DType::F16)
        .unwrap()
        .transpose(0, 1)
        .unwrap();
    assert_eq!(a.shape(), b.shape());
    assert_eq!(floats(&ops::add(&a, &b).unwrap()), floats(&a));
}

/// Rows that end with the memory they lie in, of each width of an element.
#[test]
fn every_second_and_third_element_of_short_rows_is_copied() {
    let mut rng = Rng(5);
    for dtype in [
        DType::U8,
        DType::I16,
        DType::F32,
        DType::I64,
        DType::Complex128,
    ] {
        if !dtype.is_available() {
            continue;
        }
        for (n, step) in (1..=70).flat_map(|n| [(n, 2), (n, 3)]) {
            let width = (n - 1) * step + 1;
            let all = random(&mut rng, &[3, width], dtype);
            let (x, values) = (all.slice_axis(1, None, None, step as i64), values(&all));
            let copy = x.unwrap().copy().unwrap();
            assert_eq!(copy.shape(), [3, n]);
            let want = (0..3 * n).map(|i| values[i / n * width + i % n * step]);
            assert!(want.eq(self::values(&copy)), "{dtype} {n} {step}");
        }
    }
}

#[test]
fn pairs_are_separated() {
    // planes of every second element of every second row, small and larger than L1
    for (height, width) in [(6, 10), (112, 112), (200, 300)] {
        let n = 2 * height * width;
        let numbers: Vec<i32> = (0..n as i32).collect();
        let x = Tensor::from_slice(&numbers, [2, height / 2, 2, width / 2, 2]).unwrap();
        let y = x.permute([0, 2, 4, 1, 3]).unwrap().copy().unwrap();
        let of = |k: usize, r: usize, c: usize, i: usize, j: usize| {
            numbers[(k * height + 2 * i + r) * width + 2 * j + c]
        };
        let mut want = Vec::with_capacity(n);
        for (k, r, c) in (0..8).map(|p| (p / 4, p / 2 % 2, p % 2)) {
            let rows = (0..height / 2).flat_map(|i| (0..width / 2).map(move |j| (i, j)));
            want.extend(rows.map(|(i, j)| of(k, r, c, i, j)));
        }
        assert_eq!(y.to_vec::<i32>().unwrap(), want);
    }
}

#[test]
fn dtypes_promote_and_scalars_are_weak() {
    let n = 700;
    let mut rng = Rng(3);
    for a in DType::ALL.into_iter().filter(|d| d.is_available()) {
        for b in DType::ALL.into_iter().filter(|d| d.is_available()) {
            let (x, y) = (random(&mut rng, &[n], a), random(&mut rng, &[n], b));
            // the common dtype of int8 and uint8 may be missing from a build
            let Some(common) = a
                .promote(b, "multiply")
                .ok()
                .filter(|d| d.is_available() && !d.is_storage())
            else {
                assert!(ops::multiply(&x, &y).is_err());
                continue;
            };
            if common.is_bool() {
                continue;
            }
            let got = ops::multiply(&x, &y).unwrap();
            assert_eq!(got.dtype(), common);
            let want = ops::multiply(x.astype(common).unwrap(), y.astype(common).unwrap()).unwrap();
            let (g, w) = (floats(&got), floats(&want));
            for i in 0..n {
                assert!(
                    close(g[i], w[i], 2.0 * epsilon(common), 0.0)
                        || common.is_integer() && g[i] == w[i],
                    "{a} {b}: {} {}",
                    g[i],
                    w[i]
                );
            }
        }
        if !a.is_bool() && !a.is_storage() {
            let x = random(&mut rng, &[n], a);
            let y = ops::add(&x, 3).unwrap();
            assert_eq!(y.dtype(), a);
            let three = Tensor::scalar(3, a).unwrap();
            assert_eq!(values(&y), values(&ops::add(&x, &three).unwrap()), "{a}");
            assert_eq!(
                values(&ops::subtract(3, &x).unwrap()),
                values(&ops::subtract(&three, &x).unwrap()),
                "{a}"
            );
        }
    }
}

#[test]
fn results_reuse_the_buffer_of_a_moved_operand() {
    let x = Tensor::from_slice(&[1.0f32; 1000], [10, 100]).unwrap();
    let y = x.copy().unwrap();
    let p = y.as_ptr();
    assert_eq!(ops::add(&x, y).unwrap().as_ptr(), p, "the second operand");
    let y = x.copy().unwrap();
    let p = y.as_ptr();
    assert_eq!(ops::exp(y).unwrap().as_ptr(), p);
    let y = x.copy().unwrap();
    let p = y.as_ptr();
    let keep = y.clone();
    assert_ne!(ops::add(y, &x).unwrap().as_ptr(), p, "shared storage stays");
    assert_eq!(floats(&keep), floats(&x));
    // one storage in two operands is shared
    let y = x.copy().unwrap();
    let flipped = y.flip([1]).unwrap();
    let z = ops::subtract(y, flipped).unwrap();
    assert!(floats(&z).iter().all(|v| *v == 0.0));
}

/// `x ** 2` has the bits of a square, in every dtype that has powers; integers wrap.
#[test]
fn pow_2_has_the_bits_of_square() {
    let mut rng = Rng(29);
    for d in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.is_bool() && !d.is_storage())
    {
        for n in [0, 1, 17, 9000] {
            let x = random(&mut rng, &[n], d);
            let squared = if d.real() == d {
                ops::multiply(&x, &x)
            } else {
                ops::square(&x)
            };
            let want = values(&squared.unwrap());
            let mut assigned = x.clone();
            ops::apply_in_place(Op::Pow.row(), &mut assigned, Some(Arg::from(2))).unwrap();
            for got in [
                ops::pow(&x, 2).unwrap(),
                ops::pow(x.copy().unwrap(), 2).unwrap(),
                assigned,
            ] {
                assert_eq!(
                    (got.dtype(), values(&got)),
                    (d, want.clone()),
                    "{d}, {n} elements"
                );
            }
        }
    }
    let x = Tensor::from_slice(&[f32::NEG_INFINITY, -0.0, f32::NAN, 1e30, -3.0], [5]).unwrap();
    let y = ops::pow(&x, 2.0).unwrap().to_vec::<f32>().unwrap();
    assert!(
        y[2].is_nan()
            && [y[0], y[1], y[3], y[4]] == [f32::INFINITY, 0.0, f32::INFINITY, 9.0]
            && y[1].is_sign_positive()
    );
    // a float exponent makes the result a float
    assert_eq!(
        floats(&ops::pow(Tensor::from_slice(&[3i32], [1]).unwrap(), 2.0).unwrap()),
        [9.0]
    );
}

/// Powers by numbers of halves have the bits of those by a tensor of exponents, whatever the layout,
/// and of what IEEE 754 rounds once.
#[test]
fn powers_by_halves_have_the_bits_of_tensors_of_exponents() {
    let mut rng = Rng(31);
    for d in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && d.is_float() && !d.is_storage())
    {
        let ends = special(d);
        for n in [0, 1, 5, 17, 64, 600, 9000] {
            let mut numbers = ends.clone();
            numbers.truncate(n);
            let (low, high) = (rng.uniform(0.0, 1.0), 1e3);
            numbers.resize_with(n, || Scalar::Float(rng.uniform(-low, high)));
            let x = tensor(&numbers, &[n], d);
            for k in -5..=7 {
                let exponent = f64::from(k) / 2.0;
                let exponents = ops::full([n], exponent, d).unwrap();
                let want = format!("{:?}", values(&ops::pow(&x, &exponents).unwrap()));
                let mut assigned = x.clone();
                let by = Some(Arg::from(exponent));
                ops::apply_in_place(Op::Pow.row(), &mut assigned, by).unwrap();
                let mut all = vec![ops::pow(&x, exponent).unwrap(), assigned];
                for (_, x) in layouts(&x) {
                    all.push(ops::pow(&x, exponent).unwrap());
                }
                for got in all {
                    assert_eq!(
                        format!("{:?}", values(&got)),
                        want,
                        "{d}, {n}, to {exponent}"
                    );
                }
                let exact = match k {
                    -2 => ops::reciprocal(&x),
                    // the root of -0 is -0, that of minus infinity NaN
                    1 => ops::sqrt(
                        ops::where_(
                            ops::isinf(&x).unwrap(),
                            ops::abs(&x).unwrap(),
                            ops::add(&x, 0.0).unwrap(),
                        )
                        .unwrap(),
                    ),
                    2 => ops::positive(&x),
                    4 => ops::square(&x),
                    _ => continue,
                };
                assert_eq!(
                    format!("{:?}", values(&exact.unwrap())),
                    want,
                    "{d} to {exponent}"
                );
            }
        }
    }
}

/// Of one element in each tile, with an exponent for each: some take products and roots, others
/// logarithms.
#[test]
fn powers_by_mixed_exponents_are_those_of_each_number() {
    let mut rng = Rng(37);
    for d in [DType::F32, DType::F64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let n = 1500;
        let x: Vec<f32> = (0..n).map(|_| rng.uniform(0.0, 9.0) as f32).collect();
        let x = Tensor::from_slice(&x, [n]).unwrap().astype(d).unwrap();
        let by: Vec<f32> = (0..n).map(|_| rng.below(17) as f32 / 4.0 - 2.0).collect();
        let exponents = Tensor::from_slice(&by, [n]).unwrap().astype(d).unwrap();
        let got = floats(&ops::pow(&x, &exponents).unwrap());
        for (k, exponent) in by.iter().enumerate() {
            let one = ops::pow(x.narrow(0, k, 1).unwrap(), f64::from(*exponent)).unwrap();
            assert_eq!(
                floats(&one),
                [got[k]],
                "{d}: {:?} to {exponent}",
                floats(&x)[k]
            );
        }
    }
}

/// A result has the memory order that its operands of the same shape share, and is row-major if
/// they differ.
#[test]
fn results_keep_the_memory_order_of_their_operands() {
    let mut rng = Rng(23);
    for shape in [[3usize, 4, 5, 1], [12, 30, 40, 1]] {
        for order in [
            [0isize, 1, 2, 3],
            [2, 1, 0, 3],
            [1, 2, 0, 3],
            [2, 3, 0, 1],
            [3, 0, 2, 1],
        ] {
            let (a, b) = (
                random(&mut rng, &shape, DType::F32),
                random(&mut rng, &shape, DType::F32),
            );
            let (x, y) = (a.permute(order).unwrap(), b.permute(order).unwrap());
            let (cx, cy) = (x.contiguous().unwrap(), y.contiguous().unwrap());
            let steps = |t: &Tensor| -> Vec<(usize, isize)> {
                t.shape()
                    .iter()
                    .copied()
                    .zip(t.strides().iter().copied())
                    .filter(|(n, _)| *n != 1)
                    .collect()
            };
            let check = |got: Tensor, like: &Tensor, want: Tensor| {
                assert_eq!(steps(&got), steps(like), "{shape:?} {order:?}");
                assert_eq!(values(&got), values(&want), "{shape:?} {order:?}");
            };
            let row = random(&mut rng, &[x.shape()[3]], DType::F32);
            check(
                ops::subtract(&x, &y).unwrap(),
                &x,
                ops::subtract(&cx, &cy).unwrap(),
            );
            check(ops::exp(&x).unwrap(), &x, ops::exp(&cx).unwrap());
            check(ops::add(&x, 2).unwrap(), &x, ops::add(&cx, 2).unwrap());
            check(
                ops::multiply(&row, &x).unwrap(),
                &x,
                ops::multiply(&row, &cx).unwrap(),
            );
            check(
                x.astype(DType::I32).unwrap(),
                &x,
                cx.astype(DType::I32).unwrap(),
            );
            let less = ops::less(&x, &y).unwrap();
            check(
                ops::where_(&less, &x, 1.5).unwrap(),
                &x,
                ops::where_(&less, &cx, 1.5).unwrap(),
            );
            check(
                ops::where_(&less, &x, &y).unwrap(),
                &x,
                ops::where_(&less, &cx, &cy).unwrap(),
            );
            // reversed along one dimension
            let turned = x.flip([1]).unwrap();
            check(
                ops::negative(&turned).unwrap(),
                &x,
                ops::negative(turned.contiguous().unwrap()).unwrap(),
            );
            // two orders, and a broadcast operand, which has none
            check(
                ops::subtract(&cx, &y).unwrap(),
                if order.is_sorted() { &x } else { &cx },
                ops::subtract(&cx, &cy).unwrap(),
            );
            let longest = (0..4).max_by_key(|k| x.shape()[*k]).unwrap() as isize;
            let repeated = x
                .slice_axis(longest, Some(0), Some(1), 1)
                .unwrap()
                .broadcast_to(x.shape())
                .unwrap();
            check(
                ops::add(&repeated, 1).unwrap(),
                &cx,
                ops::add(repeated.contiguous().unwrap(), 1).unwrap(),
            );
            // in place, and in the buffer of a moved operand
            let mut z = ops::multiply(&x, 1).unwrap();
            let p = z.as_ptr();
            z -= &y;
            z *= &cx;
            assert_eq!(z.as_ptr(), p);
            let z = ops::abs(z).unwrap();
            assert_eq!(z.as_ptr(), p);
            check(
                z,
                &x,
                ops::abs(ops::multiply(ops::subtract(&cx, &cy).unwrap(), &cx).unwrap()).unwrap(),
            );
        }
    }
}

#[test]
fn in_place_operations_write_only_their_target() {
    let mut x = Tensor::from_slice(&[1i32, 2, 3, 4], [2, 2]).unwrap();
    let p = x.as_ptr();
    x += 1;
    assert_eq!(
        (x.as_ptr(), x.to_vec::<i32>().unwrap()),
        (p, vec![2, 3, 4, 5])
    );
    let before = x.clone();
    x *= &before;
    assert_eq!(x.to_vec::<i32>().unwrap(), [4, 9, 16, 25]);
    assert_eq!(before.to_vec::<i32>().unwrap(), [2, 3, 4, 5]);
    // a failed operation leaves its target and the storage unchanged
    let p = x.as_ptr();
    for bad in [
        Tensor::from_slice(&[0.5f32], [1]).unwrap(),
        Tensor::zeros([3, 2, 2], DType::I32).unwrap(),
        Tensor::zeros([3], DType::I32).unwrap(),
    ] {
        assert!(ops::apply_in_place(Op::Add.row(), &mut x, Some(Arg::Ref(&bad))).is_err());
        assert_eq!(
            (x.as_ptr(), x.to_vec::<i32>().unwrap(), x.dtype()),
            (p, vec![4, 9, 16, 25], DType::I32)
        );
    }
}

#[test]
fn small_in_place_operations_keep_their_memory() {
    for n in [0, 1, 7, 16, 17, 63, 8191, 8192, 8193] {
        let values: Vec<f32> = (0..n).map(|k| k as f32).collect();
        let mut x = Tensor::from_slice(&values, [n]).unwrap();
        let (p, other) = (x.as_ptr(), x.flip([0]).unwrap().copy().unwrap());
        x += &other;
        x *= 2.0f32;
        assert!(floats(&x).iter().all(|v| *v == (n - 1) as f64 * 2.0));
        assert_eq!(x.as_ptr(), p);
        // shared memory is not changed
        let (before, kept) = (floats(&x), x.clone());
        x -= &kept;
        assert!(floats(&x).iter().all(|v| *v == 0.0) && floats(&kept) == before);
        // only the view's part changes
        let mut part = Tensor::from_slice(&values, [n])
            .unwrap()
            .narrow(0, n / 2, n - n / 2)
            .unwrap();
        let q = part.as_ptr();
        part += 1;
        assert_eq!(
            (part.as_ptr(), floats(&part)),
            (q, (n / 2..n).map(|k| k as f64 + 1.0).collect())
        );
    }
}

#[cfg(feature = "half")]
#[test]
fn in_place_operations_keep_the_dtype() {
    let mut h = Tensor::from_slice(&[1.0f32, 2.0], [2])
        .unwrap()
        .astype(DType::BF16)
        .unwrap();
    h /= 3.0f32;
    assert_eq!(
        (h.dtype(), floats(&h)),
        (DType::BF16, vec![0.333984375, 0.66796875])
    );
}

#[test]
fn errors_name_the_operation() {
    let a = Tensor::zeros([2, 3], DType::F32).unwrap();
    let b = Tensor::zeros([4], DType::F32).unwrap();
    let text = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    assert_eq!(
        text(ops::add(&a, &b)),
        "add: shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 differ and neither is 1"
    );
    assert!(text(ops::bitwise_and(&a, &a)).contains("not defined for float32"));
    let i = Tensor::from_slice(&[1i32, 0], [2]).unwrap();
    assert!(text(ops::floor_divide(&i, &i)).contains("integer division by zero"));
    assert!(text(ops::remainder(&i, 0)).contains("integer division by zero"));
    assert!(text(ops::pow(&i, -1)).contains("negative power"));
    assert!(text(ops::where_(&i, &i, &i)).contains("the condition is int32, not bool"));
    assert!(
        text(ops::add(Tensor::zeros([2], DType::I8).unwrap(), 300))
            .contains("300 is out of range for int8")
    );
    assert!(
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| &a + &b)).is_err(),
        "operators panic with the same message"
    );
}

#[cfg(feature = "ints")]
#[test]
fn unsigned_and_signed_64_bit_integers_compare_exactly() {
    let s = [i64::MIN, -1, 0, 1, i64::MAX];
    let u = [u64::MAX, i64::MAX as u64 + 1, i64::MAX as u64, 1, 0];
    for (i, x) in s.iter().enumerate() {
        for y in u {
            let (a, b) = (
                Tensor::from_slice(&[*x], [1]).unwrap(),
                Tensor::from_slice(&[y], [1]).unwrap(),
            );
            let one = |t: flex::Result<Tensor>| t.unwrap().item::<bool>().unwrap();
            let (p, q) = (*x as i128, y as i128);
            assert_eq!(one(ops::less(&a, &b)), p < q, "{i}");
            assert_eq!(one(ops::greater_equal(&a, &b)), p >= q);
            assert_eq!(one(ops::equal(&b, &a)), p == q);
            assert_eq!(one(ops::not_equal(&b, &a)), p != q);
            assert_eq!(one(ops::greater(&b, &a)), q > p);
        }
    }
    assert!(
        ops::add(
            Tensor::zeros([1], DType::U64).unwrap(),
            Tensor::zeros([1], DType::I8).unwrap()
        )
        .is_err()
    );
}
