//! The macrokernel, for one thread: the sum in blocks, columns in panels as wide as a tile, rows of
//! a panel in micropanels as high as a tile.
//!
//! ```text
//! for columns, as many as fit a cache       packed into panels first, if several blocks of rows
//!                                           read them
//!   for rows in blocks (MC)
//!     for the sum in equal blocks (KC)      block of A: read in place, or packed into L2
//!       for columns in groups of panels     panels of B: packed before, read in place (few rows, or
//!                                           small), or packed on the way
//!         for rows, as many as stay in L1
//!           for panels
//!             for rows in micropanels: tile into C if its elements are accumulators and an epilogue
//!                                           need not read them again, else into a partial block of
//!                                           accumulators
//!           after the last block of the sum: epilogue, store
//!       finished rows: handed over to the post-op, from a cache if the sum is short
//! ```
//!
//! What is added to an element of C, and in which order, depends on the length of the sum alone:
//! not on how C is split, nor on what is packed.

use super::blocking::{
    EPILOGUE_ROWS, FETCHED, HANDED_OVER, PARTIAL, SHORT_SUM, TILED_EPILOGUE_ROWS, equal_parts,
    group_columns,
};
use super::element::MatElement;
use super::epilogue::{self, Epilogue, Finish};
use super::matrix::{Mat, MatMut};
use super::microkernel::{
    self, BlockA, HEIGHT, Packed, PanelJob, Prefetch, TALL_ROWS, TileEnd, padded_width, vectors,
};
use super::panels::{self, Panels};
use super::scratch::Scratch;
use super::source::{Source, SourceInfo, reads_a};
use crate::{error::Result, simd};
use core::ops::Range;

