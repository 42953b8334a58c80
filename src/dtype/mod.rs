//! The dtype table, with one row per dtype. Everything that depends on dtypes is generated from it:
//! the enum, the `Element` types, `dispatch!`, promotion, the Python dtype objects, the names in
//! files. No other match over all dtypes exists in the crate.

use crate::error::{Error, Result};
use core::fmt;

/// `dtypes!(m! ..)` calls `m!` with what follows it and then the table: for each class its set of
/// [`dispatch!`](dispatch), its [`Class`] and its rows, `(variant, Rust type, name, bits, buffer
/// format, DLPack type code, safetensors name, feature, #[cfg])`.
macro_rules! dtypes {
    ($callback:ident! $($x:tt)*) => { $callback! { $($x)*
        boolean Boolean {
            (Bool, $crate::dtype::Bool, "bool", 8, "?", 6, "BOOL", "", (all()))
        }
        signed Signed {
            (I8, i8, "int8", 8, "b", 0, "I8", "i8", (feature = "i8"))
            (I16, i16, "int16", 16, "h", 0, "I16", "ints", (feature = "ints"))
            (I32, i32, "int32", 32, "i", 0, "I32", "i32", (feature = "i32"))
            (I64, i64, "int64", 64, "q", 0, "I64", "i64", (feature = "i64"))
        }
        unsigned Unsigned {
            (U8, u8, "uint8", 8, "B", 1, "U8", "i8", (feature = "i8"))
            (U16, u16, "uint16", 16, "H", 1, "U16", "ints", (feature = "ints"))
            (U32, u32, "uint32", 32, "I", 1, "U32", "ints", (feature = "ints"))
            (U64, u64, "uint64", 64, "Q", 1, "U64", "ints", (feature = "ints"))
        }
        float8 Float8 {
            (F8E4M3, $crate::dtype::F8E4M3, "float8_e4m3fn", 8, "", 10, "F8_E4M3", "float8", (feature = "float8"))
            (F8E5M2, $crate::dtype::F8E5M2, "float8_e5m2", 8, "", 12, "F8_E5M2", "float8", (feature = "float8"))
        }
        half Half {
            (F16, $crate::dtype::f16, "float16", 16, "e", 2, "F16", "half", (feature = "half"))
            (BF16, $crate::dtype::bf16, "bfloat16", 16, "", 4, "BF16", "half", (feature = "half"))
        }
        float Float {
            (F32, f32, "float32", 32, "f", 2, "F32", "", (all()))
            (F64, f64, "float64", 64, "d", 2, "F64", "f64", (feature = "f64"))
        }
        complex Complex {
            (Complex64, $crate::dtype::Complex64, "complex64", 64, "Zf", 5, "C64", "complex", (feature = "complex"))
            (Complex128, $crate::dtype::Complex128, "complex128", 128, "Zd", 5, "", "complex", (all(feature = "complex", feature = "f64")))
        }
    } };
}

mod boolean;
#[macro_use]
mod dispatch;
#[cfg(feature = "float8")]
mod float8;

pub use boolean::Bool;
#[cfg(feature = "float8")]
pub use float8::{F8E4M3, F8E5M2};
#[cfg(feature = "half")]
pub use half::{bf16, f16};

/// A complex number of two `f32`.
///
/// ```
/// use flex::{Tensor, dtype::Complex64};
/// let z = Tensor::from_slice(&[Complex64::new(3.0, -4.0)], [1])?;
/// assert_eq!(z.abs()?.to_vec::<f32>()?, [5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "complex")]
pub type Complex64 = num_complex::Complex<f32>;
/// A complex number of two `f64`.
///
/// ```
/// use flex::{DType, Tensor, dtype::Complex128};
/// let z = Tensor::from_slice(&[Complex128::new(3.0, -4.0)], [1])?;
/// assert_eq!((z.dtype(), z.abs()?.to_vec::<f64>()?), (DType::Complex128, vec![5.0]));
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(all(feature = "complex", feature = "f64"))]
pub type Complex128 = num_complex::Complex<f64>;

