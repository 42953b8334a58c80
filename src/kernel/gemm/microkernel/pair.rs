//! Pairs of bytes, widened to 16-bit elements.

/// Two neighbours along the sum.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Pair(pub u32);
impl Pair {
    /// The sum of both products.
    #[inline(always)]
    pub fn dot(self, b: Pair) -> u32 {
        let (low, high) = (|x: Pair| x.0 as i16 as i32, |x: Pair| x.0 as i32 >> 16);
        (low(self) * low(b)).wrapping_add(high(self) * high(b)) as u32
    }
}
