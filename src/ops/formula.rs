//! Formulas of elementwise operations, used by the higher families of operations: one pass over
//! operands that broadcast, without temporaries of their size, into a tensor or into sums.

use super::program::{Builder, Operand, Var};
use super::reduce::{Reduced, ReductionAxes, sum_end};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::{End, fold_computed};
use crate::exec::nest;
use crate::exec::view::View;
use crate::exec::{self, program::TileProgram};
use crate::kernel::elementwise::{Row, rows};
use crate::kernel::math::Real;
use crate::layout::{self, Layout, Shape};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// A formula under construction.
pub(crate) struct Formula<'a> {
    op: &'static str,
    builder: Builder,
    inputs: SmallVec<[&'a Tensor; 6]>,
    vars: SmallVec<[Var; 6]>,
    shape: Shape,
    dtype: DType,
}

impl<'a> Formula<'a> {
    /// A formula over operands that broadcast to one shape, computed in the dtype in which
    /// operations on `dtype` compute; errors carry the name `op`. Errors if that is not a float of
    /// this build.
    pub fn new(op: &'static str, shapes: &[&[usize]], dtype: DType) -> Result<Formula<'a>> {
        let wide = dtype.inexact().wide();
        if !wide.is_float() || wide.is_storage() || !wide.is_available() || !dtype.is_available() {
            return Err(Error::unsupported(op, dtype));
        }
        Ok(Formula {
            op,
            builder: Builder::new(op),
            inputs: SmallVec::new(),
            vars: SmallVec::new(),
            shape: layout::broadcast(op, shapes)?,
            dtype: wide,
        })
    }
    /// The number of elements of the result.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Adds the next operand, converted to the dtype of the computation.
    pub fn input(&mut self, x: &'a Tensor) -> Result<Var> {
        self.input_as(x, self.dtype)
    }
    /// Adds the next operand, which is bool, as it is.
    pub fn condition(&mut self, x: &'a Tensor) -> Result<Var> {
        self.input_as(x, x.dtype())
    }
    fn input_as(&mut self, x: &'a Tensor, dtype: DType) -> Result<Var> {
        self.inputs.push(x);
        let var = self.builder.input(x.dtype())?;
        let var = self.builder.convert(var, dtype)?;
        self.vars.push(var);
        Ok(var)
    }
    fn apply(&mut self, row: &Row, operands: &[Operand]) -> Result<Var> {
        let unsupported = || Error::unsupported(self.op, self.dtype);
        let kernel = (row.lookup)(self.dtype).ok_or_else(unsupported)?;
        self.builder.apply(row, &kernel, self.dtype, operands)
    }
    /// Applies an operation with one operand.
    pub fn unary(&mut self, row: &Row, x: impl Into<Operand>) -> Result<Var> {
        self.apply(row, &[x.into()])
    }
    /// Applies an operation with two operands.
    pub fn binary(
        &mut self,
        row: &Row,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) -> Result<Var> {
        self.apply(row, &[a.into(), b.into()])
    }
    /// Applies an operation with three operands.
    pub fn ternary(
        &mut self,
        row: &Row,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) -> Result<Var> {
        self.apply(row, &[a.into(), b.into(), c.into()])
    }
    /// The values of `y`, which must be the result of an operation, rounded to `dtype`.
    pub fn write(mut self, y: Var, dtype: DType) -> Result<Tensor> {
        let y = self.builder.convert(y, dtype)?;
        self.builder.output(y)?;
        let program = self.builder.finish()?;
        let inputs = || self.inputs.iter().copied();
        let mut y = Tensor::empty_result(&self.shape, inputs(), dtype)?;
        evaluate(&program, inputs(), &mut y)?;
        Ok(y)
    }
    /// The sum of the values of `y`.
    pub fn sum(self, y: Var) -> Result<f64> {
        let [sum] = self.sums([y], ())?;
        dispatch!(float sum.dtype(), |F| Ok(Real::to_f64(sum.item::<F>()?)),
            else Err(Error::unsupported("sum", sum.dtype())))
    }
    /// The sums over axes of the values of each of `y`, in the dtype of the computation, in a
    /// single pass. Errors also if an axis is out of range or repeated.
    pub fn sums<const N: usize>(
        self,
        y: [Var; N],
        over: impl Into<ReductionAxes>,
    ) -> Result<[Tensor; N]> {
        self.sums_over(y, over.into())
    }
    fn sums_over<const N: usize>(
        mut self,
        y: [Var; N],
        over: ReductionAxes,
    ) -> Result<[Tensor; N]> {
        for (k, var) in y.iter().enumerate() {
            // an output must be the result of an instruction of its own
            let var = match self.vars.contains(var) || y[..k].contains(var) {
                true => self.unary(&rows::Positive::ROW, *var)?,
                false => *var,
            };
            self.builder.output(var)?;
        }
        let program = self.builder.finish()?;
        let wholes = self.inputs.iter().map(|x| x.broadcast_to(&self.shape));
        let wholes: SmallVec<[Tensor; 6]> = wholes.collect::<Result<_>>()?;
        let views: SmallVec<[View; 6]> = wholes.iter().map(Tensor::elements).collect();
        let axes = Reduced::of_shape(self.op, &self.shape, over)?;
        let mut sums = y.map(|_| Tensor::default());
        let mut ends: SmallVec<[End; 2]> = SmallVec::new();
        for sum in &mut sums {
            *sum = axes.result(self.dtype)?;
            ends.push(sum_end(self.op, self.dtype, sum.elements_mut()?)?);
        }
        let value = Layout::of_result(&self.shape, self.inputs.iter().map(|x| x.layout()))?;
        fold_computed(&program, &views, &value, |k| axes.is_reduced(k), &mut ends)?;
        drop(ends);
        Ok(sums)
    }
}

/// Computes a program, built for these operands, into a fresh tensor. The operands broadcast to the
/// shape of `y`.
pub(crate) fn evaluate<'a>(
    program: &TileProgram,
    inputs: impl Iterator<Item = &'a Tensor>,
    y: &mut Tensor,
) -> Result<()> {
    let shape = Shape::from_slice(y.shape());
    let inputs: SmallVec<[nest::LoopOperand; 6]> = inputs.map(|x| x.operand(shape.len())).collect();
    y.as_mut_ptr()?;
    let output = y.operand(shape.len());
    // SAFETY: NEST1: operands broadcast to the shape, lie inside their storages (TENSOR1), are
    // initialised (STORAGE1) and only read; the result is unshared (STORAGE3). The instructions
    // were chosen for these dtypes.
    unsafe { exec::run(program, &shape, &inputs, &[output]) };
    Ok(())
}
