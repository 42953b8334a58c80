//! What the table of operations expands to: for each row a type, and its kernels.

use super::exact::{self, Exact};
use super::family::{ElementKernel, Family};
use super::operation::{self, Operation};
use crate::dtype::DType;
use crate::kernel::math::Number;
use crate::op::Op;
use crate::scalar::Scalar;

/// The kernel for a dtype; none if the operation is not defined for it, or the build leaves it out.
pub type KernelLookup = fn(DType) -> Option<ElementKernel>;

/// A row of the table, as drivers use it. Naming one row's constant links only that row's kernels.
#[derive(Clone, Copy)]
pub struct Row {
    /// The operation.
    pub op: Op,
    /// Its kernels.
    pub lookup: KernelLookup,
    /// The row to use instead if the second operand is two: for powers only.
    pub square: Option<&'static Row>,
    /// What integers and bool are compared with in place of a number: for comparisons only.
    pub exact: Option<ExactNumber>,
}
/// [`exact`](super::exact::exact).
pub type ExactNumber = fn(Op, DType, Scalar, bool) -> Option<Exact>;

/// The type of a result, by the row's rule.
macro_rules! out {
    (Bool $T:ident) => {
        crate::dtype::Bool
    };
    (Real $T:ident) => {
        $T::Real
    };
    ($Rule:ident $T:ident) => {
        $T
    };
}
macro_rules! square {
    (Pow) => {
        Some(&Square::ROW)
    };
    ($Name:ident) => {
        None
    };
}
macro_rules! exact {
    (Equal) => {
        Some(exact::exact)
    };
    (NotEqual) => {
        Some(exact::exact)
    };
    (Less) => {
        Some(exact::exact)
    };
    (LessEqual) => {
        Some(exact::exact)
    };
    (Greater) => {
        Some(exact::exact)
    };
    (GreaterEqual) => {
        Some(exact::exact)
    };
    ($Name:ident) => {
        None
    };
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $arity:literal $Rule:ident $cost:literal [$($Family:ident)*] $(=> $module:ident)?)*) => {
        /// The rows of the table, as types and as constants.
        pub mod rows {
            use super::*;
            $(
                $(#[doc = $doc])*
                pub struct $Name;
                impl Operation for $Name {
                    type Out<T: Number> = out!($Rule T);
                }
                impl $Name {
                    /// Its row.
                    pub const ROW: Row = Row { op: Op::$Name, lookup: $Name::lookup, square: square!($Name), exact: exact!($Name) };
                    fn lookup(dtype: DType) -> Option<ElementKernel> {
                        if const { cfg!(feature = "nn") || !Op::$Name.is_in_nn() } {
                            $(if let Some(k) = <operation::$Family as Family<$Name, $arity>>::kernel(dtype) { return Some(k) })*
                        }
                        None
                    }
                }
            )*
        }
        impl Op {
            /// Its row of the dynamic table. Calling this links every kernel.
            #[doc(hidden)]
            pub fn row(self) -> &'static Row {
                const TABLE: &[Row] = &[$(rows::$Name::ROW),*];
                &TABLE[self as usize]
            }
        }
    };
}
operations!(make! {});
