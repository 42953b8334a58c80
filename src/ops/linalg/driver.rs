//! Batches of matrix products over the threads: everything that multiplies matrices comes through
//! here.

use crate::error::{Error, Result};
use crate::kernel::gemm::{
    self, Blocks, Engine, Grid, Mat, MatMut, Panels, Pieces, Product, Scratch, Stages,
};
use crate::par::{self, Cost, Out};
use core::ops::Range;
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
/// `operands(i)` has the shapes of `sizes` and strides that are the same for all `i`, results are
/// contiguous, and no two overlap.
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
    if gemm::turned::<A, B>(m, n) {
        let sizes = Sizes { m: n, n: m, k };
        let swapped = |i| {
            let (a, b, c) = operands(i);
            (b.t(), a.t(), c.into_turned())
        };
        // SAFETY: what the caller promises of the operands holds of their transposes too.
        return unsafe { run(sizes, batch, swapped, None, None, stages.t()) };
    }
    // SAFETY: what the caller promises is what `run` asks for.
    unsafe { run(sizes, batch, operands, None, None, stages) }
}

/// One product by the engine that takes a packed B, whether or not it is packed already: the bits
/// are the same.
///
/// # Safety
/// That of [`products`].
#[cfg(feature = "std")]
pub(crate) unsafe fn by_panels<'a, A, B, C>(
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
    // SAFETY: what the caller promises is what `run` asks for; `packed` was made of this B.
    unsafe {
        run(
            sizes,
            1,
            operands,
            Some(Engine::of_panels::<A, B>()),
            packed,
            stages,
        )
    }
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
    /// Elements of B from which on all threads pack it together. Fewer are read from another core's
    /// cache, which costs more than packing them twice.
    const SHARED: usize = 1 << 19;
    /// What beginning with a block costs, in multiplications: more than all else in products of few
    /// elements.
    const BEGIN: usize = 1 << 13;
    let Sizes { m, n, k } = sizes;
    if batch == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    let (a, b, _) = operands(0);
    let engine = engine.unwrap_or_else(|| Engine::of::<A, B>(&a, &b));
    let cost = |blocks: usize, rows: usize, cols: usize| Cost {
        bytes: k
            .saturating_mul(rows * size_of::<A>() + cols * size_of::<B>())
            .saturating_add(rows * cols * size_of::<C>()),
        flops: rows
            .saturating_mul(cols)
            .saturating_mul(gemm::steps::<A, B>(k))
            .saturating_add(blocks.saturating_mul(BEGIN)),
    };
    let threads = par::threads_for(cost(batch, batch.saturating_mul(m), n));
    let block =
        |i: usize, rows: Range<usize>, cols: Range<usize>, packed: Option<Panels<A::Lane>>| {
            let (a, b, c) = operands(i);
            let stages = stages.at(rows.start, cols.start);
            // SAFETY: blocks of a grid don't overlap, nor do results by the caller's promise.
            let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
            engine.product(
                a.block(rows, 0..k),
                b.block(0..k, cols),
                packed,
                &mut part,
                false,
                stages,
            )
        };
    if threads == 1 {
        return (0..batch).try_for_each(|i| block(i, 0..m, 0..n, packed));
    }
    let failure = Failure::default();
    let grid = |cols: Range<usize>, packed: bool| {
        Grid::new(engine, &a, &b.block(0..k, cols), packed, batch, threads)
    };
    let blocks = |grid: Grid, first: usize, packed: Option<Panels<A::Lane>>| {
        let (rows, cols) = grid.block(0);
        par::chunks(
            batch * grid.len(),
            cost(1, rows.len(), cols.len()),
            |task| {
                let (rows, cols) = grid.block(task % grid.len());
                let packed = packed.map(|p| p.columns(cols.clone()));
                failure.note(block(
                    task / grid.len(),
                    rows,
                    first + cols.start..first + cols.end,
                    packed,
                ));
            },
        );
    };
    let whole = grid(0..n, packed.is_some());
    if batch == 1
        && packed.is_none()
        && engine == Engine::Tiles
        && whole.down() > 1
        && gemm::packs_b(&b, m)
        && k * n >= SHARED
    {
        // Blocks that would each pack the same columns of B.
        let step = gemm::at_once::<A::Lane>(k, threads).min(n);
        let mut scratch = Scratch::new(Panels::<A::Lane>::len(Blocks::new(k), step))?;
        for j in (0..n).step_by(step) {
            let cols = j..n.min(j + step);
            let panels = pack(b.block(0..k, cols.clone()), &mut scratch);
            blocks(grid(cols, true), j, Some(panels));
        }
    } else {
        blocks(whole, 0, packed);
    }
    failure.result()
}

/// [`Panels::pack`] on all threads.
fn pack<'a, B: Product>(b: Mat<B>, lanes: &'a mut [B::Lane]) -> Panels<'a, B::Lane> {
    let (k, n, blocks) = (b.rows(), b.cols(), Blocks::new(b.rows()));
    let out = Out::new(lanes);
    let pieces = Pieces::<B::Lane>::new(blocks, n);
    let bytes = k
        .saturating_mul(n)
        .saturating_mul(size_of::<B>() + size_of::<B::Lane>())
        / pieces.count().max(1);
    par::chunks(pieces.count(), Cost { bytes, flops: 0 }, |i| {
        let piece = pieces.get(i);
        // SAFETY: OUT1: pieces have lanes of their own.
        piece.pack(b, unsafe { out.part(piece.lanes.clone()) });
    });
    Panels::of(blocks, n, lanes)
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
            bytes => Err(Error::Memory {
                bytes: bytes as u128,
                limit: 0,
            }),
        }
    }
}