/// `c (+)= a b`, then the epilogue. `packed` holds the columns of `b` if they were packed before.
///
/// C's accumulator is the packed type, or a type of the same size (asserted).
pub fn macrokernel<T: Packed, C: MatElement>(
    a: &dyn Source<Packed = T>,
    b: &dyn Source<Packed = T>,
    packed: Option<Panels<T>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()> {
    let packed = packed.filter(|_| !simd::MICROCONTROLLER);
    let info = [a.info(), b.info()];
    let [
        SourceInfo { lines: m, .. },
        SourceInfo {
            lines: n, steps, ..
        },
    ] = info;
    if packed.is_some() || !info[1].packs_before(m) {
        return columns([a, b], &info, packed, c, accumulate, epilogue);
    }
    let step = panels::at_once::<T>(steps, 1).min(n);
    let mut scratch = Scratch::new(Panels::<T>::len(T::BLOCKING.of_sum(steps), step))?;
    for j in (0..n).step_by(step) {
        let cols = j..n.min(j + step);
        let packed = Panels::pack(b, cols.clone(), &mut scratch);
        // SAFETY: parts are used one after the other.
        let mut part = unsafe { c.part(0..m, cols) };
        let epilogue = epilogue.at(0, j);
        columns([a, b], &info, Some(packed), &mut part, accumulate, epilogue)?;
    }
    Ok(())
}

/// The most elements of scratch that [`macrokernel`] takes for `m x n` sums of `k`, with A read in
/// place and B packed. `same`: whether elements of C are accumulators.
pub fn scratch_of<T: Packed>([m, n, k]: [usize; 3], same: bool) -> usize {
    let (lanes, widest) = T::shape(simd::level());
    let (blocks, columns) = (T::BLOCKING.of_sum(k), padded_width::<T>(n));
    let group = group::<T>(blocks.longest());
    let panel = T::BLOCKING.n.next_multiple_of(group);
    let partial = if blocks.count() == 1 {
        group.min(columns)
    } else if same {
        lanes * widest
    } else {
        strip::<T>(m.min(T::BLOCKING.m)).min(columns)
    };
    let packed = if m > T::BLOCKING.m && simd::CACHE_BLOCKING {
        k.saturating_mul(panels::at_once::<T>(k, 1).min(columns))
    } else {
        blocks.longest().saturating_mul(panel.min(columns))
    };
    packed.saturating_add(m.min(T::BLOCKING.m).saturating_mul(partial))
}

/// Columns of a partial block of `rows` rows: whole panels that fit L2 beside the operands.
fn strip<T: Packed>(rows: usize) -> usize {
    let (lanes, widest) = T::shape(simd::level());
    let panel = lanes * widest;
    (PARTIAL / (rows.max(1) * size_of::<T>()) / panel).max(1) * panel
}

/// Columns of the panels that are multiplied, and whose epilogue runs, one after the other for the
/// same rows, with sums of `k` products.
fn group<T: Packed>(k: usize) -> usize {
    let (lanes, widest) = T::shape(simd::level());
    if T::is_tiled() {
        return lanes * widest;
    }
    group_columns(k, size_of::<T>(), lanes * widest)
}

/// A range in steps, the last of which may be shorter.
pub fn parts(all: Range<usize>, step: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let end = all.end;
    all.step_by(step).map(move |i| i..end.min(i + step))
}

/// The width of the last panel of `n` columns.
fn last_width(n: usize, lanes: usize, widest: usize) -> usize {
    let rest = n % (lanes * widest);
    match vectors(rest, lanes, widest) * lanes {
        // two vectors, then one: see `vectors`
        width if width < rest => lanes,
        width => width,
    }
}

/// The product with all columns of B, or with those that are packed.
fn columns<T: Packed, C: MatElement>(
    [a, b]: [&dyn Source<Packed = T>; 2],
    [left, right]: &[SourceInfo<T>; 2],
    packed: Option<Panels<T>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()> {
    // accumulators of C are written as packed elements
    assert!(size_of::<C::Acc>() == size_of::<T>() && align_of::<T>() <= align_of::<C::Acc>());
    let (m, n) = (left.lines, c.cols());
    let blocking = T::BLOCKING;
    let (lanes, widest) = T::shape(simd::level());
    let blocks = T::BLOCKING.of_sum(left.steps);
    let kc = blocks.longest();
    let b_in_place = packed.is_none().then(|| right.panels_in_place(m)).flatten();
    // panels packed on the way serve a single block of rows
    let read_again = packed.is_some() || b_in_place.is_some();
    let most = if epilogue.has_post_op() && read_again && kc <= SHORT_SUM {
        let rows = HANDED_OVER / (n * size_of::<C>()).max(1);
        rows.max(EPILOGUE_ROWS).min(blocking.m)
    } else {
        blocking.m
    };
    let mc = equal_parts(m, most, HEIGHT).min(m);
    // With B packed, few rows are one tile, which reads A at any strides.
    let tall_a = (packed.is_some()
        && !accumulate
        && C::SAME
        && T::TALL
        && m <= TALL_ROWS
        && !simd::is_small())
    .then_some(left.in_place)
    .flatten();
    let a_in_place = tall_a.or_else(|| left.block_in_place());
    // The last panel may overlap the one before, so that it is whole and needs no packing; the
    // columns they share are computed twice.
    let overlap = b_in_place.is_some()
        && C::SAME
        && !accumulate
        && blocks.count() == 1
        && !epilogue.has_post_op();

    // Accumulators on the way to elements of C: those of a partial last panel, or those of a strip
    // of columns at a time if elements are not accumulators and the sum is cut.
    let strips = !C::SAME && blocks.count() > 1;
    let group = group::<T>(kc);
    // What tiles do with their sums in registers is left out of the epilogue, which runs where its
    // rows are adjacent: in C they may share few sets of L1.
    let (tile_end, remaining) = if C::SAME && T::ENDS && tall_a.is_none() {
        epilogue.split_tile_end()
    } else {
        (TileEnd::NONE, epilogue)
    };
    let in_c = C::SAME && (blocks.count() > 1 || remaining.is_empty());
    let (strip, partial_width) = if strips {
        let strip = strip::<T>(mc);
        (strip, strip.min(n.next_multiple_of(lanes)))
    } else if in_c {
        (n.max(1), lanes * widest)
    } else {
        (n.max(1), group.min(padded_width::<T>(n)))
    };
    let every_whole = n.is_multiple_of(lanes) || overlap && n >= last_width(n, lanes, widest);
    let epilogue_rows = if T::is_tiled() {
        TILED_EPILOGUE_ROWS
    } else {
        EPILOGUE_ROWS
    };
    let partial_len = match (in_c && every_whole, blocks.count()) {
        (true, _) => 0,
        (false, 1) => mc.min(epilogue_rows).saturating_mul(partial_width),
        (false, _) => mc.saturating_mul(partial_width),
    };
    let len_a = if a_in_place.is_some() {
        0
    } else {
        mc.saturating_mul(kc)
    };
    let (nc, len_b) = if packed.is_some() || b_in_place.is_some() && every_whole {
        (0, 0)
    } else {
        let nc = blocking.n.next_multiple_of(group);
        (nc, kc * nc.min(padded_width::<T>(n)))
    };
    // The initial values of each row's sums.
    let factor = -right.offset;
    let len_starts = if factor == 0 { 0 } else { m };
    let lens = [partial_len, len_starts, len_b, len_a];
    let mut scratch = Scratch::<T>::new(
        lens.iter()
            .fold(0, |sum: usize, len| sum.saturating_add(*len)),
    )?;
    let mut rest = &mut scratch[..];
    let [partial, starts, packed_b, packed_a] = lens.map(|len| rest.split_off_mut(..len).unwrap());
    if factor != 0 {
        a.row_sums(factor, starts);
    }

    // Lines of C that are in no cache come while the tiles before them are computed.
    let fetch_c = kc <= SHORT_SUM && m * n * size_of::<C>() >= FETCHED;

    // The panel that has column `j`: its first column, and its width.
    let panel = |j: usize| {
        let width = vectors(n - j, lanes, widest) * lanes;
        match overlap && every_whole && n - j < width {
            true => (n - width, width),
            false => (j, width),
        }
    };
    for rows in parts(0..m, mc) {
        let tasks =
            parts(0..n, strip).flat_map(|cols| (0..blocks.count()).map(move |k| (cols.clone(), k)));
        for (strip, block) in tasks {
            let ks = blocks.get(block);
            let (first, last) = (block == 0, block + 1 == blocks.count());
            let a = match a_in_place {
                Some(x) => BlockA {
                    at: x.at(ks.start, rows.start),
                    strides: Some((x.line, x.step)),
                },
                None => a.pack_block(ks.clone(), rows.clone(), packed_a),
            };
            // The columns that `packed_b` holds.
            let mut held = 0..0;
            let mut j = strip.start;
            while j < strip.end {
                let (start, width) = panel(j);
                let whole = start + width <= n;
                // in C, a panel that reaches past the last column is a group of its own
                let (mut end, mut all_whole) = (n.min(start + width), whole);
                while end < strip.end.min(start + group) {
                    let (next, width) = panel(end);
                    let whole = next + width <= n;
                    if in_c && !whole {
                        break;
                    }
                    (end, all_whole) = (n.min(next + width), all_whole && whole);
                }
                let to_c = in_c && whole;
                let at = if strips { start - strip.start } else { 0 };
                // there are no numbers for the columns beyond the last one
                let (tile_end, remaining) = if last && (all_whole || tile_end.columns.is_null()) {
                    (tile_end, remaining)
                } else {
                    (TileEnd::NONE, epilogue)
                };
                let finish = last && !(to_c && remaining.is_empty());
                let step = if finish || blocks.count() == 1 && group > lanes * widest {
                    equal_parts(rows.len(), epilogue_rows, HEIGHT)
                } else {
                    rows.len()
                };
                for part in parts(0..rows.len(), step) {
                    let i = rows.start + part.start;
                    let (o, ldo) = if to_c {
                        (c.at(i, start) as *mut C::Acc, c.rs())
                    } else {
                        // a single block of the sum reuses the same rows, which stay in L1
                        let row = if blocks.count() > 1 { part.start } else { 0 };
                        let at = partial[row * partial_width + at..].as_mut_ptr();
                        (at as *mut C::Acc, partial_width as isize)
                    };
                    if fetch_c {
                        for r in 0..part.len() {
                            simd::prefetch_run::<{ simd::L2 }, _>(c.at(i + r, start), end - start);
                        }
                    }
                    let mut next = start;
                    while next < end {
                        let (j, width) = panel(next);
                        next = j + width;
                        let cols = j..n.min(next);
                        let (b, ldb, ahead) = match (packed, b_in_place) {
                            (Some(p), _) => {
                                let panel = p.panel(block, j).as_ptr();
                                let after = panel.wrapping_add(ks.len() * width);
                                // the first rows read panels that no others have read
                                let ahead = (part.start == 0)
                                    .then(|| Prefetch::panel(after, width, part.len()));
                                (panel, width as isize, ahead)
                            }
                            (None, Some(x)) if next <= n => (x.at(ks.start, j), x.step, None),
                            _ => {
                                if !held.contains(&j) {
                                    held = j..n.min(j + nc);
                                    b.pack_panels(ks.clone(), held.clone(), packed_b);
                                }
                                let panel = packed_b[(j - held.start) * ks.len()..].as_ptr();
                                (panel, width as isize, None)
                            }
                        };
                        let o = o.wrapping_add(j - start);
                        if first && accumulate && !(to_c && factor == 0) {
                            for (r, q) in
                                (0..part.len()).flat_map(|r| (0..cols.len()).map(move |q| (r, q)))
                            {
                                let x = c.row(i + r)[j + q].widen();
                                let at = o.wrapping_offset(r as isize * ldo + q as isize);
                                // SAFETY: TILE1 of the job below, whose output this is.
                                unsafe {
                                    *at = x;
                                    if let Some(start) = starts.get(i + r) {
                                        let at = at as *mut T;
                                        *at = T::add(*at, *start);
                                    }
                                }
                            }
                        }
                        let accumulate = accumulate || !first;
                        let job = PanelJob {
                            k: ks.len(),
                            rows: part.len(),
                            a: a.from(part.start, ks.len()),
                            b,
                            ldb,
                            vectors: width / lanes,
                            starts: if factor == 0 || accumulate {
                                core::ptr::null()
                            } else {
                                starts[i..].as_ptr()
                            },
                            o: o as *mut T,
                            ldo,
                            accumulate,
                            end: tile_end.cast().at(i, j),
                            next: ahead,
                            fetch_a: a_in_place.is_some_and(|x| x.step == 1) && j == strip.start,
                            tall: tall_a.is_some(),
                        };
                        // SAFETY: TILE1: A's block in place (SOURCE1) or as `pack_block` left it;
                        // B's panel likewise, whole or padded; `o` is this part of C (MAT2;
                        // accumulators by SAME, of the size of packed elements by the assertion)
                        // or of the partial block, which is wide enough by its size.
                        unsafe { microkernel::run(job) };
                    }
                    if finish {
                        // SAFETY: EPILOGUE1: the accumulators just written, and the same part of C
                        // unless they are C's own.
                        unsafe {
                            epilogue::finish(Finish {
                                epilogue: remaining.at(i, start),
                                sums: o,
                                rows: part.len(),
                                cols: end - start,
                                ld: ldo,
                                d: (!to_c).then(|| (c.at(i, start), c.rs())),
                            })
                        };
                    }
                }
                j = end;
            }
        }
        // SAFETY: POSTOP1: rows of this call alone, after the last block of the sum.
        unsafe { epilogue.run_post_op(rows.clone(), 0..n) };
    }
    Ok(())
}

/// `c (+)= a b` of matrices as the microkernels read and write them: `a` readable in place
/// ([`reads_a`]), `b` one panel wide with contiguous rows. For callers that keep a panel of C in L1
/// for the next step, and for products of few elements. Panics if the shapes don't match.
pub fn multiply_panel<A, B, C>(a: Mat<A>, b: Mat<B>, c: MatMut<C>, accumulate: bool)
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let (lanes, widest) = A::Acc::shape(simd::level());
    let vectors = b.cols() / lanes;
    assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
    assert!(A::SAME && B::SAME && C::SAME);
    assert!(reads_a(&a) && (b.cs() == 1 || b.cols() == 1));
    assert!(
        (vectors == 1 || vectors == 2 || vectors == widest)
            && vectors <= widest
            && b.cols() == vectors * lanes
    );
    let job = PanelJob {
        k: a.cols(),
        rows: a.rows(),
        a: BlockA {
            at: a.as_ptr() as *const A::Acc,
            strides: Some((a.rs(), a.cs())),
        },
        b: b.as_ptr() as *const A::Acc,
        ldb: b.rs(),
        vectors,
        starts: core::ptr::null(),
        o: c.at(0, 0) as *mut A::Acc,
        ldo: c.rs(),
        accumulate,
        end: TileEnd::NONE,
        next: None,
        fetch_a: false,
        tall: false,
    };
    // SAFETY: TILE1: matrices (MAT1, MAT2) of the asserted shapes and widths, whose elements have
    // the bits of their sums by SAME (ELEMENT1).
    unsafe { microkernel::run(job) }
}
