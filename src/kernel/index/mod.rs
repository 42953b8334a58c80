//! Indexing: positions are checked once and become byte offsets ([`offsets`]); rows are then
//! gathered and scattered ([`rows`]) without a check. Masks become positions, or choose elements
//! ([`mask`]). Rows are also reduced
//! ([`bag`]). Integers are counted ([`counts`]), and rows padded ([`pad`]).
//!
//! Positions become byte offsets in a table or, where each element has a position of its own, tile
//! by tile in L1. Scatters always use the table, since errors come before writes. In a scatter of
//! rows each thread handles the rows in its range of the tensor, so additions happen in the order
//! of the indices. Rows of an embedding bag are reduced in registers, and those ahead are
//! prefetched.

#[cfg(feature = "nn")]
pub mod bag;
pub mod counts;
pub mod mask;
pub mod offsets;
pub mod pad;
pub mod rows;
