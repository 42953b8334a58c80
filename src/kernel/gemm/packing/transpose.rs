//! Transposes eight lines in L1.

use crate::simd::Isa;

/// `d[p * ld + j] = s[j][p]` for `p < depth`, `j < count`.
#[inline(always)]
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "only some builds have forms for instruction sets"
)]
pub fn transpose<I: Isa, A: Copy, const DEEP: usize>(
    s: &[[A; DEEP]; 8],
    count: usize,
    depth: usize,
    d: &mut [A],
    ld: usize,
) {
    assert!(
        count <= 8
            && depth <= DEEP
            && (depth == 0 || count == 0 || (depth - 1) * ld + count <= d.len())
    );
    #[allow(unused_mut, reason = "not everywhere are there vectors")]
    let mut p = 0;
    #[cfg(x86_dispatch)]
    if const { I::AVX2 && size_of::<A>() == 4 } && count == 8 {
        while p + 8 <= depth {
            // SAFETY: AVX2 (ISA1); eight by eight elements of `s`, to rows that `d` holds by the
            // assertion.
            unsafe {
                let from = (s.as_ptr() as *const A).add(p) as *const u32;
                crate::simd::x86::transpose::transpose_8x8(
                    from,
                    (DEEP * 4) as isize,
                    d.as_mut_ptr().add(p * ld) as *mut u32,
                    (4 * ld) as isize,
                );
            }
            p += 8;
        }
    }
    for p in p..depth {
        for j in 0..count {
            d[p * ld + j] = s[j][p];
        }
    }
}
