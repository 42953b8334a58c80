//! Least-significant-byte radix sort, for keys of one or two bytes.

use super::quick::Part;

/// A key by its bytes.
pub trait RadixKey: super::Key {
    /// Byte `k`, least significant first, in an order in which 0 is the smallest.
    fn byte(self, k: usize) -> usize;
}
impl RadixKey for i8 {
    #[inline(always)]
    fn byte(self, _: usize) -> usize {
        (self ^ i8::MIN) as u8 as usize
    }
}
impl RadixKey for i16 {
    #[inline(always)]
    fn byte(self, k: usize) -> usize {
        ((self ^ i16::MIN) as u16 >> (8 * k)) as usize & 255
    }
}

/// Below this, counting into 256 bins costs more than comparing.
const SHORT: usize = 128;

/// Sorts a part.
pub fn sort<K: RadixKey>(part: Part<K>) {
    let (x, scratch) = part.into_slices();
    if x.len() < SHORT {
        return x.sort_unstable();
    }
    for k in 0..size_of::<K>() {
        let mut next = [0usize; 256];
        for v in &*x {
            next[v.byte(k)] += 1;
        }
        let mut start = 0;
        for n in &mut next {
            start += core::mem::replace(n, start);
        }
        for v in &*x {
            let n = &mut next[v.byte(k)];
            scratch[*n] = *v;
            *n += 1;
        }
        x.copy_from_slice(scratch);
    }
}
