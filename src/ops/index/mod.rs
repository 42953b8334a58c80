//! Indexing: `t[...]` as Rust data ([`Index`], [`s!`](crate::s), [`get`], [`set`]), taking and
//! putting along an axis, masks.
//!
//! Integers, slices, the ellipsis and new axes are *basic* indices: they give a view. Integer
//! arrays and masks are *advanced*: they gather, as in NumPy. All positions are checked before any
//! element is read or written.

mod basic;
mod counts;
mod gather;
mod mask;
mod positions;
mod scatter;
mod selection;

pub use basic::Index;
pub use counts::bincount;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use gather::{basic_view, view_at};
pub use gather::{get, take, take_along_axis};
pub use mask::{argwhere, masked_fill, masked_select, nonzero};
pub(crate) use scatter::add_at;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use scatter::set_number;
pub use scatter::{ScatterMode, index_add, scatter, scatter_add, set};

/// Integers as items.
#[cfg(feature = "bindings")]
fn integers(positions: &[i64]) -> alloc::vec::Vec<Index> {
    positions.iter().copied().map(Index::Int).collect()
}
