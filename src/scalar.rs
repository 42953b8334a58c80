//! A number without a dtype of its own: it takes the dtype of the tensor that it is combined with,
//! and must fit it.

use crate::dtype::{Bool, Class, DType, Element};
use crate::error::{Error, Result};
#[cfg(any(feature = "half", feature = "float8"))]
use core::cmp::Ordering;

/// A weak scalar, like Python's numbers: it takes the dtype of the tensors beside it, rounded to
/// that dtype before anything is computed.
///
/// ```
/// use flex::{DType, Scalar, dtype::Class};
/// let x = Scalar::from(2.5);
/// assert_eq!((x.class(), x.default_dtype(), x.to_f64()), (Class::Float, DType::F32, 2.5));
/// assert!(x.to_bool() && x.imag() == 0.0);
/// assert_eq!(Scalar::from(1u64 << 63).default_dtype(), DType::U64);
/// assert_eq!(Scalar::from(vec![0; 3].len()), Scalar::Int(3)); // of any type of numbers, usize too
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any of the integer dtypes.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
}

/// The bytes of one element, aligned for any dtype.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct ElementBytes([u8; 16]);

impl ElementBytes {
    /// One element.
    pub fn of<T: Element>(x: T) -> ElementBytes {
        let mut v = ElementBytes([0; 16]);
        const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16) };
        // SAFETY: an element fits the 16 aligned bytes, by the line above.
        unsafe { (v.0.as_mut_ptr() as *mut T).write(x) };
        v
    }
    /// A copy of one element of `size` bytes.
    ///
    /// # Safety
    /// `size` initialised bytes, at most 16, are readable at `p`.
    pub unsafe fn read(p: *const u8, size: usize) -> ElementBytes {
        let mut v = ElementBytes([0; 16]);
        // SAFETY: by the caller's promise there are `size` bytes, which fit `v`.
        unsafe { core::ptr::copy_nonoverlapping(p, v.0.as_mut_ptr(), size) };
        v
    }
    /// The element as `T`, which must be its type; `None` if the bytes are not a valid `T`.
    pub fn get<T: Element>(&self) -> Option<T> {
        // SAFETY: aligned for any dtype and initialised; `valid` holds for every type but bool,
        // whose bytes are checked.
        T::valid(&self.0[..size_of::<T>()]).then(|| unsafe { (self.0.as_ptr() as *const T).read() })
    }
    /// Replaces lane `k`, of `size` bytes, by another value.
    #[cfg(feature = "std")]
    pub(crate) fn set_lane(&mut self, k: usize, x: &ElementBytes, size: usize) {
        self.0[k * size..(k + 1) * size].copy_from_slice(&x.0[..size]);
    }
    /// A pointer to its bytes.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

