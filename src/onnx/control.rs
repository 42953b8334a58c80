//! Nodes with graphs of their own: If, Loop, Scan.
//!
//! A body is a plan whose inputs are those of its graph, followed by what it reads of the graphs
//! around it. The node has these values as further operands.

use super::call::{self, Control, Inputs, Outputs, Watch};
use super::plan::Plan;
use super::types::{Size, Value};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::Shape;
use crate::ops::{self, Arg};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A body.
pub struct Body {
    pub plan: Plan,
    /// How many values of outer graphs it reads.
    pub captured: usize,
    /// What the graph says of its outputs, for lists without elements.
    pub outputs: Vec<Value>,
}

pub enum Branching {
    If { then: Body, otherwise: Body },
    Loop(Body),
    Scan(Scan),
}

pub struct Scan {
    pub body: Body,
    /// The number of lists that are read.
    pub lists: usize,
    /// Axis and direction of each list: those that are read, then those that are made.
    pub read: Vec<(isize, bool)>,
    pub made: Vec<(isize, bool)>,
    /// Whether there is a batch before everything, and lengths of sequences first (opset 8).
    pub batched: bool,
}

impl Control for Branching {
    fn run(&self, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs> {
        match self {
            Branching::If { then, otherwise } => {
                let yes = x.get(0)?.reshape(())?.item::<bool>()?;
                let mut outer = owned(x, 1)?;
                let rest = outer.split_off(then.captured);
                let (body, outer) = if yes {
                    (then, outer)
                } else {
                    (otherwise, rest)
                };
                body.plan
                    .run(outer.into_iter().flatten(), watch)
                    .map(SmallVec::from_vec)
            }
            Branching::Loop(body) => run_loop(body, x, watch),
            Branching::Scan(scan) if scan.batched => scan.run_batched(x, watch),
            Branching::Scan(scan) => scan.run(owned(x, 0)?, watch),
        }
    }
}

/// The operands from `first` on.
fn owned(x: &mut Inputs, first: usize) -> Result<Vec<Option<Tensor>>> {
    let all = x.0.iter_mut().skip(first).map(|input| {
        Ok(match input.take() {
            Some(Arg::Own(t)) => Some(t),
            Some(Arg::Ref(t)) => Some(t.clone()),
            _ => None,
        })
    });
    fallible::collect::<_, Error>(all)
}

fn run_loop(body: &Body, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs> {
    let trips = x.maybe(0).map(call::int).transpose()?;
    let mut go_on = match x.maybe(1) {
        Some(cond) => cond.reshape(())?.item::<bool>()?,
        None => true,
    };
    let mut carried = owned(x, 2)?;
    let outer = carried.split_off(carried.len() - body.captured);
    let count = carried.len();
    let mut lists: Vec<Vec<Tensor>> = (1 + count..body.outputs.len())
        .map(|_| Vec::new())
        .collect();
    let mut trip = 0;
    while go_on && trips.is_none_or(|n| trip < n) {
        call::checkpoint();
        let first = [
            Tensor::scalar(trip, DType::I64)?,
            Tensor::scalar(true, DType::Bool)?,
        ];
        let state = carried.drain(..).flatten();
        let inputs = first
            .into_iter()
            .chain(state)
            .chain(outer.iter().flatten().cloned());
        let mut results = body.plan.run(inputs, watch)?.into_iter();
        let cond = results.next().unwrap_or_default();
        go_on = cond.reshape(())?.item::<bool>()?;
        carried.extend(results.by_ref().take(count).map(Some));
        for (list, item) in lists.iter_mut().zip(results) {
            fallible::push(list, item)?;
        }
        trip += 1;
    }
    let mut outputs: Outputs = carried.into_iter().flatten().collect();
    for (k, list) in lists.iter().enumerate() {
        outputs.push(stacked(list, 0, &body.outputs[1 + count + k])?);
    }
    Ok(outputs)
}

/// The items of a list along a new axis.
fn stacked(list: &[Tensor], axis: isize, about: &Value) -> Result<Tensor> {
    if !list.is_empty() {
        return ops::stack(list, axis);
    }
    let sizes = about.shape.iter().flatten().map(|size| match size {
        Size::Fixed(n) => *n,
        _ => 0,
    });
    let shape: Shape = [0].into_iter().chain(sizes).collect();
    Tensor::zeros(&shape[..], about.dtype.unwrap_or(DType::F32))
}

impl Scan {
    /// `x` are the states, the lists, and the values of outer graphs.
    fn run(&self, x: Vec<Option<Tensor>>, watch: &mut Watch) -> Result<Outputs> {
        let mut x = x.into_iter().flatten();
        let own = self.body.plan.inputs.len() - self.body.captured;
        let count = own - self.lists;
        let mut states: Vec<Tensor> = x.by_ref().take(count).collect();
        let lists: Vec<Tensor> = x.by_ref().take(self.lists).collect();
        let outer: Vec<Tensor> = x.collect();
        let mut steps = None;
        for (list, (axis, _)) in lists.iter().zip(&self.read) {
            let axis = crate::layout::axis("Scan", *axis, list.rank())?;
            let size = list.shape()[axis];
            if steps.is_some_and(|n| n != size) {
                return Err(Error::shape("Scan", "the lists have different lengths"));
            }
            steps = Some(size);
        }
        let made = self.body.outputs.len() - count;
        let mut results: Vec<Vec<Tensor>> = (0..made).map(|_| Vec::new()).collect();
        let steps = steps.unwrap_or(0);
        for step in 0..steps {
            call::checkpoint();
            let mut inputs = core::mem::take(&mut states);
            for (list, (axis, backward)) in lists.iter().zip(&self.read) {
                let at = if *backward { steps - 1 - step } else { step };
                inputs.push(list.select(*axis, at as i64)?);
            }
            let inputs = inputs.into_iter().chain(outer.iter().cloned());
            let mut outputs = self.body.plan.run(inputs, watch)?.into_iter();
            states.extend(outputs.by_ref().take(count));
            for (list, item) in results.iter_mut().zip(outputs) {
                fallible::push(list, item)?;
            }
        }
        let mut outputs: Outputs = states.into_iter().collect();
        for (k, (mut list, (axis, backward))) in results.into_iter().zip(&self.made).enumerate() {
            if *backward {
                list.reverse();
            }
            outputs.push(stacked(&list, *axis, &self.body.outputs[count + k])?);
        }
        Ok(outputs)
    }
    fn run_batched(&self, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs> {
        let lengths = x.maybe_ints(0)?;
        let all = owned(x, 1)?;
        let own = all.len() - self.body.captured;
        let batch = all[..own]
            .iter()
            .flatten()
            .next()
            .map_or(0, |t| t.shape().first().copied().unwrap_or(0));
        let mut results: Vec<Vec<Tensor>> = Vec::new();
        for example in 0..batch {
            let mut one = Vec::new();
            for (k, t) in all.iter().enumerate() {
                let Some(t) = t else { continue };
                let mut t = if k < own {
                    t.select(0, example as i64)?
                } else {
                    t.clone()
                };
                let is_list = k < own && k + self.lists >= own;
                if let Some(n) = lengths
                    .as_ref()
                    .and_then(|l| l.get(example))
                    .filter(|_| is_list)
                {
                    t = t.narrow(0, 0, call::size("Scan", "a length", *n)?)?;
                }
                fallible::push(&mut one, Some(t))?;
            }
            for (k, t) in self.run(one, watch)?.into_iter().enumerate() {
                if example == 0 {
                    results.push(Vec::new());
                }
                fallible::push(&mut results[k], t)?;
            }
        }
        results.iter().map(|list| ops::stack(list, 0)).collect()
    }
}
