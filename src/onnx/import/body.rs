//! Constants, and nodes with graphs of their own.

use super::super::call::{Call, Value};
use super::super::control::{Body, Branching, Scan};
use super::super::plan::Operand;
use super::super::proto;
use super::super::rows::Row;
use super::super::types;
use super::attributes::Attributes;
use super::scope::{Frame, Level};
use super::{Importer, MAX_NESTING, finish};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

impl<'a> Importer<'a, '_, '_> {
    pub(super) fn control(
        &mut self,
        node: &'a proto::Node<'a>,
        row: &'static Row,
        mut inputs: SmallVec<[Operand; 4]>,
        attributes: Attributes,
    ) -> Result<()> {
        let int = |name| {
            attributes.iter().find_map(|(n, v)| match v {
                Value::Int(i) if *n == name => Some(*i),
                _ => None,
            })
        };
        let name = node.output.first().copied().unwrap_or_default();
        match row.name {
            "Constant" => {
                let Some(value) = constant(&attributes)? else {
                    return Err(Error::value(row.name, "no value"));
                };
                let value = self.top().constant(value)?;
                self.define(name, value)
            }
            "Identity" => {
                let [input] = inputs[..] else {
                    return Err(Error::value(row.name, "it takes one input"));
                };
                self.define(name, input)
            }
            "If" => {
                let graph = |importer: &mut Self, name| {
                    let attribute = importer.attribute(node, name).and_then(|a| a.g.as_deref());
                    attribute.ok_or_else(|| Error::value("If", "a branch is missing"))
                };
                let (then, otherwise) = (graph(self, "then_branch")?, graph(self, "else_branch")?);
                let decided = match inputs[..] {
                    [Operand::Constant(at)] => self.top().plan.constants.get(at as usize),
                    [_] => None,
                    _ => return Err(Error::value("If", "it takes one input")),
                };
                if let Some(yes) =
                    decided.and_then(|t| t.reshape(()).and_then(|t| t.item::<bool>()).ok())
                {
                    return self.inline(node, if yes { then } else { otherwise });
                }
                let (then, mut outer) = self.body(then)?;
                let (otherwise, more) = self.body(otherwise)?;
                outer.extend(more);
                inputs.extend(outer);
                let call = Call::Control(Box::new(Branching::If { then, otherwise }));
                self.push(node, row.name, call, inputs, None)
            }
            "Loop" => {
                let graph = self.attribute(node, "body").and_then(|a| a.g.as_deref());
                let graph = graph.ok_or_else(|| Error::value("Loop", "the body is missing"))?;
                while inputs.len() < 2 {
                    inputs.push(Operand::Absent);
                }
                let (body, outer) = self.body(graph)?;
                let carried = inputs.len() - 2;
                let own = body.plan.inputs.len() - body.captured;
                if own != carried + 2 || body.outputs.len() < 1 + carried {
                    let message = message!(
                        "a body of {own} inputs and {} outputs for {carried} carried values",
                        body.outputs.len()
                    );
                    return Err(Error::value(row.name, message));
                }
                inputs.extend(outer);
                self.push(
                    node,
                    row.name,
                    Call::Control(Box::new(Branching::Loop(body))),
                    inputs,
                    None,
                )
            }
            _ => {
                let graph = self.attribute(node, "body").and_then(|a| a.g.as_deref());
                let graph = graph.ok_or_else(|| Error::value("Scan", "the body is missing"))?;
                let (body, outer) = self.body(graph)?;
                let batched = row.since < 9;
                while inputs.len() < node.input.len() {
                    inputs.push(Operand::Absent);
                }
                let own = body.plan.inputs.len() - body.captured;
                let lists = int("num_scan_inputs")
                    .and_then(|n| usize::try_from(n).ok())
                    .unwrap_or(usize::MAX);
                let fits = own == inputs.len() - usize::from(batched && !inputs.is_empty());
                if !fits || lists > own || own - lists > body.outputs.len() {
                    return Err(Error::value(
                        row.name,
                        "the body does not fit the node's inputs",
                    ));
                }
                let made = body.outputs.len() - (own - lists);
                let list = |name| {
                    attributes.iter().find_map(|(n, v)| match v {
                        Value::Ints(i) if *n == name => Some(&i[..]),
                        _ => None,
                    })
                };
                let pairs = |axes: Option<&[i64]>, backward: Option<&[i64]>, n: usize| {
                    let at = |list: Option<&[i64]>, i: usize| {
                        list.and_then(|l| l.get(i).copied()).unwrap_or(0)
                    };
                    (0..n)
                        .map(|i| (at(axes, i) as isize, at(backward, i) != 0))
                        .collect()
                };
                let scan = Scan {
                    lists,
                    read: match batched {
                        true => pairs(None, list("directions"), lists),
                        false => pairs(
                            list("scan_input_axes"),
                            list("scan_input_directions"),
                            lists,
                        ),
                    },
                    made: pairs(
                        list("scan_output_axes"),
                        list("scan_output_directions"),
                        made,
                    ),
                    batched,
                    body,
                };
                inputs.extend(outer);
                self.push(
                    node,
                    row.name,
                    Call::Control(Box::new(Branching::Scan(scan))),
                    inputs,
                    None,
                )
            }
        }
    }
    /// A graph as the body of a node of the graph on top, and the values of that one that it reads.
    fn body(&mut self, graph: &'a proto::Graph<'a>) -> Result<(Body, Vec<Operand>)> {
        if self.levels.len() > MAX_NESTING {
            return Err(self.wrong(message!("graphs are nested more than {MAX_NESTING} deep")));
        }
        let outer = self.top().frame();
        let mut frame = Frame::new(outer.opsets.clone());
        frame.attributes = outer.attributes.clone();
        self.levels.push(Level::new(frame));
        let inputs: Vec<&str> = graph.input.iter().map(|input| input.name).collect();
        self.graph(graph, &inputs)?;
        let Some(mut level) = self.levels.pop() else {
            return Err(Error::value(super::OP, "no graph"));
        };
        level.plan.inputs.extend(&level.captures);
        let outputs = graph.output.iter().map(|output| {
            types::Value::new(output).or_else(|_| types::Value::new(&proto::ValueInfo::default()))
        });
        let body = Body {
            captured: level.captured.len(),
            outputs: fallible::collect(outputs)?,
            plan: finish::finish(level.plan),
        };
        Ok((body, level.captured))
    }
    /// The nodes of the branch of an If that is decided.
    fn inline(&mut self, node: &'a proto::Node<'a>, graph: &'a proto::Graph<'a>) -> Result<()> {
        if self.top().frames.len() > MAX_NESTING {
            return Err(self.wrong(message!("graphs are nested more than {MAX_NESTING} deep")));
        }
        let outer = self.top().frame();
        let mut frame = Frame::new(outer.opsets.clone());
        frame.attributes = outer.attributes.clone();
        frame.open = true;
        self.top().frames.push(frame);
        let before = self.top().plan.outputs.len();
        self.graph(graph, &[])?;
        self.top().frames.pop();
        let results: Vec<Operand> = self.top().plan.outputs.drain(before..).collect();
        for (name, result) in node.output.iter().zip(results) {
            if !name.is_empty() {
                self.define(name, result)?;
            }
        }
        Ok(())
    }
}

/// The value of a Constant.
fn constant(attributes: &Attributes) -> Result<Option<Tensor>> {
    for (_, value) in attributes {
        return Ok(Some(match value {
            Value::None => continue,
            Value::Tensor(t) => t.clone(),
            Value::Int(n) => Tensor::scalar(*n, DType::I64)?,
            Value::Float(x) => Tensor::scalar(f64::from(*x), DType::F32)?,
            Value::Ints(n) => Tensor::from_slice(n, n.len())?,
            Value::Floats(x) => Tensor::from_slice(x, x.len())?,
            _ => return Ok(None),
        }));
    }
    Ok(None)
}
