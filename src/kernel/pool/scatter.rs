//! Gradients of max pooling: scatters a result's elements back to the positions they were taken
//! from, and gathers from these.

use crate::kernel::math::Real;

/// Adds each of `grad`, in order, to the element of `plane` at its position. The error is the index
/// of the first position out of range; everything before it has been added.
pub fn add_at<F: Real>(grad: &[F], positions: &[i64], plane: &mut [F]) -> Result<(), usize> {
    for (place, (g, position)) in grad.iter().zip(positions).enumerate() {
        // the value checked is the value used (READ1)
        let to = usize::try_from(*position).ok();
        match to.and_then(|at| plane.get_mut(at)) {
            Some(to) => *to = *to + *g,
            None => return Err(place),
        }
    }
    Ok(())
}

/// Copies to each of `d` the element of `plane` at its position. The error is the index of the
/// first position out of range; everything before it has been written.
pub fn take_at<F: Real>(plane: &[F], positions: &[i64], d: &mut [F]) -> Result<(), usize> {
    for (place, (d, position)) in d.iter_mut().zip(positions).enumerate() {
        // as above (READ1)
        let from = usize::try_from(*position).ok();
        match from.and_then(|at| plane.get(at)) {
            Some(from) => *d = *from,
            None => return Err(place),
        }
    }
    Ok(())
}
