//! Distributes batches of matrix products over threads: by blocks of C where sources are packed,
//! by columns for a few vectors, by pieces of the sums for few of those.

use super::failure::try_chunks;
use super::rect::Rect;
use super::transpose::transpose;
use crate::error::Result;
pub use crate::kernel::gemm::ProductOperands;
use crate::kernel::gemm::{
    self, Algorithm, Epilogue, Grid, Mat, MatElement, MatMut, Packed, Panels, Pieces, Scratch,
    Source, cost, with_packing,
};
use crate::par::{self, Cost, Out};
use core::any::TypeId;
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

/// [`ProductOperands`] with an epilogue each; A and B are matrices or sources.
pub type BlockedOperands<'f, 'a, A, B, C> =
    &'f (dyn Fn(usize) -> (A, B, MatMut<'a, C>, Epilogue<'a, C>) + Sync);

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
    epilogue: Epilogue<'a, C>,
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
        return unsafe { by_algorithm(sizes, batch, &transposed, right, epilogue.t()) };
    }
    // SAFETY: `by_algorithm` requires what the caller promises.
    unsafe { by_algorithm(sizes, batch, operands, right, epilogue) }
}

/// [`products`] by the fastest algorithm.
///
/// # Safety
/// As [`products`].
unsafe fn by_algorithm<'a, A, B, C>(
    sizes: ProductSizes,
    batch: usize,
    operands: ProductOperands<'_, 'a, A, B, C>,
    right: Right<A::Acc>,
    epilogue: Epilogue<'a, C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    if batch == 0 || sizes.m == 0 || sizes.n == 0 {
        return Ok(());
    }
    let (a, b, _) = operands(0);
    let (algorithm, packed) = match right {
        Right::Once => (Algorithm::of::<A, B>(&a, &b), None),
        Right::Reused(packed) => (Algorithm::Blocked, packed),
    };
    // SAFETY: by the caller.
    unsafe {
        match algorithm {
            Algorithm::Dots => dots(sizes, batch, operands, epilogue),
            Algorithm::Blocked
                if gemm::tiny::serves::<A, B, C>(sizes.m, sizes.n, sizes.k)
                    && epilogue.is_empty() =>
            {
                let by = gemm::tiny::products::<A, B, C>;
                tiny(sizes, batch, operands, epilogue, by);
                Ok(())
            }
            Algorithm::Blocked
                if packed.is_none()
                    && epilogue.is_empty()
                    && gemm::tiny::is_in_place::<A, B, C>(&a, &b) =>
            {
                let by = gemm::tiny::products_in_place::<A, B, C>;
                tiny(sizes, batch, operands, epilogue, by);
                Ok(())
            }
            Algorithm::Blocked if batch == 1 && epilogue.is_empty() && is_symmetric(operands) => {
                symmetric(operands)
            }
            Algorithm::Blocked => {
                let operands = |i| {
                    let (a, b, c) = operands(i);
                    (a, b, c, epilogue.of(i))
                };
                blocked(batch, &operands, packed, epilogue.has_post_op())
            }
            _ => vectors(algorithm, sizes, batch, operands, epilogue),
        }
    }
}

/// [`products`] that are too small to be packed, with an empty epilogue, `by` a function of those of
/// some numbers.
///
/// # Safety
/// As [`products`].
unsafe fn tiny<'a, A, B, C>(
    ProductSizes { m, n, k }: ProductSizes,
    batch: usize,
    operands: ProductOperands<'_, 'a, A, B, C>,
    epilogue: Epilogue<'a, C>,
    by: impl Fn(Range<usize>, ProductOperands<'_, 'a, A, B, C>) + Sync,
) where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    /// Operations that the loads, stores and addresses of a product take beside its elements.
    const BEGIN: usize = 64;
    let cost = Cost {
        bytes: (m * k + k * n + m * n) * size_of::<C>(),
        flops: m * n * k + BEGIN,
    };
    par::ranges(batch, 1, cost, |range| {
        by(range.clone(), operands);
        if epilogue.has_post_op() {
            // SAFETY: POSTOP1: all of each C, which has been written.
            range.for_each(|i| unsafe { epilogue.of(i).run_post_op(0..m, 0..n) });
        }
    });
}

