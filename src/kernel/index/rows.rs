//! Rows of a gather or a scatter. The address of an element is the row's position in the tensor,
//! plus the loop's step, plus an offset from a table; all in bytes.
//!
//! Contract GATHER1 of all row functions: for each `i < n`, the three addresses below are valid,
//! aligned elements of the row's type, and what is written overlaps nothing that is read:
//! - the indexed element at `x + i * x_step + offset(i)`,
//! - the offset, an `i64`, at `offsets + i * offset_step`,
//! - the other element (of the result, or of the values) at `y + i * y_step`.

/// A row function.
///
/// # Safety
/// GATHER1.
pub type RowFn = unsafe fn(
    n: usize,
    x: *mut u8,
    x_step: isize,
    offsets: *const i64,
    offset_step: isize,
    y: *mut u8,
    y_step: isize,
);

/// Copies indexed elements to `y`.
///
/// # Safety
/// GATHER1.
pub unsafe fn gather<U: Copy>(
    n: usize,
    x: *mut u8,
    x_step: isize,
    offsets: *const i64,
    offset_step: isize,
    y: *mut u8,
    y_step: isize,
) {
    let size = size_of::<U>() as isize;
    // SAFETY: GATHER1 covers each of the `n` elements that steps and offsets lead to.
    unsafe {
        if offset_step == 0 {
            let x = x.offset(*offsets as isize) as *const U;
            if x_step == size && y_step == size {
                return core::ptr::copy_nonoverlapping(x, y as *mut U, n);
            }
            for i in 0..n as isize {
                *(y.offset(i * y_step) as *mut U) = *x.byte_offset(i * x_step);
            }
        } else if x_step == 0 && offset_step == 8 && y_step == size {
            for i in 0..n {
                *(y as *mut U).add(i) = *(x.offset(*offsets.add(i) as isize) as *const U);
            }
        } else {
            for i in 0..n as isize {
                let offset = *offsets.byte_offset(i * offset_step) as isize;
                *(y.offset(i * y_step) as *mut U) = *(x.offset(i * x_step + offset) as *const U);
            }
        }
    }
}

/// How an indexed element and a value are joined.
pub trait Join<T>: 'static {
    /// The new element.
    fn join(old: T, value: T) -> T;
}
/// The value.
pub struct Replace;
/// The sum; integers wrap.
pub struct Add;
/// The product; integers wrap.
pub struct Multiply;
/// The larger; NaN if either is.
pub struct Maximum;
/// The smaller; NaN if either is.
pub struct Minimum;

impl<T> Join<T> for Replace {
    #[inline(always)]
    fn join(_: T, value: T) -> T {
        value
    }
}
macro_rules! joins {
    (int: $($(#[$cfg:meta])* $T:ty),*) => { $(
        $(#[$cfg])* impl Join<$T> for Add { #[inline(always)] fn join(a: $T, b: $T) -> $T { a.wrapping_add(b) } }
        $(#[$cfg])* impl Join<$T> for Multiply { #[inline(always)] fn join(a: $T, b: $T) -> $T { a.wrapping_mul(b) } }
        $(#[$cfg])* impl Join<$T> for Maximum { #[inline(always)] fn join(a: $T, b: $T) -> $T { a.max(b) } }
        $(#[$cfg])* impl Join<$T> for Minimum { #[inline(always)] fn join(a: $T, b: $T) -> $T { a.min(b) } }
    )* };
    (inexact: $($(#[$cfg:meta])* $T:ty),*) => { $(
        $(#[$cfg])* impl Join<$T> for Add { #[inline(always)] fn join(a: $T, b: $T) -> $T { a + b } }
        $(#[$cfg])* impl Join<$T> for Multiply { #[inline(always)] fn join(a: $T, b: $T) -> $T { a * b } }
    )* };
    (float: $($(#[$cfg:meta])* $T:ty),*) => { $(
        $(#[$cfg])* impl Join<$T> for Maximum { #[inline(always)] fn join(a: $T, b: $T) -> $T { if b > a || b.is_nan() { b } else { a } } }
        $(#[$cfg])* impl Join<$T> for Minimum { #[inline(always)] fn join(a: $T, b: $T) -> $T { if b < a || b.is_nan() { b } else { a } } }
    )* };
}
joins!(int: i8, i32, i64, u8, #[cfg(feature = "ints")] i16, #[cfg(feature = "ints")] u16, #[cfg(feature = "ints")] u32, #[cfg(feature = "ints")] u64);
joins!(inexact: f32, #[cfg(feature = "f64")] f64, #[cfg(feature = "half")] crate::dtype::f16, #[cfg(feature = "half")] crate::dtype::bf16,
    #[cfg(feature = "complex")] crate::dtype::Complex64,
    #[cfg(all(feature = "complex", feature = "f64"))] crate::dtype::Complex128);
joins!(float: f32, #[cfg(feature = "f64")] f64, #[cfg(feature = "half")] crate::dtype::f16, #[cfg(feature = "half")] crate::dtype::bf16);

/// Joins the values of `y` to the indexed elements, in order.
///
/// # Safety
/// GATHER1; indexed elements are written.
pub unsafe fn scatter<T: Copy, J: Join<T>>(
    n: usize,
    x: *mut u8,
    x_step: isize,
    offsets: *const i64,
    offset_step: isize,
    y: *mut u8,
    y_step: isize,
) {
    let size = size_of::<T>() as isize;
    // SAFETY: GATHER1 covers each of the `n` elements that steps and offsets lead to.
    unsafe {
        if offset_step == 0 && x_step == size && y_step == size {
            let x = core::slice::from_raw_parts_mut(x.offset(*offsets as isize) as *mut T, n);
            for (x, y) in x
                .iter_mut()
                .zip(core::slice::from_raw_parts(y as *const T, n))
            {
                *x = J::join(*x, *y);
            }
        } else {
            for i in 0..n as isize {
                let x =
                    x.offset(i * x_step + *offsets.byte_offset(i * offset_step) as isize) as *mut T;
                *x = J::join(*x, *(y.offset(i * y_step) as *const T));
            }
        }
    }
}
