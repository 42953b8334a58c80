//! Pools.

use super::super::call::{Call, Inputs, Node, Outputs, many, one};
use super::windows::{
    AUTO_PAD, Axis, DILATIONS, KERNEL_REQUIRED, PADS, STRIDES, Windows, padded, unfolded,
};
use super::{Attribute, Row, function, int, make};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Axes, Shape, SmallVec};
use crate::nn::{self, AvgPool, MaxPool};
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const CEIL: Attribute = int("ceil_mode", 0);
const COUNT: Attribute = int("count_include_pad", 0);
const ORDER: Attribute = int("storage_order", 0);

pub(super) const ROWS: &[Row] = &[
    make(
        "AveragePool",
        1,
        1..=1,
        &[AUTO_PAD, KERNEL_REQUIRED, PADS, STRIDES],
        average,
    ),
    make(
        "AveragePool",
        7,
        1..=1,
        &[AUTO_PAD, COUNT, KERNEL_REQUIRED, PADS, STRIDES],
        average,
    ),
    make(
        "AveragePool",
        10,
        1..=1,
        &[AUTO_PAD, CEIL, COUNT, KERNEL_REQUIRED, PADS, STRIDES],
        average,
    ),
    make(
        "AveragePool",
        19,
        1..=1,
        &[
            AUTO_PAD,
            CEIL,
            COUNT,
            DILATIONS,
            KERNEL_REQUIRED,
            PADS,
            STRIDES,
        ],
        average,
    ),
    make(
        "MaxPool",
        1,
        1..=1,
        &[AUTO_PAD, KERNEL_REQUIRED, PADS, STRIDES],
        max,
    ),
    make(
        "MaxPool",
        8,
        1..=1,
        &[AUTO_PAD, KERNEL_REQUIRED, PADS, ORDER, STRIDES],
        max,
    ),
    make(
        "MaxPool",
        10,
        1..=1,
        &[
            AUTO_PAD,
            CEIL,
            DILATIONS,
            KERNEL_REQUIRED,
            PADS,
            ORDER,
            STRIDES,
        ],
        max,
    ),
    make(
        "LpPool",
        2,
        1..=1,
        &[AUTO_PAD, KERNEL_REQUIRED, int("p", 2), PADS, STRIDES],
        lp,
    ),
    make(
        "LpPool",
        18,
        1..=1,
        &[
            AUTO_PAD,
            CEIL,
            DILATIONS,
            KERNEL_REQUIRED,
            int("p", 2),
            PADS,
            STRIDES,
        ],
        lp,
    ),
    function("GlobalAveragePool", 1, 1..=1, |x| {
        ops::mean(x.get(0)?, spatial(x.get(0)?).keepdims())
    }),
    function("GlobalMaxPool", 1, 1..=1, |x| {
        ops::max(x.get(0)?, spatial(x.get(0)?).keepdims())
    }),
    make("GlobalLpPool", 2, 1..=1, &[int("p", 2)], |node| {
        let p = node.int("p") as f64;
        one(move |x| {
            let x = x.get(0)?;
            let powers = ops::pow(ops::abs(x)?, p)?;
            ops::pow(
                ops::sum_as(&powers, spatial(x).keepdims(), x.dtype())?,
                1.0 / p,
            )
        })
    }),
    make(
        "MaxUnpool",
        9,
        2..=3,
        &[KERNEL_REQUIRED, PADS, STRIDES],
        unpool,
    ),
];

fn spatial(x: &Tensor) -> Axes {
    Axes::from((2..x.rank()).collect::<Vec<_>>())
}

/// The smallest number of a dtype, or the largest.
pub(super) fn lowest(dtype: DType, largest: bool) -> Scalar {
    if dtype.is_bool() {
        return Scalar::Bool(largest);
    }
    if dtype.is_integer() {
        return Scalar::Int(dtype.integers()[usize::from(largest)]);
    }
    Scalar::Float(if largest {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    })
}

