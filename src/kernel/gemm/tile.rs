//! The register tile: the one inner loop of all products. Arrays of `L` lanes that LLVM keeps in vector registers.

use super::element::Lane;
use crate::exec::isa::{self, Isa, Kernel};
use core::ops::Range;

/// Rows of the highest tile. Virtual machines keep some of 16 registers to themselves.
pub const HEIGHT: usize = if isa::COMPACT || cfg!(target_family = "wasm") { 4 } else { 6 };
/// Vectors of the widest tile of the target's own instruction set.
pub const BASE: usize = if isa::COMPACT { 1 } else { 2 };

/// The rows of strip `i` of so many rows: as high as the highest tile, and the last two as equal as can be, so that none starves
/// the multipliers: 14 are 6 + 4 + 4. Those of a part that begins with a strip and goes to the end are the same, where it has two.
#[inline]
pub fn strip(rows: usize, i: usize) -> Range<usize> {
    let strips = rows.div_ceil(HEIGHT);
    if i + 2 < strips || strips < 2 {
        return i * HEIGHT..rows.min((i + 1) * HEIGHT);
    }
    let start = (strips - 2) * HEIGHT;
    let half = start + (rows - start).div_ceil(2);
    if i + 2 == strips { start..half } else { half..rows }
}

/// A block of A: rows by their strides, or else strips, `[strip][step of k][row]`.
#[derive(Clone, Copy)]
pub struct Left<A> {
    pub at: *const A,
    /// Strides of a row and of a step of `k`.
    pub strides: Option<(isize, isize)>,
}
impl<A> Left<A> {
    /// From row `i` on, where a strip begins, of `k` steps.
    #[inline(always)]
    pub fn from(self, i: usize, k: usize) -> Self {
        let rs = self.strides.map_or(k as isize, |(rs, _)| rs);
        Left { at: self.at.wrapping_offset(i as isize * rs), ..self }
    }
}

/// Memory that is fetched into L2 meanwhile: from an address on, which may be any, so many bytes further with each step of `k`. Slowly:
/// the loads of the tile itself wait for the same buffers.
#[derive(Clone, Copy)]
pub struct Ahead {
    at: *const u8,
    step: isize,
}
impl Ahead {
    fn new<A>(at: *const A, step: isize) -> Self {
        Ahead { at: at as *const u8, step: step.clamp(-LINE, LINE) }
    }
    /// A panel of `width` lanes, which all strips of so many rows fetch together.
    pub fn panel<A>(at: *const A, width: usize, rows: usize) -> Self {
        Ahead::new(at, (width * size_of::<A>()).div_ceil(rows.div_ceil(HEIGHT)) as isize)
    }
    /// The same so many steps later.
    pub fn after(self, steps: usize) -> Self {
        Ahead { at: self.at.wrapping_offset(steps as isize * self.step), ..self }
    }
}

/// One panel of B times all strips of A: `o (+)= a b`.
///
/// Contract S1: `a` holds `rows` rows of `k` lanes; `b` holds `k` rows of `vectors * L` lanes, `ldb` apart; `o` holds
/// `rows` rows of as many, `ldo` apart, writable and apart from both; `vectors` is 1, 2 or the widest tile's.
#[derive(Clone, Copy)]
pub struct Strips<A> {
    pub k: usize,
    pub rows: usize,
    pub a: Left<A>,
    pub b: *const A,
    pub ldb: isize,
    pub vectors: usize,
    /// What the sums of each row begin with, `rows` lanes; null for zero. Not with `accumulate`.
    pub starts: *const A,
    pub o: *mut A,
    pub ldo: isize,
    /// Adds to what `o` holds.
    pub accumulate: bool,
    /// What will be read next.
    pub next: Option<Ahead>,
    /// Whether each strip fetches the next one of A, which nobody has read before.
    pub fetch_a: bool,
}
impl<A: Lane> Kernel for Strips<A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: S1, promised to `run`, the only caller.
        unsafe { A::strips::<I>(self) }
    }
}

/// Runs a job on the chosen instruction set.
///
/// # Safety
/// S1.
#[inline(always)]
pub unsafe fn run<A: Lane>(job: Strips<A>) {
    isa::call(job)
}