impl Scalar {
    /// The class of its kind: `Signed` for integers, `Float` for floats.
    pub fn class(self) -> Class {
        match self {
            Scalar::Bool(_) => Class::Boolean,
            Scalar::Int(_) => Class::Signed,
            Scalar::Float(_) => Class::Float,
            Scalar::Complex(..) => Class::Complex,
        }
    }
    /// The dtype of a tensor made from the scalar alone: bool, int64, float32 or complex64; uint64
    /// for integers beyond int64.
    pub fn default_dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(x) if x > i64::MAX as i128 => DType::U64,
            Scalar::Int(_) => DType::DEFAULT_INT,
            Scalar::Float(_) => DType::DEFAULT_FLOAT,
            Scalar::Complex(..) => DType::DEFAULT_COMPLEX,
        }
    }
    /// The result dtype of an operation with a tensor of `dtype`: that dtype, unless the scalar is
    /// of a higher kind (a float with integers gives the default float, a complex with floats their
    /// complex dtype).
    ///
    /// ```
    /// use flex::{DType, Scalar};
    /// assert_eq!(Scalar::from(2.5).promote(DType::BF16), DType::BF16);
    /// assert_eq!(Scalar::from(2.5).promote(DType::I32), DType::F32);
    /// assert_eq!(Scalar::from(3).promote(DType::Bool), DType::I64);
    /// ```
    pub fn promote(self, dtype: DType) -> DType {
        match self {
            Scalar::Bool(_) => dtype,
            Scalar::Int(_) if dtype.is_bool() => DType::DEFAULT_INT,
            Scalar::Int(_) => dtype,
            Scalar::Float(_) => dtype.inexact(),
            // no operation is defined for float8, so there is nothing to promote to
            Scalar::Complex(..) if dtype.is_storage() => dtype,
            Scalar::Complex(..) => dtype.complex(),
        }
    }
    /// The number as an element of a 16-bit float has it; for other dtypes the number itself, which
    /// [`value`](Scalar::value) rounds.
    pub(crate) fn rounded(self, dtype: DType) -> Scalar {
        match (self, dtype) {
            (Scalar::Complex(..), _) => self,
            #[cfg(feature = "half")]
            (_, DType::F16) => Scalar::Float(crate::dtype::f16::from_f32(self.to_odd()).to_f64()),
            #[cfg(feature = "half")]
            (_, DType::BF16) => Scalar::Float(crate::dtype::bf16::from_f32(self.to_odd()).to_f64()),
            _ => self,
        }
    }
    /// Whether both are the same number, bit for bit: -0.0 is not 0.0, and a NaN equals itself.
    #[cfg(feature = "std")]
    pub(crate) fn is(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Float(x), Scalar::Float(y)) => x.to_bits() == y.to_bits(),
            (Scalar::Complex(x, y), Scalar::Complex(z, w)) => {
                [x, y].map(|x| x.to_bits()) == [z, w].map(|x| x.to_bits())
            }
            (x, y) => x == y,
        }
    }
    /// Its real part.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(x) => x as u8 as f64,
            Scalar::Int(x) => x as f64,
            Scalar::Float(x) | Scalar::Complex(x, _) => x,
        }
    }
    /// Whether it is not zero; NaN is true.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(x) => x,
            Scalar::Int(x) => x != 0,
            Scalar::Float(x) => x != 0.0,
            Scalar::Complex(x, y) => x != 0.0 || y != 0.0,
        }
    }
    /// Converts it to an element of a requested dtype, like `astype`: floats are truncated for an
    /// integer dtype, and everything becomes `x != 0` for bool. But a literal number has to fit:
    /// errors if an integer dtype can't hold it (NaN and infinities included), and if it is complex
    /// and the dtype is not.
    ///
    /// ```
    /// use flex::{DType, Scalar};
    /// assert_eq!(Scalar::from(-2.7).cast(DType::I8, "full")?.get::<i8>(), Some(-2));
    /// assert!(Scalar::from(300.0).cast(DType::I8, "full").is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn cast(self, dtype: DType, op: &'static str) -> Result<ElementBytes> {
        match self {
            _ if dtype.is_bool() => Scalar::Bool(self.to_bool()).value(dtype, op),
            Scalar::Float(x) if dtype.is_integer() => {
                // what fits an integer dtype fits i128, and the cast saturates at the ends of i128
                let truncated = if x.is_nan() { i128::MAX } else { x as i128 };
                // the message shows the number as given
                Scalar::Int(truncated)
                    .value(dtype, op)
                    .map_err(|e| match e {
                        Error::Range { .. } => out_of_range(self, dtype, op),
                        e => e,
                    })
            }
            Scalar::Complex(..) if !dtype.is_complex() => Err(Error::dtype(
                op,
                message!("{self} as {dtype} would lose the imaginary part"),
            )),
            s => s.value(dtype, op),
        }
    }
    /// Converts it to an element of the dtype of the tensor that it is combined with; floats are
    /// rounded. Errors if an integer dtype can't hold it, or if it is of a higher kind than the
    /// dtype (a float for an integer dtype).
    ///
    /// ```
    /// use flex::{DType, Scalar};
    /// assert_eq!(Scalar::from(0.1).value(DType::F32, "add")?.get::<f32>(), Some(0.1));
    /// assert!(Scalar::from(0.5).value(DType::I8, "add").is_err());
    /// assert!(Scalar::from(300).value(DType::I8, "add").is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn value(self, dtype: DType, op: &'static str) -> Result<ElementBytes> {
        let fits = match dtype.class() {
            Class::Boolean => self.class() == Class::Boolean,
            Class::Signed | Class::Unsigned => self.class() <= Class::Signed,
            Class::Float8 | Class::Half | Class::Float => self.class() <= Class::Float,
            Class::Complex => true,
        };
        if !fits {
            return Err(Error::dtype(
                op,
                message!(
                    "{self} is not a value of {dtype}: take another dtype, or convert the tensor with astype"
                ),
            ));
        }
        let int = match self {
            Scalar::Int(x) => x,
            s => s.to_bool() as i128,
        };
        dispatch!(all dtype, |T| <T as FromScalar>::from_scalar(self, int).map(ElementBytes::of), else return Err(Error::unsupported(op, dtype)))
            .ok_or_else(|| out_of_range(self, dtype, op))
    }
}

#[cold]
fn out_of_range(x: Scalar, dtype: DType, op: &'static str) -> Error {
    Error::Range {
        op,
        message: message!("{x} is out of range for {dtype}").into(),
    }
}

