//! Products so small that packing their operands, or deciding about it, takes longer than
//! multiplying them, one after the other: the smallest with the rows of B in registers, others by
//! microkernels that read both operands in place. The additions into an element of C, and so the
//! bits, are those of the macrokernel.

use super::element::MatElement;
use super::macrokernel::multiply_panel;
use super::matrix::{Mat, MatMut, ProductOperands};
use super::microkernel::{Packed, panel_width};
use super::source::reads_a;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// The most rows, columns and steps of products with B in registers.
pub const LARGEST: usize = 8;
/// The same of products by microkernels: for larger ones, what the macrokernel adds is little.
const IN_PLACE: usize = 64;
/// What is flashed or downloaded is to be small, and packs them.
const HAS_TINY: bool = !(simd::MICROCONTROLLER || cfg!(target_family = "wasm"));

/// Whether products of these sizes are computed this way: those of float32 and of float64, the types
/// that have tall tiles.
#[inline(always)]
pub const fn serves<A: MatElement, B: MatElement, C: MatElement>(
    m: usize,
    n: usize,
    k: usize,
) -> bool {
    A::SAME
        && B::SAME
        && C::SAME
        && A::Acc::TALL
        && HAS_TINY
        && m <= LARGEST
        && n <= LARGEST
        && k <= LARGEST
}

/// Writes the products with these numbers; all have the same shapes. Only for those that [`serves`].
pub fn products<'a, A, B, C>(range: Range<usize>, operands: ProductOperands<'_, 'a, A, B, C>)
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    // other types have no code for this
    if const { serves::<A, B, C>(1, 1, 1) } {
        simd::call(Products { range, operands })
    }
}

/// Whether microkernels compute a product of these operands in place.
#[inline]
pub fn is_in_place<A, B, C>(a: &Mat<A>, b: &Mat<B>) -> bool
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let (m, n, k) = (a.rows(), b.cols(), b.rows());
    let (lanes, _) = A::Acc::shape(simd::level());
    serves::<A, B, C>(1, 1, 1)
        && m.max(n).max(k) <= IN_PLACE
        && k > 0
        && n.is_multiple_of(lanes)
        && b.cs() == 1
        && reads_a(a)
}

/// Writes the products with these numbers. Only for operands that are all like those for which
/// [`is_in_place`] holds.
pub fn products_in_place<'a, A, B, C>(
    range: Range<usize>,
    operands: ProductOperands<'_, 'a, A, B, C>,
) where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    if const { !serves::<A, B, C>(1, 1, 1) } {
        return;
    }
    for i in range {
        let (a, b, c) = operands(i);
        let (m, n, k) = (a.rows(), b.cols(), b.rows());
        let mut j = 0;
        while j < n {
            let end = j + panel_width::<A::Acc>(n - j);
            // SAFETY: parts are used one after the other.
            let part = unsafe { c.part(0..m, j..end) };
            multiply_panel(a, b.block(0..k, j..end), part, false);
            j = end;
        }
    }
}

struct Products<'f, 'a, A, B, C> {
    range: Range<usize>,
    operands: ProductOperands<'f, 'a, A, B, C>,
}
impl<A, B, C> Kernel for Products<'_, '_, A, B, C>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // columns beyond those of B stay zero
        let mut rows = [[A::Acc::default(); LARGEST]; LARGEST];
        for i in self.range {
            let (a, b, mut c) = (self.operands)(i);
            product::<I, A, B, C>(a, b, &mut c, &mut rows)
        }
    }
}

/// One product; `rows` are those of B.
#[inline(always)]
fn product<I: Isa, A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    c: &mut MatMut<C>,
    rows: &mut [[A::Acc; LARGEST]; LARGEST],
) where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let (k, n) = (b.rows(), b.cols());
    assert!(a.cols() == k && c.rows() == a.rows() && c.cols() == n);
    for (p, row) in rows[..k].iter_mut().enumerate() {
        for (j, x) in row[..n].iter_mut().enumerate() {
            // SAFETY: row `p < k` and column `j < n` of B.
            *x = unsafe { b.get(p, j) }.widen();
        }
    }
    for i in 0..a.rows() {
        let mut sums = [A::Acc::default(); LARGEST];
        for (p, row) in rows[..k].iter().enumerate() {
            // SAFETY: a row of A, and column `p < k`, which is its number of columns.
            let x = unsafe { a.get(i, p) }.widen();
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum = A::Acc::mul_add::<I>(x, *y, *sum);
            }
        }
        for (c, sum) in c.row(i).iter_mut().zip(sums) {
            *c = C::narrow(sum);
        }
    }
}
