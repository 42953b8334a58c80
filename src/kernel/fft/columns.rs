//! Transforms along the columns of a matrix, a column a lane: what a transform of any length is made
//! of, since one of `a * b` values is `a` of length `b` and then `b` of length `a` (Gentleman and
//! Sande, 1966: "Fast Fourier transforms: for fun and profit").

use super::Float;
use super::dft::Pair;
use super::stage::{All, Stage, load, passes, store};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use core::marker::PhantomData;

/// Rows of complex numbers in memory, of which a block of columns is read or written; `P` is a pointer.
#[derive(Clone, Copy)]
pub struct Rows<P> {
    /// The first row's first column.
    pub first: P,
    /// Numbers (not pairs of them) from one row to the next.
    pub step: usize,
    /// Columns of the block.
    pub columns: usize,
    /// Numbers from `first` on that are there: vectors are read whole where they fit.
    pub room: usize,
    /// Whether real and imaginary parts change places, which turns a transform into its inverse.
    pub swapped: bool,
}

/// Where the values of a block of columns are.
#[derive(Clone, Copy)]
pub enum Source<T> {
    /// Complex numbers.
    Complex(Rows<*const T>),
    /// Real numbers.
    Real(Rows<*const T>),
    /// Pairs of vectors one after the other, as [`Sink::Turned`] leaves them.
    Pairs(*const T),
}

/// Where the transforms go.
#[derive(Clone, Copy)]
pub enum Sink<T> {
    /// Complex numbers, multiplied by one.
    Complex(Rows<*mut T>, T),
    /// Rows become columns of blocks as wide as a vector, and the factors between both directions of
    /// a matrix are multiplied in.
    Turned(Turned<T>),
}

/// The matrix between both passes: blocks of its columns, of `height` pairs of vectors each.
#[derive(Clone, Copy)]
pub struct Turned<T> {
    pub y: *mut T,
    pub height: usize,
    /// The first column of this block, which is a row of the result.
    pub first: usize,
    /// Factors of the blocks of columns, for each a pair of vectors a row; where `fine` is not null
    /// for each `RUN` rows, and those of the rows of a run stand there.
    pub coarse: *const T,
    pub fine: *const T,
}

/// Rows that share a factor of the coarse table.
pub const RUN: usize = 64;

/// The transforms of a block of columns.
///
/// Invariant COLUMNS1, which [`Columns::new`] asks for: source, sink and buffers are valid for
/// `rows` rows of the block, `width` vectors wide, and nobody else reads or writes what is written
/// while the block is computed; the stages are those of `rows`, and `factors` their table.
pub struct Columns<'a, T> {
    rows: usize,
    width: usize,
    stages: &'a [Stage],
    factors: &'a [T],
    source: Source<T>,
    buffers: [*mut T; 2],
    sink: Sink<T>,
    _memory: PhantomData<&'a mut T>,
}

impl<'a, T> Columns<'a, T> {
    /// # Safety
    /// COLUMNS1.
    pub unsafe fn new(
        (rows, width): (usize, usize),
        stages: &'a [Stage],
        factors: &'a [T],
        source: Source<T>,
        buffers: [*mut T; 2],
        sink: Sink<T>,
    ) -> Self {
        Columns {
            rows,
            width,
            stages,
            factors,
            source,
            buffers,
            sink,
            _memory: PhantomData,
        }
    }
}

