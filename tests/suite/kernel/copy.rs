//! The copy of memory that others write to, against a loop.

use flex::simd::copy_once;
use std::mem::MaybeUninit;

/// Elements of a width, `step` elements apart, from a place that is aligned to the element alone.
fn check<U: Copy + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> U) {
    let memory: Vec<U> = (0..600).map(element).collect();
    for n in (0..70).chain([127, 128, 129, 200]) {
        for (first, step) in [(0, 1), (1, 1), (5, 1), (3, 0), (0, 2), (599, -1), (598, -2)] {
            let mut to = vec![MaybeUninit::uninit(); n];
            let bytes = step * size_of::<U>() as isize;
            // SAFETY: `first + step * n` is a place of the vector, since `n` is at most 200.
            let own = unsafe { copy_once(memory.as_ptr().add(first), bytes, &mut to) };
            let places = (0..n as isize).map(|i| memory[(first as isize + step * i) as usize]);
            assert_eq!(
                own,
                places.collect::<Vec<_>>(),
                "{n} from {first}, step {step}"
            );
        }
    }
}

#[test]
fn copies_once() {
    check(|i| i as u8);
    check(|i| (i * 97) as u16);
    check(|i| (i as u32).wrapping_mul(0x9e37_79b9));
    check(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    check(|i| [i as u64, !i as u64]);
    check(|i| [i as u8; 3]);
}
