//! Families of numbers: which dtypes a body serves, as which Rust type, by which loop.

#[cfg(feature = "half")]
use super::half::{FusedBinaryLoop, FusedUnaryLoop, Narrow};
use super::loops::{
    BinaryLoop, ScalarOperands, TernaryLoop, UNARY_MASKS, UnaryLoop, binary_masks, ternary_masks,
};
use super::moves::{SELECT_MASKS, Select};
use super::operation::*;
use crate::dtype::{Bool, Class, DType};
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Number;
use crate::simd::{LoopFn, pick};
use core::num::Wrapping;

/// How a dtype is computed.
#[derive(Clone, Copy)]
pub struct ElementKernel {
    /// The loop.
    pub f: LoopFn,
    /// Operands are widened to float32, and the result, unless it is bool, is narrowed.
    pub wide: bool,
    /// How many elements of the loop make up one of the dtype: 2 for complex numbers taken by their
    /// parts.
    pub components: u8,
    /// Bit m: the loop takes scalar mask m.
    pub scalar_masks: ScalarMasks,
    /// If `wide`: a loop for operands as they are, all of them tensors.
    pub fused: Option<LoopFn>,
}

/// The loop of an operation of `ARITY` operands for elements `T` of the family `F`.
pub trait Body<F, T, const ARITY: usize> {
    /// The loop for the machine's instruction set.
    fn kernel() -> ElementKernel;
}
fn kernel(f: LoopFn, scalar_masks: ScalarMasks) -> ElementKernel {
    ElementKernel {
        f,
        wide: false,
        components: 1,
        scalar_masks,
        fused: None,
    }
}
impl<O: Unary<F, T>, F, T: Number> Body<F, T, 1> for O {
    fn kernel() -> ElementKernel {
        kernel(pick::<UnaryLoop<O, F, T>>(), UNARY_MASKS)
    }
}
impl<O: Binary<F, T>, F, T: ScalarOperands> Body<F, T, 2> for O {
    fn kernel() -> ElementKernel {
        kernel(
            pick::<BinaryLoop<O, F, T>>(),
            const { binary_masks::<O, F, T>() },
        )
    }
}
impl<O: Ternary<F, T>, F, T: ScalarOperands> Body<F, T, 3> for O {
    fn kernel() -> ElementKernel {
        kernel(
            pick::<TernaryLoop<O, F, T>>(),
            const { ternary_masks::<T>() },
        )
    }
}

/// A family that the operation `O` has a body for.
pub trait Family<O, const ARITY: usize> {
    /// The kernel for a dtype; none if the family doesn't have it, or the build leaves it out.
    fn kernel(dtype: DType) -> Option<ElementKernel>;
}

impl<O: Body<Boolean, Bool, N>, const N: usize> Family<O, N> for Boolean {
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        dtype.is_bool().then(O::kernel)
    }
}

impl<O, const N: usize> Family<O, N> for Integer
where
    O: Body<Integer, i8, N> + Body<Integer, i16, N> + Body<Integer, i32, N> + Body<Integer, i64, N>,
    O: Body<Integer, u8, N> + Body<Integer, u16, N> + Body<Integer, u32, N> + Body<Integer, u64, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        dispatch!(integer dtype, |T| Some(<O as Body<Integer, T, N>>::kernel()), else None)
    }
}

impl<O, const N: usize> Family<O, N> for SignAgnostic
where
    O: Body<SignAgnostic, Wrapping<u8>, N> + Body<SignAgnostic, Wrapping<u16>, N>,
    O: Body<SignAgnostic, Wrapping<u32>, N> + Body<SignAgnostic, Wrapping<u64>, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        match dtype.size() {
            _ if !dtype.is_integer() || !dtype.is_available() => None,
            1 if DType::has_integers(1) => Some(<O as Body<_, Wrapping<u8>, N>>::kernel()),
            2 if DType::has_integers(2) => Some(<O as Body<_, Wrapping<u16>, N>>::kernel()),
            4 if DType::has_integers(4) => Some(<O as Body<_, Wrapping<u32>, N>>::kernel()),
            8 if DType::has_integers(8) => Some(<O as Body<_, Wrapping<u64>, N>>::kernel()),
            _ => None,
        }
    }
}

