//! Indexing: positions are checked once and become byte offsets ([`offsets`]); rows are then
//! gathered and scattered ([`rows`]) without a check. Masks become positions, or choose elements
//! ([`mask`]). Rows are also reduced
//! ([`bag`]).

pub mod bag;
pub mod mask;
pub mod offsets;
pub mod rows;
