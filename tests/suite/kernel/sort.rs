//! Against the standard library's comparison sort, for all lengths around the vectors and networks.

use crate::common::Rng;
use core::cmp::Ordering;
use flex::kernel::sort::*;
use std::{vec, vec::Vec};

/// Lengths around vectors, networks and blocks, and some long enough for partitions and the long
/// sample.
fn lengths() -> impl Iterator<Item = usize> {
    let (short, long): (_, &[usize]) = if cfg!(miri) {
        (15..18, &[300])
    } else {
        (
            0..140,
            &[200, 255, 256, 257, 300, 511, 513, 1000, 5000, 40_000],
        )
    };
    short.chain(long.iter().copied())
}

/// Sorts in all ways and checks against `compare`, with NaN last and both zeros equal.
fn check<T: Ordered, P: KeyedPosition<T::Key>>(x: &[T], compare: impl Fn(&T, &T) -> Ordering) {
    for descending in [false, true] {
        let mut expected: Vec<usize> = (0..x.len()).collect();
        let nan = |x: &T| x.partial_cmp_self().is_none();
        expected.sort_by(|a, b| {
            let (a, b) = (&x[*a], &x[*b]);
            match (nan(a), nan(b)) {
                (false, false) if descending => compare(b, a),
                (false, false) => compare(a, b),
                (a, b) => a.cmp(&b),
            }
        });

        let mut sorted = vec![T::default(); x.len()];
        sort(
            x,
            descending,
            &mut sorted,
            &mut vec![T::Key::default(); x.len()],
        );
        let zero = T::Key::default();
        for (s, i) in sorted.iter().zip(&expected) {
            // keys tell zeros apart, and are the same for each NaN
            assert!(
                s.key(zero) == x[*i].key(zero),
                "{:?} {descending} {}",
                T::DTYPE,
                x.len()
            );
        }

        // in parts, as threads sort
        let (mut keys_of_x, mut room) = (
            vec![T::Key::default(); x.len()],
            vec![T::Key::default(); x.len()],
        );
        keys(x, descending, &mut keys_of_x);
        let (low, high) = T::Key::split(Part::new(&mut keys_of_x, &mut room));
        let (a, b) = T::Key::split(high);
        let found = [low, a, b].map(Part::sort).concat();
        let mut found = Vec::from_iter(found.into_iter().map(|k| T::value(k, flip(descending))));
        settle_zeros(x, descending, &mut found);
        let keys = |v: &[T]| Vec::from_iter(v.iter().map(|v| v.key(zero)));
        assert!(
            keys(&found) == keys(&sorted),
            "{:?} {descending} {}",
            T::DTYPE,
            x.len()
        );

        let (least, most) = pack::extent(x, descending);
        let packings = [
            Some(pack::KeyPacking::new(least, most, x.len())),
            pack::KeyPacking::of_width(8 * size_of::<T>() as u32, x.len()),
        ];
        for packing in packings.into_iter().flatten() {
            let mut order = vec![0; x.len()];
            pack::pairs(x, 0, packing, descending, &mut order);
            i64::sort(Part::new(&mut order, &mut vec![0; x.len()]));
            pack::settle(x, packing, descending, &mut order);
            pack::positions(&mut order, packing);
            assert!(
                order.iter().zip(&expected).all(|(a, b)| *a as usize == *b),
                "{:?} {descending} {}",
                T::DTYPE,
                x.len()
            );
        }

        for k in [1, 2, x.len() / 3, x.len()] {
            if k == 0 || k > x.len() {
                continue;
            }
            let mut best = vec![P::default(); first_len(x.len(), k)];
            let mut room = best.clone();
            first(x, k, descending, &mut best, &mut room);
            best[..k].sort_unstable();
            assert!(
                best[..k]
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| a.position() == *b),
                "{:?} {descending} {} {k}",
                T::DTYPE,
                x.len()
            );
        }
    }
}

/// None for NaN.
trait PartialCmpSelf: PartialEq + Sized {
    fn partial_cmp_self(&self) -> Option<Ordering> {
        self.eq(self).then_some(Ordering::Equal)
    }
}
impl<T: PartialEq> PartialCmpSelf for T {}

#[test]
fn integers() {
    let mut rng = Rng(1);
    for n in lengths() {
        // few values, so that many are equal; and all values
        for range in [5, u64::MAX] {
            check::<i8, i64>(
                &Vec::from_iter((0..n).map(|_| (rng.next() % range) as i8)),
                i8::cmp,
            );
            check::<u8, i64>(
                &Vec::from_iter((0..n).map(|_| (rng.next() % range) as u8)),
                u8::cmp,
            );
            check::<i32, i64>(
                &Vec::from_iter((0..n).map(|_| (rng.next() % range) as i32)),
                i32::cmp,
            );
            check::<i64, i128>(
                &Vec::from_iter(
                    (0..n).map(|_| (((rng.next() % range) << 16) ^ (rng.next() % range)) as i64),
                ),
                i64::cmp,
            );
            #[cfg(feature = "ints")]
            {
                check::<i16, i64>(
                    &Vec::from_iter((0..n).map(|_| (rng.next() % range) as i16)),
                    i16::cmp,
                );
                check::<u16, i64>(
                    &Vec::from_iter((0..n).map(|_| (rng.next() % range) as u16)),
                    u16::cmp,
                );
                check::<u32, i64>(
                    &Vec::from_iter((0..n).map(|_| (rng.next() % range) as u32)),
                    u32::cmp,
                );
                check::<u64, i128>(
                    &Vec::from_iter(
                        (0..n).map(|_| ((rng.next() % range) << 16) ^ (rng.next() % range)),
                    ),
                    u64::cmp,
                );
            }
        }
        check::<flex::Bool, i64>(
            &Vec::from_iter((0..n).map(|_| flex::Bool((rng.next() % 3) as u8))),
            |a, b| a.get().cmp(&b.get()),
        );
    }
}