/// The fewest rows of a symmetric matrix of which half is copied rather than computed.
const SYMMETRIC: usize = 256;

/// Whether a product is that of a matrix and its own transpose. Of floats: the products of two
/// complex numbers may depend on their order.
fn is_symmetric<'a, A, B, C>(operands: ProductOperands<'_, 'a, A, B, C>) -> bool
where
    A: MatElement,
    B: MatElement,
    C: MatElement,
{
    let types = [TypeId::of::<A>(), TypeId::of::<B>(), TypeId::of::<C>()];
    let (a, b, _) = operands(0);
    [TypeId::of::<f32>(), TypeId::of::<f64>()]
        .into_iter()
        .any(|float| types == [float; 3])
        && a.rows() >= SYMMETRIC
        && (a.rows(), a.rs(), a.cs()) == (b.cols(), b.cs(), b.rs())
        && a.as_ptr().addr() == b.as_ptr().addr()
}

/// [`products`] that are symmetric: strips of columns from the diagonal down, and their transposes.
/// The bits are those of a product of which all is computed, since what is added to an element, and
/// in which order, depends on the length of the sum alone.
///
/// # Safety
/// As [`products`], and [`is_symmetric`].
unsafe fn symmetric<'a, A, B, C>(operands: ProductOperands<'_, 'a, A, B, C>) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    /// Strips, and columns of each: enough for A's rows to be packed for every strip.
    const STRIPS: usize = 8;
    const COLUMNS: usize = 128;
    let (a, ..) = operands(0);
    let (n, k) = (a.rows(), a.cols());
    let strip = n.div_ceil(STRIPS).next_multiple_of(64).max(COLUMNS);
    for start in (0..n).step_by(strip) {
        let end = n.min(start + strip);
        let part = |_| {
            let (a, b, c) = operands(0);
            let c = c.into_part(start..n, start..end);
            let (a, b) = (a.block(start..n, 0..k), b.block(0..k, start..end));
            (a, b, c, Epilogue::NONE)
        };
        // SAFETY: one result.
        unsafe { blocked(1, &part, None, false)? };
        if end == n {
            break;
        }
        let (_, _, c) = operands(0);
        let step = c.rs() * size_of::<C>() as isize;
        let (below, right) = (
            &c.into_part(end..n, start..end),
            &operands(0).2.into_part(start..end, end..n),
        );
        let cost = Cost {
            bytes: 2 * (end - start) * size_of::<C>(),
            flops: 0,
        };
        par::ranges(n - end, 16, cost, |lines| {
            // SAFETY: parts of each other's columns and rows, disjoint from those of other ranges.
            let (mut from, mut to) = unsafe {
                (
                    below.part(lines.clone(), 0..end - start),
                    right.part(0..end - start, lines.clone()),
                )
            };
            let lines = Rect {
                ptr: from.as_mut_ptr().cast(),
                rows: end - start,
                cols: lines.len(),
                row_step: size_of::<C>() as isize,
                col_step: step,
            };
            let to = to.as_mut_ptr();
            // SAFETY: PACK3: the columns of the rectangle are rows of the part below the diagonal, and
            // become columns of the one beside it, with elements of the same size.
            unsafe {
                match size_of::<C>() {
                    4 => transpose(to.cast::<u32>(), step, lines),
                    _ => transpose(to.cast::<u64>(), step, lines),
                }
            }
        });
    }
    Ok(())
}

/// `c = a b` followed by the epilogue, by the macrokernel, for `batch` pairs of matrices of one
/// shape and layout. If sums are of another type than C, their bits are left in its elements for the
/// epilogue. `packed` are the panels of B, for a batch of one. `whole`: whether rows are kept whole
/// if there are enough of them.
///
/// Errors if there is no memory for packing.
///
/// # Safety
/// No two results overlap.
pub unsafe fn blocked<'a, A, B, C>(
    batch: usize,
    operands: BlockedOperands<'_, 'a, Mat<'a, A>, Mat<'a, B>, C>,
    packed: Option<Panels<A::Acc>>,
    whole: bool,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement,
{
    with_packing!(A, B, |left, right| {
        let sources = |i| {
            let (a, b, c, epilogue) = operands(i);
            (left.rows(a), right.columns(b), c, epilogue)
        };
        // SAFETY: by the caller.
        unsafe { by_blocks(batch, &sources, packed.map(Panels::cast), whole, false) }
    })
}

