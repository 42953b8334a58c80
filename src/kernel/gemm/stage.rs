//! The epilogue: what happens to a row of the result while it is in L1. A list of stages, each a
//! loop over the row: as fast as code made for the combination (bias and activation cost 1 to 10 %
//! of a product), and one copy of it.

use super::{
    element::{Lane, Product},
    mat::Mat,
};
use crate::simd::{self, Isa, Kernel};

/// One step; computes in lanes (`f32` for 16-bit floats).
pub enum Stage<'a, T: Product> {
    /// Times a number.
    Scale(T::Lane),
    /// Plus one number a column.
    Bias(&'a [T]),
    /// Plus one number a row.
    RowBias(&'a [T]),
    /// Plus a matrix of the result's shape.
    Add(Mat<'a, T>),
    /// Any function of the elements, over a piece of a row.
    Map(fn(&mut [T::Lane])),
}
impl<T: Product> Clone for Stage<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Product> Copy for Stage<'_, T> {}
impl<T: Product> Stage<'_, T> {
    #[inline(always)]
    fn t(self) -> Self {
        match self {
            Stage::Bias(b) => Stage::RowBias(b),
            Stage::RowBias(b) => Stage::Bias(b),
            Stage::Add(m) => Stage::Add(m.t()),
            stage => stage,
        }
    }
}

/// Stages, and where in them the matrix begins that they are applied to.
pub struct Stages<'a, T: Product> {
    list: &'a [Stage<'a, T>],
    row: usize,
    col: usize,
    /// Whether rows and columns are exchanged.
    transposed: bool,
}
impl<T: Product> Clone for Stages<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Product> Copy for Stages<'_, T> {}

impl<'a, T: Product> Stages<'a, T> {
    /// No stages.
    pub const NONE: Stages<'static, T> = Stages {
        list: &[],
        row: 0,
        col: 0,
        transposed: false,
    };

    /// Stages for a result of `rows` by `cols`. Panics where a stage's operand has another size.
    pub fn new(list: &'a [Stage<'a, T>], rows: usize, cols: usize) -> Self {
        for s in list {
            match s {
                Stage::Bias(b) => assert_eq!(b.len(), cols),
                Stage::RowBias(b) => assert_eq!(b.len(), rows),
                Stage::Add(m) => assert_eq!((m.rows(), m.cols()), (rows, cols)),
                Stage::Scale(_) | Stage::Map(_) => {}
            }
        }
        Stages {
            list,
            row: 0,
            col: 0,
            transposed: false,
        }
    }
    /// The stages of the part that begins at `(row, col)`.
    #[inline]
    pub fn at(self, row: usize, col: usize) -> Self {
        Stages {
            row: self.row + row,
            col: self.col + col,
            ..self
        }
    }
    /// The stages of the transposed result.
    #[inline]
    pub fn t(self) -> Self {
        Stages {
            row: self.col,
            col: self.row,
            transposed: !self.transposed,
            ..self
        }
    }
    /// Whether there is nothing to do.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Applies all to a piece of row `i` that begins at column `j`.
    #[inline(always)]
    pub(super) fn apply(&self, i: usize, j: usize, row: &mut [T::Lane]) {
        let (i, j) = (self.row + i, self.col + j);
        for s in self.list {
            match if self.transposed { s.t() } else { *s } {
                Stage::Scale(x) => {
                    for v in row.iter_mut() {
                        *v = T::Lane::mul(*v, x)
                    }
                }
                Stage::Bias(b) => {
                    for (v, b) in row.iter_mut().zip(&b[j..]) {
                        *v = T::Lane::add(*v, b.widen())
                    }
                }
                Stage::RowBias(b) => {
                    let b = b[i].widen();
                    for v in row.iter_mut() {
                        *v = T::Lane::add(*v, b)
                    }
                }
                Stage::Add(m) => {
                    let m = m.block(i..i + 1, j..j + row.len());
                    if m.cs() == 1 {
                        // SAFETY: MAT1: a row of the block, its elements side by side.
                        let m = unsafe { core::slice::from_raw_parts(m.as_ptr(), row.len()) };
                        for (v, m) in row.iter_mut().zip(m) {
                            *v = T::Lane::add(*v, m.widen())
                        }
                        continue;
                    }
                    for (q, v) in row.iter_mut().enumerate() {
                        // SAFETY: row 0, column `q < row.len()` of the block.
                        *v = T::Lane::add(*v, unsafe { m.get(0, q) }.widen())
                    }
                }
                Stage::Map(f) => f(row),
            }
        }
    }
}

/// Applies stages to rows of lanes and stores them as elements where `d` is given.
pub struct Finish<'a, T: Product> {
    pub stages: Stages<'a, T>,
    /// Contract EPILOGUE1: `rows` rows of `cols` lanes, `ld` apart, writable by nobody else.
    pub lanes: *mut T::Lane,
    pub rows: usize,
    pub cols: usize,
    pub ld: isize,
    /// Where the first row's elements go, and the distance of rows; none to leave the lanes in
    /// place. Apart from the lanes (EPILOGUE1).
    pub d: Option<(*mut T, isize)>,
}
impl<T: Product> Kernel for Finish<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        for i in 0..self.rows {
            // SAFETY: EPILOGUE1, promised to `finish`.
            let row = unsafe {
                core::slice::from_raw_parts_mut(self.lanes.offset(i as isize * self.ld), self.cols)
            };
            self.stages.apply(i, 0, row);
            if let Some((d, ld)) = self.d {
                // SAFETY: EPILOGUE1, promised to `finish`: `rows` rows of `cols` elements, `ld`
                // apart.
                let d = unsafe {
                    core::slice::from_raw_parts_mut(d.offset(i as isize * ld), self.cols)
                };
                for (d, x) in d.iter_mut().zip(row) {
                    *d = T::narrow(*x);
                }
            }
        }
    }
}
/// # Safety
/// EPILOGUE1.
pub unsafe fn finish<T: Product>(job: Finish<T>) {
    simd::call(job)
}
