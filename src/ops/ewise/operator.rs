//! The functions: closures, and types that compute elements.

use super::outputs::Outputs;

/// A function of elements, as [`ewise`](super::ewise) applies it: a closure, or a type wrapped in
/// [`Apply`].
///
/// Examples: [`ewise`](super::ewise) for closures, [`Apply`] for types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of elements `{Args}`",
    label = "not a closure of as many arguments as there are inputs, `Sync`, that returns elements",
    note = "types that implement `Elementwise` are wrapped: `Apply(op)`"
)]
pub trait Operator<Args>: Sync {
    /// The type of the result.
    type Output: Outputs;
    /// Computes the result for the arguments.
    fn apply(&self, args: Args) -> Self::Output;
}

/// A type that computes elements, where a closure won't do: its `#[inline(always)]` ensures that
/// even a long body is compiled for each instruction set. [`Apply`] makes an [`Operator`] of it.
///
/// Example: [`Apply`].
pub trait Elementwise<Args>: Sync {
    /// The type of the result.
    type Output: Outputs;
    /// Computes the result for the arguments.
    fn apply(&self, args: Args) -> Self::Output;
}

/// Wraps an [`Elementwise`] type as a function of elements.
///
/// ```
/// use flex::{Tensor, ops::{Apply, Elementwise, ewise}};
///
/// struct Horner<const N: usize>([f32; N]);
/// impl<const N: usize> Elementwise<(f32,)> for Horner<N> {
///     type Output = f32;
///     #[inline(always)]
///     fn apply(&self, (x,): (f32,)) -> f32 {
///         self.0.iter().fold(0.0, |y, c| y * x + c)
///     }
/// }
///
/// let x = Tensor::from([0.0f32, 1.0, 2.0]);
/// let y = ewise(&x, Apply(Horner([1.0, 2.0, 3.0])))?; // x^2 + 2x + 3
/// assert_eq!(y.to_vec::<f32>()?, [3.0, 6.0, 11.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Apply<T>(pub T);

impl<Args, T: Elementwise<Args>> Operator<Args> for Apply<T> {
    type Output = T::Output;
    #[inline(always)]
    fn apply(&self, args: Args) -> T::Output {
        self.0.apply(args)
    }
}

/// A function that updates elements `Ws`, as [`ewise_inplace`](super::ewise_inplace) applies it: a
/// closure whose first arguments are `&mut`.
///
/// Example: [`ewise_inplace`](super::ewise_inplace).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that updates `{Ws}` by `{Args}`",
    label = "not a closure of a `&mut` argument for each target and an argument for each input, `Sync`, that returns nothing"
)]
pub trait Update<Ws, Args>: Sync {
    #[doc(hidden)]
    fn update(&self, targets: &mut Ws, args: Args);
}

macro_rules! operators {
    ($(($($A:ident $a:ident)*);)*) => { $(
        impl<Func: Fn($($A),*) -> R + Sync, R: Outputs, $($A),*> Operator<($($A,)*)> for Func {
            type Output = R;
            #[inline(always)]
            fn apply(&self, ($($a,)*): ($($A,)*)) -> R {
                self($($a),*)
            }
        }
        operators! { @ [$($A $a)*] (V v); (V v W w); (V v W w X x); (V v W w X x Y y); }
    )* };
    (@ $args:tt $(($($W:ident $w:ident)*);)*) => { $(operators! { # $args ($($W $w)*) })* };
    (# [$($A:ident $a:ident)*] ($($W:ident $w:ident)*)) => {
        impl<Func: Fn($(&mut $W,)* $($A),*) + Sync, $($W,)* $($A),*> Update<($($W,)*), ($($A,)*)> for Func {
            #[inline(always)]
            fn update(&self, ($($w,)*): &mut ($($W,)*), ($($a,)*): ($($A,)*)) {
                self($($w,)* $($a),*)
            }
        }
    };
}
operators! {
    ();
    (A a);
    (A a B b);
    (A a B b C c);
    (A a B b C c D d);
    (A a B b C c D d E e);
    (A a B b C c D d E e F f);
}
