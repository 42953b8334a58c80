//! The epilogue: operations on rows of the result while they are in L1. They are a list, each a loop
//! over some rows: nearly as fast as code specialised for the combination, and only one copy of it.
//! Rows of a panel are as short as a tile is wide, so an activation takes several of them at a time:
//! starting its loop for each would take longer than a product of 16 steps.

use super::element::MatElement;
use super::map::{Map, PIECE, Rows, copy};
use super::matrix::{Mat, MatMut};
use super::microkernel::{Packed, TileEnd};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// An operation of an epilogue, computed in accumulators (`f32` for 16-bit floats).
pub enum EpilogueOp<'a, T: MatElement> {
    /// Multiplies by a number.
    Scale(T::Acc),
    /// Adds one number per column.
    Bias(&'a [T]),
    /// Adds one number per row.
    RowBias(&'a [T]),
    /// Adds a matrix of the result's shape.
    Add(Mat<'a, T>),
    /// Applies a function to each element.
    Map(Map<T::Acc>),
    /// Converts sums of quantised elements to the values they represent. Only for `f32` elements,
    /// and first in the list.
    #[cfg(feature = "quant")]
    Dequantize(Dequantize<'a>),
    /// Converts sums of quantised elements to quantised elements: the only operation, for results of
    /// bytes, and not transposed.
    #[cfg(feature = "quant")]
    Requantize(&'a dyn Requantize),
}
impl<T: MatElement> Clone for EpilogueOp<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: MatElement> Copy for EpilogueOp<'_, T> {}
impl<T: MatElement> EpilogueOp<'_, T> {
    #[inline(always)]
    fn t(self) -> Self {
        match self {
            EpilogueOp::Bias(b) => EpilogueOp::RowBias(b),
            EpilogueOp::RowBias(b) => EpilogueOp::Bias(b),
            EpilogueOp::Add(m) => EpilogueOp::Add(m.t()),
            #[cfg(feature = "quant")]
            EpilogueOp::Dequantize(d) => EpilogueOp::Dequantize(d.t()),
            op => op,
        }
    }
}

/// Converts a sum of integer products, stored in the bits of an `f32`, to `(sum - offsets[row] *
/// sums[column]) * rows[row] * columns[column]`: if integers `q` of a row of A represent `q -
/// zero`, the row's offset is its zero point, and `sums` are those of B's columns.
#[cfg(feature = "quant")]
#[derive(Clone, Copy)]
pub struct Dequantize<'a> {
    /// The scales of A's rows and of B's columns.
    pub rows: &'a [f32],
    pub columns: &'a [f32],
    /// Their products may wrap in 32 bits: the difference is exact.
    pub offsets: &'a [i32],
    pub sums: &'a [i32],
}
#[cfg(feature = "quant")]
impl Dequantize<'_> {
    #[inline(always)]
    fn t(self) -> Self {
        Dequantize {
            rows: self.columns,
            columns: self.rows,
            offsets: self.sums,
            sums: self.offsets,
        }
    }
    /// Converts a piece of row `i`, from column `j` on.
    #[inline(always)]
    fn apply(&self, i: usize, j: usize, row: &mut [f32]) {
        /// Rows are as short as a tile is wide.
        const LANES: usize = 8;
        let (scale, offset) = (self.rows[i], self.offsets[i]);
        let (columns, last_columns) = self.columns[j..][..row.len()].as_chunks::<LANES>();
        let (sums, last_sums) = self.sums[j..][..row.len()].as_chunks::<LANES>();
        let (whole, rest) = row.as_chunks_mut::<LANES>();
        for c in simd::one_by_one(whole.len()) {
            whole[c] = dequantized(whole[c], &columns[c], &sums[c], scale, offset);
        }
        for ((v, column), sum) in rest.iter_mut().zip(last_columns).zip(last_sums) {
            [*v] = dequantized([*v], &[*column], &[*sum], scale, offset);
        }
    }
}
#[cfg(feature = "quant")]
#[inline(always)]
fn dequantized<const L: usize>(
    mut v: [f32; L],
    columns: &[f32; L],
    sums: &[i32; L],
    scale: f32,
    offset: i32,
) -> [f32; L] {
    for l in 0..L {
        let exact = (v[l].to_bits() as i32).wrapping_sub(offset.wrapping_mul(sums[l]));
        v[l] = exact as f32 * scale * columns[l];
    }
    v
}

/// See [`EpilogueOp::Requantize`].
#[cfg(feature = "quant")]
pub trait Requantize: Sync {
    /// Replaces sums by elements, in rows of which the first is row `i` of the result.
    ///
    /// # Safety
    /// EPILOGUE1.
    unsafe fn rows(&self, i: usize, rows: &Rows<u32>);
}

/// A post-op takes over blocks of the result once their elements are final, while a cache still
/// holds them.
///
/// Invariant POSTOP1: a block lies within the result, all its elements are written, none of them is
/// handed over twice, and the product neither reads nor writes it afterwards.
pub trait PostOp: Sync {
    /// These rows and columns of matrix `i` of a batch are final.
    ///
    /// # Safety
    /// POSTOP1.
    unsafe fn block(&self, i: usize, rows: Range<usize>, cols: Range<usize>);
}

/// A list of operations, and the position in the result of the matrix they are applied to.
pub struct Epilogue<'a, T: MatElement> {
    ops: &'a [EpilogueOp<'a, T>],
    row: usize,
    col: usize,
    /// Whether rows and columns are swapped.
    transposed: bool,
    /// The post-op that receives finished blocks, and the matrix of the batch that they belong to.
    post_op: Option<&'a dyn PostOp>,
    matrix: usize,
}
impl<T: MatElement> Clone for Epilogue<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: MatElement> Copy for Epilogue<'_, T> {}

