//! The list of elementwise operations: one row each; data, not code.
//!
//! A row is `Name function arity rule cost { class |operands| body; .. }`. From it come a
//! zero-sized type with a kernel for each class of dtypes, a function (which links that row only),
//! an [`Op`] variant and its line of the dynamic table, the Python function, and its lines of the
//! coverage test.
//!
//! Rules, for the dtype of the result:
//! - `same`: the operands' common dtype.
//! - `float`: the same, integers and bool being converted to the default float before.
//! - `bool`: bool.
//! - `real`: the dtype of the real part.
//! - `select`: the common dtype of all operands but the first, which is bool.
//!
//! The cost is that of an element, in operations as one lane of a vector does them (`par::Cost`),
//! roughly: it decides on threads, not on bits.
//!
//! Classes, the first that has the dtype counts:
//! - `boolean`; `sint`, `uint`, `int` (both, a body each); `wint`: integers whose sign is of no
//!   meaning, a body a width.
//! - `float`: float32 and float64, and the 16-bit floats, which are computed in float32 and rounded
//!   once.
//! - `half`: 16-bit floats as they are.
//! - `direct`: 16-bit floats computed by the float32 body in one loop, where that body costs less
//!   than to widen and narrow.
//! - `complex`; `pair`: what `float` has, and complex numbers as pairs of those.
//! - `bits`: every dtype, moved by its width.
//!
//! A body may end in `, far(condition) expr`: elements for which the condition holds are computed
//! by `expr` afterwards. The body may give anything for those, and the bits of `expr` for all
//! others.

/// How the result's dtype follows from the operands': see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The common dtype.
    Same,
    /// The common dtype, integers as the default float.
    Float,
    /// bool.
    Bool,
    /// The real part's dtype.
    Real,
    /// The common dtype of all operands but the first, a bool.
    Select,
}

