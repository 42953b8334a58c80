//! 8-bit floats to and from `f32`, as loops over the conversions of `dtype::float8`.

use super::widen::Widen;
use crate::dtype::{F8E4M3, F8E5M2};

macro_rules! widen {
    ($($T:ident)*) => { $(
        impl Widen for $T {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn narrow(x: f32) -> $T {
                $T::from_f32(x)
            }
        }
    )* };
}
widen! { F8E4M3 F8E5M2 }
