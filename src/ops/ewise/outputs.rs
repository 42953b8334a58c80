//! The results of functions: a value, or a tuple of up to four, each written to a tensor of its
//! own.

use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The tensors that the results of a function are written to.
pub(in crate::ops) type Results = SmallVec<[Tensor; 4]>;

/// Pointers to the first elements of results.
pub(super) struct ResultPointers(SmallVec<[*mut u8; 4]>);
// SAFETY: only addresses; whoever writes through them writes to elements of its own.
unsafe impl Sync for ResultPointers {}
impl ResultPointers {
    pub fn of(results: &mut Results) -> Result<ResultPointers> {
        let slots = results.iter_mut().map(Tensor::as_mut_ptr);
        Ok(ResultPointers(slots.collect::<Result<_>>()?))
    }
    pub fn get(&self) -> &[*mut u8] {
        &self.0
    }
}

/// The type that a caller's function returns: an [`Element`], or a tuple of up to four of them.
///
/// # Safety
/// Implemented only here: pointers take one slot for each of `DTYPES`.
///
/// Example: [`ewise`](super::ewise).
#[diagnostic::on_unimplemented(
    message = "a function returns a number, a bool, or a tuple of up to four of them",
    label = "`{Self}` is not an element of a tensor"
)]
pub unsafe trait Outputs: Sized + Send {
    /// The tensors of the results: a `Tensor`, or a tuple of them.
    type Tensors;
    /// The caller's tensors for the results: a `&mut Tensor`, or a tuple of them.
    type Targets<'a>;
    #[doc(hidden)]
    type Pointers: Copy;
    #[doc(hidden)]
    const DTYPES: &'static [DType];
    #[doc(hidden)]
    fn tensors(results: Results) -> Self::Tensors;
    #[doc(hidden)]
    fn targets<'a>(targets: Self::Targets<'a>) -> SmallVec<[&'a mut Tensor; 4]>;
    /// The pointers of the results, from the slots of the outputs.
    #[doc(hidden)]
    fn pointers(slots: &[*mut u8]) -> Self::Pointers;
    /// Writes result `i`.
    ///
    /// # Safety
    /// Contract (OUTPUT1): the pointers have room for an aligned element `i`, which nobody else
    /// uses.
    #[doc(hidden)]
    unsafe fn put(self, pointers: Self::Pointers, i: usize);
    /// Reads result `i`.
    ///
    /// # Safety
    /// OUTPUT1, and element `i` is initialised.
    #[doc(hidden)]
    unsafe fn get(pointers: Self::Pointers, i: usize) -> Self;
}

// SAFETY: one slot of the type's dtype.
unsafe impl<T: Element> Outputs for T {
    type Tensors = Tensor;
    type Targets<'a> = &'a mut Tensor;
    type Pointers = *mut T;
    const DTYPES: &'static [DType] = &[T::DTYPE];
    fn tensors(mut results: Results) -> Tensor {
        results.remove(0)
    }
    fn targets<'a>(target: Self::Targets<'a>) -> SmallVec<[&'a mut Tensor; 4]> {
        core::iter::once(target).collect()
    }
    #[inline(always)]
    fn pointers(slots: &[*mut u8]) -> *mut T {
        slots[0] as *mut T
    }
    #[inline(always)]
    unsafe fn put(self, pointer: *mut T, i: usize) {
        // SAFETY: OUTPUT1.
        unsafe { pointer.add(i).write(self) }
    }
    #[inline(always)]
    unsafe fn get(pointer: *mut T, i: usize) -> T {
        // SAFETY: OUTPUT1, for an initialised element.
        unsafe { T::load(pointer.add(i)) }
    }
}

/// Tensors that are updated, whose elements the function sees as `Ws`: a `&mut Tensor`, or a tuple
/// of up to four of them.
///
/// Example: [`ewise_inplace`](super::ewise_inplace).
#[diagnostic::on_unimplemented(
    message = "targets are a `&mut Tensor` for each `&mut` argument of the function, in a tuple where there are several"
)]
pub trait Targets<'a, Ws: Outputs> {
    #[doc(hidden)]
    fn list(self) -> SmallVec<[&'a mut Tensor; 4]>;
}
impl<'a, A: Element> Targets<'a, (A,)> for &'a mut Tensor {
    fn list(self) -> SmallVec<[&'a mut Tensor; 4]> {
        core::iter::once(self).collect()
    }
}

macro_rules! tuples {
    ($(($($A:ident $k:tt $tensor:ident)*);)*) => { $(
        // SAFETY: a slot of each type's dtype, in order.
        unsafe impl<$($A: Element),*> Outputs for ($($A,)*) {
            type Tensors = ($(tuples!(@ $A Tensor),)*);
            type Targets<'a> = ($(tuples!(@ $A &'a mut Tensor),)*);
            type Pointers = ($(*mut $A,)*);
            const DTYPES: &'static [DType] = &[$($A::DTYPE),*];
            fn tensors(results: Results) -> Self::Tensors {
                let mut results = results.into_iter();
                $(let $tensor = results.next().unwrap_or_default();)*
                ($($tensor,)*)
            }
            fn targets<'a>(targets: Self::Targets<'a>) -> SmallVec<[&'a mut Tensor; 4]> {
                let ($($tensor,)*) = targets;
                [$($tensor),*].into_iter().collect()
            }
            #[inline(always)]
            fn pointers(slots: &[*mut u8]) -> Self::Pointers {
                ($(slots[$k] as *mut $A,)*)
            }
            #[inline(always)]
            unsafe fn put(self, pointers: Self::Pointers, i: usize) {
                // SAFETY: OUTPUT1.
                unsafe { $(pointers.$k.add(i).write(self.$k);)* }
            }
            #[inline(always)]
            unsafe fn get(pointers: Self::Pointers, i: usize) -> Self {
                // SAFETY: OUTPUT1, for initialised elements.
                unsafe { ($($A::load(pointers.$k.add(i)),)*) }
            }
        }
        impl<'a, $($A: Element),*> Targets<'a, ($($A,)*)> for ($(tuples!(@ $A &'a mut Tensor),)*) {
            fn list(self) -> SmallVec<[&'a mut Tensor; 4]> {
                <($($A,)*) as Outputs>::targets(self)
            }
        }
    )* };
    (@ $A:ident $T:ty) => { $T };
}
tuples! {
    (A 0 a);
    (A 0 a B 1 b);
    (A 0 a B 1 b C 2 c);
    (A 0 a B 1 b C 2 c D 3 d);
}
