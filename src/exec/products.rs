//! Distributes batches of matrix products over threads.

use super::failure::try_chunks;
use crate::error::Result;
use crate::kernel::gemm::{
    self, Algorithm, Epilogue, Grid, Mat, MatElement, MatMut, Panels, Pieces, Scratch, Source,
    Strided, cost,
};
use crate::par::{self, Cost, Out};
use core::ops::Range;

/// The sizes of each product of a batch: `m x k` by `k x n`.
#[derive(Clone, Copy, Debug)]
pub struct ProductSizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// What is known about B.
#[derive(Clone, Copy)]
pub enum Right<'a, T> {
    /// It is multiplied once: the algorithm follows from the operands' shapes.
    Once,
    /// It may be multiplied again, so the macrokernel is used, with B's packed panels if there are
    /// any: the bits are the same either way.
    Reused(Option<Panels<'a, T>>),
}

/// The operands of each product of a batch: a trait object, since all products of a dtype are to
/// share their code.
pub type ProductOperands<'f, 'a, A, B, C> =
    &'f (dyn Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync);

/// `c = a b` followed by the epilogue, for `batch` triples of operands, on all threads.
///
/// Errors if there is no memory for packing.
///
/// # Safety
/// `operands(i)` has the shapes of `sizes`, with the same strides for all `i`; results are
/// contiguous, and no two overlap. Panels are those of B, for a batch of one.
pub unsafe fn products<'a, A, B, C>(
    sizes: ProductSizes,
    batch: usize,
    operands: ProductOperands<'_, 'a, A, B, C>,
    right: Right<A::Acc>,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let ProductSizes { m, n, k } = sizes;
    if matches!(right, Right::Once) && gemm::transposes::<A, B>(m, n) {
        let sizes = ProductSizes { m: n, n: m, k };
        let transposed = |i| {
            let (a, b, c) = operands(i);
            (b.t(), a.t(), c.into_transposed())
        };
        // SAFETY: what the caller promises of the operands holds for their transposes too.
        return unsafe { blocks(sizes, batch, &transposed, right, epilogue.t()) };
    }
    // SAFETY: `blocks` requires what the caller promises.
    unsafe { blocks(sizes, batch, operands, right, epilogue) }
}

/// [`products`] by blocks of C.
///
/// # Safety
/// As [`products`].
unsafe fn blocks<'a, A, B, C>(
    sizes: ProductSizes,
    batch: usize,
    operands: ProductOperands<'_, 'a, A, B, C>,
    right: Right<A::Acc>,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let ProductSizes { m, n, k } = sizes;
    if batch == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    let (a, b, _) = operands(0);
    let (algorithm, packed) = match right {
        Right::Once => (Algorithm::of::<A, B>(&a, &b), None),
        Right::Reused(packed) => (Algorithm::Blocked, packed),
    };
    if algorithm == Algorithm::Dots {
        // SAFETY: by the caller.
        return unsafe { dots(sizes, batch, operands, epilogue) };
    }
    let work = |blocks: usize, rows: usize, cols: usize| Cost {
        bytes: k
            .saturating_mul(rows * size_of::<A>() + cols * size_of::<B>())
            .saturating_add(rows * cols * size_of::<C>()),
        flops: rows
            .saturating_mul(cols)
            .saturating_mul(gemm::steps::<A, B>(k))
            .saturating_add(blocks.saturating_mul(cost::CALL)),
    };
    let parts = par::parts_for(work(batch, batch.saturating_mul(m), n));
    let block =
        |i: usize, rows: Range<usize>, cols: Range<usize>, packed: Option<Panels<A::Acc>>| {
            let (a, b, c) = operands(i);
            let epilogue = epilogue.of(i).at(rows.start, cols.start);
            // SAFETY: blocks of a grid don't overlap, nor do results, by the caller's promise.
            let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
            algorithm.product(
                a.block(rows, 0..k),
                b.block(0..k, cols),
                packed,
                &mut part,
                false,
                epilogue,
            )
        };
    if parts == 1 {
        return (0..batch).try_for_each(|i| block(i, 0..m, 0..n, packed));
    }
    let grid = |cols: Range<usize>, packed: bool| {
        let whole = (packed, epilogue.has_post_op());
        Grid::new(algorithm, &a, &b.block(0..k, cols), whole, batch, parts)
    };
    let run = |grid: Grid, first: usize, packed: Option<Panels<A::Acc>>| {
        let (rows, cols) = grid.block(0);
        try_chunks(
            batch * grid.len(),
            work(1, rows.len(), cols.len()),
            |task| {
                let (rows, cols) = grid.block(task % grid.len());
                let packed = packed.map(|p| p.columns(cols.clone()));
                block(
                    task / grid.len(),
                    rows,
                    first + cols.start..first + cols.end,
                    packed,
                )
            },
        )
    };
    let whole = grid(0..n, packed.is_some());
    if batch == 1
        && packed.is_none()
        && algorithm == Algorithm::Blocked
        && !gemm::bytes::<A, B>()
        && !gemm::bf16_pairs::<A, B>()
        && whole.down() > 1
        && gemm::packs_before(&b, m)
        && k * n >= gemm::SHARED_B
    {
        // Several blocks would each pack the same columns of B, so all threads pack them once.
        let step = gemm::at_once::<A::Acc>(k, parts.min(par::threads())).min(n);
        let mut scratch = Scratch::new(Panels::<A::Acc>::len(gemm::blocks::<A, B>(k), step))?;
        for j in (0..n).step_by(step) {
            let cols = j..n.min(j + step);
            let bytes = (size_of::<B>() + size_of::<B::Acc>()).saturating_mul(k * cols.len());
            let b = Strided::columns(b.block(0..k, cols.clone()));
            let panels = pack(b, bytes, &mut scratch);
            run(grid(cols, true), j, Some(panels))?;
        }
        Ok(())
    } else {
        run(whole, 0, packed)
    }
}

