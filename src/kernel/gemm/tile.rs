//! The register tile: the one inner loop of all products. Arrays of `L` lanes that LLVM keeps in
//! vector registers.

use super::element::Lane;
use crate::simd::{self, Isa, Kernel};
use core::{hint::black_box, ops::Range};

/// Rows of the highest tile. Virtual machines keep some of 16 registers to themselves.
pub const HEIGHT: usize = if simd::MICROCONTROLLER || cfg!(target_family = "wasm") {
    4
} else {
    6
};
/// Vectors of the widest tile of the target's own instruction set.
pub const BASE: usize = if simd::MICROCONTROLLER { 1 } else { 2 };
/// Steps of the sum in a turn of the loop. What a step does beside its multiply-adds is a tenth of
/// the time on a core whose other thread is busy, and on narrow ones.
const TURN: usize = 4;

/// The rows of strip `i` of so many rows: as high as the highest tile, and the last two as equal as
/// can be, so that none starves the multipliers: 14 are 6 + 4 + 4. Those of a part that begins with
/// a strip and goes to the end are the same, where it has two.
#[inline]
pub fn strip(rows: usize, i: usize) -> Range<usize> {
    let strips = rows.div_ceil(HEIGHT);
    if i + 2 < strips || strips < 2 {
        return i * HEIGHT..rows.min((i + 1) * HEIGHT);
    }
    let start = (strips - 2) * HEIGHT;
    let half = start + (rows - start).div_ceil(2);
    if i + 2 == strips {
        start..half
    } else {
        half..rows
    }
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
        Left {
            at: self.at.wrapping_offset(i as isize * rs),
            ..self
        }
    }
}

/// Memory that is fetched into L2 meanwhile: from an address on, which may be any, so many bytes
/// further with each step of `k`, two lines a turn at most. Slowly: the loads of the tile itself
/// wait for the same buffers.
#[derive(Clone, Copy)]
pub struct Ahead {
    at: *const u8,
    step: isize,
}
impl Ahead {
    fn new<A>(at: *const A, step: isize) -> Self {
        const MOST: isize = 2 * LINE / TURN as isize;
        Ahead {
            at: at as *const u8,
            step: step.clamp(-MOST, MOST),
        }
    }
    /// A panel of `width` lanes, which all strips of so many rows fetch together.
    pub fn panel<A>(at: *const A, width: usize, rows: usize) -> Self {
        Ahead::new(
            at,
            (width * size_of::<A>()).div_ceil(rows.div_ceil(HEIGHT)) as isize,
        )
    }
    /// The same so many steps later.
    #[inline(always)]
    pub fn after(self, steps: usize) -> Self {
        Ahead {
            at: self.at.wrapping_offset(steps as isize * self.step),
            ..self
        }
    }
    /// Fetches what belongs to a turn.
    #[inline(always)]
    fn turn(&mut self) {
        simd::prefetch::<{ simd::L2 }, _>(self.at);
        simd::prefetch::<{ simd::L2 }, _>(self.at.wrapping_offset(LINE));
        *self = self.after(TURN);
    }
}

/// One panel of B times all strips of A: `o (+)= a b`.
///
/// Contract TILE1: `a` holds `rows` rows of `k` lanes; `b` holds `k` rows of `vectors * L` lanes,
/// `ldb` apart; `o` holds `rows` rows of as many, `ldo` apart, writable and apart from both;
/// `vectors` is 1, 2 or the widest tile's.
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
        // SAFETY: TILE1, promised to `run`, the only caller.
        unsafe { A::strips::<I>(self) }
    }
}

/// Runs a job on the chosen instruction set.
///
/// # Safety
/// TILE1.
#[inline(always)]
pub unsafe fn run<A: Lane>(job: Strips<A>) {
    simd::call(job)
}

/// # Safety
/// TILE1.
#[inline(always)]
pub unsafe fn strips<I: Isa, A: Lane, const L: usize, const V: usize>(s: Strips<A>) {
    // SAFETY: TILE1, by the caller's promise; as many vectors as the job has.
    unsafe {
        match s.vectors {
            1 if V > 1 => column::<I, A, L, 1>(s),
            2 if V > 2 => column::<I, A, L, 2>(s),
            _ => column::<I, A, L, V>(s),
        }
    }
}

