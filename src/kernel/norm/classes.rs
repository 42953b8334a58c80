//! Losses of classes, and their gradients, from scores along rows or columns.

use super::columns::{ColumnNorm, TOGETHER};
use super::{LogSoftmax, RowNorm, Softmax};
use crate::kernel::columns::{COLUMNS, at, put, vectors};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;

kernel! {
    /// The logarithm of the sum of exponentials of each column of matrices of `n` rows, at most
    /// [`CHUNK`](super::CHUNK). `y` is scratch of the size of `x`.
    pub fn logs_of_columns<'a, F: Real>(n: usize, x: &'a [F], y: &'a mut [F], logs: &'a mut [F]) -> () { |I|
        let matrices = x.chunks(TOGETHER * n).zip(y.chunks_mut(TOGETHER * n));
        for (logs, (x, y)) in logs.chunks_mut(TOGETHER).zip(matrices) {
            let mut parts = [[F::default(); 2]; TOGETHER];
            let parts = &mut parts[..logs.len()];
            Softmax.column_parts::<I>(n, x, y, parts);
            LogSoftmax.join_rows::<I>(parts, n);
            for (to, [max, log]) in logs.iter_mut().zip(parts) {
                // beside an infinity all are 0, and itself has no exponential
                *to = if *max == -F::NEG_INFINITY { *max } else { *max + *log };
            }
        }
    }
}

kernel! {
    /// `d * all - share * weights` of rows of `n` elements, in place; less the share of 0 if `all`
    /// is 0. There are an `all` and a `share` for each row, and a weight for each element.
    pub fn weigh<'a, F: Real>(n: usize, all: &'a [F], share: &'a [F], weights: &'a [F], d: &'a mut [F]) -> () { |I|
        for (d, (all, share)) in d.chunks_exact_mut(n).zip(all.iter().zip(share)) {
            if *all == F::ZERO {
                d.fill(F::ZERO);
            }
            for (d, w) in d.iter_mut().zip(weights) {
                *d = *d * *all - *share * *w;
            }
        }
    }
}
kernel! {
    /// [`weigh`] for the columns of matrices of `n` rows.
    pub fn weigh_columns<'a, F: Real>(n: usize, all: &'a [F], share: &'a [F], weights: &'a [F], d: &'a mut [F]) -> () { |I|
        let each = all.chunks_exact(COLUMNS).zip(share.chunks_exact(COLUMNS));
        for (d, (all, share)) in d.chunks_exact_mut(COLUMNS * n).zip(each) {
            for (j, _) in all.iter().enumerate().filter(|(_, all)| **all == F::ZERO) {
                for d in d.iter_mut().skip(j).step_by(COLUMNS) {
                    *d = F::ZERO;
                }
            }
            for c in vectors::<F::Vector<I>>() {
                let (all, share): (F::Vector<I>, F::Vector<I>) = (at(all, 0, c), at(share, 0, c));
                for (r, w) in weights.iter().enumerate() {
                    put(d, r, c, at::<F::Vector<I>>(d, r, c) * all - share * F::Vector::<I>::splat(*w));
                }
            }
        }
    }
}
