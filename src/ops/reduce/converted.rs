//! Reductions to a float dtype asked for: elements are converted block by block in L1, and no
//! converted copy is made.

use super::Reduced;
use crate::dtype::{Element, Pod};
use crate::error::Result;
use crate::exec::fold::Fold;
use crate::kernel::convert;
use crate::kernel::reduce::{self, Reduce};
use crate::simd::LoopFn;
use crate::tensor::Tensor;
use core::marker::PhantomData;
use core::ptr;

/// Elements that are converted before they are reduced.
const BLOCK: usize = if cfg!(feature = "std") { 512 } else { 64 };
/// Columns of a block of rows.
const COLUMNS: usize = 64;

/// The reduction `R` of elements as wide as `U`, converted to `T`.
struct Converted<U, T, R> {
    /// From `U` to `T`.
    convert: LoopFn,
    _types: PhantomData<fn(U, T, R)>,
}

impl<U: Pod, T: Element, R: Reduce<T>> Converted<U, T, R> {
    fn block(&self, x: &[U], y: &mut [T]) {
        assert!(x.len() <= y.len());
        // SAFETY: LOOP1: as many elements of both, apart; the loop is for their dtypes.
        unsafe {
            (self.convert)(
                y.as_mut_ptr().cast(),
                x.as_ptr().cast(),
                ptr::null(),
                ptr::null(),
                x.len(),
                0,
            )
        }
    }
}

impl<U: Pod, T: Element + Pod, R: Reduce<T>> Fold for Converted<U, T, R> {
    type In = U;
    type Acc = R::Acc;
    type Out = R::Out;
    const FLOPS: usize = 2;
    fn run(&self, x: &[U]) -> R::Acc {
        let mut buffer = [T::default(); BLOCK];
        let mut acc = R::IDENTITY;
        for x in x.chunks(BLOCK) {
            self.block(x, &mut buffer);
            acc = R::join(acc, reduce::run::<T, R>(&buffer[..x.len()]));
        }
        acc
    }
    fn rows(&self, x: &[U], stride: usize, rows: usize, acc: &mut [R::Acc]) {
        let mut buffer = [T::default(); BLOCK];
        let mut part = [R::IDENTITY; COLUMNS];
        acc.fill(R::IDENTITY);
        for (k, acc) in acc.chunks_mut(COLUMNS).enumerate() {
            let width = acc.len();
            let most = BLOCK / width;
            for first in (0..rows).step_by(most) {
                let count = most.min(rows - first);
                for r in 0..count {
                    self.block(
                        &x[(first + r) * stride + k * COLUMNS..][..width],
                        &mut buffer[r * width..],
                    );
                }
                reduce::columns::<T, R>(&buffer[..count * width], width, count, &mut part[..width]);
                reduce::join::<T, R>(acc, &part[..width]);
            }
        }
    }
    fn join(&self, a: &mut [R::Acc], b: &[R::Acc]) {
        reduce::join::<T, R>(a, b)
    }
    fn finish(&self, acc: &R::Acc, n: usize) -> R::Out {
        R::finish(*acc, n)
    }
}

/// The reduction `R` of `x` in `T`, of which the results are.
pub(super) fn converted<T: Element + Pod, R: Reduce<T>>(
    axes: &Reduced,
    x: &Tensor,
) -> Result<Tensor> {
    let convert = convert::cast_loop(axes.op, x.dtype(), T::DTYPE)?;
    dispatch_width!(x.dtype().size(), |U| axes.fold(
        x,
        T::DTYPE,
        &Converted::<U, T, R> {
            convert,
            _types: PhantomData
        }
    ))
}
