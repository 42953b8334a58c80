//! The operands of attention: a head and its mask.

use super::band::Band;
use crate::dtype::Bool;
use crate::kernel::gemm::{Mat, MatElement};
use crate::kernel::math::Real;

/// An element of queries, keys and values: a float type whose arithmetic is done in its
/// accumulator.
pub trait AttentionElement:
    MatElement<Acc: Real + MatElement<Acc = <Self as MatElement>::Acc>>
{
}
impl<T: MatElement<Acc: Real + MatElement<Acc = <T as MatElement>::Acc>>> AttentionElement for T {}

/// The mask `[queries, keys]`: which keys take part, or what is added to their scores.
#[derive(Clone, Copy)]
pub enum Mask<'a, T: MatElement> {
    /// All keys.
    None,
    /// The keys where it is true.
    Bool(Mat<'a, Bool>),
    /// All keys, with a bias added to the scores.
    Bias(Mat<'a, T>),
    /// A bias in the accumulator's type.
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
    /// Applied in addition to the band.
    pub mask: Mask<'a, T>,
    /// The keys that queries see by position.
    pub band: Band,
    /// The factor of scores.
    pub scale: T::Acc,
    /// Scores become `cap * tanh(score / cap)`, before the mask.
    pub softcap: Option<T::Acc>,
}
