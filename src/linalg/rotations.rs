//! Plane rotations of many rows, collected and applied to blocks of columns: these stay in a cache,
//! and threads share them.

use super::blocks::UNBLOCKED;
use crate::dtype::Element;
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::{Packed, Scratch};
use crate::kernel::linalg::{ROTATED, Rotation, rotate_all};
use crate::kernel::math::Real;
use crate::par::{self, Cost};
use alloc::vec::Vec;

/// The product of rotations, a square matrix; or nothing, if only their effect on the numbers that
/// they were derived from is wanted.
pub(super) struct Rotations<F> {
    n: usize,
    /// The matrix, in blocks of [`ROTATED`] columns.
    blocks: Option<Scratch<F>>,
    /// Rotations that are still to be applied.
    waiting: Vec<Rotation<F>>,
}

impl<F: Real + Element + Packed> Rotations<F> {
    /// The identity of order `n`, or nothing.
    pub fn new(n: usize, wanted: bool) -> Result<Self> {
        let mut waiting = Vec::new();
        let blocks = match wanted {
            false => None,
            true => {
                let size = n.saturating_mul(ROTATED);
                let mut blocks = Scratch::new(size.saturating_mul(n.div_ceil(ROTATED)))?;
                blocks.fill(F::ZERO);
                for i in 0..n {
                    blocks[i / ROTATED * size + i * ROTATED + i % ROTATED] = F::ONE;
                }
                waiting = fallible::with_capacity(Self::most(n))?;
                Some(blocks)
            }
        };
        Ok(Rotations { n, blocks, waiting })
    }
    /// Whether the product is wanted.
    pub fn wanted(&self) -> bool {
        self.blocks.is_some()
    }
    /// Rotations that are applied at a time: they fill the first cache, or are several sweeps.
    fn most(n: usize) -> usize {
        (8 * n).max(8 * UNBLOCKED)
    }
    /// Rotates rows `row` and `row + 1`: `(x, y) = (c x + s y, c y - s x)`.
    pub fn push(&mut self, row: usize, c: F, s: F) {
        if self.blocks.is_some() {
            if self.waiting.len() == self.waiting.capacity() {
                self.apply();
            }
            self.waiting.push(Rotation { row, c, s });
        }
    }
    fn apply(&mut self) {
        let Some(blocks) = &mut self.blocks else {
            return;
        };
        let (columns, _) = blocks.as_chunks_mut::<ROTATED>();
        let cost = Cost {
            bytes: 2 * self.n * ROTATED * size_of::<F>(),
            flops: 6 * ROTATED * self.waiting.len(),
        };
        let waiting = &self.waiting;
        par::split(columns, self.n, 1, cost, |_, part| {
            for block in part.chunks_exact_mut(self.n.max(1)) {
                rotate_all(waiting, block);
            }
        });
        self.waiting.clear();
    }
    /// Writes row `row` of the product to `to`, through a function.
    pub fn row<T>(&mut self, row: usize, to: &mut [T], f: impl Fn(F) -> T) {
        if !self.waiting.is_empty() {
            self.apply();
        }
        let Some(blocks) = &self.blocks else {
            return;
        };
        let size = self.n * ROTATED;
        for (j, to) in to.iter_mut().take(self.n).enumerate() {
            *to = f(blocks[j / ROTATED * size + row * ROTATED + j % ROTATED]);
        }
    }
}

/// The plane rotation that maps `(f, g)` to `(r, 0)`: c, s and r.
pub(super) fn rotation<F: Real>(f: F, g: F) -> (F, F, F) {
    use super::field::{abs, hypot};
    if g == F::ZERO {
        return (F::ONE, F::ZERO, f);
    }
    if f == F::ZERO {
        let s = if g < F::ZERO { -F::ONE } else { F::ONE };
        return (F::ZERO, s, abs(g));
    }
    let d = hypot(f, g);
    let r = if f < F::ZERO { -d } else { d };
    (abs(f) / d, g / r, r)
}
