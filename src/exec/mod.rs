//! How loops run: layouts are collapsed into loop nests (`nest`), which are walked in L1 tiles
//! (`tile`). Nothing here knows what an operation means.
//!
//! - `tile` runs elementwise programs, `fold` programs that end in accumulators, `call` a caller's
//!   closure as a program of one loop.
//! - `lines` presents each line along an axis (or several packed ones together) as a contiguous
//!   slice, packed with its neighbours where it is strided (sorts, scans, softmax), and never cuts
//!   one. Lines that lie side by side (the channels of pixels) may be presented as columns instead:
//!   matrices of 16 of them, copied a row at a time into L1 rather than transposed, which kernels
//!   reduce a lane each, in the order of a contiguous line (`kernel/columns`).
//! - `chunks` cuts contiguous lines that are too few for the threads: a first pass reduces each
//!   chunk, the results are joined along the line, and a second pass hands them back to the chunks
//!   (scans, softmax and normalisation, extremes, counts of masks).
//! - `rows` runs kernels that locate their elements themselves (gathers and scatters).
//! - `products` runs matrix products.
//!
//! Small operands skip the machine: where elements are dense in one common order, and computing
//! them is not worth a second thread (`par::is_small`), the operation calls its kernel directly.
//! That is the one condition for elementwise operations, copies, conversions and fills; reductions
//! do so within one tile, with the kernels and in the order that the plan would choose, since the
//! order is part of the bits. Very few elements in different orders, or that are broadcast, are moved
//! into one order first (`few`).

pub mod call;
pub mod chunks;
pub mod failure;
pub mod few;
pub mod fold;
pub mod lines;
pub mod nest;
pub mod pack;
pub mod planned;
pub mod products;
pub mod program;
pub mod rect;
pub mod rows;
pub mod tile;
pub mod transpose;
pub mod view;

use crate::par::{self, Cost};
use crate::simd::stream;
use call::Call;
use nest::{LoopOperand, Nest};
use program::TileProgram;
use tile::{CachePolicy, TileBody};

/// The driver of all elementwise programs: any number of inputs and outputs up to
/// [`nest::MAX_OPERANDS`], of mixed element sizes.
///
/// # Safety
/// NEST1 of [`tile::run`] for operands of this shape.
pub unsafe fn run(
    p: &TileProgram,
    shape: &[usize],
    inputs: &[LoopOperand],
    outputs: &[LoopOperand],
) {
    p.expect(inputs, outputs);
    let nest = Nest::new(shape, inputs, outputs);
    // SAFETY: NEST1, by the caller.
    unsafe { launch(p, None, p.flops(), nest) }
}

/// The same for `n` elements that lie one after the other in each operand, or are a single value
/// (`true`): one loop, without a look at layouts.
///
/// # Safety
/// As [`run`].
#[cfg(feature = "stream")]
pub unsafe fn run_flat(p: &TileProgram, n: usize, operands: &[(*mut u8, bool)]) {
    let nest = Nest::flat(&p.sizes, p.inputs, n, operands);
    // SAFETY: NEST1, by the caller.
    unsafe { launch(p, None, p.flops(), nest) }
}

/// The same with a caller's function as the body, at `flops` operations per element.
///
/// # Safety
/// As [`run`].
pub unsafe fn run_call(
    call: &dyn Call,
    flops: usize,
    shape: &[usize],
    inputs: &[LoopOperand],
    outputs: &[LoopOperand],
) {
    let sizes = inputs.iter().chain(outputs).map(|o| o.size);
    let p = TileProgram::of_operands(sizes, inputs.len());
    let nest = Nest::new(shape, inputs, outputs);
    // SAFETY: NEST1, by the caller.
    unsafe { launch(&p, Some(call), flops, nest) }
}

/// # Safety
/// As [`run`], for the function if there is one.
unsafe fn launch(p: &TileProgram, call: Option<&dyn Call>, flops: usize, mut nest: Nest) {
    if nest.total == 0 {
        return;
    }
    nest.pair_transposed();
    // outputs that are read before they are written are in cache
    let cost = Cost {
        bytes: p.sizes.iter().map(|size| *size as usize).sum(),
        flops,
    };
    let widest = nest.sizes[nest.inputs..nest.operands].iter().max();
    let policy = CachePolicy {
        streamed: !call.is_some_and(|call| call.updates())
            && stream::pays(widest.map_or(0, |size| size * nest.total)),
        prefetched: tile::from_memory(cost.bytes, nest.total),
        reduced: false,
    };
    let body = || call.map_or(TileBody::Code, TileBody::Call);
    if par::is_small(nest.total, cost) {
        // SAFETY: NEST1, by the caller.
        return unsafe { tile::run(p, body(), &nest, policy) };
    }
    // several pieces per thread, so that none waits long for the others
    let (d, unit) = nest.split_dim(4 * par::threads());
    let n = nest.dims[d].n;
    let inner = nest.total / n;
    par::ranges(n, unit, cost.times(inner), |r| {
        // SAFETY: NEST1; ranges are disjoint, so pieces write disjoint elements.
        unsafe {
            if r.len() == n {
                tile::run(p, body(), &nest, policy)
            } else {
                tile::run(p, body(), &nest.part(d, r), policy)
            }
        }
    });
}
