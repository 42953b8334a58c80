//! Conversions of every pair of dtypes.

use flex::dtype::{Bool, DType, Element};
use flex::kernel::convert::*;
use std::vec::Vec;

fn cast<A: Element, T: Element>(x: &[A]) -> Vec<T> {
    let f = cast_loop("cast", A::DTYPE, T::DTYPE).unwrap();
    let none = core::ptr::null();
    let mut d = std::vec![T::default(); x.len()];
    // SAFETY: LOOP1: both hold as many elements, of the loop's types.
    unsafe {
        f(
            d.as_mut_ptr() as *mut u8,
            x.as_ptr() as *const u8,
            none,
            none,
            x.len(),
            0,
        )
    };
    for (k, d) in d.iter().enumerate() {
        let mut same = [T::default(); 3];
        // SAFETY: LOOP1: one value in, as the bit says, and room for three.
        unsafe {
            f(
                same.as_mut_ptr() as *mut u8,
                x[k..].as_ptr() as *const u8,
                none,
                none,
                3,
                1,
            )
        };
        assert!(
            same.iter()
                .all(|s| std::format!("{s:?}") == std::format!("{d:?}")),
            "one value for all: {:?}",
            x[k]
        );
    }
    d
}
/// Checks against Rust's `as`, whose semantics are the documented ones.
macro_rules! check {
    ($A:ty => $($T:ty)*; $x:expr) => { $({
        let x: Vec<$A> = $x;
        assert_eq!(cast::<$A, $T>(&x), x.iter().map(|x| *x as $T).collect::<Vec<_>>(), "{} to {}", <$A>::DTYPE, <$T>::DTYPE);
    })* };
}
fn long() -> Vec<i64> {
    let edges = (0..64).flat_map(|k| [-1, 0, 1].map(|d| (1i64 << k).wrapping_add(d)));
    edges
        .clone()
        .chain(edges.map(|x| x.wrapping_neg()))
        .chain((0..300).map(|k| k - 150))
        .collect()
}
fn real() -> Vec<f64> {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e300,
        -1e300,
        1e-300,
        -1e-300,
        0.0,
        -0.0,
        5e-324,
        65519.9,
        65520.0,
        3e38,
        1e-40,
    ];
    long()
        .iter()
        .map(|x| *x as f64 * 0.37)
        .chain(special)
        .collect()
}

#[test]
fn every_available_pair_has_a_loop() {
    for from in DType::ALL {
        for to in DType::ALL {
            let meant = !from.is_complex() || to.is_complex() || to.is_bool();
            assert_eq!(
                cast_loop("t", from, to).is_ok(),
                meant && from.is_available() && to.is_available(),
                "{from} to {to}"
            );
        }
    }
}

#[test]
fn integers_wrap_and_become_the_nearest_float() {
    macro_rules! all {
        ($($A:ty)*) => { $(check!($A => i8 u8 i32 i64 f32; long().into_iter().map(|x| x as $A).collect());)* };
    }
    all! { i8 u8 i32 i64 }
    #[cfg(feature = "ints")]
    {
        all! { i16 u16 u32 u64 }
        macro_rules! more {
            ($($A:ty)*) => { $(check!($A => i16 u16 u32 u64; long().into_iter().map(|x| x as $A).collect());)* };
        }
        more! { i8 u8 i16 u16 i32 u32 i64 u64 f32 }
    }
}

#[test]
fn floats_truncate_and_saturate() {
    check!(f32 => i8 u8 i32 i64; real().into_iter().map(|x| x as f32).collect());
    #[cfg(feature = "f64")]
    {
        check!(f64 => i8 u8 i32 i64; real());
        assert_eq!(
            cast::<f64, f32>(&[1e300, -1e-300, 0.1]),
            [f32::INFINITY, -0.0, 0.1]
        );
    }
    assert_eq!(
        cast::<f32, i8>(&[f32::NAN, 300.0, -300.0, -1.9]),
        [0, 127, -128, -1]
    );
    #[cfg(feature = "ints")]
    {
        check!(f32 => i16 u16 u32 u64; real().into_iter().map(|x| x as f32).collect());
        #[cfg(feature = "f64")]
        check!(f64 => i16 u16 u32 u64; real());
    }
    // Blocks whose elements all fit 32 bits.
    check!(f32 => i64; (0..1000).map(|k| (k - 500) as f32 * 1.75).collect());
    #[cfg(feature = "ints")]
    check!(f32 => u64; (-1..1000).map(|k| k as f32 * 0.75).collect());
    // The neighbours of powers of two, where ranges end.
    let edges = (0..66).flat_map(|k| {
        [-1, 0, 1].map(|d| f32::from_bits((f32::powi(2.0, k).to_bits() as i32 + d) as u32))
    });
    check!(f32 => i8 u8 i32 i64; edges.clone().flat_map(|x| [x, -x]).collect());
}

