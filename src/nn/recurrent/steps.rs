//! The steps of a layer, direction by direction or both at once. The sums of the input for all
//! steps are a single product; each step is a product with the state, followed by the gates. Both
//! run by blocks of examples and units: a thread does the product and the gates of a block, whose
//! sums and weights stay in its caches from step to step.

use crate::dtype::Element;
use crate::error::Result;
use crate::exec::failure::try_chunks;
use crate::exec::products;
use crate::kernel::gemm::{
    self, Algorithm, Epilogue, EpilogueOp, Grid, Mat, MatElement, MatMut, Packed, Panels, Scratch,
    packed_slice,
};
use crate::kernel::math::Real;
use crate::kernel::recurrent::{Cell, step};
use crate::nn::linear::{Linear, linear};
use crate::ops;
use crate::ops::linalg::{Matrices, kept_panels};
use crate::par::{self, Cost, Out};
use crate::simd::{self, Level};
use crate::storage::Bytes;
use crate::tensor::Tensor;
use core::ops::Range;
use smallvec::SmallVec;

/// The weights of one direction of one layer.
pub(super) struct Direction<'a> {
    pub input: &'a Tensor,
    pub hidden: &'a Tensor,
    pub bias: Option<(&'a Tensor, &'a Tensor)>,
}

/// The sizes of the state.
#[derive(Clone, Copy)]
pub(super) struct StateSizes {
    pub steps: usize,
    pub batch: usize,
    pub hidden: usize,
    pub directions: usize,
}

impl StateSizes {
    /// The cost of a step of one direction for some examples and units.
    fn step_of<F>(&self, cell: Cell, rows: usize, units: usize) -> Cost {
        let sums = cell.gates() * units;
        Cost {
            bytes: (sums * size_of::<F>()).saturating_mul(self.hidden + 2 * rows),
            flops: (sums * rows).saturating_mul(self.hidden + 40),
        }
    }
}

/// Runs the directions of one layer, `[steps, batch, in]`: writes `y`, `[steps, batch, directions *
/// hidden]`, and replaces the first states, `[directions, batch, hidden]`, by the last.
pub(super) fn layer<F: Element + Real + Packed + MatElement<Acc = F>>(
    cell: Cell,
    x: &Tensor,
    weights: &[Direction],
    (h, c): (&mut [F], &mut [F]),
    y: &mut Tensor,
    sizes: StateSizes,
    lengths: Option<&[usize]>,
) -> Result<()> {
    let state = sizes.batch * sizes.hidden;
    if sizes.steps == 0 || state == 0 {
        return Ok(());
    }
    let y = Out::new(y.as_mut_slice::<F>()?);
    let (h, c) = (Out::new(h), Out::new(c));
    let run = |d: usize| {
        let own = d * state..(d + 1) * state;
        // SAFETY: OUT1: each direction has states of its own.
        let (h, c) = unsafe { (h.part(own.clone()), c.part(own)) };
        direction(cell, x, &weights[d], (h, c), &y, d, sizes, lengths)
    };
    let step = sizes.step_of::<F>(cell, sizes.batch, sizes.hidden);
    // a step's threads wait for each other, but directions need not
    if par::threads_for(step) <= weights.len() {
        try_chunks(weights.len(), step.times(sizes.steps), run)
    } else {
        (0..weights.len()).try_for_each(run)
    }
}

/// Runs direction `d` of a layer, with its own states.
#[allow(clippy::too_many_arguments, reason = "one call")]
fn direction<F: Element + Real + Packed + MatElement<Acc = F>>(
    cell: Cell,
    x: &Tensor,
    weights: &Direction<'_>,
    (h, c): (&mut [F], &mut [F]),
    y: &Out<F>,
    d: usize,
    sizes: StateSizes,
    lengths: Option<&[usize]>,
) -> Result<()> {
    let StateSizes {
        steps,
        batch,
        hidden,
        directions,
    } = sizes;
    let (gates, state) = (cell.gates() * hidden, batch * hidden);
    let of_input = |bias: Option<&Tensor>| linear(x, weights.input, Linear::from(bias));
    // a GRU multiplies the state's bias by a gate; otherwise both biases are just added
    let (of_input, bias) = match (weights.bias, cell) {
        (None, _) => (of_input(None)?, None),
        (Some((input, state)), Cell::Gru) => (of_input(Some(input))?, Some(state)),
        (Some((input, state)), _) => (of_input(Some(&ops::add(input, state)?))?, None),
    };
    let from = of_input.as_slice::<F>()?;
    let bias = bias.map(Tensor::contiguous).transpose()?;
    let bias = bias.as_ref().map(|b| b.as_slice::<F>()).transpose()?;
    let bias = bias.map(EpilogueOp::Bias);
    let epilogue = Epilogue::new(bias.as_slice(), batch, gates);
    let mut both = Scratch::<F>::new(state.saturating_mul(2))?;
    let (mut before, mut after) = both.split_at_mut(state);
    before.copy_from_slice(h);
    let mut sums = Scratch::<F>::new(batch.saturating_mul(gates))?;
    let start = Mat::from_slice(before, batch, hidden);
    let weights = StateWeights::new(cell, weights.hidden, start, steps)?;
    let threads = par::threads_for(sizes.step_of::<F>(cell, batch, hidden));
    let grid = weights.grid(start, threads);
    let (rows, units) = grid.block(0);
    let cost = sizes.step_of::<F>(cell, rows.len(), units.len());
    for k in 0..steps {
        let t = if d == 0 { k } else { steps - 1 - k };
        let state = &*before;
        let (next, c) = (Out::new(after), Out::new(&mut *c));
        let sums = Out::new(&mut sums);
        try_chunks(grid.len(), cost, |i| {
            let (rows, units) = grid.block(i);
            let each = rows.len() * units.len();
            let first = cell.gates() * (rows.start * hidden + rows.len() * units.start);
            // SAFETY: OUT1: blocks of a grid have separate sums.
            let sums = unsafe { sums.part(first..first + cell.gates() * each) };
            for (gate, sums) in sums.chunks_exact_mut(each).enumerate() {
                let a = Mat::from_slice(state, batch, hidden).block(rows.clone(), 0..hidden);
                let mut sums = MatMut::from_slice(sums, rows.len(), units.len());
                let epilogue = epilogue.at(rows.start, gate * hidden + units.start);
                weights.multiply(a, gate, units.clone(), &mut sums, epilogue)?;
            }
            for (i, b) in rows.enumerate() {
                let own = b * hidden + units.start..b * hidden + units.end;
                // SAFETY: OUT1: each block has its own part of both.
                let (next, c) = unsafe { (next.part(own.clone()), c.part(own.clone())) };
                if lengths.is_some_and(|n| t >= n[b]) {
                    next.copy_from_slice(&state[own]);
                    continue;
                }
                let row = t * batch + b;
                let x = &from[row * gates + units.start..(row + 1) * gates];
                step(
                    cell,
                    (x, hidden),
                    (&sums[i * units.len()..], each),
                    &state[own],
                    next,
                    c,
                );
                let to = (row * directions + d) * hidden;
                // SAFETY: OUT1: as above, and so has each direction.
                unsafe { y.part(to + units.start..to + units.end) }.copy_from_slice(next);
            }
            Ok(())
        })?;
        core::mem::swap(&mut before, &mut after);
    }
    h.copy_from_slice(before);
    Ok(())
}

