//! What the documentation of an elementwise function shares with that of its method: shapes, dtypes
//! and errors, which follow from the row of the table of operations, the example, and the
//! names of the operation in other libraries.

/// Shape, dtype and errors of an operation, by its arity and its rule.
macro_rules! contract {
    (1 $rule:ident) => {
        concat!(
            "The result has the operand's shape",
            contract!(@dtype 1 $rule),
            ". Errors if the operation is not defined for the dtype."
        )
    };
    (2 Bool) => {
        concat!(
            "Operands broadcast and are promoted to their common dtype; a number takes the dtype of \
             the other operand, and integers are compared with it exactly, in range or not. The \
             result has the shape that they broadcast to",
            contract!(@dtype Bool),
            ".\n\nErrors if shapes don't broadcast, there is no common dtype or the operation is not \
             defined for it."
        )
    };
    (2 $rule:ident) => {
        concat!(
            "Operands broadcast and are promoted to their common dtype; a number takes the dtype of \
             the other operand. The result has the shape that they broadcast to",
            contract!(@dtype $rule),
            ".\n\nErrors if shapes don't broadcast, there is no common dtype or the operation is not \
             defined for it, or a number doesn't fit."
        )
    };
    (3 $rule:ident) => {
        concat!(
            "Operands broadcast and are promoted to their common dtype (except a condition, which is \
             bool); numbers take it. The result has the shape that they broadcast to",
            contract!(@dtype $rule),
            ".\n\nErrors if shapes don't broadcast, there is no common dtype or the operation is not \
             defined for it, a number doesn't fit, or a condition is not bool."
        )
    };
    // the dtype of the result, for a single operand and for several
    (@dtype 1 Same) => {
        " and dtype"
    };
    (@dtype 1 Float) => {
        " and dtype; for integers float32"
    };
    (@dtype 1 Bool) => {
        " and is bool"
    };
    (@dtype 1 Real) => {
        " and dtype; for complex numbers the dtype of the real part"
    };
    (@dtype Same) => {
        ", and that dtype"
    };
    (@dtype Float) => {
        ", and that dtype; for integers float32"
    };
    (@dtype Bool) => {
        " and is bool"
    };
    (@dtype Select) => {
        ", and that dtype"
    };
}
pub(in crate::ops) use contract;

// an element in Rust; a number has the suffix
macro_rules! element {
    ($suffix:literal inf) => {
        "f32::INFINITY"
    };
    ($suffix:literal nan) => {
        "f32::NAN"
    };
    ($suffix:literal pi) => {
        "std::f32::consts::PI"
    };
    ($suffix:literal half_pi) => {
        "std::f32::consts::FRAC_PI_2"
    };
    ($suffix:literal quarter_pi) => {
        "std::f32::consts::FRAC_PI_4"
    };
    ($suffix:literal e) => {
        "std::f32::consts::E"
    };
    ($suffix:literal tiny) => {
        "1e-20"
    };
    ($suffix:literal after_one) => {
        "1.0 + f32::EPSILON"
    };
    ($suffix:literal one_plus_2i) => {
        "flex::dtype::Complex64::new(1.0, 2.0)"
    };
    ($suffix:literal one_minus_2i) => {
        "flex::dtype::Complex64::new(1.0, -2.0)"
    };
    ($suffix:literal (- $x:tt)) => {
        concat!("-", element!($suffix $x))
    };
    ($suffix:literal $x:tt) => {
        concat!(stringify!($x), $suffix)
    };
}
// the elements of an operand, whose type the first one tells
macro_rules! elements {
    (f32 $x:tt $($rest:tt)*) => {
        concat!("[", element!("f32" $x) $(, ", ", element!("" $rest))*, "]")
    };
    ($T:ident $x:tt $($rest:tt)*) => {
        concat!("[", element!("" $x) $(, ", ", element!("" $rest))*, "]")
    };
}
macro_rules! type_of {
    (c64) => {
        "flex::dtype::Complex64"
    };
    ($T:ident) => {
        stringify!($T)
    };
}
macro_rules! examples {
    ($($function:ident $X:ident [$($x:tt)*] $([$($y:tt)*])? => $Z:ident [$($z:tt)*];)*) => {
        /// A part of the example of a function: operand `x` or `y`, the result's type `T`, or `z`.
        macro_rules! example {
            $(
                (x $function) => { elements!($X $($x)*) };
                $((y $function) => { elements!($X $($y)*) };)?
                (T $function) => { type_of!($Z) };
                (z $function) => { elements!(any $($z)*) };
            )*
        }
    };
}
crate::elementwise_examples!(examples! {});
pub(in crate::ops) use {element, elements, example, type_of};

// for each row that has other names in torch, candle, ndarray or Burn: those
macro_rules! aliases {
    (($D:tt) $($function:ident $($alias:literal)+;)*) => {
        /// `aliased! { function item }` is the item of a function, found by its names elsewhere too:
        /// rustc suggests it for a method of such a name.
        macro_rules! aliased {
            $(($function $D($D item:tt)*) => { #[doc(alias($($alias),+))] $D($D item)* };)*
            ($D other:ident $D($D item:tt)*) => { $D($D item)* };
        }
    };
}
aliases! { ($)
    add "broadcast_add" "add_scalar";
    subtract "sub" "broadcast_sub" "sub_scalar";
    multiply "mul" "broadcast_mul" "mul_scalar";
    divide "div" "broadcast_div" "div_scalar" "true_divide";
    floor_divide "div_euclid";
    remainder "rem_euclid" "remainder_scalar";
    fmod "rem";
    pow "powf" "powi" "powf_scalar" "power";
    maximum "max_pair" "broadcast_maximum";
    minimum "min_pair" "broadcast_minimum";
    clip "clamp" "clamp_min" "clamp_max";
    negative "neg";
    abs "absolute";
    sign "sgn" "signum";
    square "sqr";
    reciprocal "recip";
    expm1 "exp_m1";
    log "ln";
    log1p "ln_1p";
    asin "arcsin";
    acos "arccos";
    atan "arctan";
    atan2 "arctan2";
    asinh "arcsinh";
    acosh "arccosh";
    atanh "arctanh";
    trunc "fix";
    sigmoid "logistic" "expit";
    gelu "gelu_erf";
    gelu_tanh "gelu_approximate";
    silu "swish";
    logsigmoid "log_sigmoid";
    hardsigmoid "hard_sigmoid";
    hardswish "hard_swish";
    equal "eq" "equal_elem" "broadcast_eq";
    not_equal "ne" "not_equal_elem" "broadcast_ne";
    less "lt" "lower" "lower_elem" "broadcast_lt";
    less_equal "le" "lower_equal" "lower_equal_elem" "broadcast_le";
    greater "gt" "greater_elem" "broadcast_gt";
    greater_equal "ge" "greater_equal_elem" "broadcast_ge";
    isfinite "is_finite";
    isinf "is_inf";
    isnan "is_nan";
    logical_and "bool_and";
    logical_or "bool_or";
    logical_xor "bool_xor";
    logical_not "bool_not";
    bitwise_invert "bitwise_not";
    bitwise_left_shift "shl" "lshift";
    bitwise_right_shift "shr" "rshift";
    conj "conjugate";
    real "re";
    imag "im";
    where_ "where_cond" "mask_where";
}
pub(in crate::ops) use aliased;