/// [`products`] of few sums, which are summed in pieces.
///
/// # Safety
/// As [`products`].
unsafe fn dots<'a, A, B, C>(
    sizes: ProductSizes,
    batch: usize,
    operands: ProductOperands<'_, 'a, A, B, C>,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let ProductSizes { m, n, k } = sizes;
    let (len, pieces) = (m * n, gemm::pieces(k));
    let all = batch.saturating_mul(pieces);
    let mut sums = Scratch::<A::Acc>::new(all.saturating_mul(len))?;
    let each = k / pieces;
    let cost = Cost {
        bytes: each * (m * size_of::<A>() + n * size_of::<B>()),
        flops: each * len,
    };
    let out = Out::new(&mut sums[..]);
    try_chunks(all, cost, |task| {
        let (a, b, _) = operands(task / pieces);
        // SAFETY: OUT1: each task has sums of its own.
        let sums = unsafe { out.part(task * len..(task + 1) * len) };
        gemm::product_of_piece(task % pieces, a, b, sums)
    })?;
    for (i, sums) in sums.chunks_exact_mut(pieces * len).enumerate() {
        gemm::join_pieces(sums, len);
        let (.., mut c) = operands(i);
        let epilogue = epilogue.of(i);
        gemm::finish_into(epilogue, &mut sums[..len], n, &mut c);
        // SAFETY: POSTOP1: all of C, which has been written.
        unsafe { epilogue.run_post_op(0..m, 0..n) };
    }
    Ok(())
}

/// `c = a b` followed by the epilogue, for `batch` triples of sources of one size. If sums are of
/// another type than C, their bits are left in its elements for the epilogue.
///
/// Errors if there is no memory for packing.
///
/// # Safety
/// No two results overlap.
pub unsafe fn products_of_sources<'a, A, B, C>(
    batch: usize,
    operands: impl Fn(usize) -> (A, B, MatMut<'a, C>, Epilogue<'a, C>) + Sync,
) -> Result<()>
where
    A: Source,
    B: Source<Packed = A::Packed>,
    C: MatElement + 'a,
{
    if batch == 0 {
        return Ok(());
    }
    let (a, b, ..) = operands(0);
    let (m, n, k) = (a.lines(), b.lines(), a.steps());
    if m == 0 || n == 0 {
        return Ok(());
    }
    let work = |products: usize, rows: usize, cols: usize| Cost {
        bytes: products
            .saturating_mul(size_of::<C>() * (rows + k))
            .saturating_mul(cols),
        flops: products
            .saturating_mul(rows.saturating_mul(k))
            .saturating_mul(cols)
            .saturating_add(cost::CALL),
    };
    let parts = par::parts_for(work(batch, m, n));
    let grid = Grid::of_sources(&a, &b, batch, parts);
    let (rows, cols) = grid.block(0);
    try_chunks(
        batch * grid.len(),
        work(1, rows.len(), cols.len()),
        |task| {
            let (a, b, c, epilogue) = operands(task / grid.len());
            let (rows, cols) = grid.block(task % grid.len());
            // SAFETY: each task has a block of its own, and results don't overlap, by the caller's
            // promise.
            let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
            let epilogue = epilogue.at(rows.start, cols.start);
            let (a, b) = (a.slice(rows), b.slice(cols));
            gemm::macrokernel(&a, &b, None, &mut part, false, epilogue)
        },
    )
}

/// The product of matrices of 8-bit integers, then the epilogue. Sums are left as 32-bit integers
/// in the bits of C's elements, which the first operation of the epilogue converts. `packed` are
/// the panels of B.
///
/// Errors if there is no memory for packing.
pub fn product_of_bytes<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    c: MatMut<C>,
    packed: Option<Panels<A::Acc>>,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement,
{
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    if m == 0 || n == 0 {
        return Ok(());
    }
    let work = |rows: usize, cols: usize| Cost {
        bytes: k
            .saturating_mul(rows.saturating_add(cols))
            .saturating_add(rows.saturating_mul(cols) * size_of::<C>()),
        flops: rows
            .saturating_mul(cols)
            .saturating_mul(gemm::steps::<A, B>(k))
            .saturating_add(cost::CALL),
    };
    let parts = par::parts_for(work(m, n));
    let grid = Grid::new(
        Algorithm::Blocked,
        &a,
        &b,
        (packed.is_some(), false),
        1,
        parts,
    );
    let (rows, cols) = grid.block(0);
    try_chunks(grid.len(), work(rows.len(), cols.len()), |task| {
        let (rows, cols) = grid.block(task);
        // SAFETY: each task has a block of its own.
        let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
        let packed = packed.map(|p| p.columns(cols.clone()).cast());
        let epilogue = epilogue.at(rows.start, cols.start);
        let (a, b) = (a.block(rows, 0..k), b.block(0..k, cols));
        gemm::product_of_bytes(a, b, packed, &mut part, false, epilogue)
    })
}

/// [`Panels::pack`] on all threads.
fn pack<'a, B: Source + Sync>(b: B, bytes: usize, d: &'a mut [B::Packed]) -> Panels<'a, B::Packed> {
    let out = Out::new(d);
    let pieces = Pieces::new(&b, 0..b.lines());
    let bytes = bytes / pieces.count().max(1);
    par::chunks(pieces.count(), Cost { bytes, flops: 0 }, |i| {
        let piece = pieces.get(i);
        // SAFETY: OUT1: each piece has elements of its own.
        piece.pack(&b, unsafe { out.part(piece.range.clone()) });
    });
    Panels::of(b.blocks(), b.lines(), d)
}