/// # Safety
/// TILE1.
#[inline(always)]
unsafe fn column<I: Isa, A: Lane, const L: usize, const V: usize>(s: Strips<A>) {
    for strip in 0..s.rows.div_ceil(HEIGHT) {
        let rows = self::strip(s.rows, strip);
        let (i, h) = (rows.start, rows.len());
        let a = s.a.from(i, s.k);
        let a = (a.at, a.strides.unwrap_or((1, h as isize)));
        let o = s.o.wrapping_offset(i as isize * s.ldo);
        let starts = if s.starts.is_null() {
            s.starts
        } else {
            s.starts.wrapping_add(i)
        };
        let none = Ahead::new(s.b, 0);
        let of_a = a.1.0 * (HEIGHT * size_of::<A>()) as isize / s.k.max(1) as isize;
        let ahead = [
            s.next.map_or(none, |next| next.after(strip * s.k)),
            if s.fetch_a {
                Ahead::new(s.a.from(i + h, s.k).at, of_a)
            } else {
                none
            },
        ];
        // SAFETY: TILE1 of the rows `i..i + h`, which are the job's.
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
/// TILE1, for `R` rows.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
unsafe fn tile<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(
    s: &Strips<A>,
    (a, (rs, cs)): (*const A, (isize, isize)),
    starts: *const A,
    o: *mut A,
    ahead: [Ahead; 2],
) {
    let mut c = [[A::begin([A::default(); L]); V]; R];
    let at = |i: usize, j: usize| {
        o.wrapping_offset((i as isize).wrapping_mul(s.ldo))
            .wrapping_add(j * L) as *mut [A; L]
    };
    // SAFETY: TILE1; an array has its element's alignment.
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
        // Whole turns where B is packed, and A read by rows or in strips. Their code is long: not
        // for multiply-adds that are long as well, nor for strips of one or two rows, which are
        // rare.
        let (by_rows, in_strips) = (cs == 1, (rs, cs) == (1, R as isize));
        let worthwhile =
            const { !simd::MICROCONTROLLER && R > 2 && (A::FEW || size_of::<A>() <= 4) };
        let whole = if worthwhile && s.ldb == (V * L) as isize && (by_rows || in_strips) {
            s.k / TURN
        } else {
            0
        };
        if by_rows {
            turns::<I, A, L, R, V, 1>(whole, Rows::strided(a, rs), s.b, &mut c, ahead);
        } else {
            turns::<I, A, L, R, V, R>(
                whole,
                Rows {
                    at: a,
                    offsets: core::array::from_fn(|i| i as isize),
                },
                s.b,
                &mut c,
                ahead,
            );
        }
        let done = (whole * TURN) as isize;
        let mut rows = Rows::strided(a.wrapping_offset(done * cs), rs);
        let mut b = s.b.wrapping_offset(done * s.ldb);
        for _ in whole * TURN..s.k {
            step::<I, A, L, R, V>(rows, b, &mut c);
            rows.at = rows.at.wrapping_offset(cs);
            b = b.wrapping_offset(s.ldb);
        }
        for i in 0..R {
            for j in 0..V {
                *at(i, j) = A::end(c[i][j]);
            }
        }
    }
}

/// A step of `R` rows of A: an address, and those of the rows from there.
#[derive(Clone, Copy)]
pub struct Rows<A, const R: usize> {
    pub at: *const A,
    offsets: [isize; R],
}
impl<A, const R: usize> Rows<A, R> {
    /// Rows `stride` apart. Their offsets are kept in registers: the compiler would compute them
    /// anew in each step.
    #[inline(always)]
    pub fn strided(at: *const A, stride: isize) -> Self {
        Rows {
            at,
            offsets: black_box(core::array::from_fn(|i| (i as isize).wrapping_mul(stride))),
        }
    }
}

/// So many turns, where the steps of A are `CS` lanes apart and those of B follow each other.
///
/// # Safety
/// TILE1, for `R` rows and `turns * TURN` steps.
#[inline(always)]
unsafe fn turns<
    I: Isa,
    A: Lane,
    const L: usize,
    const R: usize,
    const V: usize,
    const CS: usize,
>(
    turns: usize,
    mut rows: Rows<A, R>,
    mut b: *const A,
    c: &mut [[A::Sums<L>; V]; R],
    mut ahead: [Ahead; 2],
) {
    for _ in 0..turns {
        for i in 0..TURN {
            // SAFETY: the caller promises `turns * TURN` steps of A and B from here on; this is one
            // of them.
            unsafe {
                step::<I, A, L, R, V>(
                    Rows {
                        at: rows.at.wrapping_add(i * CS),
                        ..rows
                    },
                    b.wrapping_add(i * V * L),
                    c,
                )
            };
        }
        rows.at = rows.at.wrapping_add(TURN * CS);
        b = b.wrapping_add(TURN * V * L);
        for ahead in &mut ahead {
            ahead.turn();
        }
    }
}

/// `c[R][V * L] += a[R] b[V * L]`.
///
/// # Safety
/// The rows hold a lane each, and `b` as many as are read.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
pub unsafe fn step<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(
    rows: Rows<A, R>,
    b: *const A,
    c: &mut [[A::Sums<L>; V]; R],
) {
    let mut lanes = [[A::default(); L]; V];
    for j in 0..V {
        // SAFETY: the caller's promise; an array has its element's alignment.
        lanes[j] = unsafe { *(b.wrapping_add(j * L) as *const [A; L]) };
    }
    for i in 0..R {
        // SAFETY: the caller promises an element of A at each of the `R` offsets.
        let a = unsafe { *rows.at.wrapping_offset(rows.offsets[i]) };
        for j in 0..V {
            c[i][j] = A::axpy::<I, L>(a, lanes[j], c[i][j]);
        }
    }
}
