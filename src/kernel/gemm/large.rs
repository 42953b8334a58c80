//! The crate `gemm`: large plain products of floats and complex numbers, at 93 % of the peak. It picks the CPU's best
//! instruction set by itself, so it serves only while that is the one in use; and always on the calling thread.

use super::{
    element::Product,
    mat::{Mat, MatMut},
};

/// Below so many multiplications the engine of our own is faster.
#[cfg(feature = "std")]
const SMALLEST: usize = 160 * 160 * 160;

/// Computes `c (+)= a b` and returns true, or false where the product is none for it.
#[cfg(feature = "std")]
pub fn product<A: Product, B: Product, C: Product>(a: Mat<A>, b: Mat<B>, c: &mut MatMut<C>, accumulate: bool) -> bool {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let (Some(one), Some(_), Some(_)) = (C::GEMM_ONE, A::GEMM_ONE, B::GEMM_ONE) else { return false };
    // Complex tiles of our own are no vectors.
    let small = if C::COMPLEX { k == 0 } else { m.min(n).min(k) < 16 || m * n * k < SMALLEST };
    if small || !crate::exec::isa::is_best() {
        return false;
    }
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
    true
}
#[cfg(not(feature = "std"))]
pub fn product<A: Product, B: Product, C: Product>(_: Mat<A>, _: Mat<B>, _: &mut MatMut<C>, _: bool) -> bool {
    false
}
