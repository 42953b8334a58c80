//! Formulas of operations of the list, for families of operations above: one pass over operands that
//! broadcast, with no temporary of their size, to a tensor or to a sum.

use super::program::{Builder, Operand, Var};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::nest;
use crate::exec::{self, program::Program};
use crate::fallible;
use crate::kernel::elementwise::Row;
use crate::kernel::math::Real;
use crate::kernel::reduce::{self, Reduce, Sum};
use crate::layout::{self, Shape};
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Elements that are computed and added up at a time: they stay in the second-level cache. Where
/// blocks end follows from the shape alone, and so do the bits.
const BLOCK: usize = 1 << 14;

impl From<Var> for Operand {
    fn from(x: Var) -> Operand {
        Operand::Var(x)
    }
}
impl From<f64> for Operand {
    fn from(x: f64) -> Operand {
        Operand::Number(Scalar::Float(x))
    }
}

/// A formula under construction.
pub(crate) struct Formula<'a> {
    op: &'static str,
    builder: Builder,
    inputs: SmallVec<[&'a Tensor; 6]>,
    shape: Shape,
    dtype: DType,
    flops: usize,
}

impl<'a> Formula<'a> {
    /// Of operands that broadcast to one shape, computed in the dtype `x` is computed in; errors are
    /// those of `op`. Errors where there is no float of that name to compute in.
    pub fn new(op: &'static str, shapes: &[&[usize]], dtype: DType) -> Result<Formula<'a>> {
        let wide = dtype.inexact().wide();
        if !wide.is_float() || wide.is_storage() || !wide.is_available() || !dtype.is_available() {
            return Err(Error::unsupported(op, dtype));
        }
        Ok(Formula {
            op,
            builder: Builder::new(op),
            inputs: SmallVec::new(),
            shape: layout::broadcast(op, shapes)?,
            dtype: wide,
            flops: 0,
        })
    }
    /// Elements of the result.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// The next operand, in the dtype that is computed in.
    pub fn input(&mut self, x: &'a Tensor) -> Result<Var> {
        self.inputs.push(x);
        let var = self.builder.input(x.dtype())?;
        self.builder.convert(var, self.dtype)
    }
    fn apply(&mut self, row: &Row, operands: &[Operand]) -> Result<Var> {
        self.flops += row.op.cost() as usize;
        let unsupported = || Error::unsupported(self.op, self.dtype);
        let kernel = (row.lookup)(self.dtype).ok_or_else(unsupported)?;
        self.builder.apply(row, &kernel, self.dtype, operands)
    }
    /// An operation of one operand.
    pub fn unary(&mut self, row: &Row, x: impl Into<Operand>) -> Result<Var> {
        self.apply(row, &[x.into()])
    }
    /// Of two.
    pub fn binary(
        &mut self,
        row: &Row,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) -> Result<Var> {
        self.apply(row, &[a.into(), b.into()])
    }
    /// Of three.
    pub fn ternary(
        &mut self,
        row: &Row,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) -> Result<Var> {
        self.apply(row, &[a.into(), b.into(), c.into()])
    }
    /// The values of `y`, which an operation computes, rounded to `dtype`.
    pub fn write(mut self, y: Var, dtype: DType) -> Result<Tensor> {
        let y = self.builder.convert(y, dtype)?;
        self.builder.output(y)?;
        let program = self.builder.finish()?;
        let inputs = || self.inputs.iter().copied();
        let mut y = Tensor::empty_result(&self.shape, inputs(), dtype)?;
        evaluate(&program, inputs(), &mut y)?;
        Ok(y)
    }
    /// The sum of the values of `y`, which an operation computes: of blocks in the dtype that is
    /// computed in, and of these in float64.
    pub fn sum(mut self, y: Var) -> Result<f64> {
        self.builder.output(y)?;
        let Formula {
            op,
            builder,
            inputs,
            shape,
            dtype,
            flops,
        } = self;
        let program = builder.finish()?;
        let mut wholes = SmallVec::<[Tensor; 6]>::new();
        for x in inputs {
            wholes.push(x.broadcast_to(&shape)?);
        }
        let blocks = Blocks::new(&shape);
        let cost = Cost {
            bytes: wholes.iter().map(|x| x.dtype().size()).sum(),
            flops,
        };
        let mut parts = fallible::filled(0.0f64, blocks.count)?;
        let failure = Failure::default();
        par::each(&mut parts, cost.times(blocks.elements), |k, part| {
            let sum = blocks.of(&wholes, k).and_then(|inputs| {
                let mut y = Tensor::empty(inputs[0].shape(), dtype)?;
                evaluate(&program, inputs.iter(), &mut y)?;
                total(op, &y)
            });
            failure.note(sum.map(|sum| *part = sum));
        });
        failure.result()?;
        Ok(parts.iter().sum())
    }
}

/// Computes a program into a fresh tensor: it was chosen for these operands, which broadcast to the
/// shape of `y`.
fn evaluate<'a>(
    program: &Program,
    inputs: impl Iterator<Item = &'a Tensor>,
    y: &mut Tensor,
) -> Result<()> {
    let shape = Shape::from_slice(y.shape());
    let inputs: SmallVec<[nest::Operand; 6]> = inputs.map(|x| x.operand(shape.len())).collect();
    y.as_mut_ptr()?;
    let output = y.operand(shape.len());
    // SAFETY: NEST1: operands broadcast to the shape, lie inside their storages (TENSOR1), are
    // initialised (STORAGE1) and only read; the result is unshared (STORAGE3). Instructions were
    // chosen for these dtypes.
    unsafe { exec::run(program, &shape, &inputs, &[output]) };
    Ok(())
}

