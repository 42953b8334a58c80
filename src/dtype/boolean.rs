//! The bool dtype, stored as a byte.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{BitAnd, BitOr, BitXor, Not};

/// A boolean in memory. Any nonzero byte is true, so that foreign memory can be borrowed as it is;
/// kernels write 0 or 1.
///
/// ```
/// use flex::{Bool, Tensor};
/// let x = Tensor::from([true, false]);
/// assert_eq!(x.as_slice::<Bool>()?, [Bool::TRUE, Bool::FALSE]);
/// assert!(Bool(7).get() && (Bool(7) & Bool::from(true)) == Bool::TRUE);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// False.
    pub const FALSE: Bool = Bool(0);
    /// True.
    pub const TRUE: Bool = Bool(1);
    /// Its value.
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}
impl From<bool> for Bool {
    #[inline(always)]
    fn from(x: bool) -> Bool {
        Bool(x as u8)
    }
}
impl PartialEq for Bool {
    #[inline(always)]
    fn eq(&self, o: &Bool) -> bool {
        self.get() == o.get()
    }
}
impl PartialOrd for Bool {
    #[inline(always)]
    fn partial_cmp(&self, o: &Bool) -> Option<Ordering> {
        self.get().partial_cmp(&o.get())
    }
}
impl BitAnd for Bool {
    type Output = Bool;
    #[inline(always)]
    fn bitand(self, o: Bool) -> Bool {
        Bool::from(self.get() & o.get())
    }
}
impl BitOr for Bool {
    type Output = Bool;
    #[inline(always)]
    fn bitor(self, o: Bool) -> Bool {
        Bool::from(self.get() | o.get())
    }
}
impl BitXor for Bool {
    type Output = Bool;
    #[inline(always)]
    fn bitxor(self, o: Bool) -> Bool {
        Bool::from(self.get() ^ o.get())
    }
}
impl Not for Bool {
    type Output = Bool;
    #[inline(always)]
    fn not(self) -> Bool {
        Bool::from(!self.get())
    }
}
impl fmt::Debug for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

// SAFETY: a byte, every value of which is valid.
unsafe impl bytemuck::Zeroable for Bool {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Bool {}