#[test]
fn truth_is_not_zero() {
    assert_eq!(
        cast::<f32, Bool>(&[0.0, -0.0, f32::NAN, 1e-45]),
        [false, false, true, true].map(Bool::from)
    );
    assert_eq!(
        cast::<i64, Bool>(&[0, 1 << 32, -1]),
        [false, true, true].map(Bool::from)
    );
    assert_eq!(cast::<Bool, i32>(&[Bool(0), Bool(1), Bool(7)]), [0, 1, 1]);
    assert_eq!(cast::<Bool, f32>(&[Bool(0), Bool(7)]), [0.0, 1.0]);
    let normal = cast::<Bool, Bool>(&[Bool(0), Bool(7)]);
    assert_eq!([normal[0].0, normal[1].0], [0, 1]);
}

#[cfg(feature = "half")]
#[test]
fn sixteen_bit_floats_are_rounded_once() {
    use flex::dtype::{bf16, f16};
    // One above the midpoint between neighbours, by an amount that a first rounding to f32 (or f64)
    // loses.
    let tie = (1i64 << 61) + (1 << 53) + 1;
    assert_eq!(
        cast::<i64, bf16>(&[tie, tie - 1, -tie])[..],
        [0x5e01, 0x5e00, 0xde01].map(bf16::from_bits)
    );
    let tie = (1i32 << 30) + (1 << 22) + 1;
    assert_eq!(
        cast::<i32, bf16>(&[tie, tie - 1, -tie])[..],
        [0x4e81, 0x4e80, 0xce81].map(bf16::from_bits)
    );
    assert_eq!(
        cast::<i32, f16>(&[2049, 2050, 2051, 65519, 65520, -70000])[..],
        [
            2048.0,
            2050.0,
            2052.0,
            65504.0,
            f32::INFINITY,
            f32::NEG_INFINITY
        ]
        .map(f16::from_f32_const)
    );
    assert_eq!(
        cast::<f16, i8>(&[
            f16::from_f32_const(300.0),
            f16::NAN,
            f16::from_f32_const(-3.5)
        ]),
        [127, 0, -3]
    );
    assert_eq!(
        cast::<f16, Bool>(&[f16::from_f32_const(-0.0), f16::NAN]),
        [false, true].map(Bool::from)
    );
    assert_eq!(
        cast::<bf16, f16>(&[bf16::from_f32_const(1e30), bf16::ONE]),
        [f16::INFINITY, f16::ONE]
    );
    #[cfg(feature = "f64")]
    {
        let tie = 1.0 + f64::powi(2.0, -11);
        let above = tie + f64::powi(2.0, -40);
        assert_eq!(
            cast::<f64, f16>(&[tie, above, 1e-300, 1e300])[..],
            [0x3c00, 0x3c01, 0, 0x7c00].map(f16::from_bits)
        );
        for x in real() {
            let (h, b) = (cast::<f64, f16>(&[x])[0], cast::<f64, bf16>(&[x])[0]);
            assert!(
                h.to_bits() == f16::from_f64_const(x).to_bits() || x.is_nan() && h.is_nan(),
                "{x:e}"
            );
            assert!(
                b.to_bits() == bf16::from_f64_const(x).to_bits() || x.is_nan() && b.is_nan(),
                "{x:e}"
            );
        }
    }
}

