//! Products as data: matrix products, linear layers and convolutions, which hand over blocks of
//! their results.

use super::codec::coded;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::nn::{self, Activation, Conv, Linear};
use crate::ops::linalg::{BindPostOp, matmul_with_post_op, product_of};
use crate::tensor::Tensor;
use smallvec::SmallVec;

coded! {
    /// A product. Its operands are a matrix, rows or an image, a matrix or weight, and optionally a
    /// bias and a residual.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Product {
        /// Which product.
        pub kind: ProductKind,
        /// Whether there is a bias.
        pub bias: bool,
        /// Whether there is a residual.
        pub residual: bool,
    }
}
coded! {
    /// The function of a product, with its options.
    #[derive(Clone, Debug)]
    pub enum ProductKind {
        /// `matmul`.
        Matmul {
            /// That of the sums, if it is not the common one.
            dtype: Option<DType>,
        },
        /// `linear`.
        Linear {
            /// Applied to the result.
            activation: Option<Activation>,
            /// That of the result, if it is not the common one.
            dtype: Option<DType>,
        },
        /// A convolution.
        Conv {
            /// Over this many axes.
            rank: u8,
            /// Its options; bias and residual are operands.
            options: Conv<'static>,
        },
    }
}
impl PartialEq for ProductKind {
    fn eq(&self, other: &ProductKind) -> bool {
        use ProductKind::*;
        match (self, other) {
            (Matmul { dtype }, Matmul { dtype: d }) => dtype == d,
            (
                Linear { activation, dtype },
                Linear {
                    activation: f,
                    dtype: d,
                },
            ) => (activation, dtype) == (f, d),
            (
                Conv { rank, options: a },
                Conv {
                    rank: r,
                    options: b,
                },
            ) => {
                rank == r
                    && (a.groups, a.precise, a.activation) == (b.groups, b.precise, b.activation)
                    && (&a.stride, &a.padding, &a.dilation) == (&b.stride, &b.padding, &b.dilation)
            }
            _ => false,
        }
    }
}

/// The shape and dtype of an operand.
type About<'a> = (&'a [usize], DType);

impl From<ProductKind> for Product {
    fn from(kind: ProductKind) -> Product {
        Product {
            kind,
            bias: false,
            residual: false,
        }
    }
}

impl Product {
    /// The name of its function.
    pub fn name(&self) -> &'static str {
        match self.kind {
            ProductKind::Matmul { .. } => "matmul",
            ProductKind::Linear { .. } => "linear",
            ProductKind::Conv { rank: 1, .. } => "conv1d",
            ProductKind::Conv { rank: 2, .. } => "conv2d",
            ProductKind::Conv { .. } => "conv3d",
        }
    }
    /// Number of operands.
    pub fn arity(&self) -> usize {
        2 + self.bias as usize + self.residual as usize
    }
    /// Whether it is a convolution, whose result may have the layout of its image.
    pub(super) fn is_convolution(&self) -> bool {
        matches!(self.kind, ProductKind::Conv { .. })
    }
    /// The same product, which is to convert operands that were given before a conversion to
    /// `dtype`. None if it can't.
    pub(super) fn converting(&self, dtype: DType) -> Option<Product> {
        let mut product = self.clone();
        match &mut product.kind {
            ProductKind::Matmul { dtype: Some(_) } | ProductKind::Conv { .. } => return None,
            ProductKind::Matmul { dtype: sums } | ProductKind::Linear { dtype: sums, .. } => {
                *sums = Some(dtype);
            }
        }
        Some(product)
    }
    /// The operands after the first two: the bias and the residual, if any.
    fn others<T: Copy>(&self, operands: &[T]) -> (Option<T>, Option<T>) {
        let (bias, residual) = operands[2..].split_at(self.bias as usize);
        (bias.first().copied(), residual.first().copied())
    }
    fn expect_operands(&self, n: usize) -> Result<()> {
        match n == self.arity() {
            true => Ok(()),
            false => Err(Error::value(self.name(), "an operand is missing")),
        }
    }
    /// Shape and dtype of the result. Errors are those of the product's function.
    pub fn result(&self, operands: &[About]) -> Result<(Shape, DType)> {
        self.expect_operands(operands.len())?;
        let named = |name, (shape, dtype)| (name, shape, dtype);
        let first = [named("x", operands[0]), named("weight", operands[1])];
        let (bias, residual) = self.others(operands);
        let others = (
            bias.map(|x| named("bias", x)),
            residual.map(|x| named("residual", x)),
        );
        match &self.kind {
            ProductKind::Matmul { dtype } => product_of(operands[0], operands[1], *dtype),
            ProductKind::Linear { activation, dtype } => {
                nn::linear_result(&first, others, *activation, *dtype)
            }
            ProductKind::Conv { rank, options } => {
                let name = (self.name(), *rank as usize);
                let (call, dtype) = nn::conv_result(name, &first, others, options)?;
                Ok((call.shape(), dtype))
            }
        }
    }
    /// Computes the result. `then` may take over its blocks.
    pub fn run(&self, x: &[Tensor], then: Option<&dyn BindPostOp>) -> Result<Tensor> {
        self.expect_operands(x.len())?;
        let all: SmallVec<[&Tensor; 4]> = x.iter().collect();
        let (bias, residual) = self.others(&all);
        match &self.kind {
            ProductKind::Matmul { dtype } => matmul_with_post_op(all[0], all[1], *dtype, then),
            ProductKind::Linear { activation, dtype } => {
                let (activation, dtype) = (*activation, *dtype);
                let options = Linear {
                    bias,
                    activation,
                    residual,
                    dtype,
                };
                nn::linear_with_post_op(all[0], all[1], options, then)
            }
            ProductKind::Conv { rank, options } => {
                let options = Conv {
                    bias,
                    residual,
                    ..options.clone()
                };
                let rank = *rank as usize;
                nn::convolve(self.name(), rank, all[0], all[1], &options, then)
            }
        }
    }
}
