//! The crate `gemm`: products of complex numbers, for which tiles of our own are no vectors. (Of real floats ours are as fast where
//! it packs both operands, and faster where one is packed before.) It picks the CPU's best instruction set by itself, so it serves
//! only while that is the one in use; and always on the calling thread. Its block sizes overflow 32 bits, so it serves where there are 64.

use super::{
    element::Product,
    mat::{Mat, MatMut},
};

/// Whether it is the fastest for a product.
#[cfg(all(feature = "std", target_pointer_width = "64"))]
pub fn serves<A: Product, B: Product, C: Product>(a: &Mat<A>, b: &Mat<B>) -> bool {
    let known = A::GEMM_ONE.is_some() && B::GEMM_ONE.is_some() && C::GEMM_ONE.is_some();
    known && a.cols() > 0 && b.cols() > 0 && crate::exec::isa::is_best()
}
#[cfg(not(all(feature = "std", target_pointer_width = "64")))]
#[allow(clippy::extra_unused_type_parameters, reason = "the signature where it may serve")]
pub fn serves<A: Product, B: Product, C: Product>(_: &Mat<A>, _: &Mat<B>) -> bool {
    false
}

/// Computes `c (+)= a b` where the crate serves the types.
#[cfg(feature = "std")]
pub fn product<A: Product, B: Product, C: Product>(a: Mat<A>, b: Mat<B>, c: &mut MatMut<C>, accumulate: bool) {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let (Some(one), Some(_), Some(_)) = (C::GEMM_ONE, A::GEMM_ONE, B::GEMM_ONE) else { unreachable!("chosen by `serves`") };
    // SAFETY: M1 and M2; the types with a GEMM_ONE are those that the crate takes, and all three are their one packed form.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.at(0, 0),
            1,
            c.rs(),
            accumulate,
            a.as_ptr() as *const C,
            a.cs(),
            a.rs(),
            b.as_ptr() as *const C,
            b.cs(),
            b.rs(),
            one,
            one,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
#[cfg(not(feature = "std"))]
pub fn product<A: Product, B: Product, C: Product>(_: Mat<A>, _: Mat<B>, _: &mut MatMut<C>, _: bool) {}
