//! Discrete Fourier transforms of lines: butterflies in registers (`dft`), passes of them over
//! vectors (`stage`; `prime` for larger radices), transforms of a matrix's columns (`columns`),
//! real transforms (`real`), and twiddle factors (`roots`).

mod access;
pub mod columns;
mod dft;
pub mod multiply;
mod prime;
pub mod real;
pub mod roots;
pub mod stage;

use crate::kernel::math::Real;
use crate::simd::lanes::{Few, Lanes};

/// A float type that transforms are computed in.
///
/// Example: [`ComplexPlan`](crate::fft::ComplexPlan).
pub trait Float: Real + bytemuck::Pod {
    /// A vector of one lane.
    type Single: Lanes<Number = Self>;
}
impl Float for f32 {
    type Single = Few<f32, 1>;
}
impl Float for f64 {
    type Single = Few<f64, 1>;
}