/// `c += a b` by the macrokernel, on all threads.
///
/// Errors if there is no memory for packing. Panics if the shapes don't match.
#[cfg(feature = "linalg")]
pub fn add_product<T: Packed + MatElement<Acc = T>>(
    a: Mat<T>,
    b: Mat<T>,
    c: &mut MatMut<T>,
) -> Result<()> {
    assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
    let all = (0..c.rows(), 0..c.cols());
    let c = &*c;
    with_packing!(T, T, |left, right| {
        let sources = |_| {
            // SAFETY: one result, of which `by_blocks` writes disjoint blocks.
            let c = unsafe { c.part(all.0.clone(), all.1.clone()) };
            (left.rows(a), right.columns(b), c, Epilogue::NONE)
        };
        // SAFETY: one result.
        unsafe { by_blocks(1, &sources, None, false, true) }
    })
}

/// [`blocked`] for sources.
///
/// # Safety
/// As [`blocked`].
pub unsafe fn products_of_sources<'a, A, B, C>(
    batch: usize,
    operands: impl Fn(usize) -> (A, B, MatMut<'a, C>, Epilogue<'a, C>) + Sync,
) -> Result<()>
where
    A: Source,
    B: Source<Packed = A::Packed>,
    C: MatElement + 'a,
{
    // SAFETY: by the caller.
    unsafe { by_blocks(batch, &operands, None, false, false) }
}

/// The product of two sources, the second of which may be packed already.
///
/// Errors if there is no memory for packing.
///
/// # Safety
/// The panels are those of B.
#[cfg(feature = "quant")]
pub unsafe fn product_of_panels<'a, A, B, C>(
    operands: impl Fn() -> (A, B, MatMut<'a, C>, Epilogue<'a, C>) + Sync,
    packed: Option<Panels<A::Packed>>,
) -> Result<()>
where
    A: Source,
    B: Source<Packed = A::Packed>,
    C: MatElement + 'a,
{
    // SAFETY: by the caller; a single result.
    unsafe { by_blocks(1, &|_| operands(), packed, false, false) }
}

/// The one driver of packed products: [`blocked`] for sources, and B packed by all threads together
/// where several blocks would each pack the same columns. `accumulate`: adds to the results.
///
/// # Safety
/// As [`blocked`].
unsafe fn by_blocks<'a, A, B, C>(
    batch: usize,
    operands: BlockedOperands<'_, 'a, A, B, C>,
    packed: Option<Panels<A::Packed>>,
    whole: bool,
    accumulate: bool,
) -> Result<()>
where
    A: Source,
    B: Source<Packed = A::Packed>,
    C: MatElement + 'a,
{
    if batch == 0 {
        return Ok(());
    }
    let (a, b, c, epilogue) = operands(0);
    let (m, n, k) = (a.lines(), b.lines(), a.steps());
    if m == 0 || n == 0 {
        return Ok(());
    }
    let work = |products: usize, rows: usize, cols: usize| {
        let bytes = k.saturating_mul(rows.saturating_add(cols) * size_of::<A::Packed>());
        let flops = rows.saturating_mul(cols).saturating_mul(k);
        Cost {
            bytes: bytes.saturating_add(rows.saturating_mul(cols) * size_of::<C>()),
            flops: flops.saturating_add(cost::CALL),
        }
        .times(products)
    };
    let parts = par::parts_for(work(batch, m, n));
    if parts == 1 {
        // the smallest products take no longer than their kernels, almost
        let mut first = Some((a, b, c, epilogue));
        return (0..batch).try_for_each(|i| {
            let (a, b, c, epilogue) = first.take().unwrap_or_else(|| operands(i));
            gemm::macrokernel(
                &a,
                &b,
                packed,
                &mut c.into_part(0..m, 0..n),
                accumulate,
                epilogue,
            )
        });
    }
    let block =
        |i: usize, rows: Range<usize>, cols: Range<usize>, packed: Option<Panels<A::Packed>>| {
            let (a, b, c, epilogue) = operands(i);
            let epilogue = epilogue.at(rows.start, cols.start);
            // SAFETY: blocks of a grid don't overlap, nor do results, by the caller's promise.
            let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
            let (a, b) = (a.slice(rows), b.slice(cols));
            gemm::macrokernel(&a, &b, packed, &mut part, accumulate, epilogue)
        };
    let run = |grid: Grid, first: usize, packed: Option<Panels<A::Packed>>| {
        let (rows, cols) = grid.block(0);
        on_grid(
            grid,
            batch,
            work(1, rows.len(), cols.len()),
            &|i, rows, cols| {
                let packed = packed.map(|p| p.columns(cols.clone()));
                block(i, rows, first + cols.start..first + cols.end, packed)
            },
        )
    };
    let grid = Grid::of_sources(&a, &b, (packed.is_some(), whole), batch, parts);
    let shared = batch == 1
        && packed.is_none()
        && grid.down() > 1
        && b.info().packs_before(m)
        && k.saturating_mul(n) >= gemm::SHARED_B;
    if !shared {
        return run(grid, 0, packed);
    }
    let step = gemm::at_once::<A::Packed>(k, parts.min(par::threads())).min(n);
    let mut scratch = Scratch::new(Panels::<A::Packed>::len(b.blocks(), step))?;
    for j in (0..n).step_by(step) {
        let (a, b, ..) = operands(0);
        let b = b.slice(j..n.min(j + step));
        let panels = pack(&b, &mut scratch);
        let grid = Grid::of_sources(&a, &b, (true, whole), batch, parts);
        run(grid, j, Some(panels))?;
    }
    Ok(())
}

