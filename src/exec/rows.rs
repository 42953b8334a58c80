//! Row-by-row loops for operations whose innermost loop is a kernel of its own (gather, scatter). A
//! row is one run of a nest's innermost loop.

use super::nest::{Dim, MAX_OPERANDS, Nest, Odometer};
use crate::par::{self, Cost};

/// One run of the innermost loop.
pub struct LoopRow<'a> {
    /// Iterations.
    pub n: usize,
    /// First element of each operand.
    pub ptrs: &'a [*mut u8; MAX_OPERANDS],
    /// Bytes from one iteration to the next.
    pub steps: &'a [isize; MAX_OPERANDS],
}

/// Calls `f` with each row, in the order of the loops.
pub fn each(nest: &Nest, mut f: impl FnMut(LoopRow)) {
    if nest.total == 0 {
        return;
    }
    let (inner, mut outer) = (&nest.dims[0], Odometer::new(nest, 1));
    let mut ptrs = nest.ptrs;
    loop {
        f(LoopRow {
            n: inner.n,
            ptrs: &ptrs,
            steps: &inner.steps,
        });
        if !outer.advance(&mut ptrs) {
            return;
        }
    }
}

/// The same on several threads: the longest loop that `may_split` is cut. If there is none, all
/// rows run on this thread in order.
pub fn run(nest: &Nest, cost: Cost, may_split: impl Fn(&Dim) -> bool, f: impl Fn(LoopRow) + Sync) {
    let Some(d) = (0..nest.dims.len())
        .filter(|d| may_split(&nest.dims[*d]))
        .max_by_key(|d| nest.dims[*d].n)
    else {
        return each(nest, f);
    };
    let n = nest.dims[d].n;
    let inner = nest.total / n.max(1);
    let unit = if d == 0 { 64 } else { 1 };
    par::ranges(n, unit, cost.times(inner), |r| {
        if r.len() == n {
            each(nest, &f)
        } else {
            each(&nest.part(d, r), &f)
        }
    });
}
