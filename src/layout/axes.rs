//! Axes, broadcasting and slice bounds: resolved before there is a layout.

use super::{Layout, Shape};
use crate::error::{Error, Result};
use smallvec::SmallVec;

/// Resolves an axis to one counted from the front; negative axes count from the end.
pub fn axis(op: &'static str, axis: isize, rank: usize) -> Result<usize> {
    let k = if axis < 0 { axis + rank as isize } else { axis };
    if (0..rank as isize).contains(&k) {
        Ok(k as usize)
    } else {
        Err(Error::Axis {
            op,
            axis,
            rank,
            repeated: false,
        })
    }
}

/// The same for several axes, which must not repeat, in the order given.
pub fn unique_axes(op: &'static str, axes: &[isize], rank: usize) -> Result<SmallVec<[usize; 6]>> {
    let mut out = SmallVec::new();
    for a in axes {
        let k = axis(op, *a, rank)?;
        if out.contains(&k) {
            return Err(Error::Axis {
                op,
                axis: *a,
                rank,
                repeated: true,
            });
        }
        out.push(k);
    }
    Ok(out)
}

/// The shape that all operands broadcast to, by the array API's rules. The names are for the error.
///
/// ```
/// let s = flex::layout::broadcast("add", &[&[3, 1], &[4]])?;
/// assert_eq!(s.as_slice(), [3, 4]);
/// assert!(flex::layout::broadcast("add", &[&[3], &[4]]).is_err());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn broadcast(op: &'static str, shapes: &[&[usize]]) -> Result<Shape> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = Shape::from_elem(1, rank);
    for s in shapes {
        let lead = rank - s.len();
        for (o, d) in out[lead..].iter_mut().zip(*s) {
            if *o == 1 {
                *o = *d;
            } else if *d != 1 && *d != *o {
                let list = || {
                    shapes
                        .iter()
                        .map(|s| alloc::format!("{s:?}"))
                        .collect::<alloc::vec::Vec<_>>()
                        .join(" and ")
                };
                return Err(Error::shape(
                    op,
                    message!(
                        "shapes {} do not broadcast: sizes {o} and {d} differ and neither is 1",
                        list()
                    ),
                ));
            }
        }
    }
    Ok(out)
}

/// The bounds of a Python slice on a dimension of `size`: first element, number of elements. `step`
/// is not 0.
pub fn slice_bounds(
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
    size: usize,
) -> (usize, usize) {
    let n = size.min(Layout::MAX_LEN) as i64; // LAYOUT2
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |x: Option<i64>, default: i64| {
        x.map_or(default, |x| if x < 0 { x + n } else { x }.clamp(low, high))
    };
    let (a, b) = if step > 0 {
        (clamp(start, 0), clamp(stop, n))
    } else {
        (clamp(start, n - 1), clamp(stop, -1))
    };
    let span = if step > 0 { b - a } else { a - b };
    if span <= 0 {
        return (0, 0);
    }
    let count = if step == 1 {
        span as u64
    } else {
        (span as u64).div_ceil(step.unsigned_abs())
    };
    (a as usize, count as usize)
}
