//! Linear layers and convolutions as data: products with options, which hand over blocks of their
//! results.

use super::graph::{Graph, Product, Value};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::nn::{self, Activation, Conv, Linear};
use crate::ops::linalg::Follow;
use crate::tensor::Tensor;
use alloc::sync::Arc;
use smallvec::SmallVec;

/// A layer. Its operands are an image or rows, a weight, and optionally a bias and a residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Which layer.
    pub kind: LayerKind,
    /// Whether there is a bias.
    pub bias: bool,
    /// Whether there is a residual.
    pub residual: bool,
}
/// The function of a layer, with its options.
#[derive(Clone, Debug)]
pub enum LayerKind {
    /// `linear`.
    Linear {
        /// Applied to the result.
        activation: Option<Activation>,
        /// That of the result, if it is not the common one.
        dtype: Option<DType>,
    },
    /// A convolution over this many axes.
    Conv(usize, Conv<'static>),
}
impl PartialEq for LayerKind {
    fn eq(&self, other: &LayerKind) -> bool {
        match (self, other) {
            (
                LayerKind::Linear { activation, dtype },
                LayerKind::Linear {
                    activation: f,
                    dtype: d,
                },
            ) => (activation, dtype) == (f, d),
            (LayerKind::Conv(rank, a), LayerKind::Conv(other, b)) => {
                rank == other
                    && (a.groups, a.precise, a.activation) == (b.groups, b.precise, b.activation)
                    && (&a.stride, &a.padding, &a.dilation) == (&b.stride, &b.padding, &b.dilation)
            }
            _ => false,
        }
    }
}

/// The shape and dtype of an operand.
type About<'a> = (&'a [usize], DType);

impl Layer {
    /// The name of its function.
    pub fn name(&self) -> &'static str {
        match self.kind {
            LayerKind::Linear { .. } => "linear",
            LayerKind::Conv(1, _) => "conv1d",
            LayerKind::Conv(2, _) => "conv2d",
            LayerKind::Conv(..) => "conv3d",
        }
    }
    /// Number of operands.
    pub fn arity(&self) -> usize {
        2 + self.bias as usize + self.residual as usize
    }
    /// The operands after `x` and `weight`: the bias and the residual, if any.
    fn others<T: Copy>(&self, operands: &[T]) -> (Option<T>, Option<T>) {
        let (bias, residual) = operands[2..].split_at(self.bias as usize);
        (bias.first().copied(), residual.first().copied())
    }
    /// Shape and dtype of the result. Errors are those of the layer's function.
    pub fn result(&self, operands: &[About]) -> Result<(Shape, DType)> {
        if operands.len() != self.arity() {
            return Err(Error::value(self.name(), "an operand is missing"));
        }
        let named = |name, (shape, dtype)| (name, shape, dtype);
        let first = [named("x", operands[0]), named("weight", operands[1])];
        let (bias, residual) = self.others(operands);
        let others = (
            bias.map(|x| named("bias", x)),
            residual.map(|x| named("residual", x)),
        );
        match &self.kind {
            LayerKind::Linear { activation, dtype } => {
                nn::linear_result(&first, others, *activation, *dtype)
            }
            LayerKind::Conv(rank, options) => {
                let name = (self.name(), *rank);
                let (call, dtype) = nn::conv_result(name, &first, others, options)?;
                Ok((call.shape(), dtype))
            }
        }
    }
    /// The dtype of the result alone, for operands that fit.
    pub fn dtype(&self, mut operands: impl Iterator<Item = DType>) -> Result<DType> {
        let first = operands.next().unwrap_or(DType::Bool);
        let common = operands.try_fold(first, |a, b| a.promote(b, self.name()))?;
        Ok(match self.kind {
            LayerKind::Linear { dtype, .. } => dtype.unwrap_or(common),
            LayerKind::Conv(..) => common,
        })
    }
    /// Computes the result. `then` may take over its blocks.
    pub fn run(&self, x: &[Tensor], then: Option<&dyn Follow>) -> Result<Tensor> {
        if x.len() != self.arity() {
            return Err(Error::value(self.name(), "an operand is missing"));
        }
        let all: SmallVec<[&Tensor; 4]> = x.iter().collect();
        let (bias, residual) = self.others(&all);
        match &self.kind {
            LayerKind::Linear { activation, dtype } => {
                let (activation, dtype) = (*activation, *dtype);
                let options = Linear {
                    bias,
                    activation,
                    residual,
                    dtype,
                };
                nn::linear_then(all[0], all[1], options, then)
            }
            LayerKind::Conv(rank, options) => {
                let options = Conv {
                    bias,
                    residual,
                    ..options.clone()
                };
                nn::convolve(self.name(), *rank, all[0], all[1], &options, then)
            }
        }
    }
}

impl Graph {
    /// Adds a layer, by the rules of its function. Elementwise operations that follow it run on
    /// each block of its result.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn layer(&mut self, layer: &Layer, operands: &[Value]) -> Result<Value> {
        let about = operands.iter().map(|x| (self.shape(*x), self.dtype(*x)));
        let (shape, dtype) = layer.result(&about.collect::<SmallVec<[About; 4]>>())?;
        Ok(self.layer_of(layer, operands, &shape, dtype))
    }
    /// The same, if the shape and dtype of the result are known.
    pub(super) fn layer_of(
        &mut self,
        layer: &Layer,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
    ) -> Value {
        let mut own = layer.clone();
        if let LayerKind::Linear { dtype: sums, .. } = &mut own.kind
            && let Some(sources) = self.sources(operands[0], operands[1], dtype)
        {
            *sums = Some(dtype);
            let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(operands);
            operands[..2].copy_from_slice(&sources.values);
            let f: Product = Arc::new(move |x, then| {
                let first = sources.operands(x)?.into_iter();
                let all: SmallVec<[Tensor; 4]> = first.chain(x[2..].iter().cloned()).collect();
                own.run(&all, then)
            });
            return self.product(layer.name(), &operands, shape, dtype, f);
        }
        let f: Product = Arc::new(move |x, then| own.run(x, then));
        self.product(layer.name(), operands, shape, dtype, f)
    }
}
