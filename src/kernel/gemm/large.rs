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
pub fn product<T: Product>(a: Mat<T>, b: Mat<T>, c: &mut MatMut<T>, accumulate: bool) -> bool {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let Some(one) = T::GEMM_ONE else { return false };
    // Complex tiles of our own are no vectors.
    let small = if T::COMPLEX { k == 0 } else { m.min(n).min(k) < 16 || m * n * k < SMALLEST };
    if small || !crate::exec::isa::is_best() {
        return false;
    }
    // SAFETY: M1 and M2; the types with a GEMM_ONE are those that the crate takes.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.at(0, 0),
            1,
            c.rs(),
            accumulate,
            a.as_ptr(),
            a.cs(),
            a.rs(),
            b.as_ptr(),
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
pub fn product<T: Product>(_: Mat<T>, _: Mat<T>, _: &mut MatMut<T>, _: bool) -> bool {
    false
}
