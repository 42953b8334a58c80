//! Operations of models, with torch.nn.functional's names (but `axis`, as everywhere in the crate). 16-bit floats are
//! computed in float32 and rounded once.

mod attention;
mod embedding;
mod linear;
mod norm;
mod softmax;
mod varlen;

pub use crate::kernel::gemm::Activation;
pub use crate::ops::{gelu, gelu_tanh, relu, sigmoid, silu};
pub use attention::{Attention, scaled_dot_product_attention};
pub use embedding::embedding;
pub use linear::{Linear, linear};
pub use norm::{layer_norm, rms_norm};
pub use softmax::{log_softmax, softmax};
pub use varlen::varlen_attention;

use crate::dtype::Element;
use crate::dtype::Plain;
use crate::error::Result;
use crate::exec::lines::Lines;
use crate::exec::par::Cost;
use crate::kernel::gemm::Product;
use crate::kernel::norm::{Float, load, store};
use crate::tensor::Tensor;

/// `f` applied to every line of an axis, in the type that is computed in. `flops` is the cost of an element.
fn map_lines<T>(x: &Tensor, axis: usize, flops: usize, f: impl Fn(&mut [T::Lane]) + Sync) -> Result<Tensor>
where
    T: Element + Plain + Product,
    T::Lane: Element + Plain + Float,
{
    let mut y = Tensor::empty(x.shape(), x.dtype())?;
    if y.is_empty() {
        return Ok(y);
    }
    let n = x.shape().get(axis).copied().unwrap_or(1);
    let cost = Cost { bytes: 2 * n * size_of::<T>(), flops: n.saturating_mul(flops) };
    let lines = Lines::new(x.shape(), axis).input(x).output(&mut y)?;
    if T::SAME {
        lines.run(cost, |line| {
            let row = line.output::<T::Lane>(0);
            load::<T>(line.input(0), row);
            f(row);
        })?;
    } else {
        lines.scratch(n, T::Lane::DTYPE).run(cost, |line| {
            let row = line.scratch::<T::Lane>(0);
            load::<T>(line.input(0), row);
            f(row);
            store::<T>(row, line.output(0));
        })?;
    }
    Ok(y)
}
