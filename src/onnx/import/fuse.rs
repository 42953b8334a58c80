//! Pairs of steps that one call computes: a convolution and a normalisation by known statistics, a
//! product with a known matrix and a bias.

use super::super::call::{Call, Inputs};
use super::super::plan::{Operand, Plan, Step};
use super::super::rows::biased;
use crate::error::Result;
use crate::layout::Shape;
use crate::ops::{self, Arg};
use crate::tensor::Tensor;
use alloc::vec;
use smallvec::{SmallVec, smallvec};

/// Joins two steps, of which the second reads the first one's result at this place; whether it did.
type Join = fn(&mut Plan, usize, usize, usize) -> Result<bool>;

/// The operators of the first and the second step.
const PAIRS: &[(&str, &str, Join)] = &[
    ("Conv", "BatchNormalization", scaled),
    ("MatMul", "Add", shifted),
];

/// Joins pairs. The second step keeps no outputs, so that it is left out; a join that fails, for
/// want of memory, is none.
pub(super) fn fuse(plan: &mut Plan) {
    let mut uses = vec![0usize; plan.slots];
    for operand in plan
        .steps
        .iter()
        .flat_map(|step| &step.inputs)
        .chain(&plan.outputs)
    {
        if let Operand::Slot(slot) = operand {
            uses[*slot as usize] += 1;
        }
    }
    let mut maker: alloc::vec::Vec<Option<usize>> = vec![None; plan.slots];
    for at in 0..plan.steps.len() {
        let step = &plan.steps[at];
        let found = step
            .inputs
            .iter()
            .enumerate()
            .find_map(|(place, operand)| match operand {
                Operand::Slot(slot) if uses[*slot as usize] == 1 => {
                    let first = maker[*slot as usize]?;
                    let pair = |(a, b, _): &&(_, _, _)| *a == plan.steps[first].op && *b == step.op;
                    PAIRS
                        .iter()
                        .find(pair)
                        .map(|(_, _, join)| (first, place, *join))
                }
                _ => None,
            });
        let mut owner = at;
        if let Some((first, place, join)) = found
            && plan.steps[first].outputs.len() == 1
            && step.outputs.len() == 1
            && join(plan, first, at, place).is_ok_and(|joined| joined)
        {
            plan.steps[first].outputs = core::mem::take(&mut plan.steps[at].outputs);
            owner = first;
        }
        for slot in plan.steps[owner].outputs.iter().flatten() {
            maker[*slot as usize] = Some(owner);
        }
    }
}

fn constant<'a>(plan: &'a Plan, step: &Step, i: usize) -> Option<&'a Tensor> {
    match step.inputs.get(i)? {
        Operand::Constant(at) => plan.constants.get(*at as usize),
        _ => None,
    }
}

/// The factor and the summand of each channel go into the weight and the bias of the convolution.
fn scaled(plan: &mut Plan, first: usize, second: usize, place: usize) -> Result<bool> {
    let (conv, norm) = (&plan.steps[first], &plan.steps[second]);
    let known = |i| constant(plan, norm, i);
    let (Some(weight), Some(gamma), Some(beta), Some(mean), Some(var)) = (
        constant(plan, conv, 1),
        known(1),
        known(2),
        known(3),
        known(4),
    ) else {
        return Ok(false);
    };
    let bias = constant(plan, conv, 2);
    let channels = gamma.len();
    let fits = place == 0
        && (bias.is_some() || conv.inputs.len() == 2)
        && weight.rank() > 2
        && weight.shape()[0] == channels
        && weight.dtype() == gamma.dtype();
    if !fits {
        return Ok(false);
    }
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
        return Ok(false);
    }
    if let Some(bias) = bias {
        summand = ops::add(summand, ops::multiply(bias, &factor)?)?;
    }
    let shape: Shape = [channels]
        .into_iter()
        .chain(weight.shape()[1..].iter().map(|_| 1))
        .collect();
    let weight = ops::multiply(weight, &factor.reshape(shape)?)?;
    let x = conv.inputs[0];
    let mut add = |t: Tensor| -> Result<Operand> {
        crate::fallible::push(&mut plan.constants, t)?;
        Ok(Operand::Constant(plan.constants.len() as u32 - 1))
    };
    plan.steps[first].inputs = smallvec![x, add(weight)?, add(summand)?];
    Ok(true)
}

/// The bias goes into the layer.
fn shifted(plan: &mut Plan, first: usize, second: usize, place: usize) -> Result<bool> {
    let (product, sum) = (&plan.steps[first], &plan.steps[second]);
    let (Some(matrix), Some(bias)) = (
        constant(plan, product, 1),
        constant(plan, sum, 1 - place.min(1)),
    ) else {
        return Ok(false);
    };
    let Some(call): Option<Call> = biased(matrix, bias)? else {
        return Ok(false);
    };
    let x = product.inputs[0];
    let step = &mut plan.steps[first];
    step.call = call;
    step.inputs = SmallVec::from_slice(&[x]);
    Ok(true)
}
