//! Shapes: views, copies of elements, and tensors made of a shape.

use super::super::call::{
    Call, Node, Outputs, int as int_of, ints as ints_of, many, number, one, size, sizes,
};
use super::{ANY, Kind, Row, function, int, ints, make, maybe, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Axes, Shape};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

pub(super) const ROWS: &[Row] = &[
    make("Reshape", 5, 2..=2, &[], |node| reshape(node, false)),
    make("Reshape", 14, 2..=2, &[int("allowzero", 0)], |node| {
        reshape(node, node.flag("allowzero"))
    }),
    make("Flatten", 1, 1..=1, &[int("axis", 1)], |node| {
        let axis = node.int("axis") as isize;
        one(move |x| flattened("Flatten", x.get(0)?, axis))
    }),
    make("Squeeze", 1, 1..=1, &[ints("axes")], |node| {
        let axes = node.maybe_ints("axes").map(Vec::from);
        one(move |x| squeezed(x.get(0)?, axes.as_deref()))
    }),
    function("Squeeze", 13, 1..=2, |x| {
        squeezed(x.get(0)?, x.maybe_ints(1)?.as_deref())
    }),
    make(
        "Unsqueeze",
        1,
        1..=1,
        &[required("axes", Kind::Ints)],
        |node| {
            let axes = Axes::from(node.maybe_ints("axes"));
            one(move |x| x.get(0)?.expand_dims(&axes))
        },
    ),
    make("Unsqueeze", 13, 2..=2, &[], |node| match node.constant(1) {
        Some(axes) => {
            let axes = Axes::from(ints_of(axes)?);
            one(move |x| x.get(0)?.expand_dims(&axes))
        }
        None => one(|x| x.get(0)?.expand_dims(x.ints(1)?)),
    }),
    make("Transpose", 1, 1..=1, &[ints("perm")], |node| {
        match node.maybe_ints("perm") {
            Some(axes) => {
                let axes = Axes::from(axes);
                one(move |x| x.get(0)?.permute(&axes))
            }
            None => one(|x| {
                let x = x.get(0)?;
                x.permute((0..x.rank()).rev().collect::<Vec<_>>())
            }),
        }
    }),
    function("Expand", 8, 2..=2, |x| {
        let to = sizes("Expand", "a size", &x.ints(1)?)?;
        let x = x.get(0)?;
        x.broadcast_to(&layout::broadcast("Expand", &[x.shape(), &to])?[..])
    }),
    make("Shape", 1, 1..=1, &[], |_| {
        one(|x| shape_of(x.get(0)?, 0, i64::MAX))
    }),
    make(
        "Shape",
        15,
        1..=1,
        &[int("start", 0), maybe("end", Kind::Int)],
        |node| {
            let (start, end) = (node.int("start"), node.maybe_int("end").unwrap_or(i64::MAX));
            one(move |x| shape_of(x.get(0)?, start, end))
        },
    ),
    function("Size", 1, 1..=1, |x| {
        Tensor::scalar(x.get(0)?.len(), DType::I64)
    }),
    make(
        "Concat",
        4,
        1..=ANY,
        &[required("axis", Kind::Int)],
        |node| {
            let axis = node.int("axis");
            one(move |x| {
                let all = (0..x.len()).map(|i| x.get(i)).collect::<Result<Vec<_>>>()?;
                ops::concat(&all, axis)
            })
        },
    ),
    make(
        "Split",
        2,
        1..=1,
        &[int("axis", 0), ints("split")],
        |node| {
            let parts = node.maybe_sizes("split")?.map(|n| n.into_vec());
            split(node, move |_| Ok(parts.clone()))
        },
    ),
    make("Split", 13, 1..=2, &[int("axis", 0)], |node| {
        split(node, part_sizes)
    }),
    make(
        "Split",
        18,
        1..=2,
        &[int("axis", 0), maybe("num_outputs", Kind::Int)],
        |node| split(node, part_sizes),
    ),
    function("Tile", 6, 2..=2, |x| {
        let counts = sizes("Tile", "a number of repetitions", &x.ints(1)?)?;
        ops::tile(x.get(0)?, &counts[..])
    }),
    make(
        "DepthToSpace",
        1,
        1..=1,
        &[required("blocksize", Kind::Int)],
        |node| blocks(node, true, false),
    ),
    make(
        "DepthToSpace",
        11,
        1..=1,
        &[required("blocksize", Kind::Int), text("mode", "DCR")],
        |node| blocks(node, true, node.choice("mode", MODES)?),
    ),
    make(
        "SpaceToDepth",
        1,
        1..=1,
        &[required("blocksize", Kind::Int)],
        |node| blocks(node, false, false),
    ),
    make(
        "SpaceToDepth",
        28,
        1..=1,
        &[required("blocksize", Kind::Int), text("mode", "DCR")],
        |node| blocks(node, false, node.choice("mode", MODES)?),
    ),
    make("Trilu", 14, 1..=2, &[int("upper", 1)], |node| {
        let upper = node.flag("upper");
        one(move |x| {
            let k = x.maybe(1).map_or(Ok(0), int_of)?;
            if upper {
                ops::triu(x.get(0)?, k)
            } else {
                ops::tril(x.get(0)?, k)
            }
        })
    }),
    make(
        "EyeLike",
        9,
        1..=1,
        &[maybe("dtype", Kind::Int), int("k", 0)],
        |node| {
            let (dtype, k) = (node.dtype("dtype")?, node.int("k"));
            one(move |x| match *x.get(0)?.shape() {
                [rows, columns] => ops::eye(rows, columns, k, dtype.unwrap_or(x.get(0)?.dtype())),
                _ => Err(Error::shape("EyeLike", "the input must be a matrix")),
            })
        },
    ),
    function("Range", 11, 3..=3, |x| {
        range(x.get(0)?, x.get(1)?, x.get(2)?)
    }),
    make("Range", 27, 3..=3, &[int("stash_type", 1)], |_| {
        one(|x| range(x.get(0)?, x.get(1)?, x.get(2)?))
    }),
    make(
        "ConstantOfShape",
        9,
        1..=1,
        &[maybe("value", Kind::Tensor)],
        |node| {
            let value = match node.tensor("value") {
                Some(t) => t.reshape(())?,
                None => Tensor::zeros((), DType::F32)?,
            };
            let bytes = value.value("ConstantOfShape")?;
            one(move |x| {
                let shape = sizes("ConstantOfShape", "a size", &x.ints(0)?)?;
                Tensor::filled(&shape, value.dtype(), &bytes)
            })
        },
    ),
    make("CenterCropPad", 18, 2..=2, &[ints("axes")], |node| {
        let axes = node.maybe_ints("axes").map(Vec::from);
        one(move |x| center(x.get(0)?, &x.ints(1)?, axes.as_deref()))
    }),
];
const MODES: &[(&str, bool)] = &[("DCR", false), ("CRD", true)];

