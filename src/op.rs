//! The table of elementwise operations: one row each; data, not code.
//!
//! A row is `Name function arity Rule cost [Families]`, with ` => nn` for an operation that is in
//! `nn` only, not among the array API's functions: those of one operand are functions there, for
//! the others `nn` has its own signatures. A row generates a zero-sized type with a kernel for each
//! dtype that has one, a function (which links that row only), an [`Op`] variant and its line of
//! the dynamic table, the Python function, and its lines of the coverage test. The computation is
//! in `kernel/elementwise`: an `impl` of `Unary`, `Binary` or `Ternary` for the row's type, for
//! each family of numbers named here. A family without a body, or a body of another arity, does not
//! compile.
//!
//! [`Rule`]s give the dtype of the result, and with it the type that a body returns.
//!
//! The cost is per element, in operations of one lane of a vector (`par::Cost`), roughly: it
//! decides on threads, not on bits.
//!
//! Families; the first that has the dtype is used:
//! - `Boolean`: bool.
//! - `Integer`: integers, with a body for each type.
//! - `SignAgnostic`: integers in two's complement, with one body per width for signed and unsigned
//!   ones.
//! - `Float`: float32 and float64, and the 16-bit floats, which are computed in float32 and rounded
//!   once.
//! - `FusedHalf`: 16-bit floats by the body of `Float` in one loop that widens and narrows, for
//!   bodies that cost less than that.
//! - `Half`: 16-bit floats directly.
//! - `Complex`: complex numbers; `Parts`: complex numbers as twice as many of `Float`.
//! - `Bits`: every dtype, moved by its width.

/// How the result's dtype follows from the operands': see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The common dtype.
    Same,
    /// The common dtype; the default float for integers.
    Float,
    /// bool.
    Bool,
    /// The real part's dtype.
    Real,
    /// The common dtype of all operands but the first, which is bool.
    Select,
}

