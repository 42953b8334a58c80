//! Operations relative to their queue, so that they can be compared with those of another: values
//! and numbers are named by their place in it, sizes only by which of them are equal.

use super::super::fold::Kind;
use super::super::graph::{Graph, Operand, Parameter, Value};
use super::super::layer::Layer;
use super::super::view::{ViewForm, ViewOp};
use crate::dtype::{Class, DType};
use crate::error::Result;
use crate::layout::{Axes, Shape};
use crate::op::Op;
use crate::ops::Reduction;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A shape. 0 and 1 stand for themselves, other sizes are numbered from 2 on in order of
/// appearance.
pub(super) type RelativeShape = SmallVec<[u16; 6]>;

/// A value of a queue, computed from earlier ones.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum RelativeStep {
    /// A tensor.
    Input { dtype: DType, dims: RelativeShape },
    /// An elementwise operation, with the number among its operands that is part of it, if any.
    Apply {
        op: Op,
        operands: SmallVec<[Rel; 3]>,
        fixed: Option<Box<Fixed>>,
    },
    /// A conversion to the nearest values of another dtype.
    Convert { x: u16, dtype: DType },
    /// A reduction over the axes whose bits are set.
    Reduce {
        kind: Kind,
        x: u16,
        reduced: u64,
        keepdims: bool,
    },
    /// A matrix product, with the dtype of its sums if one is given.
    Product {
        a: u16,
        b: u16,
        dtype: Option<DType>,
    },
    /// A layer.
    Layer(Box<Layered>),
    /// A view: its index among the queue's views, its form, and its shape.
    View {
        x: u16,
        at: u16,
        about: Box<(ViewForm, RelativeShape)>,
    },
}

/// A layer, its operands, and the shape of its result.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layered {
    pub layer: Layer,
    pub operands: SmallVec<[u16; 4]>,
    pub dims: RelativeShape,
}

impl RelativeStep {
    /// The values that it is computed from.
    pub fn operands(&self) -> SmallVec<[u16; 4]> {
        let value = |x: &Rel| match x {
            Rel::Value(x) => Some(*x),
            _ => None,
        };
        match self {
            RelativeStep::Input { .. } => SmallVec::new(),
            RelativeStep::Apply { operands, .. } => operands.iter().filter_map(value).collect(),
            RelativeStep::Convert { x, .. }
            | RelativeStep::Reduce { x, .. }
            | RelativeStep::View { x, .. } => SmallVec::from_slice(&[*x]),
            RelativeStep::Product { a, b, .. } => SmallVec::from_slice(&[*a, *b]),
            RelativeStep::Layer(of) => of.operands.clone(),
        }
    }
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Rel {
    /// A value.
    Value(u16),
    /// A number, by its index, and its kind; the next queue may have another one.
    Number(u16, Class),
    /// A number that is part of the operation, in its field `fixed`.
    Fixed,
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
#[derive(Default)]
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

/// The graph of the first values of a queue.
#[derive(Default)]
pub(super) struct Replay {
    pub graph: Graph,
    pub values: Vec<Value>,
    numbers: Vec<Parameter>,
}

impl Replay {
    /// Adds the steps that are not in the graph yet. If one fails, those before it stay.
    pub fn add(
        &mut self,
        steps: &[RelativeStep],
        sizes: &NumberedSizes,
        numbers: &[Scalar],
        views: &[ViewOp],
    ) -> Result<()> {
        for step in &steps[self.values.len()..] {
            let value = match step {
                RelativeStep::Input { dtype, dims } => self.graph.input(&sizes.shape(dims), *dtype),
                RelativeStep::Apply {
                    op,
                    operands,
                    fixed,
                } => {
                    for x in operands {
                        if let Rel::Number(k, _) = x
                            && *k as usize == self.numbers.len()
                        {
                            let parameter = self.graph.number(numbers[*k as usize]);
                            self.numbers.push(parameter);
                        }
                    }
                    let operand = |x: &Rel| match x {
                        Rel::Value(k) => Operand::Value(self.values[*k as usize]),
                        Rel::Number(k, _) => Operand::Parameter(self.numbers[*k as usize]),
                        Rel::Fixed => {
                            Operand::Number(fixed.as_ref().map_or(Scalar::Int(0), |s| s.0))
                        }
                    };
                    let operands: SmallVec<[Operand; 3]> = operands.iter().map(operand).collect();
                    self.graph.apply(*op, &operands)?
                }
                RelativeStep::Convert { x, dtype } => {
                    self.graph.convert(self.values[*x as usize], *dtype)?
                }
                RelativeStep::Product { a, b, dtype } => {
                    let [a, b] = [a, b].map(|x| self.values[*x as usize]);
                    self.graph.matmul(a, b, *dtype)?
                }
                RelativeStep::Layer(of) => {
                    let Layered {
                        layer,
                        operands,
                        dims,
                    } = &**of;
                    let value = |x: &u16| self.values[*x as usize];
                    let operands: SmallVec<[Value; 4]> = operands.iter().map(value).collect();
                    let dtypes = operands.iter().map(|x| self.graph.dtype(*x));
                    let dtype = layer.dtype(dtypes)?;
                    let shape = sizes.shape(dims);
                    self.graph.layer_of(layer, &operands, &shape, dtype)
                }
                RelativeStep::View { x, at, .. } => {
                    let x = self.values[*x as usize];
                    self.graph.view(x, &views[*at as usize])
                }
                RelativeStep::Reduce {
                    kind,
                    x,
                    reduced,
                    keepdims,
                } => {
                    let axes: Vec<isize> = (0..64).filter(|k| reduced >> k & 1 == 1).collect();
                    let over = Reduction {
                        axes: Axes::from(axes),
                        keepdims: *keepdims,
                    };
                    self.graph.reduce(*kind, self.values[*x as usize], over)?
                }
            };
            self.values.push(value);
        }
        Ok(())
    }
}