/// A matrix of the axes before `axis` and those from it on.
pub(super) fn flattened(op: &'static str, x: &Tensor, axis: isize) -> Result<Tensor> {
    let rank = x.rank() as isize;
    let at = if axis < 0 { axis + rank } else { axis };
    if !(0..=rank).contains(&at) {
        return Err(Error::value(
            op,
            message!("axis {axis} of {rank} dimensions"),
        ));
    }
    let (rows, columns) = x.shape().split_at(at as usize);
    x.reshape([rows.iter().product::<usize>(), columns.iter().product()])
}

fn reshape(node: &Node, allow_zero: bool) -> Result<Call> {
    let to = move |x: &Tensor, shape: &[i64]| {
        let sizes = shape
            .iter()
            .enumerate()
            .map(|(i, n)| match (n, x.shape().get(i)) {
                (0, Some(kept)) if !allow_zero => *kept as i64,
                _ => *n,
            });
        x.reshape(sizes.collect::<Vec<_>>())
    };
    match node.constant(1) {
        Some(shape) => {
            let shape = ints_of(shape)?;
            one(move |x| to(x.get(0)?, &shape))
        }
        None => one(move |x| to(x.get(0)?, &x.ints(1)?)),
    }
}

fn squeezed(x: &Tensor, axes: Option<&[i64]>) -> Result<Tensor> {
    match axes {
        Some(axes) => x.squeeze(axes),
        None => {
            let ones = (0..x.rank()).filter(|k| x.shape()[*k] == 1);
            x.squeeze(ones.collect::<Vec<_>>())
        }
    }
}

/// The sizes of axes `start` to `end`.
fn shape_of(x: &Tensor, start: i64, end: i64) -> Result<Tensor> {
    let rank = x.rank() as i64;
    let bound = |n: i64| (if n < 0 { n + rank } else { n }).clamp(0, rank) as usize;
    let (start, end) = (bound(start), bound(end));
    let shape: Vec<i64> = x.shape()[start..end.max(start)]
        .iter()
        .map(|n| *n as i64)
        .collect();
    Tensor::from_slice(&shape, shape.len())
}

