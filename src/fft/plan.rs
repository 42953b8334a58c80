//! What a transform of a length is made of: how it is factored, and its tables.

use crate::kernel::fft::stage::Stage;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Lines of complex numbers.
    Complex,
    /// The same, of half as many as there are real ones.
    Real,
    /// Lines side by side, which are columns as they are.
    #[cfg(feature = "complex")]
    Columns,
    /// The turns of cosine transforms: of so many to a circle, a multiple of the length.
    #[cfg(feature = "complex")]
    Cosine(usize),
}

/// The passes of a transform of `rows` values.
pub(super) struct Passes<T> {
    pub rows: usize,
    pub stages: Vec<Stage>,
    pub factors: Vec<T>,
}

/// The two directions of a matrix: `first` transforms its columns, of which there are `second.rows`,
/// `second` its rows.
pub(super) struct Matrix<T> {
    pub first: Passes<T>,
    pub second: Passes<T>,
    /// See [`Turned`](crate::kernel::fft::columns::Turned).
    pub coarse: Vec<T>,
    pub fine: Vec<T>,
}

/// A transform as a convolution with a chirp, by transforms of at least twice the length (Bluestein,
/// 1970: "A linear filtering approach to the computation of discrete Fourier transform").
pub(super) struct Chirp<T> {
    pub inner: Plan<T>,
    /// `exp(-i pi k^2 / n)`.
    pub chirp: Vec<T>,
    /// The transform of its conjugate, wrapped around, divided by the length.
    pub spectrum: Vec<T>,
}

pub(super) enum Form<T> {
    /// One column.
    Column(Passes<T>),
    Matrix(Matrix<T>),
    Chirp(Box<Chirp<T>>),
}

/// The transform of complex numbers of a length, and where that is half of one, what real numbers of
/// the whole length need besides.
pub(super) struct Plan<T> {
    pub n: usize,
    pub form: Form<T>,
    /// `-i exp(-i pi k / n)` for each `k` up to half of `n`, real parts and then imaginary ones; empty
    /// where no real numbers were asked for.
    pub turns: Vec<T>,
}

impl<T> Plan<T> {
    /// Bytes of its tables, roughly.
    #[cfg(feature = "complex")]
    pub fn bytes(&self) -> usize {
        let numbers = match &self.form {
            Form::Column(passes) => passes.factors.len(),
            Form::Matrix(m) => {
                m.first.factors.len() + m.second.factors.len() + m.coarse.len() + m.fine.len()
            }
            Form::Chirp(c) => c.chirp.len() + c.spectrum.len() + c.inner.bytes() / size_of::<T>(),
        };
        (numbers + self.turns.len()) * size_of::<T>()
    }
}
