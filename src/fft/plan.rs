//! Plans: the factorisation of a length, and its tables.

use crate::kernel::fft::stage::Stage;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Lines of complex numbers.
    Complex,
    /// Lines of twice as many real numbers.
    Real,
    /// Adjacent lines, transformed as columns in place.
    #[cfg(feature = "complex")]
    Columns,
    /// The same, of twice as many real numbers.
    #[cfg(feature = "complex")]
    RealColumns,
    /// The twiddle factors of cosine transforms, this many to a full turn: a multiple of the
    /// length.
    #[cfg(feature = "complex")]
    Cosine(usize),
}

impl Purpose {
    /// Whether twice as many real numbers are transformed.
    pub fn is_real(self) -> bool {
        match self {
            Purpose::Real => true,
            #[cfg(feature = "complex")]
            Purpose::RealColumns => true,
            _ => false,
        }
    }
}

/// The passes of a transform of `rows` values.
pub(super) struct Passes<T> {
    pub rows: usize,
    pub stages: Vec<Stage>,
    pub factors: Vec<T>,
}

/// The two directions of a matrix: `first` transforms its `second.rows` columns, `second` its rows.
pub(super) struct Matrix<T> {
    pub first: Passes<T>,
    pub second: Passes<T>,
    /// See [`Turned`](crate::kernel::fft::columns::Turned).
    pub coarse: Vec<T>,
    pub fine: Vec<T>,
}

/// A transform as a convolution with a chirp, computed by transforms of at least twice the length
/// (Bluestein, 1970: "A linear filtering approach to the computation of discrete Fourier
/// transform").
pub(super) struct Chirp<T> {
    pub inner: FftPlan<T>,
    /// `exp(-i pi k^2 / n)`.
    pub chirp: Vec<T>,
    /// The transform of its conjugate, wrapped around and divided by the inner length.
    pub spectrum: Vec<T>,
}

pub(super) enum PlanForm<T> {
    /// A single column.
    Column(Passes<T>),
    Matrix(Matrix<T>),
    Chirp(Box<Chirp<T>>),
}

/// The transform of `n` complex numbers and, if requested, the factors that make it one of `2 n`
/// real ones.
pub(super) struct FftPlan<T> {
    pub n: usize,
    pub form: PlanForm<T>,
    /// `-i exp(-i pi k / n)` for `k` up to half of `n`, all real parts before all imaginary ones;
    /// empty unless the plan is for real numbers.
    pub turns: Vec<T>,
}

impl<T> FftPlan<T> {
    /// The approximate size of the tables in bytes.
    #[cfg(feature = "complex")]
    pub fn bytes(&self) -> usize {
        let numbers = match &self.form {
            PlanForm::Column(passes) => passes.factors.len(),
            PlanForm::Matrix(m) => {
                m.first.factors.len() + m.second.factors.len() + m.coarse.len() + m.fine.len()
            }
            PlanForm::Chirp(c) => {
                c.chirp.len() + c.spectrum.len() + c.inner.bytes() / size_of::<T>()
            }
        };
        (numbers + self.turns.len()) * size_of::<T>()
    }
}
