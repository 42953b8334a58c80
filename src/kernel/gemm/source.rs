//! Where the packed elements of an operand come from. A source is a matrix of `steps` (along K) by
//! `lines` (columns of B or rows of A). The macrokernel asks it to pack panels or blocks of A, or
//! whether microkernels can read its elements in place.

use super::blocking::{IN_PLACE_ROWS, IN_PLACE_SPAN, IN_PLACE_STRIDE, KBlocks};
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::{BlockA, Packed};
use super::packing::{self, Packing, Single};
use crate::simd;
use core::ops::Range;

/// An operand of the macrokernel, which takes it as a trait object: a call for each block or panel
/// is nothing beside packing it, and one macrokernel for each packed type is enough.
///
/// # Safety
/// SOURCE1: what `in_place` returns is readable as packed elements for all steps and lines; what
/// `pack_block` returns lies in the buffer it was given, for the steps and lines asked for.
pub unsafe trait Source: Sync {
    /// The packed type.
    type Packed: Packed;
    /// The cost of packing an element as B, if it differs from that of a matrix.
    fn pack_cost(&self) -> Option<usize> {
        None
    }
    /// Rows of A, or columns of B.
    fn lines(&self) -> usize;
    /// Steps of the sum; a group of elements packed into one number is one step.
    fn steps(&self) -> usize;
    /// A range of its lines.
    fn slice(self, lines: Range<usize>) -> Self
    where
        Self: Sized;
    /// Its elements in place, if they have the bits of packed elements.
    fn in_place(&self) -> Option<InPlace<Self::Packed>> {
        None
    }
    /// Packs a range of steps and lines into consecutive panels of B.
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [Self::Packed]);
    /// Packs a range of steps and lines into a block of A.
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [Self::Packed],
    ) -> BlockA<Self::Packed>;
    /// What packing as B adds to each element, which [`row_sums`](Source::row_sums) compensates
    /// for.
    fn offset(&self) -> i32 {
        0
    }
    /// `factor` times the sum of each row of A.
    fn row_sums(&self, _factor: i32, _: &mut [Self::Packed]) {}

    /// How its sum is split into blocks.
    fn blocks(&self) -> KBlocks {
        Self::Packed::BLOCKING.of_sum(self.steps())
    }
    /// What the macrokernel asks before it packs anything: one call instead of one for each number,
    /// which would be felt in the smallest products.
    fn info(&self) -> SourceInfo<Self::Packed> {
        SourceInfo {
            lines: self.lines(),
            steps: self.steps(),
            in_place: self.in_place(),
            offset: self.offset(),
        }
    }
}

/// See [`Source::info`].
pub struct SourceInfo<T> {
    pub lines: usize,
    pub steps: usize,
    pub in_place: Option<InPlace<T>>,
    pub offset: i32,
}
impl<T: Packed> SourceInfo<T> {
    /// Its elements in place, if a microkernel can read them as A without packing.
    pub fn block_in_place(&self) -> Option<InPlace<T>> {
        let is_close = |x: &InPlace<_>| {
            simd::MICROCONTROLLER
                || x.step == 1
                || x.line == 1 && x.step.unsigned_abs() <= IN_PLACE_STRIDE
        };
        self.in_place.filter(is_close)
    }
    /// Its elements in place, if a microkernel can read them as B and packing would not pay in a
    /// product of `m` rows.
    pub fn panels_in_place(&self, m: usize) -> Option<InPlace<T>> {
        let is_close = |x: &InPlace<_>| {
            let span = self.steps.saturating_mul(x.step.unsigned_abs());
            let few = m <= IN_PLACE_ROWS || m <= T::BLOCKING.m && span <= IN_PLACE_SPAN;
            simd::MICROCONTROLLER || x.line == 1 && few
        };
        self.in_place.filter(is_close)
    }
    /// Whether all of B is packed before a product of `m` rows. A single block of rows reads each
    /// panel only once, so panels are packed on the way, as they also are where memory is scarce.
    pub fn packs_before(&self, m: usize) -> bool {
        m > T::BLOCKING.m && simd::CACHE_BLOCKING && self.panels_in_place(m).is_none()
    }
}

