//! The engine of our own, for one thread: rows in blocks of `MC`, the sum in blocks of `KC`, columns in panels as wide as a
//! tile, rows of a panel in strips as high as one.
//!
//! ```text
//! for rows in blocks of MC                    A's block: read in place (rows of lanes), or packed into L2
//!   for k in equal blocks of at most KC
//!     for columns in panels                   B's panel: read in place (few rows, or small), or packed into L1/L2
//!       for rows in strips: tile              into C where its elements are lanes, else into a partial block of lanes
//!       after the last block of k: stages, store
//! ```
//!
//! What is packed is freed with the call: a product of few rows reads B once anyway, and a large one is cut into blocks whose
//! panels stay in L2.

use super::{
    element::{Lane, Product},
    mat::{Mat, MatMut},
    pack,
    scratch::Scratch,
    stage::{self, Finish, Stages},
    tile::{self, Strips},
};
use crate::{error::Result, exec::isa};

/// Sizes of blocks. The scratch is at most `MC * KC + KC * panel + MC * columns` lanes; without the standard library all of it
/// has to fit a microcontroller's memory.
const KC: usize = if cfg!(feature = "std") { 1024 } else { 128 };
const MC: usize = if cfg!(feature = "std") { 192 } else { 16 };
/// B is read in place up to so many rows of A, or elements of B: packing it would cost more than it saves.
const DIRECT_ROWS: usize = 12;
const DIRECT_ELEMENTS: usize = 160 * 160;
/// A whose columns are contiguous is read in place while they are so close: else each step of `k` is another page.
const DIRECT_COLUMN: usize = 128;

/// `c (+)= a b`, then the stages.
pub fn product<A, B, C>(a: Mat<A>, b: Mat<B>, c: &mut MatMut<C>, accumulate: bool, stages: Stages<C>) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let (lanes, widest) = A::Lane::tile(isa::level());
    let blocks = k.div_ceil(KC).max(1);
    let kc = k.div_ceil(blocks);
    let mc = MC.min(m);
    let direct_a = A::SAME && (a.cs() == 1 || a.rs() == 1 && a.cs().unsigned_abs() <= DIRECT_COLUMN);
    let direct_b = B::SAME && b.cs() == 1 && (m <= DIRECT_ROWS || n * k <= DIRECT_ELEMENTS);

    // Lanes of C on the way to elements: all panels where k is in several blocks, else one.
    let partial_width = if blocks > 1 { n.next_multiple_of(lanes) } else { lanes * widest };
    let (len_a, len_b) = (if direct_a { 0 } else { mc * kc }, kc * lanes * widest);
    let mut scratch = Scratch::<A::Lane>::new((len_a + len_b).saturating_add(mc.saturating_mul(partial_width)))?;
    let (partial, packed) = scratch.split_at_mut(mc * partial_width);
    let (packed_b, packed_a) = packed.split_at_mut(len_b);

    for i0 in (0..m).step_by(mc) {
        let rows = i0..m.min(i0 + mc);
        for block in 0..blocks {
            let ks = block * kc..k.min((block + 1) * kc);
            let (first, last) = (block == 0, block + 1 == blocks);
            let a = a.block(rows.clone(), ks.clone());
            let a_strides = if direct_a { (a.rs(), a.cs()) } else { pack::rows(a, packed_a) };
            let mut j = 0;
            while j < n {
                let vectors = panel(n - j, lanes, widest);
                let width = vectors * lanes;
                let cols = j..n.min(j + width);
                let whole = cols.len() == width;
                let b = b.block(ks.clone(), cols.clone());
                if !(direct_b && whole) {
                    pack::panel(b, width, packed_b);
                }
                let to_c = C::SAME && whole;
                let at = if blocks > 1 { j } else { 0 };
                let (o, ldo) =
                    if to_c { (c.at(i0, j) as *mut A::Lane, c.rs()) } else { (partial[at..].as_mut_ptr(), partial_width as isize) };
                if first && accumulate && !to_c {
                    for i in rows.clone() {
                        let row = &mut partial[(i - i0) * partial_width + at..][..cols.len()];
                        for (x, c) in row.iter_mut().zip(&c.row(i)[cols.clone()]) {
                            *x = c.widen();
                        }
                    }
                }
                let job = Strips {
                    k: ks.len(),
                    rows: rows.len(),
                    a: if direct_a { a.as_ptr() as *const A::Lane } else { packed_a.as_ptr() },
                    a_strides,
                    b: if direct_b && whole { b.as_ptr() as *const A::Lane } else { packed_b.as_ptr() },
                    ldb: if direct_b && whole { b.rs() } else { width as isize },
                    vectors,
                    starts: core::ptr::null(),
                    o,
                    ldo,
                    accumulate: accumulate || !first,
                };
                // SAFETY: S1: A's block by its strides (M1, lanes by SAME) or as `pack::rows` left it; B's panel likewise, full or
                // padded; `o` is this part of C (M2, lanes by SAME) or of the partial block, which is wide enough by its size.
                unsafe { tile::run(job) };
                if last && !(to_c && stages.is_empty()) {
                    let d = (!to_c).then(|| (c.at(i0, j), c.rs()));
                    let stages = stages.at(i0, j);
                    // SAFETY: F1: the lanes just written, and the same part of C where they are not C's own.
                    unsafe { stage::finish(Finish { stages, lanes: o, rows: rows.len(), cols: cols.len(), ld: ldo, d }) };
                }
                j += width;
            }
        }
    }
    Ok(())
}

/// Vectors of the next panel of `left` columns: 1, 2 or the widest tile's.
fn panel(left: usize, lanes: usize, widest: usize) -> usize {
    if left >= widest * lanes {
        widest
    } else if left >= 2 * lanes {
        2
    } else {
        1
    }
}
