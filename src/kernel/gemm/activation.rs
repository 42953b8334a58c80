//! Activations as stages.

use crate::kernel::math::Real;

/// A function that follows a linear layer.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?, Tensor::from_slice(&[1.0f32, 1.0, -1.0, 0.0], [2, 2])?);
/// let relu = nn::Linear { activation: Some(nn::Activation::Relu), ..Default::default() };
/// assert_eq!(nn::linear(&x, &weight, relu)?.to_vec::<f32>()?, [3.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// The approximation of gelu by tanh.
    GeluTanh,
    /// `x * sigmoid(x)`.
    Silu,
}
impl Activation {
    /// What [`Stage::Map`](super::Stage::Map) takes.
    pub fn function<F: Number>(self) -> fn(&mut [F]) {
        match self {
            Activation::Relu => relu,
            Activation::Gelu => gelu,
            Activation::GeluTanh => gelu_tanh,
            Activation::Silu => silu,
        }
    }
}

/// A real number with a zero.
pub trait Number: Real + Default {}
impl<F: Real + Default> Number for F {}

macro_rules! maps {
    ($($name:ident |$I:ident, $x:ident| $e:expr;)*) => { $(
        kernel! {
            fn $name<'a, F: Number>(row: &'a mut [F]) -> () {
                |$I| for v in row.iter_mut() {
                    let $x = *v;
                    *v = $e;
                }
            }
        }
    )* };
}
maps! {
    relu |I, x| Real::maximum::<I>(x, F::default());
    gelu |I, x| Real::gelu::<I>(x);
    gelu_tanh |I, x| Real::gelu_tanh::<I>(x);
    silu |I, x| Real::silu::<I>(x);
}
