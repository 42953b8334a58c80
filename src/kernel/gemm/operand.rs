//! How the operands of a product are packed: by elements, bytes in groups, or bfloat16 in pairs.
//! `with_packing!` decides, by their types and the CPU, and nothing else does.

use super::blocking::KBlocks;
use super::bytes::Group;
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::Packed;
#[cfg(x86_bf16)]
use super::packing::Interleave;
use super::packing::{Packing, Single};
use super::source::Strided;
use core::marker::PhantomData;

/// The packing of matrices of `T`, whose elements have the bits of `P::From`.
pub struct Operand<T, P> {
    packing: P,
    _element: PhantomData<fn(T)>,
}
impl<T, P: Copy> Clone for Operand<T, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, P: Copy> Copy for Operand<T, P> {}

impl<T: MatElement> Operand<T, Single<T>> {
    /// Elements by themselves.
    pub const ELEMENTS: Self = Operand::of(Single::ELEMENTS);
}
/// Bytes in groups of `G`: the left operand, of `A`, and the right one. Panics for other elements.
pub fn bytes<G: Group, A: MatElement, B: MatElement>() -> (Operand<A, G>, Operand<B, G>) {
    let (Some(left), Some(right)) = (A::BYTE, B::BYTE) else {
        panic!("products of bytes");
    };
    (
        Operand::of(G::left(left)),
        Operand::of(G::right(right, left)),
    )
}
#[cfg(x86_bf16)]
impl<T: MatElement> Operand<T, Interleave> {
    /// Pairs of bfloat16, for CPUs with a dot product instruction of pairs: VDPBF16PS, which adds two
    /// products to a float32 and is twice as fast as multiply-adds of widened values, or AMX's
    /// TDPBF16PS, which is many times as fast. Products of bfloat16 are exact in float32, so sums
    /// are as accurate either way, but they are rounded in another order, and subnormal numbers
    /// count as zero, both as operands and as sums. A pair is two neighbours along the sum: pairs of
    /// A are read in place, those of B are interleaved from two rows. Panics for other elements.
    pub fn pairs() -> Self {
        assert!(T::IS_BF16);
        Operand::of(Interleave)
    }
}
impl<T, P> Operand<T, P> {
    const fn of(packing: P) -> Self {
        Operand {
            packing,
            _element: PhantomData,
        }
    }
}
impl<T, P: Packing<To: Packed>> Operand<T, P> {
    /// The packing of its elements' bits.
    pub fn packing(self) -> P {
        self.packing
    }
    /// The bits of a matrix.
    pub fn bits(self, m: Mat<'_, T>) -> Mat<'_, P::From> {
        assert!(size_of::<T>() == size_of::<P::From>());
        // SAFETY: MAT1: the same elements: themselves, or by ELEMENT1 bytes or the bits of bfloat16.
        unsafe { Mat::new(m.as_ptr().cast(), m.rows(), m.cols(), m.rs(), m.cs()) }
    }
    /// The rows of `a`, as the left operand.
    pub fn rows(self, a: Mat<'_, T>) -> Strided<'_, P> {
        Strided::a(self.packing, self.bits(a))
    }
    /// The columns of `b`, as the right operand.
    pub fn columns(self, b: Mat<'_, T>) -> Strided<'_, P> {
        Strided::b(self.packing, self.bits(b))
    }
    /// How a sum of `k` products is split into blocks.
    pub fn blocks(self, k: usize) -> KBlocks {
        P::To::BLOCKING.of_sum(k.div_ceil(P::GROUP))
    }
}

/// Evaluates an expression with the [`Operand`]s of products of matrices of `$A` and `$B`. Code for
/// packings that their types rule out is not generated.
macro_rules! with_packing {
    ($A:ty, $B:ty, |$left:pat_param, $right:pat_param| $expression:expr) => {
        'packing: {
            use $crate::kernel::gemm::operand::{self, Operand};
            if const { $crate::kernel::gemm::bytes::<$A, $B>() } {
                let done = $crate::kernel::gemm::bytes::with_groups!(
                    matches!(<$A>::BYTE, Some(true)),
                    |G| {
                        let ($left, $right) = operand::bytes::<G, $A, $B>();
                        $expression
                    }
                );
                break 'packing done;
            }
            #[cfg(x86_bf16)]
            if $crate::kernel::gemm::bf16_pairs::<$A, $B>() {
                let ($left, $right) = (Operand::<$A, _>::pairs(), Operand::<$B, _>::pairs());
                let done = $expression;
                break 'packing done;
            }
            let ($left, $right) = (Operand::<$A, _>::ELEMENTS, Operand::<$B, _>::ELEMENTS);
            $expression
        }
    };
}
pub(crate) use with_packing;
