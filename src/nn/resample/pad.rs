//! Elements around a tensor, and elements moved by a map of each axis.

use super::super::images::Planes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::resample::remap::{Remap, Run, Width};
use crate::layout::Shape;
use crate::ops;
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::simd;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// What is put around a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode {
    /// A value.
    Constant(Scalar),
    /// What lies inside, reflected; the border once.
    Reflect,
    /// The elements of the border.
    Replicate,
    /// What lies at the other side.
    Circular,
}

/// `x` with elements before and after it, along the last axes: `pad` has a pair for each, the last
/// axis first. What is negative takes elements away.
///
/// Constants are put around any axes, any dtype. The other modes are for one to three axes behind
/// channels, behind a batch or none: one pair for each but the first one or two of two to five dimensions.
///
/// Errors where `pad` is no list of pairs or has more than axes, a size would be negative, a reflection
/// is as wide as the axis or a circle wider, a border has no element, and a value does not fit the dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1, 2, 3], [1, 3])?;
/// let padded = |pad: &[isize], mode| nn::pad(&x, pad, mode)?.to_vec::<i32>();
/// assert_eq!(padded(&[1, 2], nn::PadMode::Constant(0.into()))?, [0, 1, 2, 3, 0, 0]);
/// assert_eq!(padded(&[2, 1], nn::PadMode::Reflect)?, [3, 2, 1, 2, 3, 2]);
/// assert_eq!(padded(&[1, -1], nn::PadMode::Replicate)?, [1, 1, 2]);
/// assert_eq!(padded(&[1, 1], nn::PadMode::Circular)?, [3, 1, 2, 3, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pad(x: &Tensor, pad: &[isize], mode: impl Into<PadMode>) -> Result<Tensor> {
    padded(x, pad, &mode.into())
}

const OP: &str = "pad";

fn padded(x: &Tensor, pad: &[isize], mode: &PadMode) -> Result<Tensor> {
    let bad = |message| Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    let axes = pad.len() / 2;
    if !pad.len().is_multiple_of(2) || axes > x.rank() {
        return bad(message!(
            "pad is {pad:?}: a pair for each of the last axes, the last one first"
        ));
    }
    // before and after each axis
    let mut around: SmallVec<[(isize, isize); 6]> = SmallVec::from_elem((0, 0), x.rank());
    for (k, pair) in pad.chunks_exact(2).enumerate() {
        around[x.rank() - 1 - k] = (pair[0], pair[1]);
    }
    let mut places = Shape::new();
    for (k, (before, after)) in around.iter().enumerate() {
        let size = (x.shape()[k] as isize)
            .checked_add(*before)
            .and_then(|n| n.checked_add(*after));
        match size.map(usize::try_from) {
            Some(Ok(n)) => places.push(n),
            _ => {
                return bad(message!(
                    "pad is ({before}, {after}) along axis {k}, which leaves no size of {}",
                    x.shape()[k]
                ));
            }
        }
    }
    if let PadMode::Constant(value) = mode {
        let mut inside = x.clone();
        let mut widths: SmallVec<[(usize, usize); 6]> = SmallVec::new();
        for (k, (before, after)) in around.iter().enumerate() {
            // what is taken away from one side may be more than the elements
            let size = x.shape()[k];
            let first = before.min(&0).unsigned_abs().min(size);
            let last = size.saturating_sub(after.min(&0).unsigned_abs()).max(first);
            inside = inside.narrow(k as isize, first, last - first)?;
            let before = (*before).max(0) as usize;
            let before = before.min(places[k]);
            let behind = places[k].saturating_sub(before + (last - first));
            widths.push((before, behind));
        }
        return ops::pad(&inside, &widths, *value);
    }
    let spatial = axes;
    if !(1..=3).contains(&spatial) || ![spatial + 1, spatial + 2].contains(&x.rank()) {
        return bad(message!(
            "pad has {axes} pairs: {} is for one to three axes, behind channels, or a batch and channels",
            name(mode)
        ));
    }
    for k in x.rank() - spatial..x.rank() {
        let ((before, after), size) = (around[k], x.shape()[k] as isize);
        let most = before.max(after);
        let fits = match mode {
            PadMode::Reflect => most < size,
            PadMode::Circular => most <= size && before > -size && after > -size,
            _ => size > 0,
        };
        if !fits || places[k] == 0 && size == 0 {
            return bad(message!(
                "pad is ({before}, {after}) along axis {k}: too much for {} of {size} elements",
                name(mode)
            ));
        }
    }
    let planes = Planes::new(OP, x, spatial)?;
    let sizes = planes.sizes();
    let (mut all, mut first) = ([1; 3], [0; 3]);
    for k in 0..spatial {
        let axis = x.rank() - spatial + k;
        all[3 - spatial + k] = places[axis];
        first[3 - spatial + k] = -around[axis].0;
    }
    let map = |k: usize| -> Result<Vec<u32>> {
        let size = sizes[k] as isize;
        if size > u32::MAX as isize {
            return Err(Error::value(OP, "a size is beyond 32 bits"));
        }
        let element = |place: usize| {
            let at = first[k] + place as isize;
            let at = match mode {
                PadMode::Circular => at.rem_euclid(size),
                PadMode::Reflect if at < 0 => -at,
                PadMode::Reflect if at >= size => 2 * (size - 1) - at,
                _ => at.clamp(0, size - 1),
            };
            Ok(at as u32)
        };
        fallible::collect((0..all[k]).map(element))
    };
    remap(&planes, all, &[map(0)?, map(1)?, map(2)?], x.dtype())
}