impl<'a, T: MatElement> Epilogue<'a, T> {
    /// No operations.
    pub const NONE: Epilogue<'static, T> = Epilogue {
        ops: &[],
        row: 0,
        col: 0,
        transposed: false,
        post_op: None,
        matrix: 0,
    };

    /// An epilogue for a result of `rows` by `cols`. Panics if an operand has another size.
    pub fn new(ops: &'a [EpilogueOp<'a, T>], rows: usize, cols: usize) -> Self {
        for op in ops {
            match op {
                EpilogueOp::Bias(b) => assert_eq!(b.len(), cols),
                EpilogueOp::RowBias(b) => assert_eq!(b.len(), rows),
                EpilogueOp::Add(m) => assert_eq!((m.rows(), m.cols()), (rows, cols)),
                EpilogueOp::Scale(_) | EpilogueOp::Map(_) => {}
                #[cfg(feature = "quant")]
                EpilogueOp::Requantize(_) => assert!(size_of::<T>() == 1),
                #[cfg(feature = "quant")]
                EpilogueOp::Dequantize(d) => {
                    assert_eq!((d.rows.len(), d.offsets.len()), (rows, rows));
                    assert_eq!((d.columns.len(), d.sums.len()), (cols, cols));
                }
            }
        }
        Epilogue {
            ops,
            ..Epilogue::NONE
        }
    }
    /// The same epilogue, whose finished blocks `post_op` takes over.
    pub fn with_post_op(self, post_op: Option<&'a dyn PostOp>) -> Self {
        Epilogue { post_op, ..self }
    }
    /// The epilogue of matrix `i` of a batch.
    #[inline]
    pub fn of(self, i: usize) -> Self {
        Epilogue { matrix: i, ..self }
    }
    /// The epilogue of the part that begins at `(row, col)`.
    #[inline]
    pub fn at(self, row: usize, col: usize) -> Self {
        Epilogue {
            row: self.row + row,
            col: self.col + col,
            ..self
        }
    }
    /// The epilogue of the transposed result.
    #[inline]
    pub fn t(self) -> Self {
        Epilogue {
            row: self.col,
            col: self.row,
            transposed: !self.transposed,
            ..self
        }
    }
    /// Whether there are no operations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
    /// Whether finished blocks are handed over.
    #[inline]
    pub fn has_post_op(&self) -> bool {
        self.post_op.is_some()
    }
    /// Hands over a block to which all operations have been applied.
    ///
    /// # Safety
    /// POSTOP1; rows and columns are relative to the part that this epilogue is for.
    pub unsafe fn run_post_op(&self, rows: Range<usize>, cols: Range<usize>) {
        if let Some(post_op) = self.post_op {
            let rows = self.row + rows.start..self.row + rows.end;
            let cols = self.col + cols.start..self.col + cols.end;
            let (rows, cols) = match self.transposed {
                true => (cols, rows),
                false => (rows, cols),
            };
            // SAFETY: POSTOP1, the caller's promise.
            unsafe { post_op.block(self.matrix, rows, cols) }
        }
    }
    /// What tiles do of it while registers hold the sums, if C's elements are these, and the
    /// operations that remain.
    pub fn split_tile_end(&self) -> (TileEnd<T>, Epilogue<'a, T>) {
        let (mut end, mut ops) = (TileEnd::NONE, self.ops);
        if let [EpilogueOp::RowBias(b) | EpilogueOp::Bias(b), rest @ ..] = ops {
            let of_rows = matches!(ops[0], EpilogueOp::RowBias(_)) != self.transposed;
            if of_rows {
                end.rows = b[self.row..].as_ptr();
            } else {
                end.columns = b[self.col..].as_ptr();
            }
            ops = rest;
        }
        if let [EpilogueOp::Map(map), rest @ ..] = ops
            && map.is_relu
        {
            (end.relu, ops) = (true, rest);
        }
        (end, Epilogue { ops, ..*self })
    }
    /// The operations before a map that is the last one, and that.
    fn split_map(&self) -> Option<(Epilogue<'a, T>, Map<T::Acc>)> {
        match self.ops.split_last() {
            Some((EpilogueOp::Map(map), ops)) => Some((Epilogue { ops, ..*self }, *map)),
            _ => None,
        }
    }
    /// Applies all operations to rows, of which the first is row `i` of the result.
    ///
    /// # Safety
    /// EPILOGUE1.
    #[inline(always)]
    unsafe fn apply(&self, i: usize, rows: &Rows<T::Acc>) {
        let (first, j) = (self.row + i, self.col);
        for op in self.ops {
            let op = if self.transposed { op.t() } else { *op };
            if let EpilogueOp::Map(f) = op {
                // SAFETY: EPILOGUE1, by the caller's promise: in place.
                unsafe { f.apply(rows, rows.sums, rows.ld) };
                continue;
            }
            #[cfg(feature = "quant")]
            if let EpilogueOp::Requantize(f) = op {
                let rows = Rows::<u32> {
                    sums: rows.sums.cast(),
                    count: rows.count,
                    cols: rows.cols,
                    ld: rows.ld,
                };
                // SAFETY: EPILOGUE1, by the caller's promise; results of bytes have sums of 32 bits.
                unsafe { f.rows(first, &rows) };
                continue;
            }
            for k in 0..rows.count {
                // SAFETY: EPILOGUE1, by the caller's promise: one row at a time.
                let row = unsafe { rows.row(k) };
                let i = first + k;
                match op {
                    EpilogueOp::Scale(x) => {
                        for v in row.iter_mut() {
                            *v = T::Acc::mul(*v, x)
                        }
                    }
                    EpilogueOp::Bias(b) => {
                        for (v, b) in row.iter_mut().zip(&b[j..]) {
                            *v = T::Acc::add(*v, b.widen())
                        }
                    }
                    EpilogueOp::RowBias(b) => {
                        let b = b[i].widen();
                        for v in row.iter_mut() {
                            *v = T::Acc::add(*v, b)
                        }
                    }
                    EpilogueOp::Add(m) => {
                        let m = m.block(i..i + 1, j..j + row.len());
                        if m.cs() == 1 {
                            // SAFETY: MAT1: a row of the block, whose elements are contiguous.
                            let m = unsafe { core::slice::from_raw_parts(m.as_ptr(), row.len()) };
                            for (v, m) in row.iter_mut().zip(m) {
                                *v = T::Acc::add(*v, m.widen())
                            }
                            continue;
                        }
                        for (q, v) in row.iter_mut().enumerate() {
                            // SAFETY: row 0, column `q < row.len()` of the block.
                            *v = T::Acc::add(*v, unsafe { m.get(0, q) }.widen())
                        }
                    }
                    EpilogueOp::Map(_) => {}
                    #[cfg(feature = "quant")]
                    EpilogueOp::Requantize(_) => {}
                    #[cfg(feature = "quant")]
                    EpilogueOp::Dequantize(d) => {
                        if let Some(row) = T::Acc::as_floats(row) {
                            d.apply(i, j, row)
                        }
                    }
                }
            }
        }
    }
}

