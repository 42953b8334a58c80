//! What the documentation of an elementwise function shares with that of its method: shapes, dtypes
//! and errors, which follow from the row of the table of operations, the example's elements, and the
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

// for each row: the elements of its operands, and the type and elements of the result
macro_rules! examples {
    ($($function:ident $x:literal $(, $y:literal)? => $T:literal $z:literal;)*) => {
        /// A part of the example of a function: operand `x` or `y`, the result's type `T`, or `z`.
        macro_rules! example {
            $(
                (x $function) => { $x };
                $((y $function) => { $y };)?
                (T $function) => { $T };
                (z $function) => { $z };
            )*
        }
    };
}
examples! {
    add "[1, 2]", "[10, 20]" => "i32" "[11, 22]";
    subtract "[1, 2]", "[10, 20]" => "i32" "[-9, -18]";
    multiply "[1, 2]", "[10, 20]" => "i32" "[10, 40]";
    divide "[1, 2]", "[4, 4]" => "f32" "[0.25, 0.5]";
    floor_divide "[7, -7]", "[2, 2]" => "i32" "[3, -4]";
    remainder "[7, -7]", "[4, 4]" => "i32" "[3, 1]";
    fmod "[7, -7]", "[4, 4]" => "i32" "[3, -3]";
    pow "[2, 3]", "[10, 2]" => "i32" "[1024, 9]";
    maximum "[1.0f32, f32::NEG_INFINITY]", "[3.0f32, 2.0]" => "f32" "[3.0, 2.0]";
    minimum "[1.0f32, f32::INFINITY]", "[3.0f32, 2.0]" => "f32" "[1.0, 2.0]";
    negative "[1, -2]" => "i32" "[-1, 2]";
    positive "[1, -2]" => "i32" "[1, -2]";
    abs "[1, -2]" => "i32" "[1, 2]";
    sign "[5, 0, -2]" => "i32" "[1, 0, -1]";
    square "[3, -2]" => "i32" "[9, 4]";
    reciprocal "[4.0f32, 0.5]" => "f32" "[0.25, 2.0]";
    sqrt "[4.0f32, 9.0]" => "f32" "[2.0, 3.0]";
    rsqrt "[4.0f32, 1.0]" => "f32" "[0.5, 1.0]";
    hypot "[3.0f32, 5.0]", "[4.0f32, 12.0]" => "f32" "[5.0, 13.0]";
    copysign "[1.0f32, 2.0]", "[-0.0f32, 3.0]" => "f32" "[-1.0, 2.0]";
    nextafter "[1.0f32]", "[2.0f32]" => "f32" "[1.0 + f32::EPSILON]";
    signbit "[1.0f32, -0.0]" => "bool" "[false, true]";
    floor "[1.5f32, -1.5]" => "f32" "[1.0, -2.0]";
    ceil "[1.5f32, -1.5]" => "f32" "[2.0, -1.0]";
    trunc "[1.5f32, -1.5]" => "f32" "[1.0, -1.0]";
    round "[0.5f32, 1.5, 2.6]" => "f32" "[0.0, 2.0, 3.0]";
    exp "[0.0f32, 1.0, f32::NEG_INFINITY]" => "f32" "[1.0, std::f32::consts::E, 0.0]";
    exp2 "[0.0f32, 3.0, -1.0]" => "f32" "[1.0, 8.0, 0.5]";
    expm1 "[0.0f32, 1e-20, f32::NEG_INFINITY]" => "f32" "[0.0, 1e-20, -1.0]";
    log "[1.0f32, 0.0]" => "f32" "[0.0, f32::NEG_INFINITY]";
    log1p "[0.0f32, 1e-20, -1.0]" => "f32" "[0.0, 1e-20, f32::NEG_INFINITY]";
    log2 "[1.0f32, 8.0, 0.5]" => "f32" "[0.0, 3.0, -1.0]";
    log10 "[1.0f32, 100.0]" => "f32" "[0.0, 2.0]";
    logaddexp "[1000.0f32, 1.0]", "[0.0f32, f32::NEG_INFINITY]" => "f32" "[1000.0, 1.0]";
    sin "[0.0f32, std::f32::consts::FRAC_PI_2]" => "f32" "[0.0, 1.0]";
    cos "[0.0f32]" => "f32" "[1.0]";
    tan "[0.0f32, std::f32::consts::FRAC_PI_4]" => "f32" "[0.0, 1.0]";
    asin "[0.0f32, 1.0]" => "f32" "[0.0, std::f32::consts::FRAC_PI_2]";
    acos "[1.0f32, 0.0]" => "f32" "[0.0, std::f32::consts::FRAC_PI_2]";
    atan "[0.0f32, f32::INFINITY]" => "f32" "[0.0, std::f32::consts::FRAC_PI_2]";
    atan2 "[0.0f32, 1.0]", "[-1.0f32, 0.0]" => "f32" "[std::f32::consts::PI, std::f32::consts::FRAC_PI_2]";
    sinh "[0.0f32, f32::INFINITY]" => "f32" "[0.0, f32::INFINITY]";
    cosh "[0.0f32, f32::INFINITY]" => "f32" "[1.0, f32::INFINITY]";
    tanh "[0.0f32, 20.0]" => "f32" "[0.0, 1.0]";
    asinh "[0.0f32, f32::INFINITY]" => "f32" "[0.0, f32::INFINITY]";
    acosh "[1.0f32, f32::INFINITY]" => "f32" "[0.0, f32::INFINITY]";
    atanh "[0.0f32, 1.0]" => "f32" "[0.0, f32::INFINITY]";
    erf "[0.0f32, 5.0]" => "f32" "[0.0, 1.0]";
    erfc "[0.0f32, f32::INFINITY]" => "f32" "[1.0, 0.0]";
    sigmoid "[0.0f32, 20.0]" => "f32" "[0.5, 1.0]";
    relu "[1.5f32, -2.0]" => "f32" "[1.5, 0.0]";
    gelu "[0.0f32, 20.0]" => "f32" "[0.0, 20.0]";
    gelu_tanh "[0.0f32, 20.0]" => "f32" "[0.0, 20.0]";
    silu "[0.0f32, 20.0]" => "f32" "[0.0, 20.0]";
    relu6 "[-2.0f32, 1.5, 9.0]" => "f32" "[0.0, 1.5, 6.0]";
    selu "[0.0f32, 1.0]" => "f32" "[0.0, 1.050701]";
    logsigmoid "[-1000.0f32, 1000.0]" => "f32" "[-1000.0, 0.0]";
    mish "[0.0f32, 20.0]" => "f32" "[0.0, 20.0]";
    hardsigmoid "[-3.0f32, 0.0, 9.0]" => "f32" "[0.0, 0.5, 1.0]";
    hardswish "[-3.0f32, 0.0, 9.0]" => "f32" "[0.0, 0.0, 9.0]";
    softsign "[1.0f32, -3.0]" => "f32" "[0.5, -0.75]";
    tanhshrink "[0.0f32, 20.0]" => "f32" "[0.0, 19.0]";
    equal "[1, 2]", "[2, 2]" => "bool" "[false, true]";
    not_equal "[1, 2]", "[2, 2]" => "bool" "[true, false]";
    less "[1, 2]", "[2, 2]" => "bool" "[true, false]";
    less_equal "[1, 2, 3]", "[2, 2, 2]" => "bool" "[true, true, false]";
    greater "[1, 2, 3]", "[2, 2, 2]" => "bool" "[false, false, true]";
    greater_equal "[1, 2]", "[2, 2]" => "bool" "[false, true]";
    isfinite "[1.0f32, f32::INFINITY, f32::NAN]" => "bool" "[true, false, false]";
    isinf "[1.0f32, f32::INFINITY, f32::NAN]" => "bool" "[false, true, false]";
    isnan "[1.0f32, f32::INFINITY, f32::NAN]" => "bool" "[false, false, true]";
    logical_and "[true, true]", "[true, false]" => "bool" "[true, false]";
    logical_or "[true, false]", "[false, false]" => "bool" "[true, false]";
    logical_xor "[true, true]", "[true, false]" => "bool" "[false, true]";
    logical_not "[true, false]" => "bool" "[false, true]";
    bitwise_and "[5, 6]", "[3, 3]" => "i32" "[1, 2]";
    bitwise_or "[5, 6]", "[3, 3]" => "i32" "[7, 7]";
    bitwise_xor "[5, 6]", "[3, 3]" => "i32" "[6, 5]";
    bitwise_invert "[0, 5]" => "i32" "[-1, -6]";
    bitwise_left_shift "[1, 3]", "[4, 2]" => "i32" "[16, 12]";
    bitwise_right_shift "[4, -4]", "[1, 1]" => "i32" "[2, -2]";
    conj "[flex::dtype::Complex64::new(1.0, 2.0)]" => "flex::dtype::Complex64" "[flex::dtype::Complex64::new(1.0, -2.0)]";
    real "[flex::dtype::Complex64::new(1.0, 2.0)]" => "f32" "[1.0]";
    imag "[flex::dtype::Complex64::new(1.0, 2.0)]" => "f32" "[2.0]";
}
pub(in crate::ops) use example;

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
