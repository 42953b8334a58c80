//! Reducers of elements: types, or closures combined by `reducer`.

/// A reduction of elements, or of values computed from the elements of several inputs, as
/// [`reduce_ewise`](super::reduce_ewise) applies it. [`reducer`] makes one from closures.
///
/// Elements are reduced in parts, which are then joined. So `join` must be associative, and
/// `step(join(a, b), x)` must equal `join(a, step(b, x))`, up to rounding.
///
/// ```
/// use flex::{Tensor, ops::{Reducer, reduce_ewise}};
///
/// /// The smallest and the largest.
/// struct Range;
/// impl Reducer<(f32,)> for Range {
///     type Acc = (f32, f32);
///     type Output = (f32, f32);
///     fn init(&self) -> (f32, f32) {
///         (f32::INFINITY, f32::NEG_INFINITY)
///     }
///     fn step(&self, (low, high): (f32, f32), (x,): (f32,)) -> (f32, f32) {
///         (low.min(x), high.max(x))
///     }
///     fn join(&self, a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
///         (a.0.min(b.0), a.1.max(b.1))
///     }
///     fn post(&self, acc: (f32, f32), _: usize) -> (f32, f32) {
///         acc
///     }
/// }
///
/// let x = Tensor::from([3.0f32, 1.0, 2.0]);
/// assert_eq!(reduce_ewise(&x, Range)?, (1.0, 3.0));
/// # Ok::<(), flex::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reduction of elements `{Args}`",
    note = "`reducer` makes one from closures; types implement `Reducer`"
)]
pub trait Reducer<Args>: Sync {
    /// The accumulator: a number, a tuple or a structure of numbers, or nothing (`()`).
    type Acc: Copy + Send + Sync;
    /// The result.
    type Output;
    /// The accumulator of no elements, the identity of `join`.
    fn init(&self) -> Self::Acc;
    /// Adds an element to an accumulator.
    fn step(&self, acc: Self::Acc, args: Args) -> Self::Acc;
    /// Combines the accumulators of two parts.
    fn join(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result, from the accumulator of `n` elements.
    fn post(&self, acc: Self::Acc, n: usize) -> Self::Output;
}

/// A [`Reducer`] from closures: starting with `init`, `step` takes an accumulator and the elements
/// of the inputs and returns the new accumulator, and `join` joins two accumulators. The result is
/// the accumulator, or is computed from it by [`post`](Closures::post).
///
/// ```
/// use flex::{Tensor, ops::{reduce_ewise, reducer}};
/// let (x, y) = (Tensor::from([1.0f32, 2.0, 3.0]), Tensor::from([3.0f32, 2.0, 1.0]));
/// let dot = reducer(0.0, |sum: f32, x: f32, y: f32| sum + x * y, |a, b| a + b);
/// assert_eq!(reduce_ewise((&x, &y), dot)?, 10.0);
///
/// let sums = |(x, xx): (f32, f32), v: f32| (x + v, xx + v * v);
/// let moments = reducer((0.0, 0.0), sums, |a, b| (a.0 + b.0, a.1 + b.1));
/// let moments = moments.post(|(x, xx), n| (x / n as f32, xx / n as f32));
/// assert_eq!(reduce_ewise(&x, moments)?, (2.0, 14.0 / 3.0));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn reducer<Acc, S, J>(init: Acc, step: S, join: J) -> Closures<Acc, S, J, fn(Acc, usize) -> Acc>
where
    Acc: Copy + Send + Sync,
    J: Fn(Acc, Acc) -> Acc + Sync,
{
    Closures {
        init,
        step,
        join,
        post: |acc, _| acc,
    }
}

/// A [`Reducer`] from closures, made by [`reducer`].
///
/// Example: [`reducer`].
#[derive(Clone, Copy, Debug)]
pub struct Closures<Acc, S, J, P> {
    init: Acc,
    step: S,
    join: J,
    post: P,
}
impl<Acc, S, J, P> Closures<Acc, S, J, P> {
    /// Sets the function that computes the result from the accumulator and the number of elements.
    ///
    /// Example: [`reducer`].
    pub fn post<R, Q: Fn(Acc, usize) -> R + Sync>(self, post: Q) -> Closures<Acc, S, J, Q> {
        Closures {
            init: self.init,
            step: self.step,
            join: self.join,
            post,
        }
    }
}

macro_rules! closures {
    ($(($($A:ident $a:ident)*);)*) => { $(
        impl<Acc, S, J, P, R, $($A),*> Reducer<($($A,)*)> for Closures<Acc, S, J, P>
        where
            Acc: Copy + Send + Sync,
            S: Fn(Acc, $($A),*) -> Acc + Sync,
            J: Fn(Acc, Acc) -> Acc + Sync,
            P: Fn(Acc, usize) -> R + Sync,
        {
            type Acc = Acc;
            type Output = R;
            #[inline(always)]
            fn init(&self) -> Acc {
                self.init
            }
            #[inline(always)]
            fn step(&self, acc: Acc, ($($a,)*): ($($A,)*)) -> Acc {
                (self.step)(acc, $($a),*)
            }
            #[inline(always)]
            fn join(&self, a: Acc, b: Acc) -> Acc {
                (self.join)(a, b)
            }
            #[inline(always)]
            fn post(&self, acc: Acc, n: usize) -> R {
                (self.post)(acc, n)
            }
        }
    )* };
}
closures! {
    (A a);
    (A a B b);
    (A a B b C c);
    (A a B b C c D d);
    (A a B b C c D d E e);
    (A a B b C c D d E e F f);
}
