//! Programs over tensors: several reductions in one pass.

use super::{Builder, Var};
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::fold::{End, fold_computed};
use crate::exec::program::Program;
use crate::exec::view::View;
use crate::kernel::elementwise::rows;
use crate::layout::{self, Shape};
use crate::ops::reduce::{Reduced, Reduction, accumulator, sum_end};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The shape that tensors broadcast to.
fn common_shape(op: &'static str, x: &[&Tensor]) -> Result<Shape> {
    let shapes = x.iter().map(|x| x.shape());
    layout::broadcast(op, &shapes.collect::<SmallVec<[&[usize]; 4]>>())
}

/// The program whose inputs are `x`, and the dtypes of its outputs.
fn build<const N: usize>(
    op: &'static str,
    x: &[&Tensor],
    program: impl FnOnce(&mut Builder, &[Var]) -> Result<[Var; N]>,
) -> Result<(Program, [DType; N])> {
    let mut b = Builder::new(op);
    let inputs = x.iter().map(|x| b.input(x.dtype()));
    let inputs: SmallVec<[Var; 4]> = inputs.collect::<Result<_>>()?;
    let outputs = program(&mut b, &inputs)?;
    for (k, y) in outputs.iter().enumerate() {
        // each is the result of an instruction of its own
        let y = match inputs.contains(y) || outputs[..k].contains(y) {
            true => b.op(&rows::Positive::ROW, [(*y).into()])?,
            false => *y,
        };
        b.output(y)?;
    }
    Ok((b.finish()?, outputs.map(|y| y.dtype)))
}

/// The sums over axes of what a program computes of tensors that broadcast, in one pass; dtypes as
/// [`sum`](crate::ops::sum) has them.
///
/// Errors, of `op`, where they don't broadcast, an axis is none of theirs, and those of the program.
pub(crate) fn sums<const N: usize>(
    op: &'static str,
    x: &[&Tensor],
    over: impl Into<Reduction>,
    program: impl FnOnce(&mut Builder, &[Var]) -> Result<[Var; N]>,
) -> Result<[Tensor; N]> {
    let shape = common_shape(op, x)?;
    let (program, dtypes) = build(op, x, program)?;
    let inputs = x.iter().map(|x| x.broadcast_to(&shape[..]));
    let inputs: SmallVec<[Tensor; 4]> = inputs.collect::<Result<_>>()?;
    let views: SmallVec<[View; 4]> = inputs.iter().map(|x| x.elements()).collect();
    let axes = Reduced::of_shape(op, &shape, over.into())?;
    let mut results = dtypes.map(|_| Tensor::default());
    let mut ends: SmallVec<[End; 2]> = SmallVec::new();
    for (y, dtype) in results.iter_mut().zip(dtypes) {
        *y = axes.result(accumulator(dtype))?;
        ends.push(sum_end(op, dtype, y.elements_mut()?)?);
    }
    fold_computed(&program, &views, |k| axes.is_reduced(k), &mut ends)?;
    drop(ends);
    Ok(results)
}
