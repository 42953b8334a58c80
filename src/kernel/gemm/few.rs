//! Few rows by columns in panels: all rows are one tile, so that each panel comes from memory, or
//! even from L2, once. The time of that is the product's: it is a quarter shorter than in two
//! strips. Sums are the same chains of multiply-adds, so the bits are too.

use super::{
    element::{Lane, Product},
    mat::{Mat, MatMut},
    panels::{self, Blocks, Panels},
    scratch::Scratch,
    stage::{self, Finish, Stages},
    tile::{self, HEIGHT, Rows},
};
use crate::{
    error::Result,
    simd::{self, Isa, Kernel},
};

/// Rows that count as few: as many as registers hold sums of, at half the width of a panel.
const ROWS: usize = 2 * HEIGHT;
/// Bytes of B that are fetched into L2 ahead of their use, over the end of a panel too.
const AHEAD: usize = 16 << 10;
/// Bytes of a panel that are multiplied part by part before the rest is: L1 holds them, and memory
/// is read from end to end.
const CHUNK: usize = 8 << 10;

/// Whether products of so many rows are for this module: of real floats alone, to which packed
/// weights belong.
pub fn serves<A: Product, C: Product>(rows: usize) -> bool {
    A::SAME && C::SAME && A::Lane::FEW && rows <= ROWS
}

/// `c = a b`, then the stages, where [`serves`] says so.
pub fn product<A, C>(
    a: Mat<A>,
    b: Panels<A::Lane>,
    c: &mut MatMut<C>,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    C: Product<Lane = A::Lane>,
{
    let (rows, n) = (c.rows(), c.cols());
    assert!(serves::<A, C>(rows) && a.rows() == rows);
    let (lanes, widest) = A::Lane::tile(simd::level());
    // The last panel's sums, where it is not whole.
    let mut rest = Scratch::<A::Lane>::new(if n.is_multiple_of(lanes) {
        0
    } else {
        rows * lanes * widest
    })?;
    let mut j = 0;
    while j < n {
        let vectors = panels::vectors(n - j, lanes, widest);
        let width = vectors * lanes;
        let cols = width.min(n - j);
        let whole = cols == width;
        let (o, ldo) = if whole {
            (c.at(0, j) as *mut A::Lane, c.rs())
        } else {
            (rest.as_mut_ptr(), width as isize)
        };
        let (k, at, strides) = (a.cols(), a.as_ptr() as *const A::Lane, (a.rs(), a.cs()));
        // STRIP1 holds: A and C are matrices (MAT1, MAT2) of lanes (SAME); `rest` is as large as
        // any panel's sums.
        simd::call(Strip {
            rows,
            k,
            a: at,
            strides,
            b,
            j,
            vectors,
            o,
            ldo,
        });
        if !(whole && stages.is_empty()) {
            let d = (!whole).then(|| (c.at(0, j), c.rs()));
            // SAFETY: EPILOGUE1: the lanes just written, and the same part of C where they are not
            // C's own.
            unsafe {
                stage::finish(Finish {
                    stages: stages.at(0, j),
                    lanes: o,
                    rows,
                    cols,
                    ld: ldo,
                    d,
                })
            };
        }
        j += width;
    }
    Ok(())
}

/// All rows times one panel: `o = a b`.
///
/// Contract STRIP1: `a` holds `rows` rows of `k` lanes by its strides, `rows` at most [`ROWS`]; `o`
/// holds as many of `vectors` vectors, `ldo` apart, writable and apart from both. `b` has a panel
/// of `vectors` at column `j`, by [`Panels`].
pub struct Strip<'a, A> {
    rows: usize,
    k: usize,
    a: *const A,
    /// Of a row and of a step of `k`.
    strides: (isize, isize),
    b: Panels<'a, A>,
    j: usize,
    vectors: usize,
    o: *mut A,
    ldo: isize,
}
impl<A: Lane> Kernel for Strip<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: STRIP1, promised by `product`, the only caller.
        unsafe { A::few::<I>(self) }
    }
}

