//! Normalisations.

use super::super::call::{Call, Node, Outputs, many, one};
use super::{Attribute, Kind, Row, float, int, ints, make, required};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Axes, Shape};
use crate::nn::{self, ChannelNorm, LayerNorm, RmsNorm};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const EPS: Attribute = float("epsilon", 1e-5);
const LAST: Attribute = int("axis", -1);
const STASH: Attribute = int("stash_type", 1);
const GROUPS: Attribute = required("num_groups", Kind::Int);

pub(super) const ROWS: &[Row] = &[
    make(
        "BatchNormalization",
        6,
        5..=5,
        &[
            EPS,
            float("momentum", 0.9),
            int("is_test", 0),
            int("spatial", 1),
        ],
        batch_norm,
    ),
    make(
        "BatchNormalization",
        7,
        5..=5,
        &[EPS, float("momentum", 0.9), int("spatial", 1)],
        batch_norm,
    ),
    make(
        "BatchNormalization",
        9,
        5..=5,
        &[EPS, float("momentum", 0.9)],
        batch_norm,
    ),
    make(
        "BatchNormalization",
        14,
        5..=5,
        &[EPS, float("momentum", 0.9), int("training_mode", 0)],
        batch_norm,
    ),
    make("InstanceNormalization", 6, 3..=3, &[EPS], |node| {
        let eps = node.float("epsilon");
        one(move |x| {
            let options = ChannelNorm {
                weight: Some(x.get(1)?),
                bias: Some(x.get(2)?),
                eps,
            };
            // unlike `instance_norm`, which refuses a channel of a single value: it becomes the bias
            let channels = x.get(0)?.shape().get(1).copied().unwrap_or(0);
            nn::group_norm(x.get(0)?, channels.max(1), options)
        })
    }),
    make("GroupNormalization", 18, 3..=3, &[EPS, GROUPS], |node| {
        let (eps, groups) = (node.float("epsilon"), node.size("num_groups")?);
        one(move |x| {
            // a number for each group
            let channels = x.get(0)?.shape().get(1).copied().unwrap_or(0);
            let spread = |t: &Tensor| ops::repeat(t, channels / groups.max(1), 0);
            let (weight, bias) = (spread(x.get(1)?)?, spread(x.get(2)?)?);
            nn::group_norm(
                x.get(0)?,
                groups,
                ChannelNorm {
                    weight: Some(&weight),
                    bias: Some(&bias),
                    eps,
                },
            )
        })
    }),
    make(
        "GroupNormalization",
        21,
        3..=3,
        &[EPS, GROUPS, STASH],
        |node| {
            let (eps, groups) = (node.float("epsilon"), node.size("num_groups")?);
            one(move |x| {
                let options = ChannelNorm {
                    weight: Some(x.get(1)?),
                    bias: Some(x.get(2)?),
                    eps,
                };
                nn::group_norm(x.get(0)?, groups, options)
            })
        },
    ),
    make(
        "LayerNormalization",
        17,
        2..=3,
        &[LAST, EPS, STASH],
        layer_norm,
    ),
    make("RMSNormalization", 23, 2..=2, &[LAST, EPS, STASH], |node| {
        let (axis, eps) = (node.int("axis") as isize, node.float("epsilon"));
        one(move |x| {
            let (x, scale) = (x.get(0)?, x.get(1)?);
            let axis = layout::axis("RMSNormalization", axis, x.rank())?;
            let shape = &x.shape()[axis..];
            if scale.rank() > shape.len() {
                let options = RmsNorm {
                    eps: Some(eps),
                    ..Default::default()
                };
                let y = nn::rms_norm(x, shape, options)?;
                return ops::multiply(&y, &spread(scale, x.shape())?);
            }
            let weight = spread(scale, shape)?;
            nn::rms_norm(
                x,
                shape,
                RmsNorm {
                    weight: Some(&weight),
                    eps: Some(eps),
                },
            )
        })
    }),
    make(
        "LRN",
        1,
        1..=1,
        &[
            float("alpha", 1e-4),
            float("beta", 0.75),
            float("bias", 1.0),
            required("size", Kind::Int),
        ],
        |node| {
            let (alpha, beta, bias) = (node.float("alpha"), node.float("beta"), node.float("bias"));
            let size = node.size("size")?.max(1);
            one(move |x| {
                let x = x.get(0)?;
                if x.rank() < 2 {
                    return Err(Error::shape(
                        "LRN",
                        "the input must be [batch, channels, ..]",
                    ));
                }
                let mut widths: Vec<(usize, usize)> = alloc::vec![(0, 0); x.rank()];
                widths[1] = ((size - 1) / 2, size / 2);
                let squares = ops::pad(&ops::square(x)?, &widths, 0)?;
                let sums = ops::sum_as(&squares.unfold(1, size, 1)?, -1, x.dtype())?;
                let scale = ops::add(ops::multiply(sums, alpha / size as f64)?, bias)?;
                ops::divide(x, ops::pow(scale, beta)?)
            })
        },
    ),
    make("LpNormalization", 1, 1..=1, &[LAST, int("p", 2)], |node| {
        let (axis, p) = (node.int("axis"), node.int("p"));
        one(move |x| {
            let x = x.get(0)?;
            let over = Axes::from(axis).keepdims();
            let norm = match p {
                1 => ops::sum_as(&ops::abs(x)?, over, x.dtype())?,
                _ => ops::sqrt(ops::sum_as(&ops::square(x)?, over, x.dtype())?)?,
            };
            let zero = ops::equal(&norm, 0)?;
            ops::where_(&zero, 0.0, ops::divide(x, norm)?)
        })
    }),
    make(
        "MeanVarianceNormalization",
        9,
        1..=1,
        &[ints("axes")],
        |node| {
            let axes = Axes::from(node.maybe_ints("axes").unwrap_or(&[0, 2, 3]));
            one(move |x| {
                let x = x.get(0)?;
                let apart = ops::subtract(x, ops::mean(x, axes.clone().keepdims())?)?;
                let variance = ops::mean(&ops::square(&apart)?, axes.clone().keepdims())?;
                ops::divide(apart, ops::add(ops::sqrt(variance)?, 1e-9)?)
            })
        },
    ),
];