impl<O, const N: usize> Family<O, N> for Float
where
    O: Body<Float, f32, N> + Body<Float, f64, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        if dtype.class() == Class::Half && dtype.is_available() {
            return Some(ElementKernel {
                wide: true,
                ..<O as Body<Float, f32, N>>::kernel()
            });
        }
        dispatch!(float dtype, |T| Some(<O as Body<Float, T, N>>::kernel()), else None)
    }
}

/// An operation whose float32 body can be fused with the conversions.
#[cfg(feature = "half")]
pub trait Fusable<const ARITY: usize> {
    /// The loop.
    fn fused<T: Widen>() -> LoopFn;
}
#[cfg(feature = "half")]
impl<O: Unary<Float, f32, Out<f32>: Narrow>> Fusable<1> for O {
    fn fused<T: Widen>() -> LoopFn {
        pick::<FusedUnaryLoop<O, T>>()
    }
}
#[cfg(feature = "half")]
impl<O: Binary<Float, f32, Out<f32>: Narrow>> Fusable<2> for O {
    fn fused<T: Widen>() -> LoopFn {
        pick::<FusedBinaryLoop<O, T>>()
    }
}
#[cfg(feature = "half")]
impl<O: Body<Float, f32, N> + Fusable<N>, const N: usize> Family<O, N> for FusedHalf {
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        let fused = dispatch!(half dtype, |T| Some(O::fused::<T>()), else None);
        fused.map(|_| ElementKernel {
            wide: true,
            fused,
            ..<O as Body<Float, f32, N>>::kernel()
        })
    }
}
#[cfg(not(feature = "half"))]
impl<O, const N: usize> Family<O, N> for FusedHalf {
    fn kernel(_: DType) -> Option<ElementKernel> {
        None
    }
}

#[cfg(feature = "half")]
impl<O, const N: usize> Family<O, N> for Half
where
    O: Body<Half, crate::dtype::f16, N> + Body<Half, crate::dtype::bf16, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        dispatch!(half dtype, |T| Some(<O as Body<Half, T, N>>::kernel()), else None)
    }
}
#[cfg(not(feature = "half"))]
impl<O, const N: usize> Family<O, N> for Half {
    fn kernel(_: DType) -> Option<ElementKernel> {
        None
    }
}

#[cfg(feature = "complex")]
impl<O, const N: usize> Family<O, N> for Complex
where
    O: Body<Complex, num_complex::Complex<f32>, N> + Body<Complex, num_complex::Complex<f64>, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        dispatch!(complex dtype, |T| Some(<O as Body<Complex, T, N>>::kernel()), else None)
    }
}
#[cfg(not(feature = "complex"))]
impl<O, const N: usize> Family<O, N> for Complex {
    fn kernel(_: DType) -> Option<ElementKernel> {
        None
    }
}

impl<O, const N: usize> Family<O, N> for Parts
where
    O: Body<Float, f32, N> + Body<Float, f64, N>,
{
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        if !dtype.is_complex() || !dtype.is_available() {
            return None;
        }
        // a single value would be a pair
        let by_components = |k| ElementKernel {
            components: 2,
            scalar_masks: 1,
            ..k
        };
        <Float as Family<O, N>>::kernel(dtype.real()).map(by_components)
    }
}

impl<O> Family<O, 3> for Bits {
    fn kernel(dtype: DType) -> Option<ElementKernel> {
        let f = dispatch_width!(dtype.size(), |U| pick::<Select<U>>());
        Some(kernel(f, SELECT_MASKS))
    }
}
