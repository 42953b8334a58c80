//! Convolutions to a few positions: the product of their patches, as rows, and the weight. Packing
//! the weight would take longer than multiplying it, and as the right operand it is kept packed.

use super::Conv;
use super::run::ConvOperands;
use crate::error::Result;
use crate::kernel::gemm::{Epilogue, MatElement};
use crate::layout::{Axes, Shape};
use crate::nn::linear::{Linear, linear};
use crate::ops::linalg::BindPostOp;
use crate::ops::{self, linalg::bind_post_op};
use crate::tensor::Tensor;

impl ConvOperands {
    /// Computes the fresh tensor `y`.
    pub(super) fn few<T: MatElement>(
        &self,
        options: &Conv,
        y: &mut Tensor,
        post_op: Option<&dyn BindPostOp>,
    ) -> Result<()> {
        let call = &self.call;
        let (batch, outputs, positions) = (call.batch, call.out_channels, call.geometry.len());
        // as rows of the positions of all images
        let residual = self.residual.as_ref();
        let residual = residual.map(|r| r.transpose(1, 2)?.reshape((batch * positions, outputs)));
        let residual = residual.transpose()?;
        let layer = Linear {
            bias: self.bias.as_ref(),
            activation: options.activation,
            residual: residual.as_ref(),
            ..Default::default()
        };
        let rows = linear(&self.patches()?, &self.weight, layer)?;
        let whole = rows.reshape([batch, positions, outputs])?.transpose(1, 2)?;
        *y = whole.reshape(y.shape())?.contiguous()?;
        let post_op = bind_post_op(post_op, y, [batch, outputs, positions])?;
        let epilogue = Epilogue::<T>::new(&[], outputs, positions).with_post_op(post_op);
        for n in 0..batch {
            // SAFETY: POSTOP1: all elements of an image, which are written.
            unsafe { epilogue.of(n).run_post_op(0..outputs, 0..positions) };
        }
        Ok(())
    }
    /// What each position reads: `[batch * positions, taps]`.
    fn patches(&self) -> Result<Tensor> {
        let (call, g) = (&self.call, &self.call.geometry);
        let all = [call.batch * g.len(), call.in_channels * g.kernel_len()];
        if g.is_pointwise(call.image) {
            let x = self.x.reshape([call.batch, call.in_channels, g.len()])?;
            return x.transpose(1, 2)?.reshape(all);
        }
        let first = 3 - call.rank;
        let span = |k: usize| (g.kernel[k] - 1) * g.dilation[k] + 1;
        let mut widths = [(0, 0); 5];
        for k in first..3 {
            let seen = (g.output_size[k] - 1) * g.stride[k] + span(k);
            let before = g.padding[k].max(0) as usize;
            widths[2 + k - first] = (before, seen.saturating_sub(before + call.image[k]));
        }
        let mut x = self.x.clone();
        if widths.iter().any(|w| *w != (0, 0)) {
            x = ops::pad(&x, &widths[..x.rank()], 0)?;
        }
        for k in first..3 {
            let axis = 2 + k - first;
            x = x.unfold(axis, span(k), g.stride[k])?;
            x = x.narrow(axis, 0, g.output_size[k])?;
            if g.dilation[k] > 1 {
                x = x.slice_axis(-1, None, None, g.dilation[k] as i64)?;
            }
        }
        // [batch, channels, positions.., taps..]
        let positions = 2..2 + call.rank;
        let taps = 2 + call.rank..2 + 2 * call.rank;
        let order: Shape = [0]
            .into_iter()
            .chain(positions)
            .chain([1])
            .chain(taps)
            .collect();
        x.permute(Axes::from(&order))?.reshape(all)
    }
}