/// [`products`] of a few vectors, which gemv multiplies.
///
/// # Safety
/// As [`products`].
unsafe fn vectors<'a, A, B, C>(
    algorithm: Algorithm,
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
    let work = |cols: usize| Cost {
        bytes: k
            .saturating_mul(m * size_of::<A>() + cols * size_of::<B>())
            .saturating_add(m * cols * size_of::<C>()),
        flops: m
            .saturating_mul(cols)
            .saturating_mul(k)
            .saturating_add(cost::CALL),
    };
    let block = |i: usize, rows: Range<usize>, cols: Range<usize>| {
        let (a, b, c) = operands(i);
        let epilogue = epilogue.of(i).at(rows.start, cols.start);
        // SAFETY: blocks of a grid don't overlap, nor do results, by the caller's promise.
        let mut part = unsafe { c.part(rows.clone(), cols.clone()) };
        let (a, b) = (a.block(rows, 0..k), b.block(0..k, cols));
        algorithm.product(a, b, None, &mut part, false, epilogue)
    };
    let parts = par::parts_for(work(n).times(batch));
    if parts == 1 {
        return (0..batch).try_for_each(|i| block(i, 0..m, 0..n));
    }
    let grid = Grid::of_vectors::<A::Acc>(algorithm, [m, n, k], parts);
    on_grid(grid, batch, work(grid.block(0).1.len()), &block)
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

/// Calls `f` with the number of a product, rows and columns, for all blocks of `batch` products.
/// `cost` is that of a block.
fn on_grid(
    grid: Grid,
    batch: usize,
    cost: Cost,
    f: &(dyn Fn(usize, Range<usize>, Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    try_chunks(batch * grid.len(), cost, |task| {
        let (rows, cols) = grid.block(task % grid.len());
        f(task / grid.len(), rows, cols)
    })
}

/// [`Panels::pack`] on all threads.
fn pack<'a, T: Packed>(b: &dyn Source<Packed = T>, d: &'a mut [T]) -> Panels<'a, T> {
    let pieces = Pieces::new(b, 0..b.lines());
    let bytes = 2 * size_of_val(d) / pieces.count().max(1);
    let out = Out::new(d);
    par::chunks(pieces.count(), Cost { bytes, flops: 0 }, |i| {
        let piece = pieces.get(i);
        // SAFETY: OUT1: each piece has elements of its own.
        piece.pack(b, unsafe { out.part(piece.range.clone()) });
    });
    Panels::of(b.blocks(), b.lines(), d)
}
