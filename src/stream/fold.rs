//! Reductions that a program may end in.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::End;
use crate::exec::view::ViewMut;
use crate::kernel::reduce::{
    All, Any, Count, Max, Mean, MeanOfSquares, Min, Prod, Sum, SumOfSquares,
};
use crate::ops::reduce::{ElementFold, accumulator, truth};
use crate::ops::{self, ReductionAxes};
use crate::tensor::Tensor;
use core::marker::PhantomData;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $Kind:ident $name:ident $set:ident;)*) => {
        /// A reduction that can consume the elements of a program as they are computed.
        ///
        /// ```
        /// use flex::{Tensor, stream::{Kind, Stream}};
        /// let (stream, x) = (Stream::new(), Tensor::from([0.0f32, 2.0, 4.0]));
        /// let of = |kind| stream.reduce(kind, &(&x).into(), ())?.get();
        /// assert_eq!(of(Kind::Count)?.item::<i64>()?, 2);
        /// assert_eq!(of(Kind::Mean)?.item::<f32>()?, 2.0);
        /// assert_eq!((Kind::Count.name(), Kind::ALL.len()), ("count_nonzero", 8));
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Kind { $($(#[doc = $doc])* $Kind),* }

        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$Kind),*];
            /// The name of its function.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$Kind => stringify!($name)),* }
            }
            /// Reduces a tensor by itself.
            pub(super) fn reduce(self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
                match self { $(Kind::$Kind => ops::$name(x, over)),* }
            }
            /// The end of a program that reduces values of `dtype`, with results in `out`.
            pub(super) fn end<'a>(self, dtype: DType, out: ViewMut<'a>) -> Result<End<'a>> {
                match self {
                    $(Kind::$Kind => dispatch!($set dtype, |T| Ok(End::new(&ElementFold::<T, $Kind>(PhantomData), out)),
                        else Err(Error::unsupported(stringify!($name), dtype))),)*
                }
            }
            /// Errors if values of the dtype can't be reduced.
            fn expect(self, dtype: DType) -> Result<()> {
                match self {
                    $(Kind::$Kind => dispatch!($set dtype, |T| { let _ = size_of::<T>(); Ok(()) },
                        else Err(Error::unsupported(stringify!($name), dtype))),)*
                }
            }
        }
    };
}
kinds! {
    /// The sum.
    Sum sum computed;
    /// The product.
    Prod prod computed;
    /// The arithmetic mean.
    Mean mean computed;
    /// The largest element.
    Max max ordered;
    /// The smallest element.
    Min min ordered;
    /// Whether any element is not zero.
    Any any boolean;
    /// Whether no element is zero.
    All all boolean;
    /// The number of elements that are not zero.
    Count count_nonzero boolean;
}

impl Kind {
    /// Whether squares of values of `dtype` can be reduced as they are read.
    pub(super) fn takes_squares(self, dtype: DType) -> bool {
        matches!(self, Kind::Sum | Kind::Mean) && matches!(dtype, DType::F32 | DType::F64)
    }
    /// The [`end`](Kind::end) that reduces the squares of the program's values.
    pub(super) fn end_of_squares<'a>(self, dtype: DType, out: ViewMut<'a>) -> Result<End<'a>> {
        macro_rules! squares {
            ($R:ident) => {
                dispatch!(float dtype, |T| Ok(End::new(&ElementFold::<T, $R>(PhantomData), out)),
                    else Err(Error::unsupported(self.name(), dtype)))
            };
        }
        match self {
            Kind::Sum => squares!(SumOfSquares),
            Kind::Mean => squares!(MeanOfSquares),
            _ => Err(Error::unsupported(self.name(), dtype)),
        }
    }
    /// Whether there is no result without elements.
    pub(super) fn needs_elements(self) -> bool {
        matches!(self, Kind::Max | Kind::Min)
    }
    /// The dtype that values of `dtype` are converted to before they are reduced.
    pub(super) fn converted(self, dtype: DType) -> Result<DType> {
        match self {
            Kind::Any | Kind::All | Kind::Count => truth(self.name(), dtype),
            _ => Ok(dtype),
        }
    }
    /// The dtype of the result for values of `dtype`, which is [`converted`](Kind::converted).
    pub(super) fn dtype(self, dtype: DType) -> Result<DType> {
        self.expect(dtype)?;
        Ok(match self {
            Kind::Sum | Kind::Prod => accumulator(dtype),
            Kind::Mean => dtype.inexact(),
            Kind::Max | Kind::Min => dtype,
            Kind::Any | Kind::All => DType::Bool,
            Kind::Count => DType::I64,
        })
    }
}
