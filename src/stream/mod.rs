//! Operations that are known before they run: a graph of them becomes programs, each of which computes
//! as many as it can in one walk over memory. See [`Graph`], and [`Stream`] for operations as they come.
//!
//! ```text
//! graph     what was asked for: values, their shapes and dtypes, no value twice
//! layer     linear layers and convolutions as data
//! plan      steps: elementwise programs that end in stores, reductions of what a program computes,
//!           functions that run as they are
//! view      views as data
//! walk      a program, and what it reads and computes
//! chain     values that are one instruction together
//! sink      views before the operations whose results they are of
//! emit      values as the instructions of a program
//! run       steps on whole tensors
//! segment   steps that share their outer loops
//! block     these, block by block of the outer loops
//! follow    elementwise operations after a product, block by block of its result
//! costs     what plans take things to cost
//! queue     operations that wait until a value of theirs is asked for: they are a graph then
//! ```
//!
//! Results have the bits that the operations give one by one. So a reduction takes the tiles that a
//! stored operand would have; where inputs that broadcast make others, the operand is stored. Numbers
//! of 16 bits are the exception that may be asked for: [`Rounding`]. Graphs need the feature `std`.

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
mod run;
mod segment;
mod sink;
mod step;
mod text;
mod traffic;
mod view;
mod walk;

pub use fold::Kind;
pub use graph::{Function, Graph, Operand, Parameter, Value};
#[cfg(feature = "python")]
pub(crate) use layer::{Kind as LayerKind, Layer};
pub use plan::Program;
pub use queue::{Argument, Lazy, Plans, Stats, Stream};
#[cfg(feature = "python")]
pub(crate) use queue::{is_stable, takes};
pub use traffic::Traffic;
#[cfg(feature = "python")]
pub(crate) use view::View;
pub use walk::Rounding;

/// Whether a conversion to the own dtype is an operation: its result lies in memory as results do,
/// which decides how sums of its elements round.
#[cfg(feature = "python")]
pub(crate) fn copies(dtype: crate::DType) -> bool {
    dtype.size() > 2 && (dtype.is_float() || dtype.is_complex())
}
