//! Activations: elementwise operations in an epilogue.

use crate::kernel::elementwise::{Row, rows};
use core::fmt;

/// A function that follows a linear layer: an elementwise operation of one operand.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 1.0, -1.0, 0.0], [2, 2])?;
/// let relu = nn::Linear { activation: Some(nn::Activation::Relu), ..Default::default() };
/// assert_eq!(nn::linear(&x, &weight, relu)?.to_vec::<f32>()?, [3.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
///
/// A program links only the functions that it names; `from_name` names all of them.
#[derive(Clone, Copy)]
pub struct Activation(&'static Row);
impl Activation {
    /// Its name in snake case: `"gelu_tanh"`.
    pub const fn name(self) -> &'static str {
        self.0.op.name()
    }
    /// Its row in the table of operations.
    pub(super) const fn row(self) -> &'static Row {
        self.0
    }
}
impl PartialEq for Activation {
    fn eq(&self, other: &Activation) -> bool {
        self.0.op == other.0.op
    }
}
impl Eq for Activation {}
impl fmt::Debug for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! activations {
    ($($(#[doc = $doc:literal])* $Name:ident)*) => {
        #[allow(
            non_upper_case_globals,
            reason = "they stand for the variants of an enum, which would link all functions"
        )]
        impl Activation {
            $($(#[doc = $doc])* pub const $Name: Activation = Activation(&rows::$Name::ROW);)*
            /// The names of all activations.
            ///
            /// ```
            /// assert!(flex::nn::Activation::NAMES.contains(&"relu"));
            /// ```
            pub const NAMES: &'static [&'static str] = &[$(rows::$Name::ROW.op.name()),*];
            /// The activation with this name.
            ///
            /// ```
            /// use flex::nn::Activation;
            /// assert_eq!(Activation::from_name("silu"), Some(Activation::Silu));
            /// ```
            pub fn from_name(name: &str) -> Option<Activation> {
                [$(Activation::$Name),*].into_iter().find(|a| a.name() == name)
            }
        }
    };
}
activations! {
    /// `max(x, 0)`.
    Relu
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    Gelu
    /// The approximation of gelu by tanh.
    GeluTanh
    /// `x * sigmoid(x)`.
    Silu
    /// `1 / (1 + exp(-x))`.
    Sigmoid
    /// Hyperbolic tangent.
    Tanh
    /// `min(max(x, 0), 6)`.
    Relu6
    /// `scale * x`, or `scale * alpha * (exp(x) - 1)` for negative x, with the factors that keep
    /// mean 0 and variance 1.
    Selu
    /// `log(sigmoid(x))`.
    LogSigmoid
    /// `x * tanh(log(1 + exp(x)))`.
    Mish
    /// `min(max(x + 3, 0), 6) / 6`.
    Hardsigmoid
    /// `x * min(max(x + 3, 0), 6) / 6`.
    Hardswish
    /// `x / (1 + |x|)`.
    Softsign
    /// `x - tanh(x)`.
    Tanhshrink
}