/// Elements that are read in place as packed elements.
#[derive(Clone, Copy)]
pub struct InPlace<T> {
    at: *const T,
    /// Strides of a line and of a step.
    pub line: isize,
    pub step: isize,
}
impl<T> InPlace<T> {
    /// `at` is the address of step 0 of line 0. Whoever passes this to the macrokernel promises
    /// what may be read there (SOURCE1).
    pub fn new(at: *const T, line: isize, step: isize) -> Self {
        InPlace { at, line, step }
    }
    /// The address of step `step` of line `line`.
    #[inline(always)]
    pub fn at(&self, step: usize, line: usize) -> *const T {
        self.at
            .wrapping_offset(step as isize * self.step + line as isize * self.line)
    }
}

/// A strided matrix, and how its elements are packed. A is stored transposed.
pub struct Strided<'a, P: Packing> {
    packing: P,
    /// `[elements of the sum, lines]`
    matrix: Mat<'a, P::From>,
}
impl<P: Packing> Clone for Strided<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Packing> Copy for Strided<'_, P> {}
impl<'a, P: Packing> Strided<'a, P> {
    /// The rows of `a`.
    pub fn a(packing: P, a: Mat<'a, P::From>) -> Self {
        Strided::b(packing, a.t())
    }
    /// The columns of `b`.
    pub fn b(packing: P, b: Mat<'a, P::From>) -> Self {
        Strided { packing, matrix: b }
    }
    /// The elements of a range of steps and lines.
    fn block(&self, steps: Range<usize>, lines: Range<usize>) -> Mat<'a, P::From> {
        let end = self.matrix.rows().min(steps.end * P::GROUP);
        self.matrix.block(steps.start * P::GROUP..end, lines)
    }
}
impl<'a, T: MatElement> Strided<'a, Single<T>> {
    /// The rows of `a`, each element packed by itself.
    pub fn rows(a: Mat<'a, T>) -> Self {
        Strided::a(Single::ELEMENTS, a)
    }
    /// The columns of `b`, each element packed by itself.
    pub fn columns(b: Mat<'a, T>) -> Self {
        Strided::b(Single::ELEMENTS, b)
    }
}
// SAFETY: SOURCE1: a matrix (MAT1), read in whole groups, whose elements have the bits of packed
// elements by `Packing::in_place`.
unsafe impl<P: Packing<To: Packed>> Source for Strided<'_, P> {
    type Packed = P::To;
    #[inline]
    fn lines(&self) -> usize {
        self.matrix.cols()
    }
    #[inline]
    fn steps(&self) -> usize {
        self.matrix.rows().div_ceil(P::GROUP)
    }
    #[inline]
    fn slice(self, lines: Range<usize>) -> Self {
        let matrix = self.matrix.block(0..self.matrix.rows(), lines);
        Strided { matrix, ..self }
    }
    #[inline]
    fn in_place(&self) -> Option<InPlace<P::To>> {
        let (m, group) = (&self.matrix, P::GROUP as isize);
        let whole = P::GROUP == 1
            || m.rs() == 1 && m.rows().is_multiple_of(P::GROUP) && m.cs() % group == 0;
        (self.packing.in_place() && whole).then(|| InPlace {
            at: m.as_ptr() as *const P::To,
            line: m.cs() / group,
            step: m.rs(),
        })
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [P::To]) {
        packing::all_panels(self.packing, self.block(steps, lines), d)
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [P::To],
    ) -> BlockA<P::To> {
        packing::block_a(self.packing, self.block(steps, lines).t(), d)
    }
    fn offset(&self) -> i32 {
        self.packing.offset()
    }
    fn row_sums(&self, factor: i32, sums: &mut [P::To]) {
        P::row_sums(self.matrix.t(), factor, sums)
    }
}

/// Whether A is read in place.
pub fn reads_a<A: MatElement>(a: &Mat<A>) -> bool {
    Strided::rows(*a).info().block_in_place().is_some()
}
