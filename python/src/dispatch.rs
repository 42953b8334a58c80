//! Maps a dtype known at run time to the Rust type of its elements, by the core's table of dtypes.
//! The core's own `dispatch!` asks for features of the crate it is used in; this module has them
//! all.

/// Defines `dispatch!`. The dollar sign is passed in, since a macro that defines a macro can't
/// write it.
macro_rules! define_dispatch {
    ($d:tt $($class:ident $Class:ident { $(($V:ident, $T:ty, $($row:tt)*))* })*) => {
        /// `dispatch!(class dtype, |T| expr, else other)`: `expr` with `T` the Rust type of
        /// `dtype`, for the dtypes of a class of the table or of a union of classes; `all` needs no
        /// `else`.
        macro_rules! dispatch {
            (all $d dt:expr, |$d E:ident| $d e:expr) => {
                match $d dt { $($(flex::DType::$V => { type $d E = $T; $d e })*)* }
            };
            (integer $d dt:expr, |$d E:ident| $d e:expr, else $d other:expr) => {
                dispatch!(signed $d dt, |$d E| $d e, else
                    dispatch!(unsigned $d dt, |$d E| $d e, else $d other))
            };
            (floating $d dt:expr, |$d E:ident| $d e:expr, else $d other:expr) => {
                dispatch!(float8 $d dt, |$d E| $d e, else dispatch!(half $d dt, |$d E| $d e, else
                    dispatch!(float $d dt, |$d E| $d e, else $d other)))
            };
            $(($class $d dt:expr, |$d E:ident| $d e:expr, else $d other:expr) => {
                match $d dt {
                    $(flex::DType::$V => { type $d E = $T; $d e })*
                    _ => $d other,
                }
            };)*
        }
    };
}
flex::dtypes!(define_dispatch! $);
