//! The engine of our own, for one thread: the sum in blocks, columns in panels as wide as a tile,
//! rows of a panel in strips as high as one.
//!
//! ```text
//! for columns as many as fit a cache          packed into panels where rows in several blocks will read them, or before
//!   for rows in blocks                        A's block: read in place, or packed into L2
//!     for k in equal blocks                   (`panels`)
//!       for columns in panels                 B's panel: packed before, read in place (few rows, or small), or packed into L1/L2
//!         for rows in strips: tile            into C where its elements are lanes, else into a partial block of lanes
//!         after the last block of k: stages, store
//! ```
//!
//! What is added to an element of C, and in which order, follows from `k` alone: not from where C
//! is cut, nor from what is packed.

use super::{
    element::{Lane, Product},
    mat::{Mat, MatMut},
    pack,
    panels::{self, Blocks, Panels},
    scratch::Scratch,
    stage::{self, Finish, Stages},
    tile::{self, Ahead, HEIGHT, Left, Strips},
};
use crate::{error::Result, simd};
use core::ops::Range;

/// Rows of A in a block, which stays in L2: 768 KiB with the longest sum of `f32`, and no more of
/// larger lanes.
pub const fn most_rows<L>() -> usize {
    const MC: usize = if simd::CACHE_BLOCKING { 192 } else { 18 };
    if size_of::<L>() > 4 {
        MC * 4 / size_of::<L>()
    } else {
        MC
    }
}
/// Rows whose part of a panel of C stays in L1 until the stages have run.
pub const FINISH: usize = 48;
/// B is read in place up to so many rows of A, or where it spans few elements: packing it would
/// cost more than it saves.
const DIRECT_ROWS: usize = 12;
const DIRECT_SPAN: usize = 160 * 160;
/// A whose columns are contiguous is read in place while they are so close: else each step of `k`
/// is another page.
const DIRECT_COLUMN: usize = 128;

/// Whether A is read where it lies.
pub fn reads_a<A: Product>(a: &Mat<A>) -> bool {
    A::SAME
        && (simd::MICROCONTROLLER
            || a.cs() == 1
            || a.rs() == 1 && a.cs().unsigned_abs() <= DIRECT_COLUMN)
}
/// Whether B is packed before a product of `m` rows: one block of rows reads each panel once, so it
/// packs them one by one; so does whoever has to save memory.
pub fn packs_b<B: Product>(b: &Mat<B>, m: usize) -> bool {
    m > most_rows::<B::Lane>() && simd::CACHE_BLOCKING && !reads_b(b, m)
}
/// Whether B is, in a product of `m` rows.
pub fn reads_b<B: Product>(b: &Mat<B>, m: usize) -> bool {
    B::SAME
        && (simd::MICROCONTROLLER
            || b.cs() == 1
                && (m <= DIRECT_ROWS
                    || b.rows().saturating_mul(b.rs().unsigned_abs()) <= DIRECT_SPAN))
}

/// `c (+)= a b`, then the stages. `packed` are the columns of `b` where they were packed before.
pub fn product<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    packed: Option<Panels<A::Lane>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    if packed.is_some() || !packs_b(&b, m) {
        return columns(a, b, packed, c, accumulate, stages);
    }
    let step = panels::at_once::<A::Lane>(k, 1).min(n);
    let mut scratch = Scratch::new(Panels::<A::Lane>::len(Blocks::new(k), step))?;
    for j in (0..n).step_by(step) {
        let cols = j..n.min(j + step);
        let b = b.block(0..k, cols.clone());
        let packed = Panels::pack(b, &mut scratch);
        // SAFETY: parts that are used one after the other.
        let mut part = unsafe { c.part(0..m, cols) };
        columns(a, b, Some(packed), &mut part, accumulate, stages.at(0, j))?;
    }
    Ok(())
}

/// `c (+)= a b` of lanes that are all where tiles read and write them: `a` as [`reads_a`] has it,
/// and `b` one panel wide, its rows contiguous. For callers that keep a panel of C in L1 for what
/// comes next. Panics where the shapes don't fit.
pub fn tiles<L: Lane + Product<Lane = L>>(a: Mat<L>, b: Mat<L>, c: MatMut<L>, accumulate: bool) {
    let (lanes, widest) = L::tile(simd::level());
    let vectors = b.cols() / lanes;
    assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
    assert!(L::SAME && reads_a(&a) && (b.cs() == 1 || b.cols() == 1));
    assert!(
        (vectors == 1 || vectors == 2 || vectors == widest)
            && vectors <= widest
            && b.cols() == vectors * lanes
    );
    let job = Strips {
        k: a.cols(),
        rows: a.rows(),
        a: Left {
            at: a.as_ptr(),
            strides: Some((a.rs(), a.cs())),
        },
        b: b.as_ptr(),
        ldb: b.rs(),
        vectors,
        starts: core::ptr::null(),
        o: c.at(0, 0),
        ldo: c.rs(),
        accumulate,
        next: None,
        fetch_a: false,
    };
    // SAFETY: TILE1: matrices (MAT1, MAT2) of the shapes and widths that are asserted.
    unsafe { tile::run(job) }
}

/// Parts of `size` at most, a multiple of `unit`, as equal as that allows.
pub fn even(len: usize, size: usize, unit: usize) -> usize {
    len.div_ceil(len.div_ceil(size).max(1))
        .next_multiple_of(unit)
        .max(1)
}
/// `0..len` in steps.
fn parts(len: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(step).map(move |i| i..len.min(i + step))
}

