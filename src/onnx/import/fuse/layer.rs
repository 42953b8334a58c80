//! Layers: a product or a convolution with weights that are known, and what follows it.

use super::super::super::call::{Call, Inputs, Node, one};
use super::super::super::plan::Operand;
use super::super::super::rows;
use super::{Found, Input, Made, Row, by, node};
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::nn::{self, Activation, Linear};
use crate::ops::{self, Arg};
use crate::tensor::Tensor;
use smallvec::SmallVec;

pub(super) const ROWS: &[Row] = &[
    by(
        "n=BatchNormalization(p=Conv(x, $w, ?b), $gamma, $beta, $mean, $var)",
        normalized,
    ),
    by("f=*(p=Conv(x, $w, ?b))", convolution),
    by("Add(p=Conv(x, $w, ?b), r)", convolution),
    by(
        "f=*([Add(p=MatMul(x, $w), $b) | p=MatMul(x, $w) | p=Gemm(x, $w, ?b)])",
        linear,
    ),
    by("Add(p=MatMul(x, $w), $b, r)", linear),
    by("Add(p=MatMul(x, $w), $b)", linear),
    by("Add([p=MatMul(x, $w) | p=Gemm(x, $w, ?b)], r)", linear),
];

/// The activation of a step that is one.
pub(super) fn activation(found: &Found) -> Option<Activation> {
    match found.step("f")?.call {
        Call::Elementwise(op) if op.arity() == 1 => Activation::from_name(op.name()),
        _ => None,
    }
}

/// The factor and the summand of each channel go into the weight and the bias of the convolution.
fn normalized(found: &Found) -> Result<Option<Made>> {
    let known = |name| found.known(name);
    let (Some(x), Some(conv), Some(norm)) = (found.operand("x"), found.step("p"), found.step("n"))
    else {
        return Ok(None);
    };
    let (Some(weight), Some(gamma), Some(beta), Some(mean), Some(var)) = (
        known("w"),
        known("gamma"),
        known("beta"),
        known("mean"),
        known("var"),
    ) else {
        return Ok(None);
    };
    let bias = known("b");
    let channels = gamma.len();
    let fits = (bias.is_some() || conv.inputs.len() == 2)
        && weight.rank() > 2
        && weight.shape()[0] == channels
        && weight.dtype() == gamma.dtype();
    let Some(node) = node(conv).filter(|_| fits) else {
        return Ok(None);
    };
    // the normalisation itself says what it does to 1 and 0
    let of = |x: f64, beta: &Tensor, mean: &Tensor| -> Result<Tensor> {
        let x = Tensor::full([1, channels], x, gamma.dtype())?;
        let inputs = [&x, gamma, beta, mean, var].map(|t| Some(Arg::Ref(t)));
        let mut y = norm
            .call
            .run(&mut Inputs(inputs.into_iter().collect()), &mut None)?;
        y.swap_remove(0).reshape(channels)
    };
    let zeros = Tensor::zeros(channels, gamma.dtype())?;
    let (factor, mut summand) = (of(1.0, &zeros, &zeros)?, of(0.0, beta, mean)?);
    // statistics of the input itself make 0 of a single value
    if !ops::any(&factor, ())?.item::<bool>()? {
        return Ok(None);
    }
    if let Some(bias) = bias {
        summand = ops::add(summand, ops::multiply(bias, &factor)?)?;
    }
    let shape: Shape = [channels]
        .into_iter()
        .chain(weight.shape()[1..].iter().map(|_| 1))
        .collect();
    let weight = ops::multiply(weight, &factor.reshape(shape)?)?;
    let mut made = Made::always("Conv", &[x], rows::convolution(&node, None)?);
    made.inputs.push(Input::New(weight));
    made.inputs.push(Input::New(summand));
    made.note = conv.note.clone();
    Ok(Some(made))
}

/// With an activation, or a sum that is of the result's shape.
fn convolution(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(w), Some(conv)) = (found.operand("x"), found.operand("w"), found.step("p"))
    else {
        return Ok(None);
    };
    let (b, r) = (
        found.operand("b").unwrap_or(Operand::Absent),
        found.operand("r"),
    );
    let f = activation(found);
    let floats = found.known("w").is_some_and(|w| w.dtype().is_float());
    let (Some(node), true) = (node(conv), floats && (f.is_some() || r.is_some())) else {
        return Ok(None);
    };
    let inputs: SmallVec<[Operand; 4]> = [x, w, b].into_iter().chain(r).collect();
    let call = rows::convolution(&node, f)?;
    Ok(Some(Made::always("Conv", &inputs, call)))
}

/// A product, with a bias, and an activation or a residual.
fn linear(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(matrix), Some(product)) =
        (found.operand("x"), found.known("w"), found.step("p"))
    else {
        return Ok(None);
    };
    let bias = found.operand("b").filter(|b| *b != Operand::Absent);
    let bias = match (bias, found.known("b")) {
        (None, _) => None,
        (Some(_), Some(b)) => Some(b.clone()),
        (Some(_), None) => return Ok(None),
    };
    let gemm = product.op == "Gemm";
    let mut turned = false;
    if gemm {
        let Some(node) = node(product) else {
            return Ok(None);
        };
        turned = node.flag("transB");
        if !is_plain(&node) {
            return Ok(None);
        }
    }
    let residual = found.operand("r");
    let f = activation(found);
    if found.step("f").is_some() && f.is_none() || matrix.rank() != 2 || !matrix.dtype().is_float()
    {
        return Ok(None);
    }
    let weight = if turned {
        matrix.clone()
    } else {
        matrix.transpose(0, 1)?
    };
    let bias = match bias {
        Some(b) if b.dtype() == weight.dtype() && b.len() == weight.shape()[0] && b.rank() == 1 => {
            Some(b)
        }
        None => None,
        _ => return Ok(None),
    };
    let name = product.op;
    let call = one(move |x| {
        let (x, residual) = (x.get(0)?, x.maybe(1));
        if gemm && x.rank() != 2 {
            let operands = [("A", x.shape(), x.dtype())];
            return Err(Error::shape_of("Gemm", "A must be a matrix", &operands));
        }
        summed(x, weight.shape()[0], residual, |residual| {
            let options = Linear {
                bias: bias.as_ref(),
                activation: f,
                residual,
                ..Default::default()
            };
            nn::linear(x, &weight, options)
        })
    })?;
    Ok(Some(match residual {
        None => Made::always(name, &[x], call),
        Some(r) => Made::always(name, &[x, r], call),
    }))
}

/// Whether a Gemm computes what a layer does, with its weight turned or not.
pub(super) fn is_plain(node: &Node) -> bool {
    !node.flag("transA") && node.float("alpha") == 1.0 && node.float("beta") == 1.0
}

/// A layer of this many outputs and a sum, which is its residual if it has the result's shape.
pub(super) fn summed(
    x: &Tensor,
    outputs: usize,
    residual: Option<&Tensor>,
    layer: impl Fn(Option<&Tensor>) -> Result<Tensor>,
) -> Result<Tensor> {
    let Some(r) = residual else {
        return layer(None);
    };
    let lead = x.shape().split_last().map_or(&[][..], |(_, lead)| lead);
    let sizes = lead.iter().copied().chain([outputs]).rev();
    let small = r.rank() <= x.rank();
    let fits = small
        && r.shape()
            .iter()
            .rev()
            .zip(sizes)
            .all(|(r, n)| *r == 1 || *r == n);
    match fits && r.dtype() == x.dtype() {
        true => layer(residual),
        false => ops::add(layer(None)?, r),
    }
}
