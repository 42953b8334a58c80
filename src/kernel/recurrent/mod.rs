//! Steps of recurrent layers: from gate sums to the next state, in one pass.

use crate::kernel::math::{Math, Real};

/// What a layer does with its sums: `x` of the input and `h` of the state, each for all gates in
/// order, with bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `tanh(x + h)`.
    Tanh,
    /// `max(x + h, 0)`.
    Relu,
    /// Long short-term memory (Hochreiter and Schmidhuber 1997; Gers et al. 2000): input, forget,
    /// cell, output.
    Lstm,
    /// Gated recurrent unit (Cho et al. 2014, as cuDNN computes it): reset, update, new.
    Gru,
}
impl Cell {
    /// How many gates it has.
    pub fn gates(self) -> usize {
        match self {
            Cell::Tanh | Cell::Relu => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        }
    }
}

kernel! {
    /// One step of some units of one example: `h` becomes their state after `before`, and `c` the
    /// next cell state (long short-term memory). `x` and `sums` come with the distance from one
    /// gate's values to the next gate's.
    pub fn step<'a, F: Real>(
        cell: Cell,
        x: (&'a [F], usize),
        sums: (&'a [F], usize),
        before: &'a [F],
        h: &'a mut [F],
        c: &'a mut [F],
    ) -> () { |I|
        let n = h.len();
        let before = &before[..n];
        match cell {
            Cell::Tanh => {
                for ((h, x), s) in h.iter_mut().zip(x.0).zip(sums.0) {
                    *h = Math::tanh::<I>(*x + *s);
                }
            }
            Cell::Relu => {
                for ((h, x), s) in h.iter_mut().zip(x.0).zip(sums.0) {
                    *h = (*x + *s).maximum::<I>(F::ZERO);
                }
            }
            Cell::Gru => {
                let (x, s) = (gates::<F, 3>(x, n), gates::<F, 3>(sums, n));
                for j in 0..n {
                    let reset = (x[0][j] + s[0][j]).sigmoid::<I>();
                    let update = (x[1][j] + s[1][j]).sigmoid::<I>();
                    let new = Math::tanh::<I>(x[2][j] + reset * s[2][j]);
                    h[j] = new + update * (before[j] - new);
                }
            }
            Cell::Lstm => {
                let (x, s, c) = (gates::<F, 4>(x, n), gates::<F, 4>(sums, n), &mut c[..n]);
                for j in 0..n {
                    let input = (x[0][j] + s[0][j]).sigmoid::<I>();
                    let forget = (x[1][j] + s[1][j]).sigmoid::<I>();
                    let new = Math::tanh::<I>(x[2][j] + s[2][j]);
                    let output = (x[3][j] + s[3][j]).sigmoid::<I>();
                    c[j] = forget * c[j] + input * new;
                    h[j] = output * Math::tanh::<I>(c[j]);
                }
            }
        }
    }
}
/// The first `n` values of each gate, sliced so that loops over them need no bounds checks.
#[inline(always)]
fn gates<F, const N: usize>((sums, step): (&[F], usize), n: usize) -> [&[F]; N] {
    core::array::from_fn(|k| &sums[k * step..][..n])
}