/// Around the midpoints between all neighbours: ties go to the even one, the rest to the nearer.
#[cfg(all(feature = "half", feature = "f64"))]
#[test]
fn sixteen_bit_floats_are_the_nearest() {
    use flex::dtype::{bf16, f16};
    macro_rules! check {
        ($H:ident, $overflow:expr) => {
            let value = |h: u16| {
                if $H::from_bits(h).is_infinite() {
                    $overflow
                } else {
                    $H::from_bits(h).to_f64()
                }
            };
            let (mut x, mut want, mut n, mut integers) =
                (Vec::new(), Vec::new(), Vec::<i32>::new(), Vec::new());
            for h in 0..$H::INFINITY.to_bits() {
                let (low, middle) = (value(h), (value(h) + value(h + 1)) / 2.0);
                let beside = |by: i64| f64::from_bits((middle.to_bits() as i64 + by) as u64);
                for (v, h) in [
                    (low, h),
                    (beside(-1), h),
                    (middle, h + (h & 1)),
                    (beside(1), h + 1),
                ] {
                    x.extend([v, -v]);
                    want.extend([h, h | 0x8000]);
                }
                if middle < 2e9 && middle - low >= 1.0 {
                    for (v, h) in [
                        (middle - 1.0, h),
                        (middle, h + (h & 1)),
                        (middle + 1.0, h + 1),
                    ] {
                        n.extend([v as i32, -v as i32]);
                        integers.extend([h, h | 0x8000]);
                    }
                }
            }
            let bits = |y: Vec<$H>| y.into_iter().map($H::to_bits).collect::<Vec<_>>();
            assert!(bits(cast::<f64, $H>(&x)) == want && bits(cast::<i32, $H>(&n)) == integers);
            assert!(
                bits(cast::<i64, $H>(
                    &n.iter().map(|n| *n as i64).collect::<Vec<_>>()
                )) == integers
            );
        };
    }
    check!(f16, 65536.0);
    check!(bf16, f64::powi(2.0, 128));
}

/// Blocks with midpoints between bfloat16 values, and blocks without.
#[cfg(all(feature = "half", feature = "f64"))]
#[test]
fn bfloat16_is_the_nearest_in_blocks() {
    use flex::dtype::bf16;
    for step in [1, 3, 12_345, 1 << 20] {
        let n: Vec<i32> = (0..1000).map(|k| (k - 500) * step).collect();
        let x: Vec<f64> = n.iter().map(|n| *n as f64 * 0.1).collect();
        assert_eq!(
            cast::<f64, bf16>(&x),
            x.iter()
                .map(|x| bf16::from_f64_const(*x))
                .collect::<Vec<_>>()
        );
        let nearest: Vec<_> = n.iter().map(|n| bf16::from_f64_const(*n as f64)).collect();
        assert_eq!(cast::<i32, bf16>(&n), nearest);
        assert_eq!(
            cast::<i64, bf16>(&n.iter().map(|n| *n as i64).collect::<Vec<_>>()),
            nearest
        );
        let small: Vec<i8> = n.iter().map(|n| *n as i8).collect();
        assert_eq!(
            cast::<i8, bf16>(&small),
            small
                .iter()
                .map(|n| bf16::from_f32_const(*n as f32))
                .collect::<Vec<_>>()
        );
    }
}

#[cfg(feature = "half")]
#[test]
fn float16_is_the_same_by_instruction_and_by_arithmetic() {
    use flex::{dtype::f16, kernel::convert::Widen};
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    for n in [all.len(), 1, 7, 8, 9, 15, 16, 17, 31] {
        let wide = cast::<f16, f32>(&all[all.len() - n..]);
        assert!(
            wide.iter()
                .zip(&all[all.len() - n..])
                .all(|(x, h)| x.to_bits() == h.widen().to_bits()),
            "{n} widened"
        );
        // Each value, and values between it and the next.
        for beyond in [0, 0x0fff, 0x1000, 0x1001] {
            let x: Vec<f32> = wide
                .iter()
                .map(|x| f32::from_bits(x.to_bits().wrapping_add(beyond)))
                .collect();
            assert!(
                cast::<f32, f16>(&x)
                    .iter()
                    .zip(&x)
                    .all(|(h, x)| h.to_bits() == f16::narrow(*x).to_bits()),
                "{n} narrowed"
            );
        }
    }
}

#[cfg(feature = "complex")]
#[test]
fn complex_numbers_become_no_real_ones() {
    use flex::dtype::Complex64;
    let z = [
        Complex64::new(1.5, 2.0),
        Complex64::new(0.0, -1.0),
        Complex64::new(0.0, -0.0),
    ];
    assert!(
        [DType::F32, DType::I64]
            .into_iter()
            .all(|real| cast_loop("cast", DType::Complex64, real).is_err())
    );
    assert_eq!(
        cast::<Complex64, Bool>(&z),
        [true, true, false].map(Bool::from)
    );
    assert_eq!(cast::<i64, Complex64>(&[-3]), [Complex64::new(-3.0, 0.0)]);
    // More than a block.
    let many: Vec<i64> = (0..1000).collect();
    assert!(
        cast::<i64, Complex64>(&many)
            .iter()
            .zip(&many)
            .all(|(z, k)| z.re == *k as f32 && z.im == 0.0)
    );
}
