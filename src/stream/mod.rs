//! Operations that are known before they run: a graph of them is compiled to programs, each of
//! which computes as many as it can in one pass over memory. See [`Graph`], and [`Stream`] for
//! operations that are queued as they come.
//!
//! ```text
//! graph     values and the operations that compute them, with their shapes and dtypes, none twice
//! layer     linear layers and convolutions as data
//! plan      from a graph to steps: elementwise programs that end in stores, reductions of what a
//!           program computes (reductions), functions that run as they are
//! view      views as data
//! walk      a program, and what it reads and computes
//! chain     fuses products and sums into one instruction
//! sink      moves views before the operations whose results they view
//! emit      emits values as the instructions of a program
//! run       runs steps on whole tensors
//! store     walks that store their elements in whole tensors
//! segment   groups steps that share their outer loops
//! block     runs them block by block of these loops
//! follow    elementwise operations after a product, block by block of its result
//! costs     the cost model: thresholds of plans
//! queue     operations that wait until one of their values is needed, and form a graph by then
//! ```
//!
//! Results have the bits that the operations give one by one. So a reduction is tiled as its
//! operand would be if it were stored; where broadcast inputs lead to other tiles, the operand is
//! stored. 16-bit floats may be an exception, on request: see [`Rounding`]. Graphs need the feature
//! `std`.

mod block;
mod chain;
mod costs;
mod emit;
mod fold;
mod follow;
mod graph;
mod layer;
mod plan;
mod queue;
mod reductions;
mod run;
mod segment;
mod sink;
mod step;
mod store;
mod text;
mod traffic;
mod view;
mod walk;

#[doc(inline)]
pub use crate::op::Op;
pub use fold::Kind;
pub use graph::{Function, Graph, Operand, Parameter, Value};
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use layer::{Layer, LayerKind};
pub use plan::Program;
pub use queue::{Argument, Lazy, Plans, Stats, Stream};
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use queue::{is_stable, takes};
pub use traffic::Traffic;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use view::ViewOp;
pub use walk::Rounding;

/// Whether a conversion of this dtype to itself is an operation: its result has the layout of a
/// result, which decides how sums of its elements, or of floats computed from them, round. Bool has
/// no operation that copies.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn copies(dtype: crate::DType) -> bool {
    !dtype.is_bool() && !dtype.is_storage()
}
