//! Maps a dtype known at run time to the Rust type of its elements.

/// Defines `dispatch_class!`, with a rule for each class of the table. The dollar sign is passed
/// in, since a macro that defines a macro can't write it.
macro_rules! define_dispatch_class {
    ($d:tt $($class:ident $Class:ident { $(($V:ident, $T:ty, $name:literal, $bits:literal, $fmt:literal, $dl:literal, $st:literal, $feature:literal, ($($cfg:tt)*)))* })*) => {
        /// `dispatch_class!(class dtype, |T| expr, else other)`: a `match` over the dtypes of one
        /// class that this build has.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! dispatch_class {
            $(($class $d dt:expr, |$d E:ident| $d e:expr, else $d other:expr) => {
                match $d dt {
                    $(#[cfg($($cfg)*)] $crate::dtype::DType::$V => { type $d E = $T; $d e })*
                    _ => $d other,
                }
            };)*
        }
    };
}
dtypes!(define_dispatch_class! $);

/// `dispatch!(set dtype, |T| expr, else other)`: `expr` with `T` the Rust type of `dtype`, for
/// dtypes of the set that this build has; `other` for the rest. A set is a class of the table, or a
/// union of classes. `target` has the targets of casts; `computed` and its subsets leave out
/// float8, which no operation computes with.
///
/// The tests and the Python module import `dispatch_class!` beside it, and have features of the same
/// names as this crate's.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch {
    (integer $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(signed $dt, |$T| $e, else dispatch!(unsigned $dt, |$T| $e, else $other))
    };
    (floating $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(half $dt, |$T| $e, else dispatch!(float $dt, |$T| $e, else $other))
    };
    (inexact $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(floating $dt, |$T| $e, else dispatch!(complex $dt, |$T| $e, else $other))
    };
    (real $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(integer $dt, |$T| $e, else dispatch!(floating $dt, |$T| $e, else $other))
    };
    (ordered $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(boolean $dt, |$T| $e, else dispatch!(real $dt, |$T| $e, else $other))
    };
    (number $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(real $dt, |$T| $e, else dispatch!(complex $dt, |$T| $e, else $other))
    };
    (computed $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(boolean $dt, |$T| $e, else dispatch!(number $dt, |$T| $e, else $other))
    };
    (target $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(float8 $dt, |$T| $e, else dispatch!(number $dt, |$T| $e, else $other))
    };
    (all $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch!(boolean $dt, |$T| $e, else dispatch!(target $dt, |$T| $e, else $other))
    };
    ($class:ident $dt:expr, |$T:ident| $e:expr, else $other:expr) => {
        dispatch_class!($class $dt, |$T| $e, else $other)
    };
}
/// `dispatch_width!(bytes, |U| expr)`: `expr` with `U` an unsigned integer type of that many bytes,
/// for operations that only move elements. For 16 bytes `U` is `[u64; 2]`.
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