/// # Safety
/// STRIP1.
#[inline(always)]
pub unsafe fn strip<I: Isa, A: Lane, const L: usize, const V: usize, const HALF: usize>(
    s: Strip<A>,
) {
    macro_rules! heights {
        ($($R:literal)*; $($high:literal)*) => {
            // SAFETY: STRIP1, by the caller's promise, for as many rows as the strip has.
            unsafe {
                match s.rows {
                    $($R => across::<I, A, L, $R, V>(&s),)*
                    $($high => across::<I, A, L, $high, HALF>(&s),)*
                    _ => unreachable!("`serves` fewer rows"),
                }
            }
        };
    }
    heights!(1 2 3 4 5 6; 7 8 9 10 11 12)
}

/// `R` rows times the panel, `V` vectors at a time.
///
/// # Safety
/// STRIP1, for `R` rows.
#[inline(always)]
unsafe fn across<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(s: &Strip<A>) {
    let blocks = Blocks::new(s.k);
    let chunk = if s.vectors > V {
        (CHUNK / (s.vectors * L * size_of::<A>())).max(1)
    } else {
        s.k.max(1)
    };
    for block in 0..blocks.count() {
        let ks = blocks.get(block);
        let panel = &s.b.panel(block, s.j)[..ks.len() * s.vectors * L];
        // once for an empty sum too, which is zero
        for start in (0..ks.len().max(1)).step_by(chunk) {
            let steps = (ks.len() - start).min(chunk);
            let b = panel[start * s.vectors * L..].as_ptr();
            let mut first = 0;
            while first < s.vectors {
                // SAFETY: STRIP1, of the vectors that are there.
                unsafe {
                    if first + V <= s.vectors {
                        sums::<I, A, L, R, V>(s, first, b, ks.start + start, steps);
                        first += V;
                    } else {
                        sums::<I, A, L, R, 1>(s, first, b, ks.start + start, steps);
                        first += 1;
                    }
                }
            }
        }
    }
}

/// `R` rows of `V` vectors, from vector `first` on, of so many steps of a panel that begin at `b`.
/// `done` steps are in `o` already.
///
/// # Safety
/// STRIP1, for `R` rows, `first + V <= vectors` and steps that there are.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
unsafe fn sums<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(
    s: &Strip<A>,
    first: usize,
    b: *const A,
    done: usize,
    steps: usize,
) {
    let mut c = [[A::begin([A::default(); L]); V]; R];
    let (rs, cs) = s.strides;
    let mut a = Rows::strided(s.a.wrapping_offset(done as isize * cs), rs);
    let mut b = b.wrapping_add(first * L);
    let at = |i: usize, j: usize| {
        s.o.wrapping_offset((i as isize).wrapping_mul(s.ldo))
            .wrapping_add((first + j) * L) as *mut [A; L]
    };
    if done > 0 {
        for i in 0..R {
            for j in 0..V {
                // SAFETY: STRIP1: row `i < R` and vector `first + j` of the strip, written after
                // the steps before `done`.
                c[i][j] = A::begin(unsafe { *at(i, j) });
            }
        }
    }
    for _ in 0..steps {
        for j in 0..V {
            simd::prefetch::<{ simd::L2 }, _>(b.wrapping_byte_add(AHEAD).wrapping_add(j * L));
        }
        // SAFETY: STRIP1: a step of the panel has `vectors` of them, of which `first + V` are read,
        // and A's row one lane.
        unsafe { tile::step::<I, A, L, R, V>(a, b, &mut c) };
        a.at = a.at.wrapping_offset(cs);
        b = b.wrapping_add(s.vectors * L);
    }
    for i in 0..R {
        for j in 0..V {
            // SAFETY: STRIP1: row `i < R` and vector `first + j` lie within the strip's output.
            unsafe { *at(i, j) = A::end(c[i][j]) };
        }
    }
}
