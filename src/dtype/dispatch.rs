//! From a dtype that is known at run time to the Rust type of its elements.

/// `dispatch!(set dtype, |T| expr, else other)`: `expr` with `T` the Rust type of `dtype`, for
/// dtypes of the set that this build has; `other` for the rest. Sets: `all`; `target` (all but
/// bool), which casts lead to; and of those that are computed with, so none has float8 but its own:
/// `computed` (all of them), `number` (all but bool), `real` (integers and floats), `ordered`
/// (those and bool), `integer`, `signed` and `unsigned` integers, `float8`, `half`, `floating`
/// (16-bit too), `float` (float32, float64), `inexact`, `complex`.
#[macro_export]
#[doc(hidden)]
macro_rules! __dispatch_rows {
    ($set:ident ($dt:expr) ($T:ident) ($e:expr) ($other:expr) [$($arm:tt)*]) => { match $dt { $($arm)* #[allow(unreachable_patterns)] _ => $other } };
    (@skip $set:ident $dt:tt $T:tt $e:tt $o:tt [$($arm:tt)*] $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!($set $dt $T $e $o [$($arm)*] $($rest)*) };
    (@keep $set:ident $dt:tt ($T:ident) ($e:expr) $o:tt [$($arm:tt)*] ($V:ident, $R:ty, $n:literal, $c:ident, $C:ident, $b:literal, $f:literal, $d:literal, $s:literal, $ft:literal, ($($cfg:tt)*)) $($rest:tt)*) => {
        $crate::__dispatch_rows!($set $dt ($T) ($e) $o [$($arm)* #[cfg($($cfg)*)] $crate::dtype::DType::$V => { type $T = $R; $e }] $($rest)*)
    };
    (target $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, boolean $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip target $dt $T $e $o $arms () $($rest)*) };
    (computed $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float8 $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip computed $dt $T $e $o $arms () $($rest)*) };
    (number $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float8 $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip number $dt $T $e $o $arms () $($rest)*) };
    (real $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float8 $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip real $dt $T $e $o $arms () $($rest)*) };
    (ordered $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float8 $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip ordered $dt $T $e $o $arms () $($rest)*) };
    (float8 $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float8 $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep float8 $dt $T $e $o $arms ($V, $R, $n, float8 $($x)*) $($rest)*) };
    (number $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, boolean $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip number $dt $T $e $o $arms () $($rest)*) };
    (real $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, boolean $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip real $dt $T $e $o $arms () $($rest)*) };
    (real $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, complex $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip real $dt $T $e $o $arms () $($rest)*) };
    (ordered $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, complex $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@skip ordered $dt $T $e $o $arms () $($rest)*) };
    (integer $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, sint $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep integer $dt $T $e $o $arms ($V, $R, $n, sint $($x)*) $($rest)*) };
    (integer $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, uint $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep integer $dt $T $e $o $arms ($V, $R, $n, uint $($x)*) $($rest)*) };
    (signed $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, sint $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep signed $dt $T $e $o $arms ($V, $R, $n, sint $($x)*) $($rest)*) };
    (unsigned $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, uint $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep unsigned $dt $T $e $o $arms ($V, $R, $n, uint $($x)*) $($rest)*) };
    (half $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, half $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep half $dt $T $e $o $arms ($V, $R, $n, half $($x)*) $($rest)*) };
    (floating $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, half $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep floating $dt $T $e $o $arms ($V, $R, $n, half $($x)*) $($rest)*) };
    (floating $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep floating $dt $T $e $o $arms ($V, $R, $n, float $($x)*) $($rest)*) };
    (float $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep float $dt $T $e $o $arms ($V, $R, $n, float $($x)*) $($rest)*) };
    (inexact $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, half $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep inexact $dt $T $e $o $arms ($V, $R, $n, half $($x)*) $($rest)*) };
    (inexact $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, float $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep inexact $dt $T $e $o $arms ($V, $R, $n, float $($x)*) $($rest)*) };
    (inexact $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, complex $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep inexact $dt $T $e $o $arms ($V, $R, $n, complex $($x)*) $($rest)*) };
    (complex $dt:tt $T:tt $e:tt $o:tt $arms:tt ($V:ident, $R:ty, $n:literal, complex $($x:tt)*) $($rest:tt)*) => { $crate::__dispatch_rows!(@keep complex $dt $T $e $o $arms ($V, $R, $n, complex $($x)*) $($rest)*) };
    (all $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep all $dt $T $e $o $arms $row $($rest)*) };
    (target $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep target $dt $T $e $o $arms $row $($rest)*) };
    (computed $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep computed $dt $T $e $o $arms $row $($rest)*) };
    (number $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep number $dt $T $e $o $arms $row $($rest)*) };
    (real $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep real $dt $T $e $o $arms $row $($rest)*) };
    (ordered $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@keep ordered $dt $T $e $o $arms $row $($rest)*) };
    ($set:ident $dt:tt $T:tt $e:tt $o:tt $arms:tt $row:tt $($rest:tt)*) => { $crate::__dispatch_rows!(@skip $set $dt $T $e $o $arms () $($rest)*) };
}
macro_rules! dispatch {
    ($set:ident $dt:expr, |$T:ident| $e:expr, else $other:expr) => { dtypes!(__dispatch_rows! $set ($dt) ($T) ($e) ($other) []) };
}
/// `dispatch_width!(bytes, |U| expr)`: `expr` with `U` an integer type of that many bytes, for
/// operations that only move elements. 16 bytes are `[u64; 2]`.
macro_rules! dispatch_width {
    ($bytes:expr, |$U:ident| $e:expr) => {
        match $bytes {
            1 => {
                type $U = u8;
                $e
            }
            2 => {
                type $U = u16;
                $e
            }
            4 => {
                type $U = u32;
                $e
            }
            8 => {
                type $U = u64;
                $e
            }
            _ => {
                type $U = [u64; 2];
                $e
            }
        }
    };
}
