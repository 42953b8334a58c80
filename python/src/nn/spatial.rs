//! Per-axis options.

use crate::convert::{Ints, count};
use flex::nn::PerAxis;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// One number for all axes, or one for each.
pub(super) fn per_axis(op: &str, name: &str, n: &Ints) -> PyResult<PerAxis> {
    let n = n.0.iter().map(|n| count(op, name, *n));
    let n: SmallVec<[usize; 3]> = n.collect::<PyResult<_>>()?;
    Ok(PerAxis::from(&n[..]))
}
