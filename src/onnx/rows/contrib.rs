//! Operators of onnxruntime's domain `com.microsoft` that its optimiser and exporters write.

use super::super::call::{Call, Inputs, Node, Outputs, many, one};
use super::{
    Attribute, Default as Value, Kind, Row, Run, activation, attribute, float, int, maybe,
};
use crate::error::{Error, Result};
use crate::layout;
use crate::nn::{self, LayerNorm, RmsNorm};
use crate::op::Op;
use crate::ops;
use crate::tensor::Tensor;

pub(super) const fn contrib(
    name: &'static str,
    inputs: core::ops::RangeInclusive<u8>,
    attributes: &'static [Attribute],
    run: Run,
) -> Row {
    Row {
        domain: "com.microsoft",
        name,
        since: 1,
        inputs: (*inputs.start(), *inputs.end()),
        attributes,
        run,
    }
}
const EPS: Attribute = float("epsilon", 1e-5);
const FUSED: &[Attribute] = &[
    float("alpha", 1.0),
    int("transA", 0),
    int("transB", 0),
    int("transBatchA", 0),
    int("transBatchB", 0),
];

pub(super) const ROWS: &[Row] = &[
    contrib("Gelu", 1..=1, &[], Run::Elementwise(Op::Gelu)),
    contrib(
        "BiasGelu",
        2..=2,
        &[],
        Run::Function(|x| ops::gelu(ops::add(x.take(0)?, x.take(1)?)?)),
    ),
    contrib(
        "FastGelu",
        1..=2,
        &[],
        Run::Function(|x| match x.maybe(1).is_some() {
            true => ops::gelu_tanh(ops::add(x.take(0)?, x.take(1)?)?),
            false => ops::gelu_tanh(x.take(0)?),
        }),
    ),
    contrib(
        "QuickGelu",
        1..=1,
        &[float("alpha", 1.702)],
        Run::Make(|node| {
            let alpha = node.float("alpha");
            one(move |x| activation::swish(x.get(0)?, alpha))
        }),
    ),
    contrib(
        "FusedMatMul",
        2..=2,
        FUSED,
        Run::Make(|node| {
            let (a, b, alpha) = (
                node.flag("transA"),
                node.flag("transB"),
                node.float("alpha"),
            );
            if node.flag("transBatchA") || node.flag("transBatchB") {
                return Err(node.wrong("transBatchA and transBatchB are not supported"));
            }
            one(move |x| {
                let turned = |t: &Tensor, turn: bool| {
                    if turn && t.rank() > 1 {
                        t.transpose(-1, -2)
                    } else {
                        Ok(t.clone())
                    }
                };
                let y = ops::matmul(&turned(x.get(0)?, a)?, &turned(x.get(1)?, b)?)?;
                if alpha == 1.0 {
                    Ok(y)
                } else {
                    ops::multiply(y, alpha)
                }
            })
        }),
    ),
    contrib(
        "SkipLayerNormalization",
        3..=5,
        &[EPS],
        Run::Make(|node| skip_norm(node, false)),
    ),
    contrib(
        "SkipSimplifiedLayerNormalization",
        3..=4,
        &[EPS],
        Run::Make(|node| skip_norm(node, true)),
    ),
    // onnxruntime has this one in the default domain
    Row {
        domain: "",
        name: "SimplifiedLayerNormalization",
        since: 1,
        inputs: (2, 2),
        attributes: &[int("axis", -1), EPS, int("stash_type", 1)],
        run: Run::Make(|node| {
            let (axis, eps) = (node.int("axis") as isize, node.float("epsilon"));
            one(move |x| {
                let (x, weight) = (x.get(0)?, x.get(1)?);
                let axis = layout::axis("SimplifiedLayerNormalization", axis, x.rank())?;
                nn::rms_norm(
                    x,
                    &x.shape()[axis..],
                    RmsNorm {
                        weight: Some(weight),
                        eps: Some(eps),
                    },
                )
            })
        }),
    },
    contrib(
        "RotaryEmbedding",
        4..=4,
        ROTARY,
        Run::Make(|node| {
            let (interleaved, heads) = (node.flag("interleaved"), node.int("num_heads"));
            one(move |x| microsoft_rotary(x, interleaved, heads))
        }),
    ),
    contrib(
        "MultiHeadAttention",
        3..=6,
        MULTI_HEAD,
        Run::Make(multi_head),
    ),
];
const ROTARY: &[Attribute] = &[
    int("interleaved", 0),
    int("is_packed_batching", 0),
    int("num_heads", 0),
    int("rotary_embedding_dim", 0),
    float("scale", 1.0),
];
const MULTI_HEAD: &[Attribute] = &[
    attribute("num_heads", Value::Required(Kind::Int)),
    float("mask_filter_value", -10000.0),
    maybe("scale", Kind::Float),
    int("unidirectional", 0),
];

