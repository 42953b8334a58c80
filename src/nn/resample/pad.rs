//! Padding, and elements moved by a map of each axis.

use super::super::images::{Planes, table_bytes};
use super::super::spatial::three;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::resample::remap::{ElementRun, Remap, Width};
use crate::layout::Shape;
use crate::ops;
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::simd;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// How padding is filled.
///
/// Example: [`pad`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode {
    /// With a value.
    Constant(Scalar),
    /// With the interior reflected, without repeating the border.
    Reflect,
    /// With the elements at the border.
    Replicate,
    /// With the elements at the opposite end, as if periodic.
    Circular,
}

/// Pads `x` along its last axes. `pad` has a pair (before, after) for each padded axis, the last
/// axis first. Negative numbers crop.
///
/// Constants may pad any axes of any dtype. The other modes pad one to three spatial axes, behind
/// channels and possibly a batch: the operand has two to five dimensions, and all but the first one
/// or two have a pair.
///
/// Errors if `pad` is not a list of pairs or has too many, if a size would be negative, if a
/// reflection is as wide as the axis or circular padding wider, if the axis to replicate is empty,
/// and if the value doesn't fit the dtype.
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
#[doc(alias("pad_with_zeros", "pad_with_same", "constant_pad_nd"))]
pub fn pad(x: &Tensor, pad: &[isize], mode: impl Into<PadMode>) -> Result<Tensor> {
    padded(x, pad, &mode.into())
}

const OP: &str = "pad";

/// The checked padding of a tensor's shape.
pub(in crate::nn) struct CheckedPadding {
    op: &'static str,
    /// The amounts before and after each axis.
    pub around: SmallVec<[(isize, isize); 6]>,
    /// The shape of the result.
    pub output_size: Shape,
    /// The number of axes with a pair.
    pub axes: usize,
}

