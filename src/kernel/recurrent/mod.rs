//! Steps of recurrent layers: what gates make of a state, in one pass.

use crate::kernel::math::{Math, Real};

/// What a layer does with its sums: of the input, `x`, and of the state, `h`, both for all gates, bias
/// included, one gate after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `tanh(x + h)`.
    Tanh,
    /// `max(x + h, 0)`.
    Relu,
    /// Long short-term memory (Hochreiter and Schmidhuber 1997; Gers et al. 2000): input, forget, cell, output.
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
    /// One step of one example: the state `h` and, of long short-term memory, `c` become the next ones.
    pub fn step<'a, F: Real>(cell: Cell, x: &'a [F], sums: &'a [F], h: &'a mut [F], c: &'a mut [F]) -> () { |I|
        let n = h.len();
        match cell {
            Cell::Tanh => {
                for ((h, x), s) in h.iter_mut().zip(x).zip(sums) {
                    *h = Math::tanh::<I>(*x + *s);
                }
            }
            Cell::Relu => {
                for ((h, x), s) in h.iter_mut().zip(x).zip(sums) {
                    *h = (*x + *s).maximum::<I>(F::ZERO);
                }
            }
            Cell::Gru => {
                let (x, s) = (gates::<F, 3>(x, n), gates::<F, 3>(sums, n));
                for j in 0..n {
                    let reset = (x[0][j] + s[0][j]).sigmoid::<I>();
                    let update = (x[1][j] + s[1][j]).sigmoid::<I>();
                    let new = Math::tanh::<I>(x[2][j] + reset * s[2][j]);
                    h[j] = new + update * (h[j] - new);
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
/// Rows of `n`, so that loops over them need no checks.
#[inline(always)]
fn gates<F, const N: usize>(x: &[F], n: usize) -> [&[F]; N] {
    core::array::from_fn(|k| &x[k * n..][..n])
}
