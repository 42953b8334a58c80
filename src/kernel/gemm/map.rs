//! Functions of each element, on rows of sums.

use super::activation::Activation;
use super::microkernel::Packed;
use crate::dtype::Element;
use crate::kernel::elementwise::{Row, rows};
use crate::simd::{self, LoopFn};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// An elementwise operation of one operand, from floats to floats.
#[derive(Clone, Copy)]
pub struct Map<F> {
    /// Invariant UNARY1: a loop of one operand, whose elements and results are `F`.
    f: LoopFn,
    /// Whether it is `max(x, 0)`.
    pub(super) is_relu: bool,
    _float: PhantomData<fn(F)>,
}
impl<F: Element> Map<F> {
    /// The map of an activation; none if `F` is not a float type, or the build leaves it out.
    pub fn new(activation: Activation) -> Option<Map<F>> {
        Map::of(activation.row())
    }
    /// The map of an operation from floats to floats of one operand; none likewise.
    pub fn of(row: &Row) -> Option<Map<F>> {
        let kernel = F::DTYPE
            .is_float()
            .then(|| (row.lookup)(F::DTYPE))
            .flatten()?;
        (!kernel.wide && kernel.components == 1).then_some(Map {
            f: kernel.f,
            is_relu: row.op == rows::Relu::ROW.op,
            _float: PhantomData,
        })
    }
}
/// Elements whose loop runs at a time: a row, or as many as a panel's whole rows have.
pub(super) const PIECE: usize = if simd::MICROCONTROLLER { 64 } else { 512 };
/// Aligned, since the loop's loads wait long for stores that cross cache lines.
#[repr(align(64))]
struct Piece<F>(MaybeUninit<[F; PIECE]>);
impl<F> Piece<F> {
    fn new() -> Self {
        Piece(MaybeUninit::uninit())
    }
    fn at(&mut self, i: usize) -> *mut F {
        (self.0.as_mut_ptr() as *mut F).wrapping_add(i)
    }
}
impl<F: Packed> Map<F> {
    /// Writes the results of rows to rows at `d`, `ld` apart. Loops can't run in place, and take
    /// long to start beside what few elements take: short rows that are apart are copied into one
    /// piece, and their results out of another.
    ///
    /// # Safety
    /// EPILOGUE1, of rows at `d` too, which are these rows or lie apart from them.
    // once in what is downloaded, where there is one set of vectors
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) unsafe fn apply(self, rows: &Rows<F>, d: *mut F, ld: isize) {
        let (mut x, mut y) = (Piece::new(), Piece::new());
        let cols = rows.cols;
        if 8 * cols <= PIECE {
            for first in (0..rows.count).step_by(PIECE / cols.max(1)) {
                let count = (rows.count - first).min(PIECE / cols.max(1));
                // SAFETY: EPILOGUE1: rows of the sums and of the results; `count` rows are no
                // longer than a piece.
                unsafe {
                    let mut from = rows.at(first);
                    if rows.ld != cols as isize {
                        for i in 0..count {
                            copy(rows.at(first + i), x.at(i * cols), cols);
                        }
                        from = x.at(0);
                    }
                    self.write(from, y.at(0), count * cols);
                    for i in 0..count {
                        let d = d.wrapping_offset((first + i) as isize * ld);
                        copy(y.at(i * cols), d, cols);
                    }
                }
            }
            return;
        }
        for i in 0..rows.count {
            let (s, d) = (rows.at(i), d.wrapping_offset(i as isize * ld));
            if s != d {
                // SAFETY: EPILOGUE1: a row and its results, apart from it.
                unsafe { self.write(s, d, cols) };
                continue;
            }
            for j in (0..cols).step_by(PIECE) {
                let len = (cols - j).min(PIECE);
                // SAFETY: EPILOGUE1: a part of a row, and a piece of no more elements.
                unsafe {
                    copy(s.wrapping_add(j), x.at(0), len);
                    self.write(x.at(0), d.wrapping_add(j), len);
                }
            }
        }
    }
    /// Writes the results of `len` elements at `x` to `d`.
    ///
    /// # Safety
    /// There are as many elements at both, which lie apart.
    #[inline(always)]
    unsafe fn write(self, x: *const F, d: *mut F, len: usize) {
        let none = core::ptr::null();
        // SAFETY: UNARY1 gives LOOP1: as many elements of the result and the operand, apart, by the
        // caller's promise.
        unsafe { (self.f)(d.cast(), x.cast(), none, none, len, 0) }
    }
}

/// Copies few elements, without a call.
///
/// # Safety
/// There are `len` elements at both, which lie apart.
#[inline(always)]
pub(super) unsafe fn copy<F: Copy>(from: *const F, to: *mut F, len: usize) {
    /// As many at a time.
    const BLOCK: usize = if cfg!(target_family = "wasm") { 4 } else { 16 };
    let whole = len / BLOCK * BLOCK;
    // SAFETY: by the caller's promise.
    unsafe {
        for i in (0..whole).step_by(BLOCK) {
            let block = *(from.add(i) as *const [F; BLOCK]);
            *(to.add(i) as *mut [F; BLOCK]) = block;
        }
        for i in whole..len {
            *to.add(i) = *from.add(i);
        }
    }
}

/// Rows of sums, as EPILOGUE1 has them.
pub struct Rows<F> {
    pub sums: *mut F,
    pub count: usize,
    pub cols: usize,
    pub ld: isize,
}
impl<F> Rows<F> {
    #[inline(always)]
    pub fn at(&self, i: usize) -> *mut F {
        self.sums.wrapping_offset(i as isize * self.ld)
    }
    /// Row `i`.
    ///
    /// # Safety
    /// EPILOGUE1; there is a row `i`, and nothing else refers to it.
    #[inline(always)]
    pub unsafe fn row<'a>(&self, i: usize) -> &'a mut [F] {
        // SAFETY: by the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.at(i), self.cols) }
    }
}
