//! Folds of a few contiguous elements, without a plan: what is computed, and in which order, is
//! what the plan would say.

use super::erased::Erased;
use super::{SHORT, Sizes, TILE};
use crate::storage::ALIGN;

/// Room for one accumulator.
#[cfg_attr(feature = "std", repr(C, align(64)))]
#[cfg_attr(not(feature = "std"), repr(C, align(16)))]
struct Scratch([u8; 64]);
const _: () = assert!(align_of::<Scratch>() == ALIGN);

/// Reduces `count` rows of `n` elements, one after the other from `x` on, to as many results from
/// `to` on, `step` bytes apart. False, and nothing done, where the plan is needed: for more than a
/// tile, for several rows too short for runs.
///
/// # Safety
/// `x` and `to` are readable and writable so far, of the fold's types, and apart; `sizes` are the
/// fold's.
pub(super) unsafe fn rows(
    f: &dyn Erased,
    sizes: Sizes,
    x: *const u8,
    count: usize,
    n: usize,
    to: *mut u8,
    step: usize,
) -> bool {
    let runs = n >= SHORT;
    if n == 0
        || count * n > TILE / sizes.element
        || sizes.acc > size_of::<Scratch>()
        || !(runs || count == 1)
    {
        return false;
    }
    let mut scratch = Scratch([0; 64]);
    let acc = scratch.0.as_mut_ptr();
    for k in 0..count {
        // SAFETY: the caller's; the accumulator has room and is aligned.
        unsafe {
            let row = x.add(k * n * sizes.element);
            if runs {
                f.run(row, n, acc)
            } else {
                f.rows(row, 1, n, 1, acc)
            }
            f.finish(acc, 1, n, to.add(k * step), 0);
        }
    }
    true
}
