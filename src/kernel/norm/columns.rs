//! Normalisations of columns, in the order of additions of rows, which makes the bits the same.

use super::lp::{Normalize, Power};
use super::softmax::{LogSoftmax, Softmax, all_exponentials, order_of_sums, shift};
use super::{CHUNK, GROUP, RowNorm};
use crate::kernel::columns::{self, COLUMNS, Order, at, put, vectors};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, Kernel};

/// A normalisation of columns of at most [`CHUNK`](super::CHUNK) elements.
pub trait ColumnNorm<F: Real>: RowNorm<F> {
    /// The statistics of columns of `n` elements each, a part for each column.
    fn column_parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]);
    /// Writes the result for some elements, from the joined statistics of their columns; `y` is
    /// what `column_parts` left there.
    fn value<V: Lanes<Number = F>>(&self, parts: [V; 2], x: V, y: V) -> V;
}

/// The most columns whose statistics are joined together.
pub(super) const TOGETHER: usize = GROUP.next_multiple_of(COLUMNS);

/// Of columns of `n` elements: those of a matrix at least, and no more than L1 holds for all passes.
#[inline(always)]
pub(super) fn together(n: usize) -> usize {
    (CHUNK / n / COLUMNS * COLUMNS).clamp(COLUMNS, TOGETHER)
}

kernels! {
    /// Normalises the columns of consecutive matrices of `n` rows; returns whether statistics were
    /// lost.
    normalize_columns Columns[ColumnNorm](n: usize, x: &'a [F], y: &'a mut [F]) -> bool { |I, norm|
        let mut lost = false;
        let len = together(n) * n;
        for (x, y) in x.chunks(len).zip(y.chunks_mut(len)) {
            let mut parts = [[F::default(); 2]; TOGETHER];
            let parts = &mut parts[..x.len() / n];
            norm.column_parts::<I>(n, x, y, parts);
            norm.join_rows::<I>(parts, n);
            let matrices = x.chunks_exact(COLUMNS * n).zip(y.chunks_exact_mut(COLUMNS * n));
            for (parts, (x, y)) in parts.chunks_exact(COLUMNS).zip(matrices) {
                let mut each = [[F::default(); COLUMNS]; 2];
                for (j, part) in parts.iter().enumerate() {
                    (each[0][j], each[1][j]) = (part[0], part[1]);
                    lost |= norm.is_lost(*part);
                }
                for c in vectors::<F::Vector<I>>() {
                    let parts = [at(&each[0], 0, c), at(&each[1], 0, c)];
                    for r in 0..n {
                        let value = norm.value::<F::Vector<I>>(parts, at(x, r, c), at(y, r, c));
                        put(y, r, c, value);
                    }
                }
            }
        }
        lost
    }
}

/// `each_column!(I, n, x, parts[k], |acc, c| value)`: puts the vector `value` into number `k` of the
/// parts of the columns from `c` on, for each of the matrices `x`, which is then the name of one.
macro_rules! each_column {
    ($I:ident, $n:ident, $x:ident, $parts:ident[$k:literal], |$acc:ident, $c:ident| $value:expr) => {{
        let mut acc = columns::accumulators::<F::Vector<$I>>();
        let $acc = &mut acc;
        for (parts, $x) in $parts
            .chunks_exact_mut(COLUMNS)
            .zip($x.chunks_exact(COLUMNS * $n))
        {
            let mut found = [F::default(); COLUMNS];
            for $c in vectors::<F::Vector<$I>>() {
                put(&mut found, 0, $c, $value);
            }
            for (part, found) in parts.iter_mut().zip(found) {
                part[$k] = found;
            }
        }
    }};
}

impl<F: Real> ColumnNorm<F> for Softmax {
    #[inline(always)]
    fn column_parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        let least = F::Vector::<I>::splat(F::NEG_INFINITY);
        each_column!(I, n, x, parts[0], |acc, c| columns!(
            acc,
            Order::ANY,
            n,
            least,
            |r| at(x, r, c),
            |a, b| F::Vector::<I>::maximum(a, b)
        ));
        let matrices = x
            .chunks_exact(COLUMNS * n)
            .zip(y.chunks_exact_mut(COLUMNS * n));
        for (parts, (x, y)) in parts.chunks_exact(COLUMNS).zip(matrices) {
            let mut shifts = [F::default(); COLUMNS];
            for (to, part) in shifts.iter_mut().zip(parts) {
                *to = shift(part[0]);
            }
            for c in vectors::<F::Vector<I>>() {
                let shift: F::Vector<I> = at(&shifts, 0, c);
                for r in 0..n {
                    put(y, r, c, at::<F::Vector<I>>(x, r, c) - shift);
                }
            }
        }
        all_exponentials::<I, F>(y);
        let (zero, order) = (
            F::Vector::<I>::splat(F::default()),
            order_of_sums::<I, F>(n),
        );
        each_column!(I, n, y, parts[1], |acc, c| columns!(
            acc,
            order,
            n,
            zero,
            |r| at(y, r, c),
            |a, b| a + b
        ));
    }
    #[inline(always)]
    fn value<V: Lanes<Number = F>>(&self, [scale, _]: [V; 2], _: V, y: V) -> V {
        y * scale
    }
}
impl<F: Real> ColumnNorm<F> for LogSoftmax {
    #[inline(always)]
    fn column_parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        Softmax.column_parts::<I>(n, x, y, parts)
    }
    #[inline(always)]
    fn value<V: Lanes<Number = F>>(&self, [max, log]: [V; 2], x: V, _: V) -> V {
        x - max - log
    }
}
impl Normalize {
    /// Whether there are columns of this order.
    pub(super) fn has_columns(&self) -> bool {
        matches!(self.power, Power::One | Power::Two | Power::Infinity)
    }
}
impl<F: Real> ColumnNorm<F> for Normalize {
    #[inline(always)]
    fn column_parts<I: Isa>(&self, n: usize, x: &[F], _: &mut [F], parts: &mut [[F; 2]]) {
        let zero = F::Vector::<I>::splat(F::default());
        let power = self.power;
        each_column!(I, n, x, parts[0], |acc, c| match power {
            Power::Two => columns!(
                acc,
                Order::LANES,
                n,
                zero,
                |r| {
                    let v: F::Vector<I> = at(x, r, c);
                    v * v
                },
                |a, b| a + b
            ),
            Power::One => columns!(
                acc,
                Order::LANES,
                n,
                zero,
                |r| magnitude::<F::Vector<I>>(at(x, r, c)),
                |a, b| a + b
            ),
            _ => columns!(
                acc,
                Order::ANY,
                n,
                zero,
                |r| magnitude::<F::Vector<I>>(at(x, r, c)),
                |a, b| F::Vector::<I>::maximum(a, b)
            ),
        });
    }
    #[inline(always)]
    fn value<V: Lanes<Number = F>>(&self, [length, _]: [V; 2], x: V, _: V) -> V {
        x / length
    }
}
#[inline(always)]
fn magnitude<V: Lanes>(x: V) -> V {
    x.maximum(-x)
}
