//! What attention is computed of: a head, its mask.

use super::band::Band;
use crate::dtype::Bool;
use crate::kernel::gemm::{Mat, MatElement};
use crate::kernel::math::Real;

/// An element of queries, keys and values: a float, computed in its accumulator.
pub trait Attended: MatElement<Acc: Real + MatElement<Acc = <Self as MatElement>::Acc>> {}
impl<T: MatElement<Acc: Real + MatElement<Acc = <T as MatElement>::Acc>>> Attended for T {}

/// Which keys take part, and what is added to their scores: `[queries, keys]`.
#[derive(Clone, Copy)]
pub enum Mask<'a, T: MatElement> {
    /// All.
    None,
    /// Those where it is true.
    Bool(Mat<'a, Bool>),
    /// All, their scores plus a number.
    Bias(Mat<'a, T>),
    /// The same in the type of scores.
    Wide(Mat<'a, T::Acc>),
}

/// One head.
#[derive(Clone, Copy)]
pub struct Head<'a, T: MatElement> {
    /// `[queries, depth]`.
    pub q: Mat<'a, T>,
    /// `[keys, depth]`.
    pub k: Mat<'a, T>,
    /// `[keys, width]`.
    pub v: Mat<'a, T>,
    /// Beside the band.
    pub mask: Mask<'a, T>,
    /// The keys that queries see by their position.
    pub band: Band,
    /// What scores are multiplied with.
    pub scale: T::Acc,
    /// Scores become `cap * tanh(score / cap)`, before the mask.
    pub softcap: Option<T::Acc>,
}

/// A matrix of elements that are accumulators.
pub fn accumulators<T: MatElement>(m: Mat<T>) -> Option<Mat<T::Acc>> {
    // SAFETY: MAT1: the same elements, of the size, alignment and values of accumulators (ELEMENT1).
    T::SAME.then(|| unsafe {
        Mat::new(
            m.as_ptr() as *const T::Acc,
            m.rows(),
            m.cols(),
            m.rs(),
            m.cs(),
        )
    })
}