/// `operations!(callback! { prefix })` calls `callback! { prefix rows }`.
macro_rules! operations {
    ($callback:ident! { $($prefix:tt)* }) => { $callback! { $($prefix)*
        // arithmetic
        /// Sum.
        Add add 2 same 4 { wint |a, b| a.wrapping_add(b); direct |a, b| (); pair |a, b| a + b; }
        /// Difference.
        Subtract subtract 2 same 4 { wint |a, b| a.wrapping_sub(b); direct |a, b| (); pair |a, b| a - b; }
        /// Product.
        Multiply multiply 2 same 4 { wint |a, b| a.wrapping_mul(b); direct |a, b| (); float |a, b| a * b; complex |a, b| ComplexMath::multiply::<I>(a, b); }
        /// Quotient; of integers in the default float.
        Divide divide 2 float 4 { direct |a, b| (); float |a, b| a / b; complex |a, b| ComplexMath::divide::<I>(a, b); }
        /// Floor of the quotient. Integer division by zero is an error.
        FloorDivide floor_divide 2 same 16 { sint |a, b| Int::floor_divide_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::floor_divide::<I>(a, b); uint |a, b| Int::floor_divide_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::floor_divide::<I>(a, b); float |a, b| Real::floor_divide_near::<I>(a, b), far(Real::is_fmod_far::<I>(a, b)) Real::floor_divide::<I>(a, b); }
        /// Remainder with the sign of the divisor. Integer division by zero is an error.
        Remainder remainder 2 same 16 { sint |a, b| Int::remainder_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::remainder::<I>(a, b); uint |a, b| Int::remainder_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::remainder::<I>(a, b); float |a, b| Real::remainder_near::<I>(a, b), far(Real::is_fmod_far::<I>(a, b)) Real::remainder::<I>(a, b); }
        /// Remainder with the sign of the dividend. Integer division by zero is an error.
        Fmod fmod 2 same 16 { sint |a, b| Int::fmod_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::fmod::<I>(a, b); uint |a, b| Int::fmod_near::<I>(a, b), far(Int::is_division_far(a, b)) Int::fmod::<I>(a, b); float |a, b| Real::fmod_near::<I>(a, b), far(Real::is_fmod_far::<I>(a, b)) Real::fmod::<I>(a, b); }
        /// The first to the power of the second. Negative exponents of integers are an error.
        Pow pow 2 same 64 { int |a, b| Int::power(a, b); float |a, b| Real::pow_near::<I>(a, b), far(Real::is_pow_far(a, b)) Math::pow::<I>(a, b); complex |a, b| Math::pow::<I>(a, b); }
        /// The larger; NaN where either is.
        Maximum maximum 2 same 4 { boolean |a, b| Bool(a.0 | b.0).normal(); int |a, b| if a > b { a } else { b }; direct |a, b| (); float |a, b| Real::maximum::<I>(a, b); }
        /// The smaller; NaN where either is.
        Minimum minimum 2 same 4 { boolean |a, b| Bool(a.normal().0 & b.normal().0); int |a, b| if a < b { a } else { b }; direct |a, b| (); float |a, b| Real::minimum::<I>(a, b); }
        /// The nearest value from `min` to `max`: `minimum(maximum(x, min), max)`.
        Clip clip 3 same 4 { int |x, min, max| { let x = if x > min { x } else { min }; if x < max { x } else { max } }; float |x, min, max| Real::minimum::<I>(Real::maximum::<I>(x, min), max); }
        /// `-x`; the smallest integer gives itself.
        Negative negative 1 same 4 { wint |x| x.wrapping_neg(); direct |x| (); pair |x| -x; }
        /// x itself.
        Positive positive 1 same 4 { wint |x| x; pair |x| x; }
        /// Magnitude; the smallest integer gives itself. Of complex numbers a real.
        Abs abs 1 real 4 { sint |x| x.wrapping_abs(); uint |x| x; direct |x| (); float |x| Real::abs::<I>(x); complex |x| ComplexMath::abs::<I>(x); }
        /// -1, 0 or 1; `z / |z|` of complex numbers.
        Sign sign 1 same 4 { sint |x| Int::sign(x); uint |x| x.min(1); float |x| Math::sign::<I>(x); complex |x| Math::sign::<I>(x); }
        /// `x * x`.
        Square square 1 same 4 { wint |x| x.wrapping_mul(x); direct |x| (); float |x| x * x; complex |x| Math::square::<I>(x); }
        /// `1 / x`.
        Reciprocal reciprocal 1 float 4 { float |x| Math::reciprocal::<I>(x); complex |x| Math::reciprocal::<I>(x); }
        /// Square root.
        Sqrt sqrt 1 float 16 { float |x| Math::sqrt::<I>(x); complex |x| Math::sqrt::<I>(x); }
        /// `1 / sqrt(x)`.
        Rsqrt rsqrt 1 float 16 { float |x| Real::rsqrt::<I>(x); }
        /// Length of the hypotenuse.
        Hypot hypot 2 float 16 { float |a, b| Real::hypot::<I>(a, b); }
        /// The first's magnitude with the second's sign.
        Copysign copysign 2 float 4 { float |a, b| Real::copysign::<I>(a, b); }
        /// The next value from the first towards the second.
        Nextafter nextafter 2 float 16 { half |a, b| next_half(a, b); float |a, b| Real::nextafter::<I>(a, b); }
        /// Whether the sign bit is set.
        Signbit signbit 1 bool 4 { sint |x| Bool((x < 0) as u8); uint |x| { let _ = x; Bool(0) }; float |x| Bool(x.is_sign_negative() as u8); }
        // rounding
        /// The largest integer not above.
        Floor floor 1 same 4 { wint |x| x; float |x| Real::floor::<I>(x); }
        /// The smallest integer not below.
        Ceil ceil 1 same 4 { wint |x| x; float |x| Real::ceil::<I>(x); }
        /// The integer towards zero.
        Trunc trunc 1 same 4 { wint |x| x; float |x| Real::trunc::<I>(x); }
        /// The nearest integer, ties to even.
        Round round 1 same 4 { wint |x| x; pair |x| Real::round::<I>(x); }
        // exponentials and logarithms
        /// e to the power of x.
        Exp exp 1 float 32 { float |x| Real::exp_near::<I>(x), far(Real::is_exp_far(x)) Math::exp::<I>(x); complex |x| Math::exp::<I>(x); }
        /// 2 to the power of x.
        Exp2 exp2 1 float 32 { float |x| Math::exp2::<I>(x); complex |x| Math::exp2::<I>(x); }
        /// `exp(x) - 1` without cancellation.
        Expm1 expm1 1 float 48 { float |x| Math::expm1::<I>(x); complex |x| Math::expm1::<I>(x); }
        /// Natural logarithm.
        Log log 1 float 32 { float |x| Real::log_near::<I>(x), far(Real::is_log_far(x)) Math::log::<I>(x); complex |x| Math::log::<I>(x); }
        /// `log(1 + x)` without cancellation.
        Log1p log1p 1 float 48 { float |x| Math::log1p::<I>(x); complex |x| Math::log1p::<I>(x); }
        /// Logarithm to base 2.
        Log2 log2 1 float 32 { float |x| Math::log2::<I>(x); complex |x| Math::log2::<I>(x); }
        /// Logarithm to base 10.
        Log10 log10 1 float 32 { float |x| Math::log10::<I>(x); complex |x| Math::log10::<I>(x); }
        /// `log(exp(a) + exp(b))` without overflow.
        Logaddexp logaddexp 2 float 64 { float |a, b| Real::logaddexp::<I>(a, b); }
        // trigonometry
        /// Sine.
        Sin sin 1 float 48 { float |x| Real::sin_near::<I>(x), far(Real::is_far(x)) Math::sin::<I>(x); complex |x| Math::sin::<I>(x); }
        /// Cosine.
        Cos cos 1 float 48 { float |x| Real::cos_near::<I>(x), far(Real::is_far(x)) Math::cos::<I>(x); complex |x| Math::cos::<I>(x); }
        /// Tangent.
        Tan tan 1 float 64 { float |x| Real::tan_near::<I>(x), far(Real::is_far(x)) Math::tan::<I>(x); complex |x| Math::tan::<I>(x); }
        /// Inverse sine.
        Asin asin 1 float 64 { float |x| Math::asin::<I>(x); complex |x| Math::asin::<I>(x); }
        /// Inverse cosine.
        Acos acos 1 float 64 { float |x| Math::acos::<I>(x); complex |x| Math::acos::<I>(x); }
        /// Inverse tangent.
        Atan atan 1 float 48 { float |x| Math::atan::<I>(x); complex |x| Math::atan::<I>(x); }
        /// The angle of the point (second, first).
        Atan2 atan2 2 float 64 { float |a, b| Real::atan2::<I>(a, b); }
        /// Hyperbolic sine.
        Sinh sinh 1 float 48 { float |x| Math::sinh::<I>(x); complex |x| Math::sinh::<I>(x); }
        /// Hyperbolic cosine.
        Cosh cosh 1 float 48 { float |x| Math::cosh::<I>(x); complex |x| Math::cosh::<I>(x); }
        /// Hyperbolic tangent.
        Tanh tanh 1 float 48 { float |x| Math::tanh::<I>(x); complex |x| Math::tanh::<I>(x); }
        /// Inverse hyperbolic sine.
        Asinh asinh 1 float 64 { float |x| Math::asinh::<I>(x); complex |x| Math::asinh::<I>(x); }
        /// Inverse hyperbolic cosine.
        Acosh acosh 1 float 64 { float |x| Math::acosh::<I>(x); complex |x| Math::acosh::<I>(x); }
        /// Inverse hyperbolic tangent.
        Atanh atanh 1 float 64 { float |x| Math::atanh::<I>(x); complex |x| Math::atanh::<I>(x); }
        // statistics and activations
        /// Error function.
        Erf erf 1 float 48 { float |x| Real::erf::<I>(x); }
        /// `1 - erf(x)` without cancellation.
        Erfc erfc 1 float 64 { float |x| Real::erfc::<I>(x); }
        /// `1 / (1 + exp(-x))`.
        Sigmoid sigmoid 1 float 32 { float |x| Real::sigmoid_near::<I>(x), far(Real::is_exp_far(x)) Real::sigmoid::<I>(x); }
        /// `max(x, 0)`.
        Relu relu 1 same 4 { sint |x| x.max(0); uint |x| x; direct |x| (); float |x| Real::maximum::<I>(x, 0.0); }
        /// `x / 2 * (1 + erf(x / sqrt(2)))` (Hendrycks and Gimpel 2016).
        Gelu gelu 1 float 48 { float |x| Real::gelu::<I>(x); }
        /// The approximation of gelu by tanh.
        GeluTanh gelu_tanh 1 float 48 { float |x| Real::gelu_tanh::<I>(x); }
        /// `x * sigmoid(x)`.
        Silu silu 1 float 32 { float |x| Real::silu_near::<I>(x), far(Real::is_exp_far(x)) Real::silu::<I>(x); }
        // comparisons
        /// Whether equal.
        Equal equal 2 bool 4 { boolean |a, b| Bool((a == b) as u8); wint |a, b| Bool((a == b) as u8); direct |a, b| (); float |a, b| Bool((a == b) as u8); complex |a, b| Bool(ComplexMath::equal(a, b) as u8); }
        /// Whether not equal.
        NotEqual not_equal 2 bool 4 { boolean |a, b| Bool((a != b) as u8); wint |a, b| Bool((a != b) as u8); direct |a, b| (); float |a, b| Bool((a != b) as u8); complex |a, b| Bool(!ComplexMath::equal(a, b) as u8); }
        /// Whether the first is less.
        Less less 2 bool 4 { boolean |a, b| Bool((a.normal().0 < b.normal().0) as u8); int |a, b| Bool((a < b) as u8); direct |a, b| (); float |a, b| Bool((a < b) as u8); }
        /// Whether the first is less or equal.
        LessEqual less_equal 2 bool 4 { boolean |a, b| Bool((a.normal().0 <= b.normal().0) as u8); int |a, b| Bool((a <= b) as u8); direct |a, b| (); float |a, b| Bool((a <= b) as u8); }
        /// Whether the first is greater.
        Greater greater 2 bool 4 { boolean |a, b| Bool((a.normal().0 > b.normal().0) as u8); int |a, b| Bool((a > b) as u8); direct |a, b| (); float |a, b| Bool((a > b) as u8); }
        /// Whether the first is greater or equal.
        GreaterEqual greater_equal 2 bool 4 { boolean |a, b| Bool((a.normal().0 >= b.normal().0) as u8); int |a, b| Bool((a >= b) as u8); direct |a, b| (); float |a, b| Bool((a >= b) as u8); }
        /// Whether finite.
        Isfinite isfinite 1 bool 4 { boolean |x| { let _ = x; Bool(1) }; wint |x| { let _ = x; Bool(1) }; float |x| Bool(x.is_finite() as u8); complex |x| Bool(ComplexMath::isfinite(x) as u8); }
        /// Whether infinite.
        Isinf isinf 1 bool 4 { boolean |x| { let _ = x; Bool(0) }; wint |x| { let _ = x; Bool(0) }; float |x| Bool(x.is_infinite() as u8); complex |x| Bool(ComplexMath::isinf(x) as u8); }
        /// Whether not a number.
        Isnan isnan 1 bool 4 { boolean |x| { let _ = x; Bool(0) }; wint |x| { let _ = x; Bool(0) }; float |x| Bool(x.is_nan() as u8); complex |x| Bool(ComplexMath::isnan(x) as u8); }
        // logic, on whether elements are not zero
        /// Whether both are true (not zero).
        LogicalAnd logical_and 2 bool 4 { boolean |a, b| Bool(a.normal().0 & b.normal().0); wint |a, b| Bool((a != 0) as u8 & (b != 0) as u8); float |a, b| Bool((a != 0.0) as u8 & (b != 0.0) as u8); complex |a, b| Bool((a != Default::default()) as u8 & (b != Default::default()) as u8); }
        /// Whether either is true (not zero).
        LogicalOr logical_or 2 bool 4 { boolean |a, b| Bool(a.0 | b.0).normal(); wint |a, b| Bool((a | b != 0) as u8); float |a, b| Bool((a != 0.0) as u8 | (b != 0.0) as u8); complex |a, b| Bool((a != Default::default()) as u8 | (b != Default::default()) as u8); }
        /// Whether one of them is true (not zero).
        LogicalXor logical_xor 2 bool 4 { boolean |a, b| Bool(a.normal().0 ^ b.normal().0); wint |a, b| Bool((a != 0) as u8 ^ (b != 0) as u8); float |a, b| Bool((a != 0.0) as u8 ^ (b != 0.0) as u8); complex |a, b| Bool((a != Default::default()) as u8 ^ (b != Default::default()) as u8); }
        /// Whether not true (zero).
        LogicalNot logical_not 1 bool 4 { boolean |x| Bool((x.0 == 0) as u8); wint |x| Bool((x == 0) as u8); float |x| Bool((x == 0.0) as u8); complex |x| Bool((x == Default::default()) as u8); }
        // bits
        /// Bits set in both.
        BitwiseAnd bitwise_and 2 same 4 { boolean |a, b| Bool(a.normal().0 & b.normal().0); wint |a, b| a & b; }
        /// Bits set in either.
        BitwiseOr bitwise_or 2 same 4 { boolean |a, b| Bool(a.0 | b.0).normal(); wint |a, b| a | b; }
        /// Bits set in one of them.
        BitwiseXor bitwise_xor 2 same 4 { boolean |a, b| Bool(a.normal().0 ^ b.normal().0); wint |a, b| a ^ b; }
        /// Bits inverted.
        BitwiseInvert bitwise_invert 1 same 4 { boolean |x| Bool((x.0 == 0) as u8); wint |x| !x; }
        /// Bits moved up; 0 from the width on.
        BitwiseLeftShift bitwise_left_shift 2 same 4 { wint |a, b| Int::shift_left(a, b); }
        /// Bits moved down, keeping the sign; 0 or -1 from the width on.
        BitwiseRightShift bitwise_right_shift 2 same 4 { int |a, b| Int::shift_right(a, b); }
        // complex numbers
        /// Complex conjugate.
        Conj conj 1 same 4 { wint |x| x; float |x| x; complex |x| ComplexMath::conj::<I>(x); }
        /// Real part.
        RealPart real 1 real 4 { wint |x| x; float |x| x; complex |x| x.re; }
        /// Imaginary part; zero of real numbers.
        ImagPart imag 1 real 4 { wint |x| { let _ = x; 0 }; float |x| { let _ = x; 0.0 }; complex |x| x.im; }
        // selection
        /// `a` where the condition is true, else `b`.
        Where where_ 3 select 4 { bits |c, a, b| (); }
    } };
}