/// A parameter in the shape that is normalised.
pub fn spread(t: &Tensor, shape: &[usize]) -> Result<Tensor> {
    match t.shape() == shape {
        true => Ok(t.clone()),
        false => t.broadcast_to(shape),
    }
}

fn batch_norm(node: &Node) -> Result<Call> {
    let (eps, momentum) = (node.float("epsilon"), node.float("momentum"));
    let has = |name: &str| node.attributes.iter().any(|(n, _)| *n == name);
    let training = has("training_mode") && node.flag("training_mode");
    if has("spatial") && !node.flag("spatial") {
        return Err(node.wrong("spatial = 0 is not supported"));
    }
    let statistics = node.wants(1) || node.wants(2);
    many(move |x| {
        let options = ChannelNorm {
            weight: Some(x.get(1)?),
            bias: Some(x.get(2)?),
            eps,
        };
        let (mean, var) = (x.get(3)?, x.get(4)?);
        let x = x.get(0)?;
        if !training {
            let mut y = Outputs::from_buf([nn::batch_norm(x, Some((mean, var)), options)?]);
            if statistics {
                y.extend([mean.clone(), var.clone()]);
            }
            return Ok(y);
        }
        let (own_mean, own_var) = nn::batch_norm_stats(x, 0.0)?;
        let y = nn::batch_norm(x, Some((&own_mean, &own_var)), options)?;
        let moved = |old: &Tensor, new: &Tensor| {
            let new = ops::multiply(new, 1.0 - momentum)?;
            ops::add(ops::multiply(old, momentum)?, &new)?.astype(old.dtype())
        };
        Ok(Outputs::from_vec(alloc::vec![
            y,
            moved(mean, &own_mean)?,
            moved(var, &own_var)?
        ]))
    })
}

fn layer_norm(node: &Node) -> Result<Call> {
    let (axis, eps) = (node.int("axis") as isize, node.float("epsilon"));
    let statistics = node.wants(1) || node.wants(2);
    many(move |x| {
        let (scale, bias) = (x.get(1)?, x.maybe(2));
        let x = x.get(0)?;
        let axis = layout::axis("LayerNormalization", axis, x.rank())?;
        let shape = &x.shape()[axis..];
        let y = if scale.rank().max(bias.map_or(0, Tensor::rank)) > shape.len() {
            // scales of each example: they broadcast to all of x
            let y = nn::layer_norm(
                x,
                shape,
                LayerNorm {
                    eps,
                    ..Default::default()
                },
            )?;
            let y = ops::multiply(&y, &spread(scale, x.shape())?)?;
            match bias {
                Some(bias) => ops::add(&y, &spread(bias, x.shape())?)?,
                None => y,
            }
        } else {
            let weight = spread(scale, shape)?;
            let bias = bias.map(|b| spread(b, shape)).transpose()?;
            let options = LayerNorm {
                weight: Some(&weight),
                bias: bias.as_ref(),
                eps,
            };
            nn::layer_norm(x, shape, options)?
        };
        let mut y = Outputs::from_buf([y]);
        if statistics {
            let wide = x.astype(x.dtype().wide())?;
            let over: Shape = (axis..x.rank()).collect();
            let over = Axes::from(&over);
            let mean = ops::mean(&wide, over.clone().keepdims())?;
            let apart = ops::square(ops::subtract(&wide, &mean)?)?;
            let variance = ops::mean(&apart, over.keepdims())?;
            let inverse = ops::rsqrt(ops::add(variance, eps)?)?;
            y.extend([mean.astype(DType::F32)?, inverse.astype(DType::F32)?]);
        }
        Ok(y)
    })
}
