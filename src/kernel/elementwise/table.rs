//! What the list of operations becomes: for each row a type with its bodies, and the kernel for
//! each dtype.

use super::integer::*;
use super::loops::*;
use crate::dtype::{Bool, DType};
#[cfg(feature = "complex")]
use crate::kernel::math::ComplexMath;
use crate::kernel::math::{Math, Real};
use crate::op::Op;
use crate::simd::{Isa, LoopFn, pick};

/// How a dtype is computed.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The loop.
    pub f: LoopFn,
    /// Operands are widened to float32, and the result, if it is no bool, narrowed.
    pub wide: bool,
    /// Elements that the loop sees for one of ours: 2 for complex numbers as pairs.
    pub mult: u8,
    /// Bit m: the loop takes scalar mask m.
    pub forms: u8,
    /// Where `wide`: a loop for operands as they are, all of them tensors.
    pub direct: Option<LoopFn>,
}
/// The kernel for a dtype; none where the operation has no meaning for it, or the build leaves it
/// out.
pub type Lookup = fn(DType) -> Option<Kernel>;

/// A row of the list, as drivers see it. Naming one row's constant links that row's kernels alone.
#[derive(Clone, Copy)]
pub struct Row {
    /// Which operation.
    pub op: Op,
    /// Its kernels.
    pub lookup: Lookup,
    /// What computes it where the second operand is two: of powers alone.
    pub square: Option<&'static Row>,
}

/// The real part's type.
pub trait Parts {
    /// Itself for real numbers.
    type Real: Copy;
}
macro_rules! parts { ($($T:ty),*) => { $(impl Parts for $T { type Real = $T; })* } }
parts!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
#[cfg(feature = "complex")]
impl<T: Copy> Parts for num_complex::Complex<T> {
    type Real = T;
}
impl Bool {
    /// 0 or 1.
    #[inline(always)]
    fn normal(self) -> Bool {
        Bool((self.0 != 0) as u8)
    }
}