/// `operations!(callback! { prefix })` calls `callback! { prefix rows }`.
#[doc(hidden)]
#[macro_export]
macro_rules! operations {
    ($callback:ident! { $($prefix:tt)* }) => { $callback! { $($prefix)*
        // arithmetic
        /// Sum.
        Add add 2 Same 4 [SignAgnostic FusedHalf Float Parts]
        /// Difference.
        Subtract subtract 2 Same 4 [SignAgnostic FusedHalf Float Parts]
        /// Product.
        Multiply multiply 2 Same 4 [SignAgnostic FusedHalf Float Complex]
        /// Quotient; the default float for integers.
        Divide divide 2 Float 4 [FusedHalf Float Complex]
        /// Floor of the quotient; with an infinity the quotient itself, so `1 // -inf` is -0, as the
        /// array API standard says. Integer division by zero is an error.
        FloorDivide floor_divide 2 Same 16 [Integer Float]
        /// Remainder with the sign of the divisor. Integer division by zero is an error.
        Remainder remainder 2 Same 16 [Integer Float]
        /// Remainder with the sign of the dividend. Integer division by zero is an error.
        Fmod fmod 2 Same 16 [Integer Float]
        /// The first to the power of the second. Negative exponents of integers are an error. Of
        /// floats, squares, inverses and roots (exponents 2, -1 and 0.5) are correctly rounded.
        Pow pow 2 Same 64 [Integer Float Complex]
        /// The larger; NaN if either is.
        Maximum maximum 2 Same 4 [Boolean Integer FusedHalf Float]
        /// The smaller; NaN if either is.
        Minimum minimum 2 Same 4 [Boolean Integer FusedHalf Float]
        /// The nearest value from `min` to `max`: `minimum(maximum(x, min), max)`.
        Clip clip 3 Same 4 [Integer Float]
        /// `-x`; the smallest integer wraps to itself.
        Negative negative 1 Same 4 [SignAgnostic FusedHalf Float Parts]
        /// x itself.
        Positive positive 1 Same 4 [SignAgnostic Float Parts]
        /// Magnitude, real for complex numbers; the smallest integer wraps to itself.
        Abs abs 1 Real 4 [Integer FusedHalf Float Complex]
        /// -1, 0 or 1; `z / |z|` for complex numbers.
        Sign sign 1 Same 4 [Integer Float Complex]
        /// `x * x`.
        Square square 1 Same 4 [SignAgnostic FusedHalf Float Complex]
        /// `1 / x`.
        Reciprocal reciprocal 1 Float 4 [Float Complex]
        /// Square root.
        Sqrt sqrt 1 Float 16 [Float Complex]
        /// `1 / sqrt(x)`.
        Rsqrt rsqrt 1 Float 16 [Float]
        /// Length of the hypotenuse.
        Hypot hypot 2 Float 16 [Float]
        /// The first's magnitude with the second's sign.
        Copysign copysign 2 Float 4 [Float]
        /// The next value from the first towards the second.
        Nextafter nextafter 2 Float 16 [Half Float]
        /// Whether the sign bit is set.
        Signbit signbit 1 Bool 4 [Integer Float]
        // rounding
        /// The largest integer not above x.
        Floor floor 1 Same 4 [SignAgnostic Float]
        /// The smallest integer not below x.
        Ceil ceil 1 Same 4 [SignAgnostic Float]
        /// x rounded towards zero.
        Trunc trunc 1 Same 4 [SignAgnostic Float]
        /// The nearest integer, ties to even.
        Round round 1 Same 4 [SignAgnostic Float Parts]
        // exponentials and logarithms
        /// e to the power of x.
        Exp exp 1 Float 32 [Float Complex]
        /// 2 to the power of x.
        Exp2 exp2 1 Float 32 [Float Complex]
        /// `exp(x) - 1` without cancellation.
        Expm1 expm1 1 Float 48 [Float Complex]
        /// Natural logarithm.
        Log log 1 Float 32 [Float Complex]
        /// `log(1 + x)` without cancellation.
        Log1p log1p 1 Float 48 [Float Complex]
        /// Logarithm to base 2.
        Log2 log2 1 Float 32 [Float Complex]
        /// Logarithm to base 10.
        Log10 log10 1 Float 32 [Float Complex]
        /// `log(exp(a) + exp(b))` without overflow.
        Logaddexp logaddexp 2 Float 64 [Float]
        // trigonometry
        /// Sine.
        Sin sin 1 Float 48 [Float Complex]
        /// Cosine.
        Cos cos 1 Float 48 [Float Complex]
        /// Tangent.
        Tan tan 1 Float 64 [Float Complex]
        /// Inverse sine.
        Asin asin 1 Float 64 [Float Complex]
        /// Inverse cosine.
        Acos acos 1 Float 64 [Float Complex]
        /// Inverse tangent.
        Atan atan 1 Float 48 [Float Complex]
        /// The angle of the point (second, first).
        Atan2 atan2 2 Float 64 [Float]
        /// Hyperbolic sine.
        Sinh sinh 1 Float 48 [Float Complex]
        /// Hyperbolic cosine.
        Cosh cosh 1 Float 48 [Float Complex]
        /// Hyperbolic tangent.
        Tanh tanh 1 Float 48 [Float Complex]
        /// Inverse hyperbolic sine.
        Asinh asinh 1 Float 64 [Float Complex]
        /// Inverse hyperbolic cosine.
        Acosh acosh 1 Float 64 [Float Complex]
        /// Inverse hyperbolic tangent.
        Atanh atanh 1 Float 64 [Float Complex]
        // statistics and activations
        /// Error function.
        Erf erf 1 Float 48 [Float]
        /// `1 - erf(x)` without cancellation.
        Erfc erfc 1 Float 64 [Float]
        /// `1 / (1 + exp(-x))`.
        Sigmoid sigmoid 1 Float 32 [Float]
        /// `max(x, 0)`.
        Relu relu 1 Same 4 [Integer FusedHalf Float]
        /// `x / 2 * (1 + erf(x / sqrt(2)))` (Hendrycks and Gimpel 2016).
        Gelu gelu 1 Float 48 [Float]
        /// The approximation of gelu by tanh.
        GeluTanh gelu_tanh 1 Float 48 [Float]
        /// `x * sigmoid(x)`.
        Silu silu 1 Float 32 [Float]
        // activations in `nn`
        /// `min(max(x, 0), 6)`.
        Relu6 relu6 1 Float 4 [FusedHalf Float] => nn
        /// x, or `slope * x` for negative x (Maas et al. 2013).
        LeakyRelu leaky_relu 2 Float 4 [FusedHalf Float] => nn
        /// x, or `alpha * (exp(x) - 1)` for negative x (Clevert et al. 2016).
        Elu elu 2 Float 40 [Float] => nn
        /// `elu` times a factor that keeps mean 0 and variance 1 through layers (Klambauer et al.
        /// 2017).
        Selu selu 1 Float 40 [Float] => nn
        /// x, or `alpha * (exp(x / alpha) - 1)` for negative x (Barron 2017).
        Celu celu 2 Float 64 [Float] => nn
        /// `log(1 + exp(beta * x)) / beta`; x itself if `beta * x` is above a threshold.
        Softplus softplus 3 Float 96 [Float] => nn
        /// `log(sigmoid(x))` without overflow or cancellation.
        LogSigmoid logsigmoid 1 Float 80 [Float] => nn
        /// `x * tanh(log(1 + exp(x)))` (Misra 2019).
        Mish mish 1 Float 40 [Float] => nn
        /// `min(max(x + 3, 0), 6) / 6`.
        Hardsigmoid hardsigmoid 1 Float 8 [FusedHalf Float] => nn
        /// `x * min(max(x + 3, 0), 6) / 6` (Howard et al. 2019).
        Hardswish hardswish 1 Float 8 [FusedHalf Float] => nn
        /// `x / (1 + |x|)`.
        Softsign softsign 1 Float 8 [FusedHalf Float] => nn
        /// `x - tanh(x)`.
        Tanhshrink tanhshrink 1 Float 48 [Float] => nn
        /// x, or 0 from `-lambd` to `lambd`.
        Hardshrink hardshrink 2 Float 4 [FusedHalf Float] => nn
        /// x moved towards 0 by `lambd`; 0 if it would pass it.
        Softshrink softshrink 2 Float 4 [FusedHalf Float] => nn
        /// x if it is above a threshold, else a value.
        Threshold threshold 3 Same 4 [Integer Float] => nn
        /// For the distance `d` of the first two, `d^2 / (2 beta)` if it is below the third,
        /// `beta`; else `d - beta / 2` (Girshick 2015).
        SmoothL1 smooth_l1 3 Float 8 [Float] => nn
        /// For the distance `d` of the first two, `d^2 / 2` if it is below the third, `delta`; else
        /// `delta (d - delta / 2)` (Huber 1964).
        Huber huber 3 Float 5 [Float] => nn
        /// `-(t log(x) + (1 - t) log(1 - x))`, with logarithms of at least -100; NaN if one of
        /// them is outside 0 to 1.
        BinaryCrossEntropy binary_cross_entropy 2 Float 96 [Float] => nn
        /// `t (log(t) - x)` for the first, the logarithm `x` of a probability, and the second,
        /// another one `t`; 0 for t of 0.
        KlDivergence kl_divergence 2 Float 36 [Float] => nn
        /// For the first, x, the second times `log(1 + exp(x))` plus the third times `log(1 +
        /// exp(-x))`; what is multiplied by 0 counts as 0.
        LogisticCost logistic_cost 3 Float 96 [Float] => nn
        /// The square of the difference.
        SquaredDifference squared_difference 2 Float 4 [Float] => nn
        /// The product of the first two, plus the third, rounded once where the instruction set
        /// can.
        MultiplyAdd multiply_add 3 Float 4 [Float] => nn
        /// The first times the sigmoid of the second (Dauphin et al. 2017).
        Glu glu 2 Float 36 [Float] => nn
        /// The first times the derivative of `gelu` at the second.
        GeluGradient gelu_gradient 2 Float 48 [Float] => nn
        /// The first times the derivative of `gelu_tanh` at the second.
        GeluTanhGradient gelu_tanh_gradient 2 Float 96 [Float] => nn
        /// The first times the derivative of `silu` at the second.
        SiluGradient silu_gradient 2 Float 40 [Float] => nn
        /// The first times the derivative of `sigmoid`, whose result is the second.
        SigmoidGradient sigmoid_gradient 2 Float 4 [Float] => nn
        /// The first times the derivative of `tanh`, whose result is the second.
        TanhGradient tanh_gradient 2 Float 4 [Float] => nn
        /// The first where the second is above 0 or NaN, else 0.
        ReluGradient relu_gradient 2 Float 4 [Float] => nn
        // comparisons
        /// Whether equal.
        Equal equal 2 Bool 4 [Boolean SignAgnostic FusedHalf Float Complex]
        /// Whether not equal.
        NotEqual not_equal 2 Bool 4 [Boolean SignAgnostic FusedHalf Float Complex]
        /// Whether the first is less.
        Less less 2 Bool 4 [Boolean Integer FusedHalf Float]
        /// Whether the first is less or equal.
        LessEqual less_equal 2 Bool 4 [Boolean Integer FusedHalf Float]
        /// Whether the first is greater.
        Greater greater 2 Bool 4 [Boolean Integer FusedHalf Float]
        /// Whether the first is greater or equal.
        GreaterEqual greater_equal 2 Bool 4 [Boolean Integer FusedHalf Float]
        /// Whether finite.
        Isfinite isfinite 1 Bool 4 [Boolean SignAgnostic Float Complex]
        /// Whether infinite.
        Isinf isinf 1 Bool 4 [Boolean SignAgnostic Float Complex]
        /// Whether not a number.
        Isnan isnan 1 Bool 4 [Boolean SignAgnostic Float Complex]
        // logic, on whether elements are not zero
        /// Whether both are true (not zero).
        LogicalAnd logical_and 2 Bool 4 [Boolean SignAgnostic Float Complex]
        /// Whether either is true (not zero).
        LogicalOr logical_or 2 Bool 4 [Boolean SignAgnostic Float Complex]
        /// Whether exactly one is true (not zero).
        LogicalXor logical_xor 2 Bool 4 [Boolean SignAgnostic Float Complex]
        /// Whether not true (zero).
        LogicalNot logical_not 1 Bool 4 [Boolean SignAgnostic Float Complex]
        // bits
        /// Bits set in both.
        BitwiseAnd bitwise_and 2 Same 4 [Boolean SignAgnostic]
        /// Bits set in either.
        BitwiseOr bitwise_or 2 Same 4 [Boolean SignAgnostic]
        /// Bits set in exactly one.
        BitwiseXor bitwise_xor 2 Same 4 [Boolean SignAgnostic]
        /// Bits inverted.
        BitwiseInvert bitwise_invert 1 Same 4 [Boolean SignAgnostic]
        /// Bits shifted left; 0 for shifts by the width or more.
        BitwiseLeftShift bitwise_left_shift 2 Same 4 [SignAgnostic]
        /// Bits shifted right, keeping the sign; 0 or -1 for shifts by the width or more.
        BitwiseRightShift bitwise_right_shift 2 Same 4 [Integer]
        // complex numbers
        /// Complex conjugate.
        Conj conj 1 Same 4 [SignAgnostic Float Complex]
        /// Real part.
        RealPart real 1 Real 4 [SignAgnostic Float Complex]
        /// Imaginary part; zero for real numbers.
        ImagPart imag 1 Real 4 [SignAgnostic Float Complex]
        // selection
        /// `a` where the condition is true, else `b`.
        Where where_ 3 Select 4 [Bits]
    } };
}

macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $arity:tt $rule:ident $cost:literal [$($family:ident)*] $(=> $module:ident)?)*) => {
        /// An elementwise operation, in the graphs and queues of [`stream`](crate::stream).
        ///
        /// ```
        /// use flex::stream::Op;
        /// let op = Op::from_name("logical_and").unwrap();
        /// assert_eq!((op, op.name(), op.arity()), (Op::LogicalAnd, "logical_and", 2));
        /// assert_eq!(op.doc(), "Whether both are true (not zero).");
        /// assert!(Op::ALL.contains(&op) && Op::from_name("sine").is_none());
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum Op { $($(#[doc = $doc])* $Name),* }
        impl Op {
            /// All operations, in the order of the table.
            pub const ALL: &'static [Op] = &[$(Op::$Name),*];
            /// The name of its function: `"add"`.
            pub const fn name(self) -> &'static str { const T: &[&str] = &[$(plain_name(stringify!($function))),*]; T[self as usize] }
            /// Its number of operands.
            pub const fn arity(self) -> usize { const T: &[u8] = &[$($arity),*]; T[self as usize] as usize }
            /// The rule for the result's dtype.
            #[doc(hidden)]
            pub const fn rule(self) -> Rule { const T: &[Rule] = &[$(Rule::$rule),*]; T[self as usize] }
            /// The cost of an element, in operations of [`Cost`](crate::par::Cost).
            #[doc(hidden)]
            pub const fn cost(self) -> u8 { const T: &[u8] = &[$($cost),*]; T[self as usize] }
            /// What it computes, in a sentence.
            pub const fn doc(self) -> &'static str { const T: &[&str] = &[$(concat!($($doc),*).trim_ascii()),*]; T[self as usize] }
            /// Whether it is in `nn` only.
            #[doc(hidden)]
            pub const fn is_in_nn(self) -> bool { const T: &[bool] = &[$(false $(|| is_nn(stringify!($module)))?),*]; T[self as usize] }
            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<Op> { Op::ALL.iter().copied().find(|o| o.name() == name) }
        }
    };
}
/// The one module that a row may name.
const fn is_nn(module: &str) -> bool {
    assert!(matches!(module.as_bytes(), b"nn"));
    true
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
