//! Resampling of images: weighted sums along the axes, elements moved by a map per axis, and
//! sampling at the points of a grid.

mod affine;
pub mod blend;
pub mod columns;
pub mod grid;
mod line;
pub mod remap;
mod table;

pub use affine::affine_line;
pub use line::Sampled;
pub use table::Table;