/// The kind of a dtype's values.
///
/// ```
/// use flex::{DType, dtype::Class};
/// assert_eq!((DType::I16.class(), DType::BF16.class()), (Class::Signed, Class::Half));
/// assert!(Class::Boolean < Class::Signed && Class::Float < Class::Complex); // as in promotion
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// True or false.
    Boolean,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// 8-bit floats: for storage and conversion, never computed with.
    Float8,
    /// 16-bit floats: computed in float32, rounded once.
    Half,
    /// float32 and float64.
    Float,
    /// Pairs of floats.
    Complex,
}

macro_rules! make {
    ($($set:ident $Class:ident { $(($V:ident, $T:ty, $name:literal, $bits:literal, $fmt:literal, $dl:literal, $st:literal, $feature:literal, ($($cfg:tt)*)))* })*) => {
        /// The type of a tensor's elements. Every build has all variants, but may lack the kernels
        /// of some.
        ///
        /// ```
        /// use flex::{DType, dtype::Class};
        /// let d = DType::BF16;
        /// assert_eq!((d.name(), d.size(), d.class()), ("bfloat16", 2, Class::Half));
        /// assert!(d.is_float() && d.is_signed() && !d.is_integer() && !d.is_complex() && !d.is_bool());
        /// assert!(d.is_available() && d.feature() == "half");
        /// assert!(DType::F8E4M3.is_storage() && DType::ALL.contains(&d));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DType { $($(#[doc = $name] $V,)*)* }

        impl DType {
            /// All dtypes, in the order of the table.
            pub const ALL: [DType; [$($($bits),*),*].len()] = [$($(DType::$V),*),*];
            /// The array API standard's name: `"float32"`.
            pub const fn name(self) -> &'static str { const T: &[&str] = &[$($($name),*),*]; T[self as usize] }
            /// Bytes of one element.
            #[inline(always)]
            pub const fn size(self) -> usize { const T: &[u8] = &[$($($bits / 8),*),*]; T[self as usize] as usize }
            /// The kind of its values.
            #[inline(always)]
            pub const fn class(self) -> Class { match self { $($(DType::$V)|* => Class::$Class),* } }
            /// The struct module's character for it (PEP 3118); empty for bfloat16 and float8,
            /// which have none.
            ///
            /// ```
            /// assert_eq!((flex::DType::F32.format(), flex::DType::BF16.format()), ("f", ""));
            /// ```
            pub const fn format(self) -> &'static str { const T: &[&str] = &[$($($fmt),*),*]; T[self as usize] }
            /// DLPack's type code (`DLDataTypeCode`).
            ///
            /// ```
            /// assert_eq!((flex::DType::I8.dlpack_code(), flex::DType::BF16.dlpack_code()), (0, 4));
            /// ```
            pub const fn dlpack_code(self) -> u8 { const T: &[u8] = &[$($($dl),*),*]; T[self as usize] }
            /// Its name in a safetensors header; empty for complex128, which has none.
            ///
            /// ```
            /// assert_eq!(flex::DType::F8E5M2.safetensors(), "F8_E5M2");
            /// ```
            pub const fn safetensors(self) -> &'static str { const T: &[&str] = &[$($($st),*),*]; T[self as usize] }
            /// The cargo feature that enables its kernels; empty if they are always there.
            pub const fn feature(self) -> &'static str { const T: &[&str] = &[$($($feature),*),*]; T[self as usize] }
            /// Whether this build has its kernels.
            pub const fn is_available(self) -> bool { const T: &[bool] = &[$($(cfg!($($cfg)*)),*),*]; T[self as usize] }
        }
        // SAFETY: each row has a type and its size; numbers, and Bool over any byte, have no
        // padding and no invalid bytes.
        $($(#[cfg($($cfg)*)] unsafe impl Element for $T { const DTYPE: DType = DType::$V; })*)*
    };
}
/// A Rust type of the table. `bool` may be used in place of [`Bool`] to pass values.
///
/// # Safety
/// The type has the size of [`Element::DTYPE`] and no padding; bytes of that size are a valid value
/// if `valid` accepts them.
///
/// ```
/// use flex::{DType, Element, Tensor};
/// /// The largest element of a tensor of any dtype that `T` is.
/// fn largest<T: Element + PartialOrd>(x: &Tensor) -> flex::Result<T> {
///     let x = x.iter::<T>()?;
///     Ok(x.fold(T::default(), |a, b| if b > a { b } else { a }))
/// }
/// assert_eq!(<u8 as Element>::DTYPE, DType::U8);
/// assert_eq!(largest::<u8>(&Tensor::from([3u8, 7, 5]))?, 7);
/// # Ok::<(), flex::Error>(())
/// ```
pub unsafe trait Element:
    Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static
{
    /// Its dtype.
    const DTYPE: DType;
    /// Whether these bytes are valid values of the type; only `bool` has invalid ones.
    #[doc(hidden)]
    fn valid(_bytes: &[u8]) -> bool {
        true
    }
    /// Loads an element from memory; a bool as `bool` whatever its byte.
    ///
    /// # Safety
    /// `p` is an element of the dtype, readable and aligned.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn load(p: *const Self) -> Self {
        // SAFETY: by the caller's promise; any bytes are a value, except for types that override
        // this.
        unsafe { *p }
    }
}
// SAFETY: one byte; `valid` refuses bytes that are not a bool, and `load` accepts any byte.
unsafe impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|b| *b <= 1)
    }
    #[inline(always)]
    unsafe fn load(p: *const bool) -> bool {
        // SAFETY: one byte, by the caller's promise.
        unsafe { *(p as *const u8) != 0 }
    }
}
dtypes!(make!);