macro_rules! out {
    (same $T:ty) => {
        $T
    };
    (float $T:ty) => {
        $T
    };
    (bool $T:ty) => {
        Bool
    };
    (real $T:ty) => {
        <$T as Parts>::Real
    };
}
macro_rules! implement {
    ($T:ty; ($Name:ident 1 $rule:ident [$x:ident] [$b:expr] [])) => {
        impl Op1<$T> for $Name {
            type Out = out!($rule $T);
            #[inline(always)]
            fn f<I: Isa>($x: $T) -> Self::Out {
                $b
            }
        }
    };
    ($T:ty; ($Name:ident 1 $rule:ident [$x:ident] [$b:expr] [$is_far:expr, $far:expr])) => {
        impl Op1<$T> for $Name {
            type Out = out!($rule $T);
            #[inline(always)]
            fn f<I: Isa>($x: $T) -> Self::Out {
                $b
            }
            const FAR: bool = true;
            #[inline(always)]
            fn is_far<I: Isa>($x: $T) -> bool {
                $is_far
            }
            #[inline(always)]
            fn far<I: Isa>($x: $T) -> Self::Out {
                $far
            }
        }
    };
    ($T:ty; ($Name:ident 2 $rule:ident [$x:ident $y:ident] [$b:expr] [])) => {
        impl Op2<$T> for $Name {
            type Out = out!($rule $T);
            #[inline(always)]
            fn f<I: Isa>($x: $T, $y: $T) -> Self::Out {
                $b
            }
        }
    };
    ($T:ty; ($Name:ident 2 $rule:ident [$x:ident $y:ident] [$b:expr] [$is_far:expr, $far:expr])) => {
        impl Op2<$T> for $Name {
            type Out = out!($rule $T);
            #[inline(always)]
            fn f<I: Isa>($x: $T, $y: $T) -> Self::Out {
                $b
            }
            const FAR: bool = true;
            #[inline(always)]
            fn is_far<I: Isa>($x: $T, $y: $T) -> bool {
                $is_far
            }
            #[inline(always)]
            fn far<I: Isa>($x: $T, $y: $T) -> Self::Out {
                $far
            }
        }
    };
    ($T:ty; ($Name:ident 3 $rule:ident [$x:ident $y:ident $z:ident] [$b:expr] [])) => {
        impl Op3<$T> for $Name {
            #[inline(always)]
            fn f<I: Isa>($x: $T, $y: $T, $z: $T) -> $T {
                $b
            }
        }
    };
}
/// The Rust types that a class has bodies for.
macro_rules! bodies {
    (boolean $a:tt) => { implement!(Bool; $a); };
    (wint $a:tt) => { bodies!(@ $a u8 u16 u32 u64); };
    (sint $a:tt) => { bodies!(@ $a i8 i16 i32 i64); };
    (uint $a:tt) => { bodies!(@ $a u8 u16 u32 u64); };
    (int $a:tt) => { bodies!(@ $a i8 i16 i32 i64 u8 u16 u32 u64); };
    (float $a:tt) => { bodies!(@ $a f32 f64); };
    (pair $a:tt) => { bodies!(@ $a f32 f64); };
    (half $a:tt) => { #[cfg(feature = "half")] implement!(crate::dtype::f16; $a); #[cfg(feature = "half")] implement!(crate::dtype::bf16; $a); };
    (complex $a:tt) => {
        #[cfg(feature = "complex")] implement!(crate::dtype::Complex64; $a);
        #[cfg(all(feature = "complex", feature = "f64"))] implement!(crate::dtype::Complex128; $a);
    };
    (direct $a:tt) => {};
    (bits $a:tt) => {};
    (@ $a:tt $($T:ident)*) => { $(implement!($T; $a);)* };
}
macro_rules! kernel_of {
    (1 $Name:ident $T:ty, $wide:expr, $mult:expr) => {
        Some(Kernel {
            f: pick::<K1<$Name, $T>>(),
            wide: $wide,
            mult: $mult,
            forms: if $mult == 1 { masks(1, true) } else { 1 },
            direct: None,
        })
    };
    (2 $Name:ident $T:ty, $wide:expr, $mult:expr) => {
        Some(Kernel {
            f: pick::<K2<$Name, $T>>(),
            wide: $wide,
            mult: $mult,
            forms: masks(2, <$T as Forms>::FORMS && $mult == 1),
            direct: None,
        })
    };
    (3 $Name:ident $T:ty, $wide:expr, $mult:expr) => {
        Some(Kernel {
            f: pick::<K3<$Name, $T>>(),
            wide: $wide,
            mult: $mult,
            forms: masks(3, <$T as Forms>::FORMS && $mult == 1),
            direct: None,
        })
    };
}
/// The kernel of a class for a dtype; none where the class doesn't have the dtype.
macro_rules! lookup {
    ($dt:ident boolean $n:tt $Name:ident) => { if $dt.is_bool() { kernel_of!($n $Name Bool, false, 1) } else { None } };
    ($dt:ident wint $n:tt $Name:ident) => {
        match $dt.size() {
            _ if !$dt.is_integer() || !$dt.is_available() => None,
            1 if DType::has_integers(1) => kernel_of!($n $Name u8, false, 1),
            2 if DType::has_integers(2) => kernel_of!($n $Name u16, false, 1),
            4 if DType::has_integers(4) => kernel_of!($n $Name u32, false, 1),
            8 if DType::has_integers(8) => kernel_of!($n $Name u64, false, 1),
            _ => None,
        }
    };
    ($dt:ident sint $n:tt $Name:ident) => { dispatch!(signed $dt, |T| kernel_of!($n $Name T, false, 1), else None) };
    ($dt:ident uint $n:tt $Name:ident) => { dispatch!(unsigned $dt, |T| kernel_of!($n $Name T, false, 1), else None) };
    ($dt:ident int $n:tt $Name:ident) => { dispatch!(integer $dt, |T| kernel_of!($n $Name T, false, 1), else None) };
    ($dt:ident half $n:tt $Name:ident) => { dispatch!(half $dt, |T| kernel_of!($n $Name T, false, 1), else None) };
    ($dt:ident direct 1 $Name:ident) => { lookup!(@direct $dt kernel_of!(1 $Name f32, true, 1), Half1 $Name) };
    ($dt:ident direct 2 $Name:ident) => { lookup!(@direct $dt kernel_of!(2 $Name f32, true, 1), Half2 $Name) };
    (@direct $dt:ident $kernel:expr, $Loop:ident $Name:ident) => {{
        let direct: Option<LoopFn> = dispatch!(half $dt, |T| Some(pick::<$Loop<$Name, T>>()), else None);
        direct.and_then(|f| $kernel.map(|k: Kernel| Kernel { direct: Some(f), ..k }))
    }};
    ($dt:ident float $n:tt $Name:ident) => {
        if $dt.is_available() && $dt.class() == crate::dtype::Class::Half { kernel_of!($n $Name f32, true, 1) }
        else { dispatch!(float $dt, |T| kernel_of!($n $Name T, false, 1), else None) }
    };
    ($dt:ident pair $n:tt $Name:ident) => {
        if $dt.is_complex() && $dt.is_available() { dispatch!(float ($dt.real()), |T| kernel_of!($n $Name T, false, 2), else None) } else { lookup!($dt float $n $Name) }
    };
    ($dt:ident complex $n:tt $Name:ident) => { dispatch!(complex $dt, |T| kernel_of!($n $Name T, false, 1), else None) };
    ($dt:ident bits $n:tt $Name:ident) => {
        dispatch_width!($dt.size(), |U| Some(Kernel { f: pick::<Select<U>>(), wide: false, mult: 1, forms: SELECT_FORMS, direct: None }))
    };
}
macro_rules! square {
    (Pow) => {
        Some(&Square::ROW)
    };
    ($Name:ident) => {
        None
    };
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $n:tt $rule:ident $cost:literal { $($class:ident |$($x:ident),*| $b:expr $(, far($is_far:expr) $far:expr)?;)* })*) => {
        /// The rows of the list, as types and as constants.
        pub mod rows {
            use super::*;
            $(
                $(#[doc = $doc])*
                pub struct $Name;
                $(bodies!($class ($Name $n $rule [$($x)*] [$b] [$($is_far, $far)?]));)*
                impl $Name {
                    /// Its row.
                    pub const ROW: Row = Row { op: Op::$Name, lookup: $Name::lookup, square: square!($Name) };
                    fn lookup(dt: DType) -> Option<Kernel> {
                        $(if let Some(k) = lookup!(dt $class $n $Name) { return Some(k) })*
                        None
                    }
                }
            )*
        }
        impl Op {
            /// Its row of the dynamic table. Calling this links every kernel.
            pub fn row(self) -> &'static Row {
                const TABLE: &[Row] = &[$(rows::$Name::ROW),*];
                &TABLE[self as usize]
            }
        }
    };
}
operations!(make! {});
