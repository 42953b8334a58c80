//! Transforms along the columns of a matrix, a column a lane: what a transform of any length is made
//! of, since one of `a * b` values is `a` of length `b` and then `b` of length `a` (Gentleman and
//! Sande, 1966: "Fast Fourier transforms: for fun and profit").

use super::Float;
use super::dft::{Pair, load, store};
use super::stage::{All, Stage, passes};
use crate::kernel::math::Real;
use crate::simd::{self, lanes::Lanes};
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
    /// Complex numbers, a column of the block being a row in memory: as [`Sink::Lines`]. For vectors of two lanes or more.
    Lines(Rows<*const T>),
    /// Pairs of vectors one after the other, as [`Sink::Turned`] leaves them.
    Pairs(*const T),
}

/// Where the transforms go.
#[derive(Clone, Copy)]
pub enum Sink<T> {
    /// Complex numbers, multiplied by one.
    Complex(Rows<*mut T>, T),
    /// The same, a column of the block being a row in memory, as many as a vector has lanes at most: `step` leads from
    /// column to column.
    Lines(Rows<*mut T>, T),
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
/// `rows` rows of the block, a vector wide, and nobody else reads or writes what is written
/// while the block is computed; the stages are those of `rows`, and `factors` their table.
pub struct Columns<'a, T> {
    rows: usize,
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
        rows: usize,
        stages: &'a [Stage],
        factors: &'a [T],
        source: Source<T>,
        buffers: [*mut T; 2],
        sink: Sink<T>,
    ) -> Self {
        Columns {
            rows,
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
    /// Computes a block. Never part of its callers, which each would have all butterflies.
    #[inline(never)]
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
                read::<V, false>(rows, c.rows, c.buffers[0]);
                (c.buffers[0].cast_const(), 1)
            }
            Source::Real(rows) => {
                read::<V, true>(rows, c.rows, c.buffers[0]);
                (c.buffers[0].cast_const(), 1)
            }
            Source::Lines(rows) => {
                read_lines::<V>(rows, c.rows, c.buffers[0]);
                (c.buffers[0].cast_const(), 1)
            }
            Source::Pairs(x) => (x, 0),
        };
        let last = passes::<V, All>(c.stages, c.factors.as_ptr(), 1, x, c.buffers, to);
        let y = c.buffers[last];
        match c.sink {
            Sink::Complex(rows, scale) => write::<V>(y, rows, c.rows, scale),
            Sink::Lines(rows, scale) => write_lines::<V>(y, rows, c.rows, scale),
            Sink::Turned(turned) => turn::<V>(y, c.rows, turned),
        }
    }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn read<V: Lanes<Number: Float>, const REAL: bool>(
    from: Rows<*const V::Number>,
    rows: usize,
    y: *mut V::Number,
) {
    let numbers = if REAL { 1 } else { 2 };
    let zero = V::splat(V::Number::ZERO);
    for r in 0..rows {
        // a whole vector where there are numbers behind the block's columns
        let at = r * from.step;
        let whole = at + numbers * V::LEN <= from.room;
        let columns = if whole { V::LEN } else { from.columns };
        // SAFETY: COLUMNS1.
        unsafe {
            let p = from.first.add(at);
            let v = if REAL {
                let re = if whole {
                    V::load(p)
                } else {
                    V::load_first(p, columns)
                };
                Pair { re, im: zero }
            } else {
                few::<V>(p, columns)
            };
            store(if from.swapped { v.swapped() } else { v }, y, r);
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
    scale: V::Number,
) {
    for r in 0..rows {
        // SAFETY: COLUMNS1.
        unsafe {
            let v = load::<V>(x, r).scaled(V::splat(scale));
            let v = if to.swapped { v.swapped() } else { v };
            put_few(v, to.first.add(r * to.step), to.columns);
        }
    }
}

/// Complex numbers side by side, `n` at most a vector's lanes, real parts and imaginary ones apart.
///
/// # Safety
/// `n` complex numbers are readable; ISA1.
#[inline(always)]
unsafe fn few<V: Lanes>(p: *const V::Number, n: usize) -> Pair<V> {
    // SAFETY: the caller's.
    let (re, im) = unsafe {
        if n == V::LEN {
            V::load(p).unzip(V::load(p.add(V::LEN)))
        } else {
            let low = (2 * n).min(V::LEN);
            V::load_first(p, low).unzip(V::load_first(p.add(low), 2 * n - low))
        }
    };
    Pair { re, im }
}
/// The other way round.
///
/// # Safety
/// `n` complex numbers are writable; ISA1.
#[inline(always)]
unsafe fn put_few<V: Lanes>(v: Pair<V>, p: *mut V::Number, n: usize) {
    let (a, b) = v.re.zip(v.im);
    // SAFETY: the caller's.
    unsafe {
        if n == V::LEN {
            a.store(p);
            b.store(p.add(V::LEN));
        } else {
            let low = (2 * n).min(V::LEN);
            a.store_first(p, low);
            b.store_first(p.add(low), 2 * n - low);
        }
    }
}

/// Complex numbers of a line that a vector holds.
const fn together<V: Lanes>() -> usize {
    if V::LEN > 1 { V::LEN / 2 } else { 1 }
}

/// Asks for lines in the order in which they lie, as the machine foresees it: tiles go across them, several one after
/// the other.
#[inline(always)]
fn ask<V: Lanes>(first: *const V::Number, step: usize, columns: usize, rows: usize) {
    if rows > together::<V>() {
        for l in 0..columns {
            for at in (0..2 * rows).step_by(64 / size_of::<V::Number>()) {
                simd::prefetch::<{ simd::L1 }, _>(first.wrapping_add(l * step + at));
            }
        }
    }
}

/// Tiles of lines become columns of tiles: of each number of a line real and imaginary part.
///
/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn read_lines<V: Lanes<Number: Float>>(
    from: Rows<*const V::Number>,
    rows: usize,
    y: *mut V::Number,
) {
    ask::<V>(from.first, from.step, from.columns, rows);
    for first in (0..rows).step_by(together::<V>()) {
        let n = together::<V>().min(rows - first);
        let mut lines = [V::splat(V::Number::ZERO); 16];
        // SAFETY: COLUMNS1.
        unsafe {
            let line = |l: usize| from.first.add(l * from.step + 2 * first);
            if from.columns == V::LEN && n == together::<V>() {
                // a list of its own, which stays in registers
                let mut whole = lines;
                for (l, v) in whole[..V::LEN].iter_mut().enumerate() {
                    *v = V::load(line(l));
                }
                V::transpose(&mut whole);
                for k in 0..together::<V>() {
                    put_line(&whole, k, from.swapped, y, first);
                }
                continue;
            }
            for (l, v) in lines[..from.columns].iter_mut().enumerate() {
                *v = V::load_first(line(l), 2 * n);
            }
            V::transpose(&mut lines);
            for k in 0..n {
                put_line(&lines, k, from.swapped, y, first);
            }
        }
    }
}
/// # Safety
/// The pair of vectors is writable; ISA1.
#[inline(always)]
unsafe fn put_line<V: Lanes>(
    lines: &[V; 16],
    k: usize,
    swapped: bool,
    y: *mut V::Number,
    first: usize,
) {
    let v = Pair {
        re: lines[2 * k],
        im: lines[2 * k + 1],
    };
    // SAFETY: the caller's.
    unsafe { store(if swapped { v.swapped() } else { v }, y, first + k) }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn write_lines<V: Lanes<Number: Float>>(
    x: *const V::Number,
    to: Rows<*mut V::Number>,
    rows: usize,
    scale: V::Number,
) {
    let scale = V::splat(scale);
    ask::<V>(to.first, to.step, to.columns, rows);
    for first in (0..rows).step_by(together::<V>()) {
        let n = together::<V>().min(rows - first);
        let mut lines = [V::splat(V::Number::ZERO); 16];
        // SAFETY: COLUMNS1.
        unsafe {
            let line = |l: usize| to.first.add(l * to.step + 2 * first);
            if to.columns == V::LEN && n == together::<V>() {
                let mut whole = lines;
                for k in 0..together::<V>() {
                    take_line(&mut whole, k, to.swapped, x, first, scale);
                }
                V::transpose(&mut whole);
                for (l, v) in whole[..V::LEN].iter().enumerate() {
                    v.store(line(l));
                }
                continue;
            }
            for k in 0..n {
                take_line(&mut lines, k, to.swapped, x, first, scale);
            }
            V::transpose(&mut lines);
            for (l, v) in lines[..to.columns].iter().enumerate() {
                v.store_first(line(l), 2 * n);
            }
        }
    }
}
/// # Safety
/// The pair of vectors is readable; ISA1.
#[inline(always)]
unsafe fn take_line<V: Lanes>(
    lines: &mut [V; 16],
    k: usize,
    swapped: bool,
    x: *const V::Number,
    first: usize,
    scale: V,
) {
    // SAFETY: the caller's.
    let v = unsafe { load::<V>(x, first + k) }.scaled(scale);
    let v = if swapped { v.swapped() } else { v };
    (lines[2 * k], lines[2 * k + 1]) = (v.re, v.im);
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn turn<V: Lanes<Number: Float>>(x: *const V::Number, rows: usize, to: Turned<V::Number>) {
    let block = to.first / V::LEN;
    let zero = V::splat(V::Number::ZERO);
    for tile in 0..rows.div_ceil(V::LEN) {
        let (mut re, mut im) = ([zero; 16], [zero; 16]);
        for l in 0..V::LEN.min(rows - tile * V::LEN) {
            let row = tile * V::LEN + l;
            // SAFETY: COLUMNS1.
            unsafe {
                let factor = if to.fine.is_null() {
                    load::<V>(to.coarse, block * rows + row)
                } else {
                    let coarse = load::<V>(to.coarse, block * rows.div_ceil(RUN) + row / RUN);
                    coarse.mul(load::<V>(to.fine, block * RUN + row % RUN))
                };
                let v = load::<V>(x, row).mul(factor);
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
            // SAFETY: COLUMNS1.
            unsafe { store(v, to.y, tile * to.height + block * V::LEN + l) }
        }
    }
}