/// Types of the slices that loops pass to kernels, with an alignment of at most their size and at
/// most 16: any bytes of the size are a value, and there is no padding ([`bytemuck::Pod`]). These
/// are the types of the table ([`Bool`], never `bool`), and the integers that stand for an element
/// of their width where elements are only moved.
///
/// ```
/// fn bytes<T: flex::dtype::Pod>(x: &[T]) -> usize {
///     size_of_val(x)
/// }
/// assert_eq!(bytes(&[1.0f32, 2.0]), 8);
/// ```
pub trait Pod: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Pod for T {}

/// Types that are elements even if the build has no kernels for them: bytes and indices, which are
/// read and moved.
macro_rules! storage_only {
    ($($feature:literal: $($T:ident $V:ident),*;)*) => { $($(
        #[cfg(not(feature = $feature))]
        // SAFETY: the type and its dtype, as in the table.
        unsafe impl Element for $T { const DTYPE: DType = DType::$V; }
    )*)* };
}
storage_only! { "i8": i8 I8, u8 U8; "i32": i32 I32; "i64": i64 I64; }

impl DType {
    /// Whether the build has kernels for signed integers of `bytes` bytes.
    pub(crate) const fn has_integers(bytes: usize) -> bool {
        match bytes {
            1 => cfg!(feature = "i8"),
            2 => cfg!(feature = "ints"),
            4 => cfg!(feature = "i32"),
            _ => cfg!(feature = "i64"),
        }
    }
    /// The default for floats: the dtype of `1 / 2` of integers and of `zeros(3)`.
    pub const DEFAULT_FLOAT: DType = DType::F32;
    /// The default for integers.
    pub const DEFAULT_INT: DType = DType::I64;
    /// The default for complex numbers.
    pub const DEFAULT_COMPLEX: DType = DType::Complex64;

