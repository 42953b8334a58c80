//! Quantised numbers: an integer `q` stands for `scale * (q - zero)`, where some neighbours share a
//! [`Step`]. What finds the steps and the integers (`groups`), what makes floats of them
//! (`decode`), and weights of products that are integers ([`Weights`]): a source of panels, and the
//! product of few rows.

#[cfg(feature = "half")]
pub mod blocks;
mod decode;
mod encode;
mod gemv;
mod groups;
mod levels;
mod range;
mod weights;

pub use decode::{decode, decode_packed, pack, row_sums, unpack};
pub use encode::encode;
pub use gemv::{FEW_ROWS, few_rows, in_order};
pub use groups::{calibrated, groups};
pub use levels::{Levels, Step};
pub use range::{Calibration, Rule, extremes};
pub use weights::{Scales, Weights};
