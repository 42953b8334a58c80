//! Packing: strided elements to lanes, in the order in which tiles read them.

use super::{element::Product, mat::Mat, tile::height};
use crate::exec::isa::{self, Isa, Kernel};

/// A panel of B: `d[k][width]`, zero beyond B's columns.
struct Panel<'a, T: Product> {
    b: Mat<'a, T>,
    width: usize,
    d: &'a mut [T::Lane],
}
impl<T: Product> Kernel for Panel<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (b, w) = (self.b, self.b.cols());
        for (p, d) in self.d.chunks_exact_mut(self.width).enumerate() {
            let (d, rest) = d.split_at_mut(w);
            let s = b.at(p, 0);
            if b.cs() == 1 {
                for (j, d) in d.iter_mut().enumerate() {
                    // SAFETY: M1: row `p < b.rows()`, by `panel`; column `j < w`.
                    *d = unsafe { *s.add(j) }.widen();
                }
            } else {
                for (j, d) in d.iter_mut().enumerate() {
                    // SAFETY: as above.
                    *d = unsafe { *s.offset(j as isize * b.cs()) }.widen();
                }
            }
            rest.fill(Default::default());
        }
    }
}
/// Packs `b`, at most `width` columns, into `d[b.rows()][width]`.
pub fn panel<T: Product>(b: Mat<T>, width: usize, d: &mut [T::Lane]) {
    assert!(b.cols() <= width);
    isa::call(Panel { b, width, d: &mut d[..b.rows() * width] })
}

/// Strips of A: strip after strip, each `d[k][height]`.
struct Rows<'a, T: Product> {
    a: Mat<'a, T>,
    d: &'a mut [T::Lane],
}
impl<T: Product> Kernel for Rows<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (a, k, mut d) = (self.a, self.a.cols(), self.d);
        let mut i = 0;
        while i < a.rows() {
            let h = height(a.rows() - i);
            let (strip, rest) = d.split_at_mut(h * k);
            for (p, units) in strip.chunks_exact_mut(h).enumerate() {
                let s = a.at(i, p);
                for (r, unit) in units.iter_mut().enumerate() {
                    // SAFETY: M1: row `i + r`, column `p < k`.
                    *unit = unsafe { *s.offset(r as isize * a.rs()) }.widen();
                }
            }
            d = rest;
            i += h;
        }
    }
}
/// Packs all of `a` into the first `a.rows() * a.cols()` of `d`.
pub fn rows<T: Product>(a: Mat<T>, d: &mut [T::Lane]) {
    isa::call(Rows { a, d: &mut d[..a.rows() * a.cols()] })
}