impl CheckedPadding {
    /// Errors if `pad` doesn't suit this shape.
    pub fn new(
        op: &'static str,
        operand: (&'static str, &[usize], DType),
        pad: &[isize],
    ) -> Result<CheckedPadding> {
        let shape = operand.1;
        let bad = |message| Err(Error::shape_of(op, message, &[operand]));
        let axes = pad.len() / 2;
        if !pad.len().is_multiple_of(2) || axes > shape.len() {
            return bad(message!(
                "pad is {pad:?}; it must have a pair for each padded axis, the last one first"
            ));
        }
        let mut around: SmallVec<[(isize, isize); 6]> = SmallVec::from_elem((0, 0), shape.len());
        for (k, pair) in pad.chunks_exact(2).enumerate() {
            around[shape.len() - 1 - k] = (pair[0], pair[1]);
        }
        let mut output_size = Shape::new();
        for (k, (before, after)) in around.iter().enumerate() {
            let size = (shape[k] as isize)
                .checked_add(*before)
                .and_then(|n| n.checked_add(*after));
            match size.map(usize::try_from) {
                Some(Ok(n)) => output_size.push(n),
                _ => {
                    return bad(message!(
                        "pad is ({before}, {after}) along axis {k}, which leaves no size of {}",
                        shape[k]
                    ));
                }
            }
        }
        Ok(CheckedPadding {
            op,
            around,
            output_size,
            axes,
        })
    }
    /// Errors unless one of the image modes suits this shape.
    pub fn check(&self, operand: (&'static str, &[usize], DType), mode: &PadMode) -> Result<()> {
        let (spatial, shape) = (self.axes, operand.1);
        let bad = |message| Err(Error::shape_of(self.op, message, &[operand]));
        if !(1..=3).contains(&spatial) || ![spatial + 1, spatial + 2].contains(&shape.len()) {
            return bad(message!(
                "pad has {spatial} pairs: {} is for one to three axes, behind channels, or a batch and channels",
                name(mode)
            ));
        }
        let lead = shape.len() - spatial;
        for (k, (before, after)) in self.around.iter().copied().enumerate().skip(lead) {
            let size = shape[k] as isize;
            let most = before.max(after);
            let (fits, size) = match mode {
                PadMode::Reflect => (most < size, size),
                PadMode::Circular => {
                    let left = left(size, (before, after));
                    (most <= left, left)
                }
                _ => (size > 0, size),
            };
            if !fits || self.output_size[k] == 0 && shape[k] == 0 {
                return bad(message!(
                    "pad is ({before}, {after}) along axis {k}: too much for {} of {size} elements",
                    name(mode)
                ));
            }
        }
        Ok(())
    }
    /// The element that each output of the three spatial axes takes, for a mode that suits `shape`.
    pub fn maps(&self, shape: &[usize], mode: &PadMode) -> Result<[Vec<u32>; 3]> {
        let (spatial, lead) = (self.axes, shape.len() - self.axes);
        let map = |k: usize| -> Result<Vec<u32>> {
            let Some(axis) = (lead + k)
                .checked_sub(3 - spatial)
                .filter(|axis| *axis >= lead)
            else {
                return fallible::filled(0, 1);
            };
            let (size, (before, after)) = (shape[axis] as isize, self.around[axis]);
            let (first, left) = (before.min(0).saturating_neg(), left(size, (before, after)));
            if shape[axis] > u32::MAX as usize {
                return Err(Error::value(self.op, "a size is beyond 32 bits"));
            }
            let element = |output: usize| {
                let at = (output as isize).saturating_sub(before);
                let at = match mode {
                    PadMode::Circular => first + (at - first).rem_euclid(left),
                    PadMode::Reflect if at < 0 => -at,
                    PadMode::Reflect if at >= size => 2 * (size - 1) - at,
                    _ => at.clamp(0, size - 1),
                };
                Ok(at as u32)
            };
            fallible::collect((0..self.output_size[axis]).map(element))
        };
        Ok([map(0)?, map(1)?, map(2)?])
    }
}

/// The elements of `size` that remain after cropping: circular padding repeats those.
fn left(size: isize, (before, after): (isize, isize)) -> isize {
    size + before.min(0) + after.min(0)
}

fn padded(x: &Tensor, pad: &[isize], mode: &PadMode) -> Result<Tensor> {
    let operand = ("x", x.shape(), x.dtype());
    let to = CheckedPadding::new(OP, operand, pad)?;
    if let PadMode::Constant(value) = mode {
        let mut inside = x.clone();
        let mut widths: SmallVec<[(usize, usize); 6]> = SmallVec::new();
        for (k, (before, after)) in to.around.iter().enumerate() {
            // cropping on one side may exceed the number of elements
            let size = x.shape()[k];
            let first = before.min(&0).unsigned_abs().min(size);
            let last = size.saturating_sub(after.min(&0).unsigned_abs()).max(first);
            inside = inside.narrow(k as isize, first, last - first)?;
            let before = (*before).max(0) as usize;
            let before = before.min(to.output_size[k]);
            let behind = to.output_size[k].saturating_sub(before + (last - first));
            widths.push((before, behind));
        }
        return ops::pad(&inside, &widths, *value);
    }
    to.check(operand, mode)?;
    let planes = Planes::new(OP, x, to.axes)?;
    let output_size = three(&to.output_size[x.rank() - to.axes..], to.axes, 1);
    if !planes.room(output_size, x.dtype(), table_bytes(output_size, MOVED))? {
        return planes.result(planes.empty(output_size, x.dtype())?);
    }
    remap(&planes, output_size, &to.maps(x.shape(), mode)?, x.dtype())
}

fn name(mode: &PadMode) -> &'static str {
    match mode {
        PadMode::Constant(_) => "constant",
        PadMode::Reflect => "reflect",
        PadMode::Replicate => "replicate",
        PadMode::Circular => "circular",
    }
}

/// Runs shorter than this on average are moved element by element.
const SHORT: usize = 8;
/// Bytes of maps and runs for each output of [`remap`].
pub(super) const MOVED: usize = size_of::<u32>() + size_of::<ElementRun>().div_ceil(SHORT);

/// A result whose output `p` along an axis takes element `map[p]` of the images.
pub(in crate::nn) fn remap(
    planes: &Planes,
    output_size: Three,
    maps: &[Vec<u32>; 3],
    dtype: DType,
) -> Result<Tensor> {
    let sizes = planes.sizes();
    // the kernel computes addresses of rows by these maps; columns are bounds-checked there
    assert!((0..3).all(|k| {
        maps[k].len() == output_size[k] && maps[k].iter().all(|i| (*i as usize) < sizes[k])
    }));
    let most = output_size[2].max(SHORT) / SHORT;
    let mut runs: Vec<ElementRun> = fallible::with_capacity(most)?;
    let mut long = true;
    for (output, element) in maps[2].iter().enumerate() {
        let element = *element as usize;
        let count = runs.len();
        match runs.last_mut() {
            Some(run) if run.element + run.len == element => run.len += 1,
            _ if count == most => {
                long = false;
                break;
            }
            _ => runs.push(ElementRun {
                output,
                element,
                len: 1,
            }),
        }
    }
    let twice = output_size[2] == 2 * sizes[2]
        && maps[2]
            .iter()
            .enumerate()
            .all(|(p, i)| *i as usize == p / 2);
    let mut result = planes.empty(output_size, dtype)?;
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