/// # Safety
/// S1.
#[inline(always)]
pub unsafe fn strips<I: Isa, A: Lane, const L: usize, const V: usize>(s: Strips<A>) {
    // SAFETY: S1.
    unsafe {
        match s.vectors {
            1 if V > 1 => column::<I, A, L, 1>(s),
            2 if V > 2 => column::<I, A, L, 2>(s),
            _ => column::<I, A, L, V>(s),
        }
    }
}

/// # Safety
/// S1.
#[inline(always)]
unsafe fn column<I: Isa, A: Lane, const L: usize, const V: usize>(s: Strips<A>) {
    for strip in 0..s.rows.div_ceil(HEIGHT) {
        let rows = self::strip(s.rows, strip);
        let (i, h) = (rows.start, rows.len());
        let a = s.a.from(i, s.k);
        let a = (a.at, a.strides.unwrap_or((1, h as isize)));
        let o = s.o.wrapping_offset(i as isize * s.ldo);
        let starts = if s.starts.is_null() { s.starts } else { s.starts.wrapping_add(i) };
        let none = Ahead::new(s.b, 0);
        let of_a = a.1.0 * (HEIGHT * size_of::<A>()) as isize / s.k.max(1) as isize;
        let ahead =
            [s.next.map_or(none, |next| next.after(strip * s.k)), if s.fetch_a { Ahead::new(s.a.from(i + h, s.k).at, of_a) } else { none }];
        // SAFETY: S1: rows `i..i + h`.
        unsafe {
            match h {
                6 if HEIGHT >= 6 => tile::<I, A, L, 6, V>(&s, a, starts, o, ahead),
                5 if HEIGHT >= 5 => tile::<I, A, L, 5, V>(&s, a, starts, o, ahead),
                4 => tile::<I, A, L, 4, V>(&s, a, starts, o, ahead),
                3 => tile::<I, A, L, 3, V>(&s, a, starts, o, ahead),
                2 => tile::<I, A, L, 2, V>(&s, a, starts, o, ahead),
                _ => tile::<I, A, L, 1, V>(&s, a, starts, o, ahead),
            }
        }
    }
}

/// Bytes of a cache line.
const LINE: isize = 64;

/// `o[R][V * L] (+)= a[R][k] b[k][V * L]`.
///
/// # Safety
/// S1, for `R` rows.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "indices that are constants after unrolling keep the tile in registers")]
unsafe fn tile<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(
    s: &Strips<A>,
    (mut a, (rs, cs)): (*const A, (isize, isize)),
    starts: *const A,
    o: *mut A,
    mut ahead: [Ahead; 2],
) {
    let mut c = [[A::begin([A::default(); L]); V]; R];
    let at = |i: usize, j: usize| o.wrapping_offset((i as isize).wrapping_mul(s.ldo)).wrapping_add(j * L) as *mut [A; L];
    let mut b = s.b;
    // SAFETY: S1; an array has its element's alignment.
    unsafe {
        if s.accumulate {
            for i in 0..R {
                for j in 0..V {
                    c[i][j] = A::begin(*at(i, j));
                }
            }
        } else if !starts.is_null() {
            for i in 0..R {
                c[i] = [A::begin([*starts.add(i); L]); V];
            }
        }
        for _ in 0..s.k {
            let mut bv = [[A::default(); L]; V];
            for j in 0..V {
                bv[j] = *(b.wrapping_add(j * L) as *const [A; L]);
            }
            for i in 0..R {
                let av = *a.wrapping_offset((i as isize).wrapping_mul(rs));
                for j in 0..V {
                    c[i][j] = A::axpy::<I, L>(av, bv[j], c[i][j]);
                }
            }
            for ahead in &mut ahead {
                isa::prefetch::<{ isa::L2 }, _>(ahead.at);
                ahead.at = ahead.at.wrapping_offset(ahead.step);
            }
            a = a.wrapping_offset(cs);
            b = b.wrapping_offset(s.ldb);
        }
        for i in 0..R {
            for j in 0..V {
                *at(i, j) = A::end(c[i][j]);
            }
        }
    }
}
