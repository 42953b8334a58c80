//! How loops run: collapse the layouts (nest), walk them in L1 tiles (tile).
//! Nothing here knows what an operation means.

pub mod chunks;
pub mod failure;
pub mod fold;
pub mod lines;
pub mod nest;
pub mod pack;
pub mod products;
pub mod program;
pub mod rect;
pub mod rows;
#[cfg(test)]
mod tests;
pub mod tile;
pub mod transpose;
pub mod view;

use crate::par::{self, Cost};
use crate::simd::stream;
use nest::{Nest, Operand};
use program::Program;

/// The one driver of elementwise programs: any number of inputs and outputs up to
/// [`nest::MAX_OPERANDS`], of mixed sizes.
///
/// # Safety
/// NEST1 of [`tile::run`] for operands of this shape.
pub unsafe fn run(p: &Program, shape: &[usize], inputs: &[Operand], outputs: &[Operand]) {
    assert!(
        inputs.len() == p.inputs
            && p.sizes.len() == inputs.len() + outputs.len()
            && (p.sizes.iter().zip(inputs.iter().chain(outputs)))
                .all(|(size, o)| *size as usize == o.size),
        "operands are those of the program"
    );
    let mut nest = Nest::new(shape, inputs, outputs);
    if nest.total == 0 {
        return;
    }
    nest.pair_transposed();
    let streamed = stream::pays(outputs.iter().map(|o| o.size).max().unwrap_or(0) * nest.total);
    let cost = Cost {
        bytes: p.sizes.iter().map(|size| *size as usize).sum(),
        flops: p.flops(),
    };
    if par::is_small(nest.total, cost) {
        // SAFETY: NEST1, by the caller.
        return unsafe { tile::run(p, &nest, streamed) };
    }
    // several for each thread, so that none waits long for the others
    let (d, unit) = nest.split_dim(4 * par::threads());
    let n = nest.dims[d].n;
    let inner = nest.total / n;
    par::ranges(n, unit, cost.times(inner), |r| {
        // SAFETY: NEST1; ranges are disjoint, so pieces write disjoint elements.
        unsafe {
            if r.len() == n {
                tile::run(p, &nest, streamed)
            } else {
                tile::run(p, &nest.part(d, r), streamed)
            }
        }
    });
}