kernel! {
    /// Computes a block.
    pub fn columns<'a, T: Float>(block: Columns<'a, T>) -> () { |I|
        // SAFETY: COLUMNS1.
        unsafe { run::<T::Vector<I>>(block) }
    }
}
kernel! {
    /// Lanes of the vectors of the instruction set.
    pub fn lanes<'a, T: Float>() -> usize { |I| <T::Vector<I> as Lanes>::LEN }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn run<V: Lanes<Number: Float>>(c: Columns<'_, V::Number>) {
    // SAFETY: COLUMNS1.
    unsafe {
        let (x, to) = match c.source {
            Source::Complex(rows) => {
                read::<V, false>(rows, c.rows, c.width, c.buffers[0]);
                (c.buffers[0].cast_const(), 1)
            }
            Source::Real(rows) => {
                read::<V, true>(rows, c.rows, c.width, c.buffers[0]);
                (c.buffers[0].cast_const(), 1)
            }
            Source::Pairs(x) => (x, 0),
        };
        let last = passes::<V, All>(c.stages, c.factors.as_ptr(), c.width, x, c.buffers, to);
        let y = c.buffers[last];
        match c.sink {
            Sink::Complex(rows, scale) => write::<V>(y, rows, c.rows, c.width, scale),
            Sink::Turned(turned) => turn::<V>(y, c.rows, c.width, turned),
        }
    }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn read<V: Lanes<Number: Float>, const REAL: bool>(
    from: Rows<*const V::Number>,
    rows: usize,
    width: usize,
    y: *mut V::Number,
) {
    let numbers = if REAL { 1 } else { 2 };
    for w in 0..width {
        let columns = from.columns.saturating_sub(w * V::LEN).min(V::LEN);
        for r in 0..rows {
            let at = r * from.step + w * V::LEN * numbers;
            // whole vectors where no more than the block's columns are read, or what lies behind them
            let whole = at + numbers * V::LEN <= from.room;
            // SAFETY: COLUMNS1.
            unsafe {
                let p = from.first.add(at);
                let v = if REAL {
                    let re = if whole {
                        V::load(p)
                    } else {
                        V::load_first(p, columns)
                    };
                    let zero = V::splat(V::Number::ZERO);
                    if from.swapped {
                        Pair { re: zero, im: re }
                    } else {
                        Pair { re, im: zero }
                    }
                } else {
                    let (a, b) = if whole {
                        (V::load(p), V::load(p.add(V::LEN)))
                    } else {
                        let low = (2 * columns).min(V::LEN);
                        (
                            V::load_first(p, low),
                            V::load_first(p.add(low), 2 * columns - low),
                        )
                    };
                    let (re, im) = a.unzip(b);
                    if from.swapped {
                        Pair { re: im, im: re }
                    } else {
                        Pair { re, im }
                    }
                };
                store(v, y, r * width + w);
            }
        }
    }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn write<V: Lanes<Number: Float>>(
    x: *const V::Number,
    to: Rows<*mut V::Number>,
    rows: usize,
    width: usize,
    scale: V::Number,
) {
    for w in 0..width {
        let columns = to.columns.saturating_sub(w * V::LEN).min(V::LEN);
        for r in 0..rows {
            // SAFETY: COLUMNS1.
            unsafe {
                let v = load::<V>(x, r * width + w).scaled(V::splat(scale));
                let (a, b) = if to.swapped {
                    v.im.zip(v.re)
                } else {
                    v.re.zip(v.im)
                };
                let p = to.first.add(r * to.step + 2 * w * V::LEN);
                if columns == V::LEN {
                    a.store(p);
                    b.store(p.add(V::LEN));
                } else {
                    let low = (2 * columns).min(V::LEN);
                    a.store_first(p, low);
                    b.store_first(p.add(low), 2 * columns - low);
                }
            }
        }
    }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn turn<V: Lanes<Number: Float>>(
    x: *const V::Number,
    rows: usize,
    width: usize,
    to: Turned<V::Number>,
) {
    for w in 0..width {
        let block = to.first / V::LEN + w;
        for tile in 0..rows.div_ceil(V::LEN) {
            // SAFETY: COLUMNS1.
            unsafe {
                let first = tile * V::LEN;
                let zero = V::splat(V::Number::ZERO);
                let (mut re, mut im) = ([zero; 16], [zero; 16]);
                for l in 0..V::LEN {
                    let row = first + l;
                    if row < rows {
                        let factor = if to.fine.is_null() {
                            load::<V>(to.coarse, block * rows + row)
                        } else {
                            let coarse =
                                load::<V>(to.coarse, block * rows.div_ceil(RUN) + row / RUN);
                            coarse.mul(load::<V>(to.fine, block * RUN + row % RUN))
                        };
                        let v = load::<V>(x, row * width + w).mul(factor);
                        (re[l], im[l]) = (v.re, v.im);
                    }
                }
                V::transpose(&mut re);
                V::transpose(&mut im);
                for l in 0..V::LEN {
                    let v = Pair {
                        re: re[l],
                        im: im[l],
                    };
                    store(v, to.y, tile * to.height + block * V::LEN + l);
                }
            }
        }
    }
}
