//! The register tile and its K-loop: arrays of `L` lanes that LLVM keeps in vector registers.

use super::job::{HEIGHT, PanelJob, Prefetch, TileEnd, UNROLL, micropanel};
use super::packed::Packed;
use crate::simd::{self, Isa};
use core::hint::black_box;

/// Vectors of the widest tile of the target's own instruction set.
pub const BASE: usize = if simd::MICROCONTROLLER { 1 } else { 2 };

/// Multiplies all micropanels by the panel.
///
/// # Safety
/// TILE1.
#[inline(always)]
pub unsafe fn panel<I: Isa, A: Packed, const L: usize, const V: usize>(s: PanelJob<A>) {
    // SAFETY: TILE1, by the caller's promise; as many vectors as the job has.
    unsafe {
        match s.vectors {
            1 if V > 1 => micropanels::<I, A, L, 1>(s),
            2 if V > 2 => micropanels::<I, A, L, 2>(s),
            _ => micropanels::<I, A, L, V>(s),
        }
    }
}

/// # Safety
/// TILE1.
#[inline(always)]
unsafe fn micropanels<I: Isa, A: Packed, const L: usize, const V: usize>(s: PanelJob<A>) {
    for p in 0..s.rows.div_ceil(HEIGHT) {
        let rows = micropanel(s.rows, p);
        let (i, h) = (rows.start, rows.len());
        let a = s.a.from(i, s.k);
        let a = (a.at, a.strides.unwrap_or((1, h as isize)));
        let o = s.o.wrapping_offset(i as isize * s.ldo);
        let starts = if s.starts.is_null() {
            s.starts
        } else {
            s.starts.wrapping_add(i)
        };
        let end = s.end.at(i, 0);
        let none = Prefetch::new(s.b, 0);
        let of_a = a.1.0 * (HEIGHT * size_of::<A>()) as isize / s.k.max(1) as isize;
        let ahead = [
            s.next.map_or(none, |next| next.after(p * s.k)),
            if s.fetch_a {
                Prefetch::new(s.a.from(i + h, s.k).at, of_a)
            } else {
                none
            },
        ];
        // SAFETY: TILE1, of the job's rows `i..i + h`.
        unsafe {
            match h {
                6 if HEIGHT >= 6 => tile::<I, A, L, 6, V>(&s, a, starts, o, end, ahead),
                5 if HEIGHT >= 5 => tile::<I, A, L, 5, V>(&s, a, starts, o, end, ahead),
                4 => tile::<I, A, L, 4, V>(&s, a, starts, o, end, ahead),
                3 => tile::<I, A, L, 3, V>(&s, a, starts, o, end, ahead),
                2 => tile::<I, A, L, 2, V>(&s, a, starts, o, end, ahead),
                _ => tile::<I, A, L, 1, V>(&s, a, starts, o, end, ahead),
            }
        }
    }
}

/// `o[R][V * L] (+)= a[R][k] b[k][V * L]`.
///
/// # Safety
/// TILE1, for `R` rows.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
unsafe fn tile<I: Isa, A: Packed, const L: usize, const R: usize, const V: usize>(
    s: &PanelJob<A>,
    (a, (rs, cs)): (*const A, (isize, isize)),
    starts: *const A,
    o: *mut A,
    end: TileEnd<A>,
    ahead: [Prefetch; 2],
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
        // Whole passes of the unrolled loop if B is packed, and A read by rows or in micropanels.
        // Their code is long: not for micropanels of one or two rows, which are rare.
        let (by_rows, in_micropanels) = (cs == 1, (rs, cs) == (1, R as isize));
        let worthwhile = const { !simd::MICROCONTROLLER && !I::SMALL && R > 2 && A::UNROLLED };
        let whole = if worthwhile && s.ldb == (V * L) as isize && (by_rows || in_micropanels) {
            s.k / UNROLL
        } else {
            0
        };
        if by_rows {
            unrolled::<I, A, L, R, V, 1>(whole, TileRows::strided(a, rs), s.b, &mut c, ahead);
        } else {
            unrolled::<I, A, L, R, V, R>(
                whole,
                TileRows {
                    at: a,
                    offsets: core::array::from_fn(|i| i as isize),
                },
                s.b,
                &mut c,
                ahead,
            );
        }
        let done = (whole * UNROLL) as isize;
        let mut rows = TileRows::strided(a.wrapping_offset(done * cs), rs);
        let mut b = s.b.wrapping_offset(done * s.ldb);
        for _ in whole * UNROLL..s.k {
            step::<I, A, L, R, V>(rows, b, &mut c);
            rows.at = rows.at.wrapping_offset(cs);
            b = b.wrapping_offset(s.ldb);
        }
        if const { A::ENDS } {
            finish::<I, A, L, R, V>(end, &mut c);
        }
        for i in 0..R {
            for j in 0..V {
                *at(i, j) = A::end(c[i][j]);
            }
        }
    }
}