/// The windows on an image `[batch, channels, ..]`.
fn axes_on(op: &'static str, windows: &Windows, x: &Tensor) -> Result<SmallVec<[Axis; 3]>> {
    let Some(rank) = x.rank().checked_sub(2).filter(|n| *n > 0) else {
        let message = "the input must be [batch, channels, ..]";
        return Err(Error::shape_of(op, message, &[("X", x.shape(), x.dtype())]));
    };
    let kernel = windows.kernel(rank, None)?;
    windows.on(&x.shape()[2..], &kernel)
}
/// The option of each axis.
fn each(axes: &[Axis], f: fn(&Axis) -> usize) -> SmallVec<[usize; 3]> {
    axes.iter().map(f).collect()
}
/// Whether the crate's pools take the windows as they are.
fn is_plain(axes: &[Axis]) -> bool {
    axes.len() <= 3
        && axes.iter().all(|a| {
            a.before as isize == a.tail().max(a.after as isize)
                && a.after == a.before
                && 2 * a.before <= a.kernel
                && a.tail() <= a.after as isize
        })
}

fn average(node: &Node) -> Result<Call> {
    let windows = Windows::new(node)?;
    let has_choice = node
        .attributes
        .iter()
        .any(|(name, _)| *name == "count_include_pad");
    let count_pad = has_choice && node.flag("count_include_pad");
    one(move |x| {
        let x = x.get(0)?;
        let axes = axes_on("AveragePool", &windows, x)?;
        if is_plain(&axes) && axes.iter().all(|a| a.dilation == 1) {
            let options = AvgPool {
                stride: Some(each(&axes, |a| a.stride)[..].into()),
                padding: each(&axes, |a| a.before)[..].into(),
                count_include_pad: count_pad,
                ..Default::default()
            };
            let kernel = each(&axes, |a| a.kernel);
            return match axes.len() {
                1 => nn::avg_pool1d(x, &kernel[..], options),
                2 => nn::avg_pool2d(x, &kernel[..], options),
                _ => nn::avg_pool3d(x, &kernel[..], options),
            };
        }
        let sums = sums(x, &axes)?;
        ops::divide(sums, &counts(&axes, count_pad)?.astype(x.dtype())?)
    })
}

/// The sum of each window.
fn sums(x: &Tensor, axes: &[Axis]) -> Result<Tensor> {
    let windows = unfolded(&padded(x, axes, Scalar::Float(0.0))?, axes)?;
    let over: Vec<usize> = (windows.rank() - axes.len()..windows.rank()).collect();
    ops::sum_as(&windows, over, x.dtype())
}
/// The number of elements of each window, with or without those of the padding that the node asks
/// for.
fn counts(axes: &[Axis], with_padding: bool) -> Result<Tensor> {
    let mut all = Tensor::full((), 1.0, DType::F32)?;
    for (k, axis) in axes.iter().enumerate() {
        let (first, end) = match with_padding {
            true => (0, axis.before + axis.size + axis.after),
            false => (axis.before, axis.before + axis.size),
        };
        let counts = (0..axis.count).map(|place| {
            let taps = (0..axis.kernel).filter(|tap| {
                let at = place * axis.stride + tap * axis.dilation;
                (first..end).contains(&at)
            });
            Ok(taps.count() as f32)
        });
        let counts = crate::fallible::collect::<_, Error>(counts)?;
        let shape: Shape = (0..axes.len())
            .map(|i| if i == k { axis.count } else { 1 })
            .collect();
        all = ops::multiply(all, &Tensor::from_vec(counts, &shape[..])?)?;
    }
    Ok(all)
}

fn max(node: &Node) -> Result<Call> {
    let windows = Windows::new(node)?;
    let columns = node.attributes.iter().any(|(n, _)| *n == "storage_order")
        && node.int("storage_order") == 1;
    let positions = node.wants(1);
    many(move |x| {
        let x = x.get(0)?;
        let axes = axes_on("MaxPool", &windows, x)?;
        if axes.len() > 3 {
            return Err(Error::shape(
                "MaxPool",
                message!("{} spatial axes: at most 3 are supported", axes.len()),
            ));
        }
        let plain = is_plain(&axes);
        let lowest = lowest(x.dtype(), false);
        let image = if plain {
            x.clone()
        } else {
            padded(x, &axes, lowest)?
        };
        let options = MaxPool {
            stride: Some(each(&axes, |a| a.stride)[..].into()),
            padding: if plain {
                each(&axes, |a| a.before)[..].into()
            } else {
                0.into()
            },
            dilation: each(&axes, |a| a.dilation)[..].into(),
            ceil_mode: false,
        };
        let kernel = each(&axes, |a| a.kernel);
        let kernel = &kernel[..];
        if !positions {
            let y = match axes.len() {
                1 => nn::max_pool1d(&image, kernel, options),
                2 => nn::max_pool2d(&image, kernel, options),
                _ => nn::max_pool3d(&image, kernel, options),
            };
            return Ok(Outputs::from_buf([y?]));
        }
        let (y, at) = match axes.len() {
            1 => nn::max_pool1d_with_indices(&image, kernel, options),
            2 => nn::max_pool2d_with_indices(&image, kernel, options),
            _ => nn::max_pool3d_with_indices(&image, kernel, options),
        }?;
        let at = in_tensor(at, x, &image, &axes, plain, columns)?;
        Ok(Outputs::from_vec(alloc::vec![y, at]))
    })
}

