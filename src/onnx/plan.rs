//! A graph as it runs: calls in order, and for each operand whether it is needed again.

use super::call::{Call, Inputs, Outputs, Ran, Value, Watch};
use super::rows::Row;
use crate::error::{Error, Result};
use crate::fallible;
use crate::ops::Arg;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A value that a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operand {
    /// Left out.
    Absent,
    /// Needed again later, or by this step twice.
    Slot(u32),
    /// Needed for the last time.
    Last(u32),
    Constant(u32),
    /// A constant without dimensions, for an elementwise operation.
    Number(u32),
}

/// A call.
pub struct Step {
    pub call: Call,
    /// The operator's name.
    pub op: &'static str,
    /// The node's name, or that of its first result.
    pub name: Box<str>,
    pub inputs: SmallVec<[Operand; 4]>,
    /// Where its results go; `None` if nothing needs one.
    pub outputs: SmallVec<[Option<u32>; 1]>,
    /// What is needed for the last time, but not passed by value.
    pub frees: SmallVec<[u32; 1]>,
    /// What the call was made of, while the plan is made.
    pub note: Option<Box<Note>>,
}

/// The row of an operator, and the attributes of a node.
#[derive(Clone)]
pub struct Note {
    pub row: &'static Row,
    pub attributes: SmallVec<[(&'static str, Value); 4]>,
}

/// A graph, or the body of a node. Its values are in slots while it runs, those that are known when
/// it is loaded among its constants.
#[derive(Default)]
pub struct Plan {
    pub slots: usize,
    /// The slots of the inputs. The body of a node has the values of outer graphs as further inputs.
    pub inputs: Vec<u32>,
    pub outputs: Vec<Operand>,
    pub constants: Vec<Tensor>,
    pub numbers: Vec<Scalar>,
    pub steps: Vec<Step>,
    /// Constants that were computed from others, with what computes them, while the plan is made:
    /// for weights that products take as integers.
    pub origins: Vec<(u32, Step)>,
}

impl Plan {
    /// The outputs for these inputs. `watch` is called after each step.
    pub fn run(
        &self,
        inputs: impl Iterator<Item = Tensor>,
        watch: &mut Watch,
    ) -> Result<Vec<Tensor>> {
        let mut slots: Vec<Option<Tensor>> = fallible::filled(None, self.slots)?;
        for (slot, x) in self.inputs.iter().zip(inputs) {
            slots[*slot as usize] = Some(x);
        }
        for step in &self.steps {
            let results = self
                .step(step, &mut slots, watch)
                .map_err(|e| step.explain(e))?;
            let mut results = results.into_iter();
            for to in &step.outputs {
                let result = results.next();
                if let Some(to) = to {
                    let Some(result) = result else {
                        return Err(step.explain(Error::value(step.op, "a result is missing")));
                    };
                    slots[*to as usize] = Some(result);
                }
            }
            for slot in &step.frees {
                slots[*slot as usize] = None;
            }
            if let Some(watch) = watch {
                watch(Ran {
                    operator: step.op,
                    node: &step.name,
                });
            }
        }
        let outputs = self.outputs.iter().map(|output| {
            let value = match output {
                Operand::Last(slot) => slots[*slot as usize].take(),
                Operand::Slot(slot) => slots[*slot as usize].clone(),
                Operand::Constant(at) => Some(self.constants[*at as usize].clone()),
                Operand::Absent | Operand::Number(_) => None,
            };
            value.ok_or_else(|| Error::value("onnx", "an output is missing"))
        });
        fallible::collect(outputs)
    }
    fn step(
        &self,
        step: &Step,
        slots: &mut [Option<Tensor>],
        watch: &mut Watch,
    ) -> Result<Outputs> {
        // what is needed for the last time leaves its slot first: the rest is borrowed
        let mut inputs: SmallVec<[Option<Arg<'_>>; 4]> = step
            .inputs
            .iter()
            .map(|operand| match operand {
                Operand::Last(slot) => slots[*slot as usize].take().map(Arg::Own),
                _ => None,
            })
            .collect();
        for (input, operand) in inputs.iter_mut().zip(&step.inputs) {
            match operand {
                Operand::Slot(slot) => *input = slots[*slot as usize].as_ref().map(Arg::Ref),
                Operand::Constant(at) => *input = Some(Arg::Ref(&self.constants[*at as usize])),
                Operand::Number(at) => *input = Some(Arg::Scalar(self.numbers[*at as usize])),
                Operand::Absent | Operand::Last(_) => {}
            }
        }
        step.call.run(&mut Inputs(inputs), watch)
    }
}

impl Step {
    /// A step that is left out.
    pub fn nothing() -> Step {
        Step {
            call: Call::Function(|_| Err(Error::value("onnx", "a step that was left out"))),
            op: "",
            name: "".into(),
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            frees: SmallVec::new(),
            note: None,
        }
    }
    /// The error of a call, with the node that it is about.
    #[cold]
    pub fn explain(&self, e: Error) -> Error {
        explain(e, self.op, &self.name)
    }
}

/// An error, with the node that it is about: in graphs inside each other, the innermost.
#[cold]
pub fn explain(e: Error, operator: &'static str, name: &str) -> Error {
    match e {
        e @ Error::Node { .. } => e,
        e => Error::Node {
            operator,
            node: name.into(),
            error: e.into(),
        },
    }
}