fn name(mode: &PadMode) -> &'static str {
    match mode {
        PadMode::Constant(_) => "constant",
        PadMode::Reflect => "reflect",
        PadMode::Replicate => "replicate",
        PadMode::Circular => "circular",
    }
}

/// A result whose place `p` along an axis has element `map[p]` of the images.
pub(super) fn remap(
    planes: &Planes,
    places: Three,
    maps: &[Vec<u32>; 3],
    dtype: DType,
) -> Result<Tensor> {
    /// Runs that are shorter than this on average are moved element by element.
    const SHORT: usize = 8;
    let sizes = planes.sizes();
    // the kernel relies on none of this for its addresses of columns, but on the others
    assert!((0..3).all(|k| {
        maps[k].len() == places[k] && maps[k].iter().all(|i| (*i as usize) < sizes[k])
    }));
    let mut runs: Vec<Run> = Vec::new();
    for (place, element) in maps[2].iter().enumerate() {
        let element = *element as usize;
        match runs.last_mut() {
            Some(run) if run.element + run.len == element => run.len += 1,
            _ => fallible::push(
                &mut runs,
                Run {
                    place,
                    element,
                    len: 1,
                },
            )?,
        }
    }
    let twice = places[2] == 2 * sizes[2]
        && maps[2]
            .iter()
            .enumerate()
            .all(|(p, i)| *i as usize == p / 2);
    let long = runs.len().saturating_mul(SHORT) <= places[2].max(SHORT);
    let mut result = planes.empty(places, dtype)?;
    dispatch_width!(dtype.size(), |U| {
        let (x, y) = (planes.images::<U>()?, planes.images_mut::<U>(&mut result)?);
        let cost = Cost {
            bytes: 2 * y.width() * size_of::<U>(),
            flops: y.width(),
        };
        par::ranges(y.rows(), 1, cost, |rows| {
            let width = if long {
                Width::Runs(&runs)
            } else if twice {
                Width::Twice
            } else {
                Width::Each(&maps[2])
            };
            simd::call(Remap {
                x,
                y,
                maps: [&maps[0], &maps[1]],
                width,
                rows,
            })
        });
    });
    planes.result(result)
}
