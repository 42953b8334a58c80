//! Images of other sizes and at other places: weighted sums of elements along the axes, elements
//! moved by a map of each axis, elements around points of a grid.

pub mod blend;
pub mod columns;
pub mod grid;
mod line;
pub mod remap;
mod table;

pub use line::Sampled;
pub use table::Table;
