//! What most programs need: `use flex::prelude::*;`.
//!
//! `Result` and `Error` are left out, since programs have types of those names.
//!
//! ```
//! use flex::prelude::*;
//!
//! let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
//! let centred = &x - x.mean_keepdims(0)?;
//! assert_eq!(centred.slice(s![.., 0])?.to_vec::<f32>()?, [-1.0, 1.0]);
//! assert_eq!(centred.slice(s![Ellipsis, NewAxis, 1])?.shape(), [2, 1]);
//! assert_eq!(ops::ones((2, 2), DType::F32)?.sum(())?.item::<f32>()?, 4.0);
//! # Ok::<(), flex::Error>(())
//! ```

pub use crate::dtype::{Bool, DType, Element};
pub use crate::layout::Axes;
#[cfg(feature = "nn")]
pub use crate::nn;
pub use crate::ops::Index::{self, Ellipsis, NewAxis};
pub use crate::ops::{Cumulative, ReductionAxes, Sort, TopK};
pub use crate::scalar::Scalar;
pub use crate::tensor::Tensor;
pub use crate::{ops, s};
