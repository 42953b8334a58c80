//! Operations that are known before they run: a graph of them is compiled to programs, each of
//! which computes as many as it can in one pass over memory. See [`Graph`], and [`Stream`] for
//! operations that are queued as they come.
//!
//! ```text
//! graph     values and the operations that compute them, with their shapes and dtypes, none twice;
//!           elementwise ones in a normal form, so that spelling doesn't matter (graph/normal)
//! step      operations as data, and what is known of their results
//! product   matrix products, linear layers and convolutions as data
//! codec     data as words, for files and hashes
//! plan      from a graph to steps: elementwise programs that end in stores, reductions of what a
//!           program computes (reductions), functions that run as they are
//! view      views as data
//! walk      a program, and what it reads and computes
//! cut       cuts values that are too long for one program
//! chain     fuses products and sums into one instruction
//! sink      moves views before the operations whose results they view
//! emit      emits values as the instructions of a program
//! run       runs steps on whole tensors
//! store     walks that store their elements in whole tensors
//! segment   groups steps that share their outer loops
//! block     runs them block by block of these loops
//! post_op   elementwise operations after a product, block by block of its result
//! costs     the cost model: thresholds of plans
//! queue     operations that wait until one of their values is needed, and form a graph by then
//! ```
//!
//! Results have the bits that the operations give one by one. So a reduction is tiled as its
//! operand would be if it were stored; where broadcast inputs lead to other tiles, the operand is
//! stored. 16-bit floats may be an exception, on request: see [`Rounding`]. Graphs need the feature
//! `std`.
//!
//! # Steps
//!
//! A graph has one node per value; wrong shapes and dtypes are found when an operation is added.
//! `plan` turns it into steps: elementwise values of one shape become one program of the machine in
//! `exec`, which ends in stores or in accumulators.
//!
//! A value that is needed again later is stored or, if that is cheaper, recomputed. A program that
//! is too long is cut where the fewest values are live.
//!
//! Steps that share their outer loops run block by block, so that each finds what the step before
//! left in a cache: a softmax written as separate operations reads each row once. The loops of each
//! step are planned once, and run at the addresses of each block (`exec/planned`,
//! `exec/fold/planned`).
//!
//! A program's values pass from instruction to instruction through L1, which bounds chains of cheap
//! operations. A multiplication whose result is only added is one instruction with the addition
//! (`chain`, `kernel/elementwise/chains`), and Horner's rule takes four float32 coefficients in
//! one, in registers. A sign goes into a number beside it. Each operation still rounds, so the bits
//! don't change.
//!
//! # Post-ops
//!
//! An elementwise program that reads a product of its own shape is part of the product's step. The
//! macrokernel hands over finished blocks of C (`kernel::gemm::PostOp`), as do Winograd's algorithm
//! and direct convolutions; the program runs on them in the thread whose cache has them, in place
//! if nothing else needs the product.
//!
//! If a product hands over nothing, or not all of it, or the program reads much else, the program
//! runs afterwards as a whole. Rounding is the same either way: the product stores its elements
//! first.
//!
//! A product of operands that were just converted from 16-bit floats to float32, or from bytes to
//! int32, and perhaps transposed, reads them before the conversion, if both lie in memory as the
//! converted copies would and the product widens them exactly.
//!
//! # Reductions
//!
//! Reductions over the same axes that read the same large operands are one pass over memory, since
//! a reduction program has an end for each output. Operands that fit a cache are reduced one after
//! the other, which copies none to a tile. Reductions of one stored operand share the pass without a
//! program.
//!
//! Squares are the most common operands of sums and means that are computed for them alone: in
//! variances, norms, losses and distances. The kernels square what they read
//! (`kernel/reduce::SumOfSquares`), so no tile of squares is written and read again; what is squared
//! need not be computed at all if it is stored.
//!
//! # Same bits
//!
//! For elementwise programs, results with the bits of eager execution hold by construction. A
//! reduction's rounding depends on how its operand is tiled, so it is planned for the operand as it
//! would be stored (`fold_computed` is given that layout), and each tile is computed into scratch
//! right before the kernels read it.
//!
//! Broadcast inputs may keep loops apart that the stored operand would merge; then the plans
//! differ, and the operand is stored (`has_bits_of_stored`). Blocks are used only where a row's
//! result does not depend on its neighbours (`is_separable`).

mod block;
mod chain;
mod codec;
mod costs;
mod cut;
mod emit;
mod fold;
mod graph;
mod plan;
mod plan_step;
mod post_op;
mod product;
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
pub use graph::{Graph, Operand, Parameter, Value};
pub use plan::Program;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use product::{Product, ProductKind};
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use queue::WeakStream;
pub use queue::{Argument, Lazy, Plans, Stats, Stream};
pub use step::Function;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use step::{About, Operation, Step};
pub use traffic::Traffic;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use view::{ViewKind, ViewOp};
pub use walk::Rounding;

/// Whether a conversion of this dtype to itself is an operation: its result has the layout of a
/// result, which decides how sums of its elements, or of floats computed from them, round. Bool has
/// no operation that copies.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn copies(dtype: crate::DType) -> bool {
    !dtype.is_bool() && !dtype.is_storage()
}