#[test]
fn floats_with_specials() {
    let special = [
        0.0,
        -0.0,
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE,
        -1e-45,
        f32::MAX,
        f32::MIN,
    ];
    let mut rng = Rng(2);
    for n in lengths() {
        for share in [1, 2, 9] {
            let x = Vec::from_iter((0..n).map(|_| {
                let r = rng.next();
                if r % 10 < share {
                    special[(r >> 8) as usize % special.len()]
                } else {
                    (r >> 20) as i16 as f32 / 64.0
                }
            }));
            check::<f32, i64>(&x, |a, b| a.partial_cmp(b).unwrap());
            // lines beyond 2^32 need the wide pairs
            check::<f32, i128>(&x, |a, b| a.partial_cmp(b).unwrap());
            #[cfg(feature = "f64")]
            check::<f64, i128>(
                &Vec::from_iter(x.iter().map(|v| *v as f64 * 1.000000001)),
                |a, b| a.partial_cmp(b).unwrap(),
            );
            #[cfg(feature = "half")]
            {
                use flex::dtype::{bf16, f16};
                check::<f16, i64>(
                    &Vec::from_iter(x.iter().map(|v| f16::from_f32(*v))),
                    |a, b| a.partial_cmp(b).unwrap(),
                );
                check::<bf16, i64>(
                    &Vec::from_iter(x.iter().map(|v| bf16::from_f32(*v))),
                    |a, b| a.partial_cmp(b).unwrap(),
                );
            }
        }
    }
}

#[test]
fn orders_that_are_hard_for_quicksort() {
    let n = if cfg!(miri) { 300 } else { 30_000 };
    let shapes: [fn(usize) -> i64; 5] = [
        |i| i as i64,
        |i| -(i as i64),
        |_| 3,
        |i| (i % 2) as i64,
        |i| (i as i64 - 15_000).abs(),
    ];
    for shape in shapes {
        check::<i64, i128>(&Vec::from_iter((0..n).map(shape)), i64::cmp);
        check::<i32, i64>(&Vec::from_iter((0..n).map(|i| shape(i) as i32)), i32::cmp);
    }
}

#[test]
fn a_value_sort_keeps_zeros_in_order() {
    let x = [0.0f32, -0.0, 1.0, 0.0, -0.0];
    for descending in [false, true] {
        let mut out = [1.0f32; 5];
        sort(&x, descending, &mut out, &mut [0; 5]);
        let zeros = Vec::from_iter(out.into_iter().filter(|x| *x == 0.0).map(f32::to_bits));
        assert_eq!(zeros, [0.0f32, -0.0, 0.0, -0.0].map(f32::to_bits));
    }
}

/// Positions that leave keys so few bits that the lost ones don't fit beside a position either.
#[test]
fn lost_bits_are_settled_in_turns() {
    let mut rng = Rng(9);
    let bases: Vec<i64> = (0..7).map(|_| (rng.next() << 16) as i64).collect();
    let x: Vec<i64> = (0..3000)
        .map(|_| bases[rng.below(7)] ^ rng.below(3) as i64 ^ (rng.below(3) << 20) as i64)
        .collect();
    for descending in [false, true] {
        let mut expected: Vec<i64> = (0..x.len() as i64).collect();
        expected.sort_by_key(|i| {
            if descending {
                !x[*i as usize]
            } else {
                x[*i as usize]
            }
        });
        for n in [12, 30, 44, 52]
            .iter()
            .filter_map(|bits| 1usize.checked_shl(*bits))
        {
            let packing = pack::KeyPacking::new(i64::MIN, i64::MAX, n);
            let mut order = vec![0; x.len()];
            pack::pairs(&x, 0, packing, descending, &mut order);
            order.sort_unstable();
            pack::settle(&x, packing, descending, &mut order);
            pack::positions(&mut order, packing);
            assert_eq!(order, expected, "{n} {descending}");
        }
    }
}

#[test]
fn search_counts_what_comes_before() {
    let sorted = [-1.0f32, -0.0, 0.0, 2.0, 2.0, f32::NAN];
    let values = [-2.0, -1.0, 0.0, 2.0, 3.0, f32::INFINITY, f32::NAN];
    let mut out = [0; 7];
    search(&sorted, &values, false, &mut out);
    assert_eq!(out, [0, 0, 1, 3, 5, 5, 5]);
    search(&sorted, &values, true, &mut out);
    assert_eq!(out, [0, 1, 3, 5, 5, 5, 6]);
}