/// The number of steps from which on packing the weights pays for a single example, with AVX-512
/// only: on narrower vectors a row of panels has too few chains of multiply-adds, and dot products
/// with the unpacked weights are faster.
const SHARED: usize = 32;

/// The weights of the state, gate by gate.
struct StateWeights<'a, F> {
    algorithm: Algorithm,
    /// `[hidden, hidden]` each, with one unit per column.
    gates: SmallVec<[Mat<'a, F>; 4]>,
    /// The same as panels; empty if they are read in place.
    packed: SmallVec<[Bytes; 4]>,
}
impl<'a, F: Element + Packed + MatElement<Acc = F>> StateWeights<'a, F> {
    /// Prepares `weight`, `[gates * hidden, hidden]`, for this many steps from a state shaped like
    /// `h`. If steps or examples share the weights, they are packed into panels, once for all steps
    /// unless the storage's cached panels serve. The algorithm follows from sizes, strides and the
    /// kind of storage, as for `linear`.
    fn new(cell: Cell, weight: &'a Tensor, h: Mat<F>, steps: usize) -> Result<Self> {
        let (m, k) = (h.rows(), h.cols());
        let chains = simd::level() == Level::Avx512;
        let shared = simd::CACHE_BLOCKING && (m > 1 && steps > 1 || chains && steps >= SHARED);
        let rows = if shared { m.max(2) } else { m };
        let all = Matrices::<F>::new(weight).get(0);
        let (mut gates, mut packed) = (SmallVec::new(), SmallVec::new());
        let mut kept = true;
        for gate in 0..cell.gates() {
            gates.push(all.block(gate * k..(gate + 1) * k, 0..k).t());
            let sizes = products::ProductSizes { m: rows, n: k, k };
            let of_gate = weight.narrow(0, gate * k, k)?.transpose(0, 1)?;
            match kept_panels::<F, F>(sizes, &of_gate) {
                Some(panels) => packed.extend(panels),
                None => kept = false,
            }
        }
        if packed.len() < gates.len() {
            packed = if shared {
                pack(&gates)?
            } else {
                SmallVec::new()
            };
        }
        let algorithm = if shared || kept {
            Algorithm::Blocked
        } else {
            Algorithm::of(&h, &gates[0])
        };
        Ok(StateWeights {
            algorithm,
            gates,
            packed,
        })
    }
    /// The blocks of the next state that threads compute.
    fn grid(&self, h: Mat<F>, threads: usize) -> Grid {
        let packed = !self.packed.is_empty();
        Grid::new(
            self.algorithm,
            &h,
            &self.gates[0],
            (packed, false),
            1,
            threads,
        )
    }
    /// The sums of some units of a gate, with the epilogue.
    fn multiply(
        &self,
        h: Mat<F>,
        gate: usize,
        units: Range<usize>,
        sums: &mut MatMut<F>,
        epilogue: Epilogue<F>,
    ) -> Result<()> {
        let k = h.cols();
        let panels = self.packed.get(gate).map(|packed| {
            let blocks = gemm::blocks::<F, F>(k);
            Panels::of(blocks, k, packed_slice(packed)).columns(units.clone())
        });
        let weights = self.gates[gate].block(0..k, units);
        (self.algorithm).product(h, weights, panels, sums, false, epilogue)
    }
}

/// Packs all gates into panels.
fn pack<F: Packed + MatElement<Acc = F>>(gates: &[Mat<F>]) -> Result<SmallVec<[Bytes; 4]>> {
    let mut all = SmallVec::<[Scratch<F>; 4]>::new();
    for b in gates {
        all.push(Scratch::new(Panels::<F>::len(
            gemm::blocks::<F, F>(b.rows()),
            b.cols(),
        ))?);
    }
    let bytes = gates[0].rows() * gates[0].cols() * 2 * size_of::<F>();
    par::each(&mut all, Cost { bytes, flops: 0 }, |gate, d| {
        gemm::pack::<F, F>(gates[gate], d)
    });
    Ok(all.into_iter().map(Scratch::into_bytes).collect())
}