fn part_sizes(n: Option<&Tensor>) -> Result<Option<Vec<usize>>> {
    n.map(|n| Ok(sizes("Split", "a part's size", &ints_of(n)?)?.into_vec()))
        .transpose()
}
fn split(
    node: &Node,
    parts: impl Fn(Option<&Tensor>) -> Result<Option<Vec<usize>>> + Send + Sync + 'static,
) -> Result<Call> {
    let (axis, count) = (node.int("axis"), node.wanted.len());
    many(move |x| {
        let given = parts(x.maybe(1))?;
        let x = x.get(0)?;
        let size = x.shape()[layout::axis("Split", axis as isize, x.rank())?];
        let parts = given.unwrap_or_else(|| {
            let part = size.div_ceil(count.max(1));
            (0..count)
                .map(|i| part.min(size.saturating_sub(i * part)))
                .collect()
        });
        Ok(Outputs::from_vec(x.split(&parts, axis)?))
    })
}

/// Blocks of channels to blocks of pixels, or back; the block is the outer part of the channels, or
/// with `inner` the inner one.
fn blocks(node: &Node, to_space: bool, inner: bool) -> Result<Call> {
    let (op, b) = (node.op, size(node.op, "blocksize", node.int("blocksize"))?);
    one(move |x| {
        let x = x.get(0)?;
        let wrong = || {
            Error::shape_of(
                op,
                message!("a blocksize of {b} does not divide the sizes"),
                &[("input", x.shape(), x.dtype())],
            )
        };
        let &[n, c, h, w] = x.shape() else {
            return Err(wrong());
        };
        if to_space {
            let channels = b
                .checked_mul(b)
                .filter(|bb| *bb > 0 && c.is_multiple_of(*bb))
                .ok_or_else(wrong)?;
            let channels = c / channels;
            let (y, axes) = match inner {
                true => (x.reshape([n, channels, b, b, h, w])?, [0, 1, 4, 2, 5, 3]),
                false => (x.reshape([n, b, b, channels, h, w])?, [0, 3, 4, 1, 5, 2]),
            };
            return y.permute(axes)?.reshape([n, channels, h * b, w * b]);
        }
        if b == 0 || !h.is_multiple_of(b) || !w.is_multiple_of(b) {
            return Err(wrong());
        }
        let y = x.reshape([n, c, h / b, b, w / b, b])?;
        let axes = if inner {
            [0, 1, 3, 5, 2, 4]
        } else {
            [0, 3, 5, 1, 2, 4]
        };
        y.permute(axes)?.reshape([n, c * b * b, h / b, w / b])
    })
}

fn range(start: &Tensor, limit: &Tensor, delta: &Tensor) -> Result<Tensor> {
    let dtype = start.dtype();
    if dtype.is_integer() {
        return ops::arange(number(start)?, number(limit)?, number(delta)?, dtype);
    }
    // as many as ONNX says, each the start and a multiple of the step
    let of = |t: &Tensor| -> Result<f64> { t.reshape(())?.astype(DType::F64)?.item() };
    let (first, limit, step) = (of(start)?, of(limit)?, of(delta)?);
    let count = libm::ceil((limit - first) / step).max(0.0);
    if count.is_nan() || count >= 9e15 {
        return Err(Error::value(
            "Range",
            message!("{count} numbers from {first} to {limit} by {step}"),
        ));
    }
    let wide = dtype.wide();
    let n = ops::arange(0, count as i64, 1, DType::I64)?.astype(wide)?;
    ops::add(
        ops::multiply(n, &delta.reshape(())?.astype(wide)?)?,
        &start.reshape(())?.astype(wide)?,
    )?
    .astype(dtype)
}

/// The middle of `x`, or `x` in the middle of zeros.
fn center(x: &Tensor, shape: &[i64], axes: Option<&[i64]>) -> Result<Tensor> {
    const OP: &str = "CenterCropPad";
    let axes: Shape = match axes {
        Some(axes) => axes
            .iter()
            .map(|a| layout::axis(OP, *a as isize, x.rank()))
            .collect::<Result<_>>()?,
        None => (0..x.rank()).collect(),
    };
    let shape = sizes(OP, "a size", shape)?;
    if shape.len() != axes.len() {
        return Err(Error::value(
            OP,
            message!("{} sizes for {} axes", shape.len(), axes.len()),
        ));
    }
    let mut y = x.clone();
    let mut widths: Vec<(usize, usize)> = x.shape().iter().map(|_| (0, 0)).collect();
    for (k, want) in axes.into_iter().zip(shape) {
        let have = x.shape()[k];
        if want < have {
            y = y.narrow(k, (have - want) / 2, want)?;
        } else {
            widths[k] = ((want - have) / 2, (want - have).div_ceil(2));
        }
    }
    ops::pad(&y, &widths, false) // zero in every dtype
}