/// The sum of contiguous elements.
fn total(op: &'static str, x: &Tensor) -> Result<f64> {
    dispatch!(float x.dtype(), |F| {
        let x = x.as_slice::<F>()?;
        let sum = <Sum as Reduce<F>>::finish(reduce::run::<F, Sum>(x), x.len());
        Ok(Real::to_f64(sum))
    }, else Err(Error::unsupported(op, x.dtype())))
}

/// A shape cut in blocks: runs along one axis of all that follows it.
struct Blocks {
    axis: usize,
    /// Of the axis: its size, and that of a run.
    size: usize,
    run: usize,
    /// Elements of a block but for the last of an axis, and blocks.
    elements: usize,
    count: usize,
    shape: Shape,
}
impl Blocks {
    fn new(shape: &[usize]) -> Blocks {
        let inner = |k: usize| shape[k + 1..].iter().product::<usize>().max(1);
        let axis = (0..shape.len())
            .find(|k| inner(*k) <= BLOCK)
            .unwrap_or_default();
        let size = shape.get(axis).copied().unwrap_or(1);
        let inner = shape.get(axis + 1..).map_or(1, |s| s.iter().product());
        let run = (BLOCK / inner.max(1)).clamp(1, size.max(1));
        let outer: usize = shape[..axis].iter().product();
        Blocks {
            axis,
            size,
            run,
            elements: run * inner,
            count: if inner == 0 {
                0
            } else {
                outer * size.div_ceil(run)
            },
            shape: Shape::from_slice(shape),
        }
    }
    /// Block `k` of tensors of the shape.
    fn of(&self, x: &[Tensor], k: usize) -> Result<SmallVec<[Tensor; 6]>> {
        let per_axis = self.size.div_ceil(self.run);
        let (mut outer, first) = (k / per_axis, k % per_axis * self.run);
        let mut at = SmallVec::<[usize; 6]>::from_elem(0, self.axis);
        for d in (0..self.axis).rev() {
            at[d] = outer % self.shape[d];
            outer /= self.shape[d];
        }
        let mut parts = SmallVec::new();
        for x in x {
            let mut part = x.clone();
            for (d, at) in at.iter().enumerate() {
                part = part.narrow(d as isize, *at, 1)?;
            }
            if !self.shape.is_empty() {
                let n = self.run.min(self.size - first);
                part = part.narrow(self.axis as isize, first, n)?;
            }
            parts.push(part);
        }
        Ok(parts)
    }
}
