//! How blocks of columns are read from memory, and written: by rows, transposed, or both.

use super::Float;
use super::dft::{ComplexPair, load, store};
use crate::kernel::math::Real;
use crate::simd::{self, lanes::Lanes};

/// Rows of complex numbers in memory, a block of whose columns is read or written. `P` is a
/// pointer.
#[derive(Clone, Copy)]
pub struct Rows<P> {
    /// The first row's first column.
    pub first: P,
    /// Scalars (not complex pairs) from one row to the next.
    pub step: usize,
    /// Columns of the block.
    pub columns: usize,
    /// Scalars available from `first` on: whole vectors are read where they fit.
    pub room: usize,
    /// Whether real and imaginary parts are swapped, which turns a transform into its inverse.
    pub swapped: bool,
}

/// The intermediate matrix between the two directions: blocks of columns, `height` pairs of vectors
/// each.
#[derive(Clone, Copy)]
pub struct Turned<T> {
    pub y: *mut T,
    pub height: usize,
    /// The first column of this block, which is a row of the result.
    pub first: usize,
    /// Twiddle factors. If `fine` is null, `coarse` has a pair of vectors for each row of each
    /// block of columns. Otherwise it has one for each `RUN` rows, and `fine` has the factors of
    /// the rows within a run.
    pub coarse: *const T,
    pub fine: *const T,
}

/// Rows that share an entry of the coarse table.
pub const RUN: usize = 64;

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn read<V: Lanes<Number: Float>, const REAL: bool>(
    from: Rows<*const V::Number>,
    rows: usize,
    y: *mut V::Number,
) {
    let numbers = if REAL { 1 } else { 2 };
    let zero = V::splat(V::Number::ZERO);
    for r in 0..rows {
        // whole vectors while there is room behind the block's columns
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
                ComplexPair { re, im: zero }
            } else {
                load_part::<V>(p, columns)
            };
            store(if from.swapped { v.swapped() } else { v }, y, r);
        }
    }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn write<V: Lanes<Number: Float>>(
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

/// Reads two rows of real numbers for each row of the block.
///
/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn read_halves<V: Lanes<Number: Float>>(
    from: Rows<*const V::Number>,
    rows: usize,
    y: *mut V::Number,
) {
    for r in 0..rows {
        // SAFETY: COLUMNS1.
        unsafe {
            let (re, im) = (read_row::<V>(from, 2 * r), read_row::<V>(from, 2 * r + 1));
            store(ComplexPair { re, im }, y, r);
        }
    }
}

/// The real numbers of a row.
///
/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn read_row<V: Lanes>(from: Rows<*const V::Number>, r: usize) -> V {
    let at = r * from.step;
    // SAFETY: COLUMNS1.
    unsafe {
        match at + V::LEN <= from.room {
            true => V::load(from.first.add(at)),
            false => V::load_first(from.first.add(at), from.columns),
        }
    }
}

/// Writes two rows of real numbers for each row of the block.
///
/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn write_halves<V: Lanes<Number: Float>>(
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
            v.re.store_first(to.first.add(2 * r * to.step), to.columns);
            v.im.store_first(to.first.add((2 * r + 1) * to.step), to.columns);
        }
    }
}

/// Loads `n` adjacent complex numbers, at most one vector's lanes, deinterleaved into real and
/// imaginary parts.
///
/// # Safety
/// `n` complex numbers are readable; ISA1.
#[inline(always)]
unsafe fn load_part<V: Lanes>(p: *const V::Number, n: usize) -> ComplexPair<V> {
    // SAFETY: by the caller's promise.
    let (re, im) = unsafe {
        if n == V::LEN {
            V::load(p).unzip(V::load(p.add(V::LEN)))
        } else {
            let low = (2 * n).min(V::LEN);
            V::load_first(p, low).unzip(V::load_first(p.add(low), 2 * n - low))
        }
    };
    ComplexPair { re, im }
}
/// Stores `n` complex numbers interleaved, the reverse of [`load_part`].
///
/// # Safety
/// `n` complex numbers are writable; ISA1.
#[inline(always)]
unsafe fn put_few<V: Lanes>(v: ComplexPair<V>, p: *mut V::Number, n: usize) {
    let (a, b) = v.re.zip(v.im);
    // SAFETY: by the caller's promise.
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

/// Complex numbers of one line per vector.
const fn together<V: Lanes>() -> usize {
    if V::LEN > 1 { V::LEN / 2 } else { 1 }
}

/// Prefetches lines in memory order, which the hardware prefetcher would not: tiles go across the
/// lines.
#[inline(always)]
fn ask<V: Lanes>(first: *const V::Number, step: usize, columns: usize, rows: usize) {
    if rows > together::<V>() {
        for l in 0..columns {
            simd::prefetch_run::<{ simd::L1 }, _>(first.wrapping_add(l * step), 2 * rows);
        }
    }
}

/// Transposes tiles of interleaved lines into columns, real and imaginary parts apart.
///
/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn read_lines<V: Lanes<Number: Float>>(
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
                // a separate array, which stays in registers
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
    let v = ComplexPair {
        re: lines[2 * k],
        im: lines[2 * k + 1],
    };
    // SAFETY: by the caller's promise.
    unsafe { store(if swapped { v.swapped() } else { v }, y, first + k) }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn write_lines<V: Lanes<Number: Float>>(
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
    // SAFETY: by the caller's promise.
    let v = unsafe { load::<V>(x, first + k) }.scaled(scale);
    let v = if swapped { v.swapped() } else { v };
    (lines[2 * k], lines[2 * k + 1]) = (v.re, v.im);
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
pub unsafe fn turn<V: Lanes<Number: Float>>(
    x: *const V::Number,
    rows: usize,
    to: Turned<V::Number>,
) {
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
            let v = ComplexPair {
                re: re[l],
                im: im[l],
            };
            // SAFETY: COLUMNS1.
            unsafe { store(v, to.y, tile * to.height + block * V::LEN + l) }
        }
    }
}
