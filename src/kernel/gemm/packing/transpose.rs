//! Transposes eight lines, in L1 or where they lie.

use crate::simd::Isa;

/// Eight lines of a block, or `count` of them, each of `depth` elements and `step` elements after the
/// one before.
pub struct Lines<A> {
    pub at: *const A,
    pub step: isize,
    pub count: usize,
    pub depth: usize,
}

impl<A> Lines<A> {
    /// The first elements of the first lines of an array.
    pub fn of<const DEEP: usize>(lines: &[[A; DEEP]; 8], count: usize, depth: usize) -> Self {
        assert!(count <= 8 && depth <= DEEP);
        Lines {
            at: lines.as_ptr().cast(),
            step: DEEP as isize,
            count,
            depth,
        }
    }
}

/// `d[p * ld + j]` is element `p` of line `j`.
///
/// # Safety
/// All elements of the lines are readable.
#[inline(always)]
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "only some builds have forms for instruction sets"
)]
pub unsafe fn transpose<I: Isa, A: Copy>(x: Lines<A>, d: &mut [A], ld: usize) {
    let Lines {
        at,
        step,
        count,
        depth,
    } = x;
    assert!(depth == 0 || count == 0 || (depth - 1) * ld + count <= d.len());
    #[allow(unused_mut, reason = "not everywhere are there vectors")]
    let mut p = 0;
    #[cfg(x86_dispatch)]
    if const { I::AVX2 && size_of::<A>() == 4 } && count == 8 {
        while p + 8 <= depth {
            // SAFETY: AVX2 (ISA1); eight by eight elements of the lines, by the caller, to rows that
            // `d` holds by the assertion.
            unsafe {
                crate::simd::x86::transpose::transpose_8x8(
                    at.add(p) as *const u32,
                    step * 4,
                    d.as_mut_ptr().add(p * ld) as *mut u32,
                    (4 * ld) as isize,
                );
            }
            p += 8;
        }
    }
    for p in p..depth {
        for j in 0..count {
            // SAFETY: by the caller.
            d[p * ld + j] = unsafe { *at.offset(step * j as isize).add(p) };
        }
    }
}
