//! Transforms along the columns of a matrix, one column per lane. This is the building block for
//! every length: a transform of `a * b` values is `a` transforms of length `b` followed by `b` of
//! length `a` (Gentleman and Sande, 1966: "Fast Fourier transforms: for fun and profit").

use super::Float;
use super::access::{read, read_halves, read_lines, turn, write, write_halves, write_lines};
use super::real::{forward_columns, inverse_columns, pairs};
use super::stage::{AllRadices, Stage, passes};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use core::marker::PhantomData;

pub use super::access::{RUN, Rows, Turned};

/// Where the values of a block of columns are.
#[derive(Clone, Copy)]
pub enum ColumnSource<T> {
    /// Complex numbers.
    Complex(Rows<*const T>),
    /// Real numbers.
    Real(Rows<*const T>),
    /// Real numbers in twice as many rows: even rows are the real parts, odd ones the imaginary
    /// parts.
    Halves(Rows<*const T>),
    /// Complex numbers stored transposed: a column of the block is a row in memory, as in
    /// [`Sink::Lines`]. Needs vectors of at least two lanes.
    Lines(Rows<*const T>),
    /// Consecutive pairs of vectors, as [`Sink::Turned`] leaves them.
    Pairs(*const T),
}

/// Where the results go.
#[derive(Clone, Copy)]
pub enum Sink<T> {
    /// Complex numbers, scaled by the factor.
    Complex(Rows<*mut T>, T),
    /// The same, transposed: a column of the block is a row in memory, `step` leads from column to
    /// column, and there are at most as many columns as a vector has lanes.
    Lines(Rows<*mut T>, T),
    /// Real numbers in twice as many rows, as in [`ColumnSource::Halves`].
    Halves(Rows<*mut T>, T),
    /// Transposed into blocks as wide as a vector, with the twiddle factors between the two
    /// directions of a matrix multiplied in.
    Turned(Turned<T>),
}

/// The spectra of columns of `2 rows` real numbers, by transforms of `rows` complex ones (see
/// [`real`](super::real)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spectrum {
    /// The first half is written: `rows + 1` numbers.
    Half,
    /// All `2 rows` numbers are written, or their conjugates.
    Whole { conjugate: bool },
    /// The first half is read, for the inverse.
    Inverse,
}

impl Spectrum {
    /// The numbers of a spectrum.
    pub const fn len(self, rows: usize) -> usize {
        match self {
            Spectrum::Whole { .. } => 2 * rows,
            _ => rows + 1,
        }
    }
}

/// The transforms of a block of columns.
///
/// Invariant COLUMNS1, the contract of [`Columns::new`]: source, sink and buffers are valid for
/// `rows` rows of the block, one vector wide; nobody else accesses the memory written while the
/// block is computed; `stages` are those of a transform of `rows` values, and `factors` is their
/// table. With a spectrum, its side and both buffers are valid for [`Spectrum::len`] rows.
pub struct Columns<'a, T> {
    rows: usize,
    stages: &'a [Stage],
    factors: &'a [T],
    source: ColumnSource<T>,
    buffers: [*mut T; 2],
    sink: Sink<T>,
    /// And the factors between the halves, as in [`Halves`](super::real::Halves).
    spectrum: Option<(Spectrum, &'a [T])>,
    _memory: PhantomData<&'a mut T>,
}

impl<'a, T> Columns<'a, T> {
    /// # Safety
    /// COLUMNS1.
    pub unsafe fn new(
        rows: usize,
        stages: &'a [Stage],
        factors: &'a [T],
        source: ColumnSource<T>,
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
            spectrum: None,
            _memory: PhantomData,
        }
    }
    /// Transforms real numbers, given `turns` as in [`Halves`](super::real::Halves).
    ///
    /// # Safety
    /// COLUMNS1.
    pub unsafe fn with_spectrum(self, spectrum: Spectrum, turns: &'a [T]) -> Self {
        assert!(turns.len() >= 2 * (pairs(self.rows) + 1));
        Columns {
            spectrum: Some((spectrum, turns)),
            ..self
        }
    }
}

kernel! {
    /// Computes a block. Not inlined: each caller would get its own copy of all butterflies.
    #[inline(never)]
    pub fn columns<'a, T: Float>(block: Columns<'a, T>) -> () { |I|
        // SAFETY: COLUMNS1.
        unsafe { run::<T::Vector<I>>(block) }
    }
}
kernel! {
    /// The number of lanes in a vector of the instruction set.
    pub fn lanes<'a, T: Float>() -> usize { |I| <T::Vector<I> as Lanes>::LEN }
}

/// # Safety
/// COLUMNS1; ISA1.
#[inline(always)]
unsafe fn run<V: Lanes<Number: Float>>(c: Columns<'_, V::Number>) {
    // SAFETY: COLUMNS1.
    unsafe {
        let (mut x, mut to) = (c.buffers[0].cast_const(), 1);
        let count = match c.spectrum {
            Some((spectrum @ Spectrum::Inverse, _)) => spectrum.len(c.rows),
            _ => c.rows,
        };
        match c.source {
            ColumnSource::Complex(rows) => read::<V, false>(rows, count, c.buffers[0]),
            ColumnSource::Real(rows) => read::<V, true>(rows, count, c.buffers[0]),
            ColumnSource::Halves(rows) => read_halves::<V>(rows, count, c.buffers[0]),
            ColumnSource::Lines(rows) => read_lines::<V>(rows, count, c.buffers[0]),
            ColumnSource::Pairs(pairs) => (x, to) = (pairs, 0),
        }
        if let Some((Spectrum::Inverse, turns)) = c.spectrum {
            inverse_columns::<V>(c.rows, x, c.buffers[1], turns);
            (x, to) = (c.buffers[1], 0);
        }
        let last = passes::<V, AllRadices>(c.stages, c.factors.as_ptr(), 1, x, c.buffers, to);
        let (mut y, mut count) = (c.buffers[last], c.rows);
        let mut scale = match c.sink {
            Sink::Complex(_, scale) | Sink::Lines(_, scale) | Sink::Halves(_, scale) => scale,
            Sink::Turned(_) => Real::ONE,
        };
        if let Some((spectrum @ (Spectrum::Half | Spectrum::Whole { .. }), turns)) = c.spectrum {
            let conjugate = match spectrum {
                Spectrum::Whole { conjugate } => Some(conjugate),
                _ => None,
            };
            // scaled first: what is combined is up to twice as large
            forward_columns::<V>(c.rows, y, c.buffers[1 - last], turns, scale, conjugate);
            (y, count) = (c.buffers[1 - last], spectrum.len(c.rows));
            scale = Real::ONE;
        }
        match c.sink {
            Sink::Complex(rows, _) => write::<V>(y, rows, count, scale),
            Sink::Lines(rows, _) => write_lines::<V>(y, rows, count, scale),
            Sink::Halves(rows, _) => write_halves::<V>(y, rows, count, scale),
            Sink::Turned(turned) => turn::<V>(y, count, turned),
        }
    }
}
