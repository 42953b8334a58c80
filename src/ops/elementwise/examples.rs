//! The examples of the elementwise functions' documentation, in Rust and in Python.

/// `elementwise_examples!(callback! { prefix })` calls `callback! { prefix rows }`. A row has an
/// operation, the type and elements of its operands, and those of the result. An element is a number,
/// in parentheses if it is negative, a truth value, or a name that `documentation` and, in
/// `flex-python`, `examples` spell in their language.
#[doc(hidden)]
#[macro_export]
macro_rules! elementwise_examples {
    ($callback:ident! { $($prefix:tt)* }) => { $callback! { $($prefix)*
        add i32 [1 2] [10 20] => i32 [11 22];
        subtract i32 [1 2] [10 20] => i32 [(-9) (-18)];
        multiply i32 [1 2] [10 20] => i32 [10 40];
        divide i32 [1 2] [4 4] => f32 [0.25 0.5];
        floor_divide i32 [7 (-7)] [2 2] => i32 [3 (-4)];
        remainder i32 [7 (-7)] [4 4] => i32 [3 1];
        fmod i32 [7 (-7)] [4 4] => i32 [3 (-3)];
        pow i32 [2 3] [10 2] => i32 [1024 9];
        maximum f32 [1.0 (-inf)] [3.0 2.0] => f32 [3.0 2.0];
        minimum f32 [1.0 inf] [3.0 2.0] => f32 [1.0 2.0];
        negative i32 [1 (-2)] => i32 [(-1) 2];
        positive i32 [1 (-2)] => i32 [1 (-2)];
        abs i32 [1 (-2)] => i32 [1 2];
        sign i32 [5 0 (-2)] => i32 [1 0 (-1)];
        square i32 [3 (-2)] => i32 [9 4];
        reciprocal f32 [4.0 0.5] => f32 [0.25 2.0];
        sqrt f32 [4.0 9.0] => f32 [2.0 3.0];
        rsqrt f32 [4.0 1.0] => f32 [0.5 1.0];
        hypot f32 [3.0 5.0] [4.0 12.0] => f32 [5.0 13.0];
        copysign f32 [1.0 2.0] [(-0.0) 3.0] => f32 [(-1.0) 2.0];
        nextafter f32 [1.0 0.0] [2.0 0.0] => f32 [after_one 0.0];
        signbit f32 [1.0 (-0.0)] => bool [false true];
        floor f32 [1.5 (-1.5)] => f32 [1.0 (-2.0)];
        ceil f32 [1.5 (-1.5)] => f32 [2.0 (-1.0)];
        trunc f32 [1.5 (-1.5)] => f32 [1.0 (-1.0)];
        round f32 [0.5 1.5 2.6] => f32 [0.0 2.0 3.0];
        exp f32 [0.0 1.0 (-inf)] => f32 [1.0 e 0.0];
        exp2 f32 [0.0 3.0 (-1.0)] => f32 [1.0 8.0 0.5];
        expm1 f32 [0.0 tiny (-inf)] => f32 [0.0 tiny (-1.0)];
        log f32 [1.0 0.0] => f32 [0.0 (-inf)];
        log1p f32 [0.0 tiny (-1.0)] => f32 [0.0 tiny (-inf)];
        log2 f32 [1.0 8.0 0.5] => f32 [0.0 3.0 (-1.0)];
        log10 f32 [1.0 100.0] => f32 [0.0 2.0];
        logaddexp f32 [1000.0 1.0] [0.0 (-inf)] => f32 [1000.0 1.0];
        sin f32 [0.0 half_pi] => f32 [0.0 1.0];
        cos f32 [0.0] => f32 [1.0];
        tan f32 [0.0 quarter_pi] => f32 [0.0 1.0];
        asin f32 [0.0 1.0] => f32 [0.0 half_pi];
        acos f32 [1.0 0.0] => f32 [0.0 half_pi];
        atan f32 [0.0 inf] => f32 [0.0 half_pi];
        atan2 f32 [0.0 1.0] [(-1.0) 0.0] => f32 [pi half_pi];
        sinh f32 [0.0 inf] => f32 [0.0 inf];
        cosh f32 [0.0 inf] => f32 [1.0 inf];
        tanh f32 [0.0 20.0] => f32 [0.0 1.0];
        asinh f32 [0.0 inf] => f32 [0.0 inf];
        acosh f32 [1.0 inf] => f32 [0.0 inf];
        atanh f32 [0.0 1.0] => f32 [0.0 inf];
        erf f32 [0.0 5.0] => f32 [0.0 1.0];
        erfc f32 [0.0 inf] => f32 [1.0 0.0];
        sigmoid f32 [0.0 20.0] => f32 [0.5 1.0];
        relu f32 [1.5 (-2.0)] => f32 [1.5 0.0];
        gelu f32 [0.0 20.0] => f32 [0.0 20.0];
        gelu_tanh f32 [0.0 20.0] => f32 [0.0 20.0];
        silu f32 [0.0 20.0] => f32 [0.0 20.0];
        relu6 f32 [(-2.0) 1.5 9.0] => f32 [0.0 1.5 6.0];
        selu f32 [0.0 inf] => f32 [0.0 inf];
        logsigmoid f32 [(-1000.0) (-inf)] => f32 [(-1000.0) (-inf)];
        mish f32 [0.0 20.0] => f32 [0.0 20.0];
        hardsigmoid f32 [(-3.0) 0.0 9.0] => f32 [0.0 0.5 1.0];
        hardswish f32 [0.0 9.0] => f32 [0.0 9.0];
        softsign f32 [1.0 (-3.0)] => f32 [0.5 (-0.75)];
        tanhshrink f32 [0.0 20.0] => f32 [0.0 19.0];
        equal i32 [1 2] [2 2] => bool [false true];
        not_equal i32 [1 2] [2 2] => bool [true false];
        less i32 [1 2] [2 2] => bool [true false];
        less_equal i32 [1 2 3] [2 2 2] => bool [true true false];
        greater i32 [1 2 3] [2 2 2] => bool [false false true];
        greater_equal i32 [1 2] [2 2] => bool [false true];
        isfinite f32 [1.0 inf nan] => bool [true false false];
        isinf f32 [1.0 inf nan] => bool [false true false];
        isnan f32 [1.0 inf nan] => bool [false false true];
        logical_and bool [true true] [true false] => bool [true false];
        logical_or bool [true false] [false false] => bool [true false];
        logical_xor bool [true true] [true false] => bool [false true];
        logical_not bool [true false] => bool [false true];
        bitwise_and i32 [5 6] [3 3] => i32 [1 2];
        bitwise_or i32 [5 6] [3 3] => i32 [7 7];
        bitwise_xor i32 [5 6] [3 3] => i32 [6 5];
        bitwise_invert i32 [0 5] => i32 [(-1) (-6)];
        bitwise_left_shift i32 [1 3] [4 2] => i32 [16 12];
        bitwise_right_shift i32 [4 (-4)] [1 1] => i32 [2 (-2)];
        conj c64 [one_plus_2i] => c64 [one_minus_2i];
        real c64 [one_plus_2i] => f32 [1.0];
        imag c64 [one_plus_2i] => f32 [2.0];
    } };
}