/// Converts a scalar of a suitable kind to an element type; `None` if the number is out of range.
trait FromScalar: Element {
    fn from_scalar(s: Scalar, int: i128) -> Option<Self>;
}
macro_rules! from_scalar {
    ($($(#[$cfg:meta])* $T:ty, |$s:ident, $int:ident| $e:expr;)*) => { $(
        $(#[$cfg])* impl FromScalar for $T { #[allow(unused_variables)] fn from_scalar($s: Scalar, $int: i128) -> Option<$T> { $e } }
    )* };
}
macro_rules! from_int { ($($(#[$cfg:meta])* $T:ty),*) => { from_scalar! { $($(#[$cfg])* $T, |s, int| <$T>::try_from(int).ok();)* } } }
from_int!(i8, i32, i64, u8);
#[cfg(feature = "ints")]
from_int!(i16, u16, u32, u64);
from_scalar! {
    Bool, |s, int| Some(s.to_bool().into());
    f32, |s, int| Some(if let Scalar::Int(x) = s { x as f32 } else { s.to_f64() as f32 });
    #[cfg(feature = "f64")] f64, |s, int| Some(s.to_f64());
    #[cfg(feature = "half")] crate::dtype::f16, |s, int| Some(crate::dtype::f16::from_f32(s.to_odd()));
    #[cfg(feature = "half")] crate::dtype::bf16, |s, int| Some(crate::dtype::bf16::from_f32(s.to_odd()));
    #[cfg(feature = "float8")] crate::dtype::F8E4M3, |s, int| Some(crate::dtype::F8E4M3::from_f32(s.to_odd()));
    #[cfg(feature = "float8")] crate::dtype::F8E5M2, |s, int| Some(crate::dtype::F8E5M2::from_f32(s.to_odd()));
    #[cfg(feature = "complex")] crate::dtype::Complex64, |s, int| Some(crate::dtype::Complex64::new(s.to_f64() as f32, s.imag() as f32));
    #[cfg(all(feature = "complex", feature = "f64"))] crate::dtype::Complex128, |s, int| Some(crate::dtype::Complex128::new(s.to_f64(), s.imag()));
}
impl Scalar {
    /// Its real part as a float32 rounded to odd, so that rounding that to a 16- or 8-bit float is
    /// a single rounding of the number (Boldo and Melquiond 2008).
    #[cfg(any(feature = "half", feature = "float8"))]
    fn to_odd(self) -> f32 {
        // the nearest float32, and whether its magnitude is above or below the number's
        let (y, beyond) = match self {
            Scalar::Int(x) => (
                x as f32,
                (x as f32 as i128).unsigned_abs().cmp(&x.unsigned_abs()),
            ),
            s => (
                s.to_f64() as f32,
                (s.to_f64() as f32 as f64)
                    .abs()
                    .partial_cmp(&s.to_f64().abs())
                    .unwrap_or(Ordering::Equal),
            ),
        };
        match beyond {
            _ if y.is_infinite() => y,
            Ordering::Equal => y,
            Ordering::Greater => f32::from_bits((y.to_bits() - 1) | 1),
            Ordering::Less => f32::from_bits(y.to_bits() | 1),
        }
    }
    /// Its imaginary part.
    pub fn imag(self) -> f64 {
        if let Scalar::Complex(_, y) = self {
            y
        } else {
            0.0
        }
    }
}

/// A number in a message: by its exponent where it would have dozens of digits.
pub struct Shown(pub f64);

impl core::fmt::Display for Shown {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0.abs() {
            0.0 | 1e-5..1e16 => self.0.fmt(f),
            _ => core::fmt::LowerExp::fmt(&self.0, f),
        }
    }
}

impl core::fmt::Display for Scalar {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Scalar::Bool(x) => x.fmt(f),
            Scalar::Int(x) => x.fmt(f),
            Scalar::Float(x) => core::fmt::Debug::fmt(x, f),
            Scalar::Complex(x, y) => write!(f, "({x}{y:+}j)"),
        }
    }
}
macro_rules! from {
    ($($(#[$cfg:meta])* $T:ty => |$x:ident| $scalar:expr;)*) => { $(
        $(#[$cfg])* impl From<$T> for Scalar { fn from($x: $T) -> Scalar { $scalar } }
    )* };
    ($($T:ty)* => $V:ident) => { from! { $($T => |x| Scalar::$V(x.into());)* } };
}
from!(bool => Bool);
from!(i8 i16 i32 i64 i128 u8 u16 u32 u64 => Int);
from!(f32 f64 => Float);
from! {
    usize => |x| Scalar::Int(x as i128);
    isize => |x| Scalar::Int(x as i128);
    #[cfg(feature = "half")] crate::dtype::f16 => |x| Scalar::Float(x.to_f64());
    #[cfg(feature = "half")] crate::dtype::bf16 => |x| Scalar::Float(x.to_f64());
    #[cfg(feature = "complex")] crate::dtype::Complex64 => |x| Scalar::Complex(x.re.into(), x.im.into());
    #[cfg(feature = "complex")] num_complex::Complex<f64> => |x| Scalar::Complex(x.re, x.im);
}