/// Applies an epilogue to rows of sums and, if `d` is given, stores them as elements.
pub struct Finish<'a, T: MatElement> {
    pub epilogue: Epilogue<'a, T>,
    /// Contract EPILOGUE1: `rows` rows of `cols` sums, `ld` apart, writable by this call alone.
    pub sums: *mut T::Acc,
    pub rows: usize,
    pub cols: usize,
    pub ld: isize,
    /// The address of the first row's elements, and the stride of rows; none to leave the sums in
    /// place. Disjoint from the sums (EPILOGUE1).
    pub d: Option<(*mut T, isize)>,
}
impl<T: MatElement> Kernel for Finish<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // elements have the bits of their sums (ELEMENT1): a last map writes them from the sums
        let (epilogue, map) = match self.epilogue.split_map() {
            Some((before, map)) if T::SAME && self.d.is_some() => (before, Some(map)),
            _ => (self.epilogue, None),
        };
        // as many as stay in L1 from operation to operation
        let step = (PIECE / self.cols.max(1)).max(1);
        for i in (0..self.rows).step_by(step) {
            let rows = Rows {
                sums: self.sums.wrapping_offset(i as isize * self.ld),
                count: (self.rows - i).min(step),
                cols: self.cols,
                ld: self.ld,
            };
            // SAFETY: EPILOGUE1, promised to `finish`.
            unsafe { epilogue.apply(i, &rows) };
            let Some((d, ld)) = self.d else {
                continue;
            };
            let d = d.wrapping_offset(i as isize * ld);
            if let Some(map) = map {
                // SAFETY: EPILOGUE1, promised to `finish`: the elements are apart from the sums.
                unsafe { map.apply(&rows, d.cast(), ld) };
                continue;
            }
            for k in 0..rows.count {
                let d = d.wrapping_offset(k as isize * ld);
                // SAFETY: EPILOGUE1, promised to `finish`: `rows` rows of `cols` elements, `ld`
                // apart, and a row of sums, whose bits are elements by SAME (ELEMENT1).
                unsafe {
                    if T::SAME {
                        copy(rows.at(k), d.cast(), self.cols);
                        continue;
                    }
                    let d = core::slice::from_raw_parts_mut(d, self.cols);
                    narrow_all(rows.row(k), d)
                }
            }
        }
    }
}
/// Stores sums as elements.
#[inline(always)]
fn narrow_all<T: MatElement>(sums: &[T::Acc], d: &mut [T]) {
    /// Rows are as short as a tile is wide.
    const LANES: usize = 16;
    let ((sums, last_sums), (whole, rest)) =
        (sums.as_chunks::<LANES>(), d.as_chunks_mut::<LANES>());
    for c in simd::one_by_one(whole.len()) {
        let mut narrow = [T::default(); LANES];
        for l in 0..LANES {
            narrow[l] = T::narrow(sums[c][l]);
        }
        whole[c] = narrow;
    }
    for (d, x) in rest.iter_mut().zip(last_sums) {
        *d = T::narrow(*x);
    }
}
/// Runs it on the chosen instruction set.
///
/// # Safety
/// EPILOGUE1.
// once in what is downloaded, where a call of it is a loop
#[cfg_attr(target_family = "wasm", inline(never))]
pub unsafe fn finish<T: MatElement>(job: Finish<T>) {
    simd::call(job)
}
/// Applies an epilogue to rows of `cols` elements that are their own sums. Panics if `cols` does
/// not divide their number.
pub fn finish_in_place<T: MatElement<Acc = T>>(epilogue: Epilogue<T>, d: &mut [T], cols: usize) {
    if epilogue.is_empty() {
        return;
    }
    let rows = d.len() / cols.max(1);
    assert!(d.len() == rows * cols);
    // SAFETY: EPILOGUE1: elements of a unique borrow.
    unsafe {
        finish(Finish {
            epilogue,
            sums: d.as_mut_ptr(),
            rows,
            cols,
            ld: cols as isize,
            d: None,
        })
    }
}
/// Applies an epilogue to rows of sums, `ld` apart, and stores them as the elements of `c`. Panics
/// if there are too few sums.
pub fn finish_into<T: MatElement>(
    epilogue: Epilogue<T>,
    sums: &mut [T::Acc],
    ld: usize,
    c: &mut MatMut<T>,
) {
    let (rows, cols) = (c.rows(), c.cols());
    assert!(rows == 0 || (rows - 1) * ld + cols <= sums.len());
    // SAFETY: EPILOGUE1: sums and elements (MAT2) of two unique borrows.
    unsafe {
        finish(Finish {
            epilogue,
            sums: sums.as_mut_ptr(),
            rows,
            cols,
            ld: ld as isize,
            d: Some((c.at(0, 0), c.rs())),
        })
    }
}