    /// The dtype of this name.
    ///
    /// ```
    /// assert_eq!(flex::DType::from_name("bfloat16"), Some(flex::DType::BF16));
    /// ```
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.name() == name)
    }
    /// Whether it is bool.
    pub const fn is_bool(self) -> bool {
        matches!(self.class(), Class::Boolean)
    }
    /// Whether it is an integer, signed or not; bool is not.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }
    /// Whether it is a real float, of any size.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float8 | Class::Half | Class::Float)
    }
    /// Whether it is complex.
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), Class::Complex)
    }
    /// Whether its elements are stored, moved and converted, but not computed with: float8.
    pub const fn is_storage(self) -> bool {
        matches!(self.class(), Class::Float8)
    }
    /// Whether it has negative values.
    pub const fn is_signed(self) -> bool {
        !matches!(self.class(), Class::Boolean | Class::Unsigned)
    }
    /// The lowest and the highest value of an integer dtype or bool; those of int64 for other dtypes.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!((DType::I8.integers(), DType::Bool.integers()), ([-128, 127], [0, 1]));
    /// ```
    pub const fn integers(self) -> [i128; 2] {
        let bits = if self.is_integer() {
            8 * self.size()
        } else {
            64
        };
        match self.class() {
            Class::Boolean => [0, 1],
            Class::Unsigned => [0, (1 << bits) - 1],
            _ => [-(1 << (bits - 1)), (1 << (bits - 1)) - 1],
        }
    }
    /// The signed integer dtype of an unsigned one's width, for operations whose bits don't depend on
    /// the sign; others as they are.
    pub(crate) const fn signless(self) -> DType {
        match self {
            DType::U8 => DType::I8,
            DType::U16 => DType::I16,
            DType::U32 => DType::I32,
            DType::U64 => DType::I64,
            other => other,
        }
    }
    /// The alignment of an element's address (TENSOR2): its size, but at most that of `u64`, since
    /// kernels move elements as integers of their width. For complex numbers this is more than
    /// Rust's alignment of the type.
    #[doc(hidden)]
    pub const fn align(self) -> usize {
        let most = align_of::<u64>();
        if self.size() < most {
            self.size()
        } else {
            most
        }
    }
    /// The dtype of its real part: float32 for complex64, itself for real dtypes.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!((DType::Complex64.real(), DType::BF16.real()), (DType::F32, DType::BF16));
    /// ```
    pub const fn real(self) -> DType {
        match self {
            DType::Complex64 => DType::F32,
            DType::Complex128 => DType::F64,
            d => d,
        }
    }
    /// The complex dtype that holds its values: complex128 for float64 and complex128, else
    /// complex64.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!((DType::F64.complex(), DType::I8.complex()), (DType::Complex128, DType::Complex64));
    /// ```
    pub const fn complex(self) -> DType {
        if matches!(self, DType::F64 | DType::Complex128) {
            DType::Complex128
        } else {
            DType::Complex64
        }
    }
    /// The dtype in which `exp` and `/` compute: itself for floats and complex numbers, the default
    /// float for integers and bool.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!((DType::I64.inexact(), DType::F16.inexact()), (DType::F32, DType::F16));
    /// ```
    pub const fn inexact(self) -> DType {
        match self.class() {
            Class::Boolean | Class::Signed | Class::Unsigned => DType::DEFAULT_FLOAT,
            _ => self,
        }
    }
    /// The dtype that it is computed in: float32 for 16-bit floats, itself for the rest.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!((DType::F16.wide(), DType::F64.wide()), (DType::F32, DType::F64));
    /// ```
    pub const fn wide(self) -> DType {
        if matches!(self.class(), Class::Half) {
            DType::F32
        } else {
            self
        }
    }
    /// The smallest dtype that both convert to (the array API's type promotion; for bool and 16-bit
    /// floats the crate's own rules).
    ///
    /// Errors if there is none: uint64 with a signed integer, float8 with any other dtype.
    ///
    /// ```
    /// use flex::DType;
    /// assert_eq!(DType::U8.promote(DType::I8, "add")?, DType::I16);
    /// assert_eq!(DType::I64.promote(DType::BF16, "add")?, DType::BF16);
    /// assert_eq!(DType::F16.promote(DType::BF16, "add")?, DType::F32);
    /// assert!(DType::U64.promote(DType::I64, "add").is_err());
    /// assert!(DType::F8E4M3.promote(DType::F32, "add").is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn promote(self, other: DType, op: &'static str) -> Result<DType> {
        use Class::*;
        if self == other {
            return Ok(self);
        }
        // by class, then by size
        let (a, b) = if (self.class(), self.size()) <= (other.class(), other.size()) {
            (self, other)
        } else {
            (other, self)
        };
        Ok(match (a.class(), b.class()) {
            (Float8, _) | (_, Float8) => {
                return Err(Error::dtype(
                    op,
                    message!("{self} with {other} has no common dtype: convert one with astype"),
                ));
            }
            (Boolean, _) => b,
            (Signed, Unsigned) if b.size() < a.size() => a,
            (Signed, Unsigned) => match b {
                DType::U8 => DType::I16,
                DType::U16 => DType::I32,
                DType::U32 => DType::I64,
                _ => {
                    return Err(Error::dtype(
                        op,
                        message!(
                            "{self} with {other} has no common integer dtype: convert one with astype"
                        ),
                    ));
                }
            },
            (Half, Half) => DType::F32,
            (Float, Complex) if a.size() == 8 => DType::Complex128,
            _ => b,
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