/// The sum of an input, another one and perhaps a bias, normalised; and, as the last result, the sum.
fn skip_norm(node: &Node, root: bool) -> Result<Call> {
    let eps = node.float("epsilon");
    many(move |x| {
        let (weight, rest) = (x.get(2)?, if root { 3 } else { 4 });
        let mut sum = ops::add(x.get(0)?, x.get(1)?)?;
        if let Some(bias) = x.maybe(rest) {
            sum = ops::add(sum, bias)?;
        }
        let shape = weight.shape();
        let y = match root {
            true => nn::rms_norm(
                &sum,
                shape,
                RmsNorm {
                    weight: Some(weight),
                    eps: Some(eps),
                },
            ),
            false => nn::layer_norm(
                &sum,
                shape,
                LayerNorm {
                    weight: Some(weight),
                    bias: x.maybe(3),
                    eps,
                },
            ),
        }?;
        // of the four results, the two in between are for training
        Ok(Outputs::from_vec(alloc::vec![
            y,
            Tensor::default(),
            Tensor::default(),
            sum
        ]))
    })
}

/// Its positions are the second operand: those of all tokens, or the first one.
fn microsoft_rotary(x: &Inputs, interleaved: bool, heads: i64) -> Result<Tensor> {
    let (t, positions, cos, sin) = (x.get(0)?, x.get(1)?, x.get(2)?, x.get(3)?);
    let heads = match (t.rank(), heads) {
        (3, 0) => (t.shape()[2] / (2 * cos.shape().last().copied().unwrap_or(1)).max(1)) as i64,
        (_, heads) => heads,
    };
    if !matches!(t.rank(), 3 | 4) {
        let operands = [("input", t.shape(), t.dtype())];
        let message = "the input must have three or four dimensions";
        return Err(Error::shape_of("RotaryEmbedding", message, &operands));
    }
    let flat = t.rank() == 3;
    let split = if flat {
        super::attention::split_heads(t, heads)?
    } else {
        t.clone()
    };
    let tokens = split.shape()[split.rank() - 2];
    let all = match positions.len() {
        1 => ops::add(
            ops::arange(0, tokens, 1, crate::DType::I64)?,
            &positions.reshape(())?,
        )?,
        _ => positions.clone(),
    };
    let options = nn::Rotary {
        interleaved,
        positions: Some(&all),
        ..Default::default()
    };
    let y = nn::rotary_embedding(&split, cos, sin, options)?;
    if flat {
        super::attention::join_heads(&y)
    } else {
        Ok(y)
    }
}

/// Queries, keys and values of `[batch, tokens, heads * size]`, with a bias for the three of them.
fn multi_head(node: &Node) -> Result<Call> {
    let (heads, scale, causal) = (
        node.int("num_heads"),
        node.maybe_float("scale"),
        node.flag("unidirectional"),
    );
    one(move |x| {
        let (q, k, v) = (x.get(0)?, x.get(1)?, x.get(2)?);
        if x.maybe(4).is_some() || q.rank() != 3 || k.rank() != 3 {
            return Err(Error::value(
                "MultiHeadAttention",
                "a key padding mask or packed operands are not supported",
            ));
        }
        let part = |t: &Tensor, first: usize| -> Result<Tensor> {
            let width = t.shape()[2];
            let t = match x.maybe(3) {
                Some(bias) => ops::add(t, &bias.narrow(0, first, width)?)?,
                None => t.clone(),
            };
            super::attention::split_heads(&t, heads)
        };
        let (width, depth) = (q.shape()[2], k.shape()[2]);
        let (q, k, v) = (part(q, 0)?, part(k, width)?, part(v, width + depth)?);
        let options = nn::Attention {
            mask: x.maybe(5),
            scale,
            causal,
            ..Default::default()
        };
        super::attention::join_heads(&nn::scaled_dot_product_attention(&q, &k, &v, options)?)
    })
}
