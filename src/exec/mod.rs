//! How loops run: layouts are collapsed into loop nests (`nest`), which are walked in L1 tiles
//! (`tile`). Nothing here knows what an operation means.

pub mod call;
pub mod chunks;
pub mod failure;
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
#[cfg(feature = "std")]
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
