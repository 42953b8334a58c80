//! The examples of the elementwise functions' docstrings.

/// The rest of a call, from the elements of its first argument on, and its output.
macro_rules! example {
    (add) => {
        "[1, 2]), 10).tolist()\n[11, 12]"
    };
    (subtract) => {
        "[1, 2]), 10).tolist()\n[-9, -8]"
    };
    (multiply) => {
        "[1, 2]), 10).tolist()\n[10, 20]"
    };
    (divide) => {
        "[1, 2]), 4).tolist()\n[0.25, 0.5]"
    };
    (floor_divide) => {
        "[7, -7]), 2).tolist()\n[3, -4]"
    };
    (remainder) => {
        "[7, -7]), 4).tolist()\n[3, 1]"
    };
    (fmod) => {
        "[7, -7]), 4).tolist()\n[3, -3]"
    };
    (pow) => {
        "[2, 3]), 2).tolist()\n[4, 9]"
    };
    (maximum) => {
        "[1, 5]), 3).tolist()\n[3, 5]"
    };
    (minimum) => {
        "[1, 5]), 3).tolist()\n[1, 3]"
    };
    (negative) => {
        "[1, -2])).tolist()\n[-1, 2]"
    };
    (positive) => {
        "[1, -2])).tolist()\n[1, -2]"
    };
    (abs) => {
        "[1, -2])).tolist()\n[1, 2]"
    };
    (sign) => {
        "[5, 0, -2])).tolist()\n[1, 0, -1]"
    };
    (square) => {
        "[3, -2])).tolist()\n[9, 4]"
    };
    (reciprocal) => {
        "[4.0, 0.5])).tolist()\n[0.25, 2.0]"
    };
    (sqrt) => {
        "[4.0, 9.0])).tolist()\n[2.0, 3.0]"
    };
    (rsqrt) => {
        "[4.0, 1.0])).tolist()\n[0.5, 1.0]"
    };
    (hypot) => {
        "[3.0, 5.0]), flex.asarray([4.0, 12.0])).tolist()\n[5.0, 13.0]"
    };
    (copysign) => {
        "[1.0, 2.0]), -0.0).tolist()\n[-1.0, -2.0]"
    };
    (nextafter) => {
        "[0.0, 1.0]), 1.0).tolist()[1]\n1.0"
    };
    (signbit) => {
        "[1.0, -0.0])).tolist()\n[False, True]"
    };
    (floor) => {
        "[1.5, -1.5])).tolist()\n[1.0, -2.0]"
    };
    (ceil) => {
        "[1.5, -1.5])).tolist()\n[2.0, -1.0]"
    };
    (trunc) => {
        "[1.5, -1.5])).tolist()\n[1.0, -1.0]"
    };
    (round) => {
        "[0.5, 1.5, 2.6])).tolist()\n[0.0, 2.0, 3.0]"
    };
    (exp) => {
        "[0.0, -flex.inf])).tolist()\n[1.0, 0.0]"
    };
    (exp2) => {
        "[0.0, 3.0])).tolist()\n[1.0, 8.0]"
    };
    (expm1) => {
        "[0.0, -flex.inf])).tolist()\n[0.0, -1.0]"
    };
    (log) => {
        "[1.0, 0.0])).tolist()\n[0.0, -inf]"
    };
    (log1p) => {
        "[0.0, -1.0])).tolist()\n[0.0, -inf]"
    };
    (log2) => {
        "[1.0, 8.0])).tolist()\n[0.0, 3.0]"
    };
    (log10) => {
        "[1.0, 100.0])).tolist()\n[0.0, 2.0]"
    };
    (logaddexp) => {
        "[-flex.inf, 1000.0]), -flex.inf).tolist()\n[-inf, 1000.0]"
    };
    (asin) => {
        "[0.0, 2.0])).tolist()\n[0.0, nan]"
    };
    (acos) => {
        "[1.0, 2.0])).tolist()\n[0.0, nan]"
    };
    (atan2) => {
        "[0.0, 1.0]), 1.0).tolist()[0]\n0.0"
    };
    (cos) => {
        "[0.0])).tolist()\n[1.0]"
    };
    (cosh) => {
        "[0.0])).tolist()\n[1.0]"
    };
    (acosh) => {
        "[1.0, 0.0])).tolist()\n[0.0, nan]"
    };
    (tanh) => {
        "[0.0, flex.inf])).tolist()\n[0.0, 1.0]"
    };
    (atanh) => {
        "[0.0, 1.0])).tolist()\n[0.0, inf]"
    };
    (erf) => {
        "[0.0, flex.inf])).tolist()\n[0.0, 1.0]"
    };
    (erfc) => {
        "[0.0, flex.inf])).tolist()\n[1.0, 0.0]"
    };
    (sigmoid) => {
        "[0.0, -flex.inf])).tolist()\n[0.5, 0.0]"
    };
    (relu) => {
        "[1.5, -2.0])).tolist()\n[1.5, 0.0]"
    };
    (equal) => {
        "[1, 2]), 2).tolist()\n[False, True]"
    };
    (not_equal) => {
        "[1, 2]), 2).tolist()\n[True, False]"
    };
    (less) => {
        "[1, 2]), 2).tolist()\n[True, False]"
    };
    (less_equal) => {
        "[1, 2, 3]), 2).tolist()\n[True, True, False]"
    };
    (greater) => {
        "[1, 2, 3]), 2).tolist()\n[False, False, True]"
    };
    (greater_equal) => {
        "[1, 2]), 2).tolist()\n[False, True]"
    };
    (isfinite) => {
        "[1.0, flex.inf, flex.nan])).tolist()\n[True, False, False]"
    };
    (isinf) => {
        "[1.0, flex.inf, flex.nan])).tolist()\n[False, True, False]"
    };
    (isnan) => {
        "[1.0, flex.inf, flex.nan])).tolist()\n[False, False, True]"
    };
    (logical_and) => {
        "[True, False]), True).tolist()\n[True, False]"
    };
    (logical_or) => {
        "[True, False]), False).tolist()\n[True, False]"
    };
    (logical_xor) => {
        "[True, False]), True).tolist()\n[False, True]"
    };
    (logical_not) => {
        "[True, False])).tolist()\n[False, True]"
    };
    (bitwise_and) => {
        "[5, 6]), 3).tolist()\n[1, 2]"
    };
    (bitwise_or) => {
        "[5, 6]), 3).tolist()\n[7, 7]"
    };
    (bitwise_xor) => {
        "[5, 6]), 3).tolist()\n[6, 5]"
    };
    (bitwise_invert) => {
        "[0, 5])).tolist()\n[-1, -6]"
    };
    (bitwise_left_shift) => {
        "[1, 3]), 2).tolist()\n[4, 12]"
    };
    (bitwise_right_shift) => {
        "[4, -4]), 1).tolist()\n[2, -2]"
    };
    (conj) => {
        "[1 + 2j])).tolist()\n[(1-2j)]"
    };
    (real) => {
        "[1 + 2j])).tolist()\n[1.0]"
    };
    (imag) => {
        "[1 + 2j])).tolist()\n[2.0]"
    };
    (hardsigmoid) => {
        "[0.0, 9.0])).tolist()\n[0.5, 1.0]"
    };
    (logsigmoid) => {
        "[-1000.0, -flex.inf])).tolist()\n[-1000.0, -inf]"
    };
    // most functions map zero to zero
    ($other:ident) => {
        "[0.0])).tolist()\n[0.0]"
    };
}