/// Positions in planes of `image`, as positions in the whole of `x`; with `columns` the last axis
/// of a plane varies slowest.
fn in_tensor(
    at: Tensor,
    x: &Tensor,
    image: &Tensor,
    axes: &[Axis],
    plain: bool,
    columns: bool,
) -> Result<Tensor> {
    let mut rest = at;
    let mut parts = Vec::new();
    for (k, axis) in axes.iter().enumerate().rev() {
        let size = image.shape()[2 + k] as i64;
        let along = ops::remainder(&rest, size)?;
        rest = ops::floor_divide(rest, size)?;
        let before = if plain { 0 } else { axis.before as i64 };
        parts.push(ops::clip(
            ops::subtract(along, before)?,
            0,
            axis.size.max(1) as i64 - 1,
        )?);
    }
    parts.reverse();
    let mut place = Tensor::zeros((), DType::I64)?;
    let order: Vec<usize> = if columns {
        (0..axes.len()).rev().collect()
    } else {
        (0..axes.len()).collect()
    };
    for k in order {
        place = ops::add(ops::multiply(place, axes[k].size as i64)?, &parts[k])?;
    }
    let plane: usize = axes.iter().map(|a| a.size).product();
    let planes = x.shape()[0] * x.shape()[1];
    let first = ops::multiply(ops::arange(0, planes, 1, DType::I64)?, plane as i64)?;
    let shape: Shape = x.shape()[..2]
        .iter()
        .copied()
        .chain(axes.iter().map(|_| 1))
        .collect();
    ops::add(place, &first.reshape(shape)?)
}

fn lp(node: &Node) -> Result<Call> {
    let windows = Windows::new(node)?;
    let p = node.int("p") as f64;
    one(move |x| {
        let x = x.get(0)?;
        let axes = axes_on("LpPool", &windows, x)?;
        ops::pow(sums(&ops::pow(ops::abs(x)?, p)?, &axes)?, 1.0 / p)
    })
}

/// Elements put back where a pool took them: positions count in the whole tensor.
fn unpool(node: &Node) -> Result<Call> {
    let windows = Windows::new(node)?;
    one(move |x: &mut Inputs| {
        const OP: &str = "MaxUnpool";
        let (values, at) = (x.get(0)?, x.get(1)?);
        let rank = values.rank().saturating_sub(2);
        let kernel = windows.kernel(rank, None)?;
        let mut shape = Shape::from_slice(values.shape());
        for k in 0..rank {
            let (before, after) = windows.pad(k, rank);
            let whole = (values.shape()[2 + k].saturating_sub(1))
                .saturating_mul(windows.stride(k))
                .saturating_add(kernel[k]);
            shape[2 + k] = whole
                .checked_sub(before + after)
                .ok_or_else(|| Error::value(OP, "the padding is larger than the result"))?;
        }
        let zeros = Tensor::zeros(shape.iter().product::<usize>(), values.dtype())?;
        let y = ops::scatter(
            &zeros,
            &at.reshape(-1)?,
            &values.reshape(-1)?,
            0,
            ops::ScatterMode::Set,
        )?;
        let y = y.reshape(&shape)?;
        let Some(to) = x.maybe_ints(2)? else {
            return Ok(y);
        };
        // positions count in the result that the attributes imply, which lies at the beginning
        let to = super::super::call::sizes(OP, "a size", &to)?;
        if to.len() != shape.len() || to.iter().zip(&shape).any(|(to, have)| to < have) {
            return Err(Error::value(
                OP,
                message!("output_shape {to:?} for a result of {shape:?}"),
            ));
        }
        let widths: Vec<(usize, usize)> = to
            .iter()
            .zip(&shape)
            .map(|(to, have)| (0, to - have))
            .collect();
        ops::pad(&y, &widths, 0)
    })
}
