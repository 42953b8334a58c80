//! Quantised values: an integer `q` stands for `scale * (q - zero)`, and a group of neighbours
//! shares a [`QuantStep`]. Steps and integers are found in `groups`; `decode` dequantises;
//! [`Weights`] are the quantised weights of products: a source of panels, and the product of a few
//! rows.

#[cfg(feature = "half")]
pub mod blocks;
mod decode;
mod encode;
mod gemv;
mod groups;
mod levels;
mod range;
mod weights;

pub use decode::{decode, decode_packed, pack, row_facts, unpack};
pub use encode::{Addend, Requantized, encode, encode_sum};
pub use gemv::{FEW_ROWS, few_rows, in_order};
pub use groups::{calibrated, groups};
pub use levels::{Levels, QuantStep};
pub use range::{Calibration, QuantizationRule, extremes};
pub use weights::{Scales, Weights};
