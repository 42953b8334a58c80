//! The way back from a max pool: scatters a result's elements to the positions they were taken from,
//! and gathers from these. Each position is read once (READ1).

use crate::kernel::math::Real;

/// Joins each of `values`, in order, to the element of `plane` at its position. The error is the
/// index of the first position out of range; everything before it has been joined.
pub fn put_at<T: Copy>(
    values: &[T],
    positions: impl Iterator<Item = i64>,
    plane: &mut [T],
    join: impl Fn(T, T) -> T,
) -> Result<(), usize> {
    for (k, (value, position)) in values.iter().zip(positions).enumerate() {
        let to = usize::try_from(position).ok();
        match to.and_then(|at| plane.get_mut(at)) {
            Some(to) => *to = join(*to, *value),
            None => return Err(k),
        }
    }
    Ok(())
}

/// Copies to each of `d` the element of `plane` at its position. The error is the index of the
/// first position out of range; everything before it has been written.
pub fn take_at<F: Real>(
    plane: &[F],
    positions: impl Iterator<Item = i64>,
    d: &mut [F],
) -> Result<(), usize> {
    for (k, (d, position)) in d.iter_mut().zip(positions).enumerate() {
        let from = usize::try_from(position).ok();
        match from.and_then(|at| plane.get(at)) {
            Some(from) => *d = *from,
            None => return Err(k),
        }
    }
    Ok(())
}
