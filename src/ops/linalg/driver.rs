//! Batches of matrix products over the threads: everything that multiplies matrices comes through here.

use crate::error::{Error, Result};
use crate::exec::par::{self, Cost};
use crate::kernel::gemm::{self, Engine, Grid, Mat, MatMut, Panels, Product, Stages};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The sizes of each product of a batch: `m x k` by `k x n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// `c = a b`, then the stages, for `batch` triples of operands.
///
/// Errors where there is no memory for packing.
///
/// # Safety
/// `operands(i)` has the shapes of `sizes` and strides that are the same for all `i`, results are contiguous, and no two overlap.
pub(crate) unsafe fn products<'a, A, B, C>(
    sizes: Sizes,
    batch: usize,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let Sizes { m, n, k } = sizes;
    if gemm::as_row::<A, B>(m, n) {
        // A column is computed as a row.
        let sizes = Sizes { m: 1, n: m, k };
        let swapped = |i| {
            let (a, b, c) = operands(i);
            (b.t(), a.t(), c.into_row())
        };
        // SAFETY: the caller's promise.
        return unsafe { run(sizes, batch, swapped, None, None, stages.t()) };
    }
    // SAFETY: the caller's promise.
    unsafe { run(sizes, batch, operands, None, None, stages) }
}

/// One product by tiles, of a B that may be packed already: the bits are the same.
///
/// # Safety
/// That of [`products`].
#[cfg(feature = "std")]
pub(crate) unsafe fn tiles<'a, A, B, C>(
    sizes: Sizes,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    packed: Option<Panels<A::Lane>>,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    // SAFETY: the caller's promise.
    unsafe { run(sizes, 1, operands, Some(Engine::Tiles), packed, stages) }
}

/// # Safety
/// That of [`products`].
unsafe fn run<'a, A, B, C>(
    sizes: Sizes,
    batch: usize,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    engine: Option<Engine>,
    packed: Option<Panels<A::Lane>>,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let Sizes { m, n, k } = sizes;
    if batch == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    let (a, b, _) = operands(0);
    let engine = engine.unwrap_or_else(|| Engine::of::<A, B, C>(&a, &b));
    let cost = |rows: usize, cols: usize| Cost {
        bytes: k.saturating_mul(rows * size_of::<A>() + cols * size_of::<B>()).saturating_add(rows * cols * size_of::<C>()),
        flops: rows.saturating_mul(cols).saturating_mul(gemm::steps::<A, B>(k)),
    };
    let threads = par::threads_for(cost(batch.saturating_mul(m), n));
    let block = |i: usize, rows: core::ops::Range<usize>, cols: core::ops::Range<usize>| {
        let (a, b, c) = operands(i);
        let stages = stages.at(rows.start, cols.start);
        // SAFETY: blocks of a grid don't overlap, nor do results by the caller's promise.
        let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
        let packed = packed.map(|p| p.columns(cols.clone()));
        engine.product(a.block(rows, 0..k), b.block(0..k, cols), packed, &mut part, false, stages)
    };
    if threads == 1 && engine != Engine::Large {
        return (0..batch).try_for_each(|i| block(i, 0..m, 0..n));
    }
    let grid = Grid::new(engine, &a, &b, packed.is_some(), batch, threads);
    let blocks = grid.len();
    let (rows, cols) = grid.block(0);
    let failure = Failure::default();
    par::chunks(batch * blocks, cost(rows.len(), cols.len()), |task| {
        let (rows, cols) = grid.block(task % blocks);
        failure.note(block(task / blocks, rows, cols));
    });
    failure.result()
}

/// Memory that some piece of parallel work did not get.
#[derive(Default)]
pub(crate) struct Failure(AtomicUsize);
impl Failure {
    /// Keeps the error, of which only one kind is met in the middle of an operation.
    pub fn note(&self, result: Result<()>) {
        if let Err(Error::Memory { bytes, .. }) = result {
            self.0.store((bytes as usize).max(1), Ordering::Relaxed);
        }
    }
    /// What became of all pieces.
    pub fn result(self) -> Result<()> {
        match self.0.into_inner() {
            0 => Ok(()),
            bytes => Err(Error::Memory { bytes: bytes as u128, limit: 0 }),
        }
    }
}
