//! Operations relative to their queue, so that they can be compared with those of another: values
//! and numbers are named by their place in it, sizes only by which of them are equal.

use super::super::graph::{Graph, Operand, Parameter, Value};
use super::super::step::{Operation, Step};
use super::super::view::{ViewForm, ViewKind, ViewOp};
use crate::dtype::{Class, DType};
use crate::error::Result;
use crate::layout::Shape;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A shape. 0 and 1 stand for themselves, other sizes are numbered from 2 on in order of
/// appearance.
pub(super) type RelativeShape = SmallVec<[u16; 6]>;

/// A value of a queue, computed from earlier ones.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RelativeStep {
    pub step: Step<OperandRef>,
    /// The shape of the result, unless it follows from those of the operands.
    pub dims: RelativeShape,
    /// The form of a view, which is referred to by its index among the queue's views.
    pub form: Option<Box<ViewForm>>,
}

impl RelativeStep {
    pub fn input(dtype: DType, dims: RelativeShape) -> RelativeStep {
        RelativeStep {
            step: Step {
                operation: Operation::Input { dtype },
                operands: SmallVec::new(),
            },
            dims,
            form: None,
        }
    }
    /// The values that it is computed from.
    pub fn values(&self) -> impl Iterator<Item = u16> {
        self.step.operands.iter().filter_map(|x| match x {
            OperandRef::Value(x) => Some(*x),
            _ => None,
        })
    }
}

/// An operand.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum OperandRef {
    /// A value.
    Value(u16),
    /// A number, by its index, and its kind; the next queue may have another one.
    Number(u16, Class),
    /// A number that is part of the operation.
    Fixed(Box<Fixed>),
}

/// A number that is part of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed(pub Scalar);

impl PartialEq for Fixed {
    fn eq(&self, other: &Fixed) -> bool {
        self.0.is(&other.0)
    }
}

/// The sizes of a queue, by number.
#[derive(Clone, Default)]
pub(super) struct NumberedSizes(SmallVec<[usize; 8]>);

impl NumberedSizes {
    /// The numbers of a shape's sizes; new sizes get new numbers.
    pub fn dims(&mut self, shape: &[usize]) -> RelativeShape {
        let number = |n: &usize| match *n {
            0 | 1 => *n as u16,
            n => {
                let k = self.0.iter().position(|m| *m == n);
                k.unwrap_or_else(|| {
                    self.0.push(n);
                    self.0.len() - 1
                }) as u16
                    + 2
            }
        };
        shape.iter().map(number).collect()
    }
    /// The shape that these numbers stand for.
    pub fn shape(&self, dims: &RelativeShape) -> Shape {
        let size = |k: &u16| match *k {
            0 | 1 => *k as usize,
            k => self.0[k as usize - 2],
        };
        dims.iter().map(size).collect()
    }
    /// Number of sizes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Forgets all sizes but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

/// What the steps of a queue refer to.
#[derive(Clone, Default)]
pub(super) struct Referents {
    pub sizes: NumberedSizes,
    pub numbers: Vec<Scalar>,
    pub views: Vec<ViewOp>,
}

impl Referents {
    /// The step by itself, and its shape unless that follows from those of the operands.
    pub fn resolve<O>(
        &self,
        relative: &RelativeStep,
        operand: impl FnMut(&OperandRef) -> O,
    ) -> (Step<O>, Shape) {
        let RelativeStep { step, dims, .. } = relative;
        let operation = match &step.operation {
            Operation::View {
                view: ViewKind::Given(at),
            } => Operation::View {
                view: ViewKind::New(Box::new(self.views[*at].clone())),
            },
            operation => operation.clone(),
        };
        let operands = step.operands.iter().map(operand).collect();
        let step = Step {
            operation,
            operands,
        };
        (step, self.sizes.shape(dims))
    }
}

/// The graph of the first values of a queue.
#[derive(Default)]
pub(super) struct Replay {
    pub graph: Graph,
    pub values: Vec<Value>,
    numbers: Vec<Parameter>,
}

impl Replay {
    /// Adds the steps that are not in the graph yet. If one fails, those before it stay.
    pub fn add(&mut self, steps: &[RelativeStep], of: &Referents) -> Result<()> {
        for relative in &steps[self.values.len()..] {
            let Replay {
                graph,
                values,
                numbers,
            } = self;
            let (step, shape) = of.resolve(relative, |x| match x {
                OperandRef::Value(k) => Operand::Value(values[*k as usize]),
                OperandRef::Number(k, _) => {
                    let k = *k as usize;
                    if k == numbers.len() {
                        numbers.push(graph.number(of.numbers[k]));
                    }
                    Operand::Parameter(numbers[k])
                }
                OperandRef::Fixed(s) => Operand::Number(s.0),
            });
            let value = match step.operation {
                Operation::Input { dtype } => graph.input(&shape, dtype),
                _ => graph.add(step)?,
            };
            values.push(value);
        }
        Ok(())
    }
}
