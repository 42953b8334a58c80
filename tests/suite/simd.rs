//! Copies of every second element.

use flex::simd::{copy_every_second, deinterleave};

#[test]
fn every_second_element_is_copied_and_none_beyond_is_read() {
    fn check<U: Copy + PartialEq + Default>(of: fn(usize) -> U) {
        for n in 0..70usize {
            // exactly the elements that may be read, so that sanitizers see any other
            let from: Box<[U]> = (0..(2 * n).saturating_sub(1)).map(of).collect();
            let mut to: Box<[U]> = (0..n).map(|_| U::default()).collect();
            // SAFETY: as many elements as the function says.
            unsafe { copy_every_second(from.as_ptr(), to.as_mut_ptr(), n) };
            assert!((0..n).all(|i| to[i] == from[2 * i]), "{n}");
        }
    }
    check(|i| i as u8);
    check(|i| i as u16 * 300);
    check(|i| i as u32 * 70_000);
    check(|i| i as u64 * 5_000_000_000);
    check(|i| [i as u64, !(i as u64)]);
}

#[test]
fn even_and_odd_elements_are_separated() {
    let numbers: [[u16; 8]; 2] =
        [0, 8].map(|first| core::array::from_fn(|i| 1000 * (first + i) as u16));
    let [even, odd] = deinterleave(&numbers);
    let numbers = numbers.as_flattened();
    for i in 0..8 {
        assert_eq!((even[i], odd[i]), (numbers[2 * i], numbers[2 * i + 1]));
    }
}
