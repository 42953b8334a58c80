//! Elements of a pool's result, given back to those of the image that they were taken from, and
//! taken again.

use crate::kernel::math::Real;

/// Adds each of `grad` to the element of `plane` that its position names, in this order. The place of a
/// position that names none is the error; what lies before it is added.
pub fn add_at<F: Real>(grad: &[F], positions: &[i64], plane: &mut [F]) -> Result<(), usize> {
    for (place, (g, position)) in grad.iter().zip(positions).enumerate() {
        // the reading that is checked is the one that is followed (READ1)
        let to = usize::try_from(*position).ok();
        match to.and_then(|at| plane.get_mut(at)) {
            Some(to) => *to = *to + *g,
            None => return Err(place),
        }
    }
    Ok(())
}

/// Writes to each of `d` the element of `plane` that its position names. The place of a position that
/// names none is the error; what lies before it is written.
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
