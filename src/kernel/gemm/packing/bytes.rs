//! Groups of two bytes.

use super::Packing;
use crate::kernel::gemm::microkernel::Pair;

/// Widens bytes to 16 bits. Holds the sign bit, or 0 for unsigned bytes.
#[derive(Clone, Copy)]
pub struct Extend(pub u8);
impl Packing for Extend {
    type From = u8;
    type To = Pair;
    const GROUP: usize = 2;
    moved_as_itself!();
    #[inline(always)]
    fn padding(self) -> u8 {
        0
    }
    fn in_place(self) -> bool {
        false
    }
    #[inline(always)]
    fn lane(self, x: [u8; 4]) -> Pair {
        let sign = self.0 as u32;
        // Sign extension if `sign` is 0x80, none if it is 0.
        let wide = |x: u8| (x as u32 ^ sign).wrapping_sub(sign);
        Pair(wide(x[0]) & 0xffff | wide(x[1]) << 16)
    }
}