/// Does to the sums what remains to be done in registers.
///
/// # Safety
/// There are as many numbers as the sums have rows, or columns.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
unsafe fn finish<I: Isa, A: Packed, const L: usize, const R: usize, const V: usize>(
    end: TileEnd<A>,
    c: &mut [[A::Sums<L>; V]; R],
) {
    let zeros = [A::default(); R];
    // SAFETY: a number of each row or of each column, by the caller's promise; an array has its
    // element's alignment.
    unsafe {
        if !end.columns.is_null() {
            for j in 0..V {
                let x = *(end.columns.add(j * L) as *const [A; L]);
                for i in 0..R {
                    c[i][j] = A::plus::<I, L>(x, c[i][j]);
                }
            }
        }
        if end.relu {
            let rows = if end.rows.is_null() {
                zeros.as_ptr()
            } else {
                end.rows
            };
            for i in 0..R {
                for j in 0..V {
                    c[i][j] = A::plus_rectified::<I, L>([*rows.add(i); L], c[i][j]);
                }
            }
        } else if !end.rows.is_null() {
            for i in 0..R {
                for j in 0..V {
                    c[i][j] = A::plus::<I, L>([*end.rows.add(i); L], c[i][j]);
                }
            }
        }
    }
}

/// A step of `R` rows of A: an address, and the offsets of the rows from it.
#[derive(Clone, Copy)]
pub struct TileRows<A, const R: usize> {
    pub at: *const A,
    offsets: [isize; R],
}
impl<A, const R: usize> TileRows<A, R> {
    /// Rows `stride` apart. Their offsets are kept in registers: the compiler would recompute them
    /// in each step.
    #[inline(always)]
    pub fn strided(at: *const A, stride: isize) -> Self {
        TileRows {
            at,
            offsets: black_box(core::array::from_fn(|i| (i as isize).wrapping_mul(stride))),
        }
    }
}

/// `passes` passes, with steps of A `CS` lanes apart and contiguous steps of B.
///
/// # Safety
/// TILE1, for `R` rows and `passes * UNROLL` steps.
#[inline(always)]
unsafe fn unrolled<
    I: Isa,
    A: Packed,
    const L: usize,
    const R: usize,
    const V: usize,
    const CS: usize,
>(
    passes: usize,
    mut rows: TileRows<A, R>,
    mut b: *const A,
    c: &mut [[A::Sums<L>; V]; R],
    mut ahead: [Prefetch; 2],
) {
    for _ in 0..passes {
        let steps = match const { A::STEP_BY_STEP } {
            true => black_box(UNROLL),
            false => UNROLL,
        };
        for i in 0..steps {
            // SAFETY: the caller promises `passes * UNROLL` steps of A and B from here on; this is
            // one of them.
            unsafe {
                step::<I, A, L, R, V>(
                    TileRows {
                        at: rows.at.wrapping_add(i * CS),
                        ..rows
                    },
                    b.wrapping_add(i * V * L),
                    c,
                )
            };
        }
        rows.at = rows.at.wrapping_add(UNROLL * CS);
        b = b.wrapping_add(UNROLL * V * L);
        for ahead in &mut ahead {
            ahead.pass();
        }
    }
}

/// `c[R][V * L] += a[R] b[V * L]`.
///
/// # Safety
/// The rows hold a lane each at their offsets, and `b` holds `V * L` lanes.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
pub unsafe fn step<I: Isa, A: Packed, const L: usize, const R: usize, const V: usize>(
    rows: TileRows<A, R>,
    b: *const A,
    c: &mut [[A::Sums<L>; V]; R],
) {
    let mut lanes = [[A::default(); L]; V];
    for j in 0..V {
        // SAFETY: the caller promises `V * L` lanes; an array has its element's alignment.
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
