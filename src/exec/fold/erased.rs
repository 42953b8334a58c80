//! Type-erased folds.

use super::{Fold, FoldSizes};
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// A [`Fold`] whose types the driver does not know, so that the driver is compiled once.
///
/// # Safety
/// For its methods: pointers are aligned, to as many initialised values of the fold's types as the
/// slices of [`Fold`]'s method of that name have; what is written overlaps nothing else.
pub(super) trait Erased: Sync {
    fn sizes(&self) -> FoldSizes;
    unsafe fn runs(&self, x: *const u8, n: usize, count: usize, acc: *mut u8);
    unsafe fn rows(&self, x: *const u8, stride: usize, rows: usize, cols: usize, acc: *mut u8);
    unsafe fn join(&self, a: *mut u8, b: *const u8, n: usize);
    unsafe fn finish(&self, acc: *const u8, count: usize, n: usize, out: *mut u8, step: isize);
}

impl<F: Fold> Erased for F {
    fn sizes(&self) -> FoldSizes {
        const { assert!(align_of::<F::Acc>() <= crate::storage::ALIGN) };
        FoldSizes {
            element: size_of::<F::In>(),
            acc: size_of::<F::Acc>(),
            out: size_of::<F::Out>(),
            flops: F::FLOPS,
        }
    }
    unsafe fn runs(&self, x: *const u8, n: usize, count: usize, acc: *mut u8) {
        // SAFETY: the trait's contract: `count` runs of `n` elements at `x`; any bytes in `acc` are
        // valid values, since accumulators are `Pod`.
        unsafe {
            let x = from_raw_parts(x as *const F::In, n * count);
            Fold::runs(self, x, n, from_raw_parts_mut(acc as *mut F::Acc, count));
        }
    }
    unsafe fn rows(&self, x: *const u8, stride: usize, rows: usize, cols: usize, acc: *mut u8) {
        // SAFETY: the trait's contract; any bytes in `acc` are valid values, since accumulators are
        // `Pod`.
        unsafe {
            let x = from_raw_parts(x as *const F::In, (rows - 1) * stride + cols);
            let acc = from_raw_parts_mut(acc as *mut F::Acc, cols);
            Fold::rows(self, x, stride, rows, acc);
        }
    }
    unsafe fn join(&self, a: *mut u8, b: *const u8, n: usize) {
        // SAFETY: the trait's contract: `n` accumulators in each, which don't overlap.
        unsafe {
            let a = from_raw_parts_mut(a as *mut F::Acc, n);
            Fold::join(self, a, from_raw_parts(b as *const F::Acc, n))
        }
    }
    unsafe fn finish(&self, acc: *const u8, count: usize, n: usize, out: *mut u8, step: isize) {
        for j in 0..count {
            // SAFETY: the trait's contract: `count` accumulators, and room for as many results,
            // `step` bytes apart.
            unsafe {
                *(out.offset(step * j as isize) as *mut F::Out) =
                    Fold::finish(self, &*(acc as *const F::Acc).add(j), n)
            }
        }
    }
}