macro_rules! rule {
    (same) => {
        Rule::Same
    };
    (float) => {
        Rule::Float
    };
    (bool) => {
        Rule::Bool
    };
    (real) => {
        Rule::Real
    };
    (select) => {
        Rule::Select
    };
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $arity:tt $rule:ident $cost:literal { $($body:tt)* })*) => {
        /// An elementwise operation.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $Name),* }
        impl Op {
            /// All of them, in the order of the list.
            pub const ALL: &'static [Op] = &[$(Op::$Name),*];
            /// The name of its function: `"add"`.
            pub const fn name(self) -> &'static str { const T: &[&str] = &[$(plain_name(stringify!($function))),*]; T[self as usize] }
            /// Its number of operands.
            pub const fn arity(self) -> usize { const T: &[u8] = &[$($arity),*]; T[self as usize] as usize }
            /// How the result's dtype follows.
            pub const fn rule(self) -> Rule { const T: &[Rule] = &[$(rule!($rule)),*]; T[self as usize] }
            /// What an element costs, in operations of [`Cost`](crate::par::Cost).
            pub const fn cost(self) -> u8 { const T: &[u8] = &[$($cost),*]; T[self as usize] }
            /// What it computes, in a sentence.
            pub const fn doc(self) -> &'static str { const T: &[&str] = &[$(concat!($($doc),*)),*]; T[self as usize] }
            /// The operation of that name.
            pub fn from_name(name: &str) -> Option<Op> { Op::ALL.iter().copied().find(|o| o.name() == name) }
        }
    };
}
/// Without the underscore that keeps `where_` from being a keyword.
const fn plain_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [rest @ .., b'_'] => match core::str::from_utf8(rest) {
            Ok(s) => s,
            Err(_) => name,
        },
        _ => name,
    }
}
operations!(make! {});
