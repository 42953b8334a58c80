//! Padding of any axes.

use burn_backend::Scalar;
use burn_backend::ops::PadMode;
use flex::{DType, Error, Result, Tensor, ops};

/// With elements before and after each axis. `number` makes a constant one for the tensor's dtype.
pub(super) fn pad(
    x: &Tensor,
    padding: &[(usize, usize)],
    mode: PadMode,
    number: impl FnOnce(Scalar) -> flex::Scalar,
) -> Result<Tensor> {
    if let PadMode::Constant(value) = mode {
        return x.pad(padding, number(value.into()));
    }
    if padding.len() != x.rank() {
        return Err(Error::shape(
            "pad",
            "padding must have one pair per dimension",
        ));
    }
    let mut y = x.clone();
    for (axis, &(before, after)) in padding.iter().enumerate() {
        if (before, after) != (0, 0) {
            let at = sources(y.shape()[axis], before, after, mode)?;
            y = y.take(&at, axis)?;
        }
    }
    Ok(y)
}

/// For each place of the padded axis, the element that it repeats.
fn sources(size: usize, before: usize, after: usize, mode: PadMode) -> Result<Tensor> {
    let reflects = matches!(mode, PadMode::Reflect);
    if reflects && before.max(after) >= size {
        return Err(Error::value(
            "pad",
            "Reflect padding must be less than dimension size",
        ));
    }
    if size == 0 {
        return Err(Error::value(
            "pad",
            "cannot apply edge padding to an empty dimension",
        ));
    }
    let (before, after, last) = (before as i64, after as i64, size as i64 - 1);
    let places = ops::arange(-before, last + 1 + after, 1, DType::I64)?;
    if !reflects {
        return ops::clip(places, 0, last);
    }
    // |i| mirrors the front, last - |last - i| the end
    let mirrored = ops::abs(ops::subtract(last, ops::abs(places)?)?)?;
    ops::subtract(last, mirrored)
}
