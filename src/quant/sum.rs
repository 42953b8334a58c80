//! Sums of quantised tensors, without floats in between that are kept.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{self, Addend, Levels, QuantStep};
use crate::layout;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

const OP: &str = "quant.add";

/// What `a + b` is of tensors of bytes, or the larger of that and zero, quantised. Each has one step, a
/// scale and a zero point, the result the levels too.
///
/// Errors if they don't broadcast, or are no bytes.
pub(crate) fn sum_of_bytes(
    x: [(&Tensor, (f32, i32)); 2],
    relu: bool,
    (levels, step): (Levels, (f32, i32)),
) -> Result<Tensor> {
    for (x, _) in x {
        if !matches!(x.dtype(), DType::I8 | DType::U8) {
            return Err(Error::unsupported(OP, x.dtype()));
        }
    }
    let step_of = |(scale, zero)| QuantStep { scale, zero };
    let shape = layout::broadcast(OP, &[x[0].0.shape(), x[1].0.shape()])?;
    let whole = |i: usize| x[i].0.broadcast_to(&shape)?.contiguous();
    let values = [whole(0)?, whole(1)?];
    let mut y = Tensor::empty(&shape, levels.dtype())?;
    let cost = Cost {
        bytes: 3,
        flops: 12,
    };
    par::split(y.as_mut_bytes()?, 1, 64, cost, |r, d| {
        let addend = |i: usize| Addend {
            q: &values[i].as_bytes()[r.clone()],
            step: step_of(x[i].1),
            signed: values[i].dtype() == DType::I8,
        };
        let addends = [addend(0), addend(1)];
        quant::encode_sum(addends, relu, step_of(step), levels.range(false), d)
    });
    Ok(y)
}
