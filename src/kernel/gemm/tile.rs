//! The register tile: the one inner loop of all products. Arrays of `L` lanes that LLVM keeps in vector registers.

use super::element::Lane;
use crate::exec::isa::{self, Isa, Kernel};

/// The height of the next strip of `left` rows: 8 are 4 + 4, not 6 + 2, since a low tile starves the multipliers.
#[inline(always)]
pub fn height(left: usize) -> usize {
    match left {
        8 => 4,
        6.. => 6,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// One panel of B times all strips of A: `o (+)= a b`.
///
/// Contract S1: `a` holds `rows` rows of `k` lanes, by its strides;
/// `b` holds `k` rows of `vectors * L` lanes, `ldb` apart; `o` holds `rows` rows of as many, `ldo` apart, writable and apart
/// from both; `vectors` is 1, 2 or the widest tile's.
#[derive(Clone, Copy)]
pub struct Strips<A> {
    pub k: usize,
    pub rows: usize,
    pub a: *const A,
    /// Strides of a row and of a step of `k`.
    pub a_strides: (isize, isize),
    pub b: *const A,
    pub ldb: isize,
    pub vectors: usize,
    /// What the sums of each row begin with, `rows` lanes; null for zero. Not with `accumulate`.
    pub starts: *const A,
    pub o: *mut A,
    pub ldo: isize,
    /// Adds to what `o` holds.
    pub accumulate: bool,
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
            1 => column::<I, A, L, 1>(s),
            2 => column::<I, A, L, 2>(s),
            _ => column::<I, A, L, V>(s),
        }
    }
}

/// # Safety
/// S1.
#[inline(always)]
unsafe fn column<I: Isa, A: Lane, const L: usize, const V: usize>(s: Strips<A>) {
    let mut i = 0;
    while i < s.rows {
        let h = height(s.rows - i);
        let (rs, cs) = s.a_strides;
        let a = s.a.wrapping_offset(i as isize * rs);
        let o = s.o.wrapping_offset(i as isize * s.ldo);
        let starts = if s.starts.is_null() { s.starts } else { s.starts.wrapping_add(i) };
        // SAFETY: S1: rows `i..i + h`.
        unsafe {
            match h {
                6 => tile::<I, A, L, 6, V>(&s, a, rs, cs, starts, o),
                4 => tile::<I, A, L, 4, V>(&s, a, rs, cs, starts, o),
                2 => tile::<I, A, L, 2, V>(&s, a, rs, cs, starts, o),
                _ => tile::<I, A, L, 1, V>(&s, a, rs, cs, starts, o),
            }
        }
        i += h;
    }
}

/// `o[R][V * L] (+)= a[R][k] b[k][V * L]`.
///
/// # Safety
/// S1, for `R` rows.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "indices that are constants after unrolling keep the tile in registers")]
unsafe fn tile<I: Isa, A: Lane, const L: usize, const R: usize, const V: usize>(
    s: &Strips<A>,
    mut a: *const A,
    rs: isize,
    cs: isize,
    starts: *const A,
    o: *mut A,
) {
    let mut c = [[[A::default(); L]; V]; R];
    let at = |i: usize, j: usize| o.wrapping_offset((i as isize).wrapping_mul(s.ldo)).wrapping_add(j * L) as *mut [A; L];
    let mut b = s.b;
    // SAFETY: S1; an array has its element's alignment.
    unsafe {
        if s.accumulate {
            for i in 0..R {
                for j in 0..V {
                    c[i][j] = *at(i, j);
                }
            }
        } else if !starts.is_null() {
            for i in 0..R {
                c[i] = [[*starts.add(i); L]; V];
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
                    c[i][j] = A::mul_add_lanes::<I, L>([av; L], bv[j], c[i][j]);
                }
            }
            a = a.wrapping_offset(cs);
            b = b.wrapping_offset(s.ldb);
        }
        for i in 0..R {
            for j in 0..V {
                *at(i, j) = c[i][j];
            }
        }
    }
}
