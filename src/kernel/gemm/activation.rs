//! Activations in the epilogue.

use crate::kernel::math::Real;
use core::fmt;

/// A function that follows a linear layer.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?, Tensor::from_slice(&[1.0f32, 1.0, -1.0, 0.0], [2, 2])?);
/// let relu = nn::Linear { activation: Some(nn::Activation::Relu), ..Default::default() };
/// assert_eq!(nn::linear(&x, &weight, relu)?.to_vec::<f32>()?, [3.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
///
/// A program links the functions that it names; `from_name` names all.
#[derive(Clone, Copy)]
pub struct Activation {
    name: &'static str,
    single: fn(&mut [f32]),
    #[cfg(feature = "f64")]
    double: fn(&mut [f64]),
}
impl Activation {
    /// Its name in snake case: `"gelu_tanh"`.
    pub const fn name(self) -> &'static str {
        self.name
    }
    /// What [`EpilogueOp::Map`](super::EpilogueOp::Map) takes.
    pub fn function<F: Number>(self) -> fn(&mut [F]) {
        F::of(self)
    }
}
impl PartialEq for Activation {
    fn eq(&self, other: &Activation) -> bool {
        self.name == other.name
    }
}
impl Eq for Activation {}
impl fmt::Debug for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A float that activations are computed in.
pub trait Number: Real + Default {
    /// The function for it.
    fn of(activation: Activation) -> fn(&mut [Self]);
}
impl Number for f32 {
    fn of(activation: Activation) -> fn(&mut [f32]) {
        activation.single
    }
}
#[cfg(feature = "f64")]
impl Number for f64 {
    fn of(activation: Activation) -> fn(&mut [f64]) {
        activation.double
    }
}

macro_rules! activations {
    ($($(#[doc = $doc:literal])* $Name:ident $name:ident |$I:ident, $x:ident| $e:expr;)*) => {
        #[allow(non_upper_case_globals, reason = "they stand for the variants of an enum, which would link all functions")]
        impl Activation {
            $(
                $(#[doc = $doc])*
                pub const $Name: Activation = Activation {
                    name: stringify!($name),
                    single: $name::<f32>,
                    #[cfg(feature = "f64")]
                    double: $name::<f64>,
                };
            )*
            /// The activation of that name.
            ///
            /// ```
            /// use flex::nn::Activation;
            /// assert_eq!(Activation::from_name("silu"), Some(Activation::Silu));
            /// ```
            pub fn from_name(name: &str) -> Option<Activation> {
                [$(Activation::$Name),*].into_iter().find(|a| a.name == name)
            }
        }
        $(
            kernel! {
                fn $name<'a, F: Number>(row: &'a mut [F]) -> () {
                    |$I| for v in row.iter_mut() {
                        let $x = *v;
                        *v = $e;
                    }
                }
            }
        )*
    };
}
activations! {
    /// `max(x, 0)`.
    Relu relu |I, x| Real::maximum::<I>(x, F::default());
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    Gelu gelu |I, x| Real::gelu::<I>(x);
    /// The approximation of gelu by tanh.
    GeluTanh gelu_tanh |I, x| Real::gelu_tanh::<I>(x);
    /// `x * sigmoid(x)`.
    Silu silu |I, x| Real::silu::<I>(x);
}