/// The width of the last panel of `n` columns.
fn last_width(n: usize, lanes: usize, widest: usize) -> usize {
    let rest = n % (lanes * widest);
    match panels::vectors(rest, lanes, widest) * lanes {
        // two vectors and then one: see `panels::vectors`
        width if width < rest => lanes,
        width => width,
    }
}

fn columns<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    packed: Option<Panels<A::Lane>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let (m, n) = (a.rows(), b.cols());
    let (lanes, widest) = A::Lane::tile(simd::level());
    let blocks = Blocks::new(a.cols());
    let (kc, mc) = (
        blocks.longest(),
        even(m, most_rows::<A::Lane>(), HEIGHT).min(m),
    );
    let direct_a = reads_a(&a);
    let direct_b = packed.is_none() && reads_b(&b, m);
    // The last panel may overlap the one before, whose columns are then computed twice, and need
    // not be packed.
    let overlap = direct_b && C::SAME && !accumulate && blocks.count() == 1;

    // Lanes of C on the way to elements: those of a last panel that is not whole, of all where
    // lanes are no elements.
    let partial_width = if !C::SAME && blocks.count() > 1 {
        n.next_multiple_of(lanes)
    } else {
        lanes * widest
    };
    let every_whole = n.is_multiple_of(lanes) || overlap && n >= last_width(n, lanes, widest);
    let partial_len = if C::SAME && every_whole {
        0
    } else {
        mc.saturating_mul(partial_width)
    };
    let len_a = if direct_a { 0 } else { mc * kc };
    let len_b = if packed.is_some() || direct_b && every_whole {
        0
    } else {
        kc * lanes * widest
    };
    let mut scratch = Scratch::<A::Lane>::new(partial_len.saturating_add(len_a + len_b))?;
    let (partial, rest) = scratch.split_at_mut(partial_len);
    let (packed_b, packed_a) = rest.split_at_mut(len_b);

    for rows in parts(m, mc) {
        for block in 0..blocks.count() {
            let ks = blocks.get(block);
            let (first, last) = (block == 0, block + 1 == blocks.count());
            let a = a.block(rows.clone(), ks.clone());
            let a = if direct_a {
                Left {
                    at: a.as_ptr() as *const A::Lane,
                    strides: Some((a.rs(), a.cs())),
                }
            } else {
                pack::rows(a, packed_a)
            };
            let mut j = 0;
            while j < n {
                let vectors = panels::vectors(n - j, lanes, widest);
                let width = vectors * lanes;
                if overlap && every_whole && n - j < width {
                    j = n - width;
                }
                let cols = j..n.min(j + width);
                let whole = cols.len() == width;
                let (b, ldb, next) = match packed {
                    Some(p) => {
                        let panel = p.panel(block, j).as_ptr();
                        (
                            panel,
                            width as isize,
                            Some(Ahead::panel(
                                panel.wrapping_add(ks.len() * width),
                                width,
                                rows.len(),
                            )),
                        )
                    }
                    None => {
                        let b = b.block(ks.clone(), cols.clone());
                        if direct_b && whole {
                            (b.as_ptr() as *const A::Lane, b.rs(), None)
                        } else {
                            pack::panel(b, width, packed_b);
                            (packed_b.as_ptr(), width as isize, None)
                        }
                    }
                };
                let to_c = C::SAME && whole;
                let at = if partial_width >= n { j } else { 0 };
                let step = if last && !(to_c && stages.is_empty()) {
                    even(rows.len(), FINISH, HEIGHT)
                } else {
                    rows.len()
                };
                for strips in parts(rows.len(), step) {
                    let i = rows.start + strips.start;
                    let (o, ldo) = if to_c {
                        (c.at(i, j) as *mut A::Lane, c.rs())
                    } else {
                        // what no other block of the sum adds to stays in L1
                        let row = if blocks.count() > 1 { strips.start } else { 0 };
                        let partial = &mut partial[row * partial_width + at..];
                        if first && accumulate {
                            for (r, x) in partial
                                .chunks_mut(partial_width)
                                .take(strips.len())
                                .enumerate()
                            {
                                for (x, c) in x.iter_mut().zip(&c.row(i + r)[cols.clone()]) {
                                    *x = c.widen();
                                }
                            }
                        }
                        (partial.as_mut_ptr(), partial_width as isize)
                    };
                    let job = Strips {
                        k: ks.len(),
                        rows: strips.len(),
                        a: a.from(strips.start, ks.len()),
                        b,
                        ldb,
                        vectors,
                        starts: core::ptr::null(),
                        o,
                        ldo,
                        accumulate: accumulate || !first,
                        next: next.map(|next| next.after(strips.start / HEIGHT * ks.len())),
                        fetch_a: direct_a && a.strides.is_some_and(|(_, cs)| cs == 1) && j == 0,
                    };
                    // SAFETY: TILE1: A's block where it lies (MAT1, lanes by SAME) or as
                    // `pack::rows` left it; B's panel likewise, full or padded; `o` is this part of
                    // C (MAT2, lanes by SAME) or of the partial block, which is wide enough by its
                    // size.
                    unsafe { tile::run(job) };
                    if last && !(to_c && stages.is_empty()) {
                        let d = (!to_c).then(|| (c.at(i, j), c.rs()));
                        let stages = stages.at(i, j);
                        // SAFETY: EPILOGUE1: the lanes just written, and the same part of C where
                        // they are not C's own.
                        unsafe {
                            stage::finish(Finish {
                                stages,
                                lanes: o,
                                rows: strips.len(),
                                cols: cols.len(),
                                ld: ldo,
                                d,
                            })
                        };
                    }
                }
                j += width;
            }
        }
    }
    Ok(())
}
