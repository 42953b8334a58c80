//! The number of lanes in which sums run: that of a vector of the instruction set.

/// `by_lanes!(self.method, I, F)` calls `self.method::<I, L>()`, where `L` is the number of lanes
/// of type `F` in a vector of the set `I`, for types of 2, 4, 8 or 16 bytes. Other types, and all
/// on microcontrollers, have one lane.
macro_rules! by_lanes {
    ($self:ident.$method:ident, $I:ident, $F:ty) => {
        by_lanes!(@ $self.$method, $I, $F; 2: 32 16 8; 4: 16 8 4; 8: 8 4 2; 16: 4 2 1;)
    };
    (@ $self:ident.$method:ident, $I:ident, $F:ty; $($bytes:literal: $long:literal $middle:literal $short:literal;)*) => {
        $(if const { size_of::<$F>() == $bytes && !crate::simd::MICROCONTROLLER } {
            if const { $I::AVX512 } {
                $self.$method::<$I, $long>()
            } else if const { $I::AVX2 } {
                $self.$method::<$I, $middle>()
            } else {
                $self.$method::<$I, $short>()
            }
        } else)* {
            $self.$method::<$I, 1>()
        }
    };
}
