//! The inputs of functions: tensors, whose elements the driver passes as contiguous lines, and
//! values.

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The tensors among the inputs.
pub(in crate::ops) type InputTensors<'a> = SmallVec<[&'a Tensor; 6]>;

/// An input of a caller's function for an argument of type `T`: a `&Tensor` of that dtype, which
/// broadcasts, or a `T` for all elements.
///
/// # Safety
/// Implemented only here: if there is a tensor, the line reads its slot.
///
/// Example: [`ewise`](super::ewise).
#[diagnostic::on_unimplemented(
    message = "an input is a `&Tensor`, or a value of the argument's own type `{T}`",
    label = "not `&Tensor` or `{T}`"
)]
pub unsafe trait Input<T: Element>: Copy + Sync {
    #[doc(hidden)]
    type Line: ArgumentLine<T>;
    #[doc(hidden)]
    fn tensor(&self) -> Option<&Tensor>;
    /// The line in `slot`, which is unused for a value.
    #[doc(hidden)]
    fn line(self, slot: *const u8) -> Self::Line;
    /// The single element of its slot, or the value.
    ///
    /// # Safety
    /// `slot` is an aligned, initialised element.
    #[doc(hidden)]
    unsafe fn one(self, slot: *const u8) -> One<T>;
}
// SAFETY: the line reads its slot.
unsafe impl<T: Element> Input<T> for &Tensor {
    type Line = Elements<T>;
    fn tensor(&self) -> Option<&Tensor> {
        Some(self)
    }
    #[inline(always)]
    fn line(self, slot: *const u8) -> Elements<T> {
        Elements(slot as *const T)
    }
    #[inline(always)]
    unsafe fn one(self, slot: *const u8) -> One<T> {
        // SAFETY: the caller's promise.
        One(unsafe { T::load(slot as *const T) })
    }
}
// SAFETY: there is no tensor.
unsafe impl<T: Element> Input<T> for T {
    type Line = One<T>;
    fn tensor(&self) -> Option<&Tensor> {
        None
    }
    #[inline(always)]
    fn line(self, _: *const u8) -> One<T> {
        One(self)
    }
    #[inline(always)]
    unsafe fn one(self, _: *const u8) -> One<T> {
        One(self)
    }
}

/// One argument along a stretch of elements.
#[doc(hidden)]
pub trait ArgumentLine<T>: Copy {
    /// # Safety
    /// By ARGS1, the line has an element `i`.
    unsafe fn at(self, i: usize) -> T;
}
/// Contiguous elements.
///
/// Contract (ARGS1): the pointer is to aligned, initialised elements of the dtype, at least as many
/// as are read.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Elements<T>(*const T);
impl<T: Element> ArgumentLine<T> for Elements<T> {
    #[inline(always)]
    unsafe fn at(self, i: usize) -> T {
        // SAFETY: ARGS1.
        unsafe { T::load(self.0.add(i)) }
    }
}
/// One value for all elements.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct One<T>(T);
impl<T: Copy> ArgumentLine<T> for One<T> {
    #[inline(always)]
    unsafe fn at(self, _: usize) -> T {
        self.0
    }
}

/// All arguments along a stretch of elements.
#[doc(hidden)]
pub trait ArgumentLines<Args>: Copy {
    /// # Safety
    /// By ARGS1, each line has an element `i`.
    unsafe fn at(self, i: usize) -> Args;
}

/// A consumer of lines, generic over their types.
#[doc(hidden)]
pub trait Visitor<Args> {
    /// # Safety
    /// ARGS1 for the lines passed by [`Inputs::visit`].
    unsafe fn visit<L: ArgumentLines<Args>>(self, lines: L);
}

/// The inputs of a caller's function with arguments `Args`: a tuple of up to six, with an [`Input`]
/// for each argument, or `&Tensor` alone for one.
///
/// # Safety
/// Implemented only here: lines take a slot of each tensor, and the tensors' dtypes are
/// those of the arguments.
///
/// Example: [`ewise`](super::ewise).
#[diagnostic::on_unimplemented(
    message = "inputs are a tuple of one `&Tensor` or value for each argument of the function",
    label = "not the inputs of a function of `{Args}`"
)]
pub unsafe trait Inputs<Args>: Copy + Sync {
    #[doc(hidden)]
    type Lines: ArgumentLines<Args>;
    /// The tensors, in order. Errors, with the name `op`, if one doesn't have its argument's dtype.
    #[doc(hidden)]
    fn tensors<'a>(&'a self, op: &'static str) -> Result<InputTensors<'a>>;
    /// The lines in the slots of the tensors.
    #[doc(hidden)]
    fn lines(self, slots: impl Iterator<Item = *const u8>) -> Self::Lines;
    /// Whether [`visit`](Inputs::visit) accepts slots with a single value where bits of `values`
    /// are set.
    #[doc(hidden)]
    fn takes(values: u64) -> bool {
        values == 0
    }
    /// Visits the lines in the slots of the tensors. Slots whose bit in `values` is set have a
    /// single value; [`takes`](Inputs::takes) has accepted these.
    ///
    /// # Safety
    /// ARGS1 for the slots, and what the visitor requires.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn visit<V: Visitor<Args>>(self, slots: &[*mut u8], _values: u64, v: V) {
        // SAFETY: the caller's promise.
        unsafe { v.visit(self.lines(slots.iter().map(|slot| *slot as *const u8))) }
    }
}

/// The tensor of argument `k`, if it is one. Errors if its dtype is not the argument's.
fn checked<'a, T: Element, X: Input<T>>(
    op: &'static str,
    k: usize,
    x: &'a X,
) -> Result<Option<&'a Tensor>> {
    match x.tensor() {
        Some(t) if t.dtype() != T::DTYPE => Err(Error::dtype(
            op,
            message!(
                "argument {k} of the function is {}, and input {k}, of shape {:?}, is {}: convert it with astype",
                T::DTYPE,
                t.shape(),
                t.dtype()
            ),
        )),
        t => Ok(t),
    }
}

// SAFETY: one tensor of the argument's dtype, which is checked, and its slot.
unsafe impl<A: Element> Inputs<(A,)> for &Tensor {
    type Lines = (Elements<A>,);
    fn tensors<'a>(&'a self, op: &'static str) -> Result<InputTensors<'a>> {
        Ok(checked::<A, _>(op, 0, self)?.into_iter().collect())
    }
    #[inline(always)]
    fn lines(self, mut slots: impl Iterator<Item = *const u8>) -> (Elements<A>,) {
        (<Self as Input<A>>::line(self, slot(Some(self), &mut slots)),)
    }
}

/// For a function of targets alone.
impl ArgumentLines<()> for () {
    #[inline(always)]
    unsafe fn at(self, _: usize) {}
}
// SAFETY: no tensors, hence no slots.
unsafe impl Inputs<()> for () {
    type Lines = ();
    fn tensors<'a>(&'a self, _: &'static str) -> Result<InputTensors<'a>> {
        Ok(InputTensors::new())
    }
    fn lines(self, _: impl Iterator<Item = *const u8>) {}
}

macro_rules! tuples {
    ($(($($A:ident $X:ident $x:ident $k:tt)*) $($pair:ident)?;)*) => { $(
        impl<$($A, $X: ArgumentLine<$A>),*> ArgumentLines<($($A,)*)> for ($($X,)*) {
            #[inline(always)]
            unsafe fn at(self, i: usize) -> ($($A,)*) {
                // SAFETY: ARGS1, by the caller.
                unsafe { ($(self.$k.at(i),)*) }
            }
        }
        // SAFETY: each input that is a tensor has the argument's dtype, which is checked, and takes
        // the next slot.
        unsafe impl<$($A: Element, $X: Input<$A>),*> Inputs<($($A,)*)> for ($($X,)*) {
            type Lines = ($($X::Line,)*);
            fn tensors<'a>(&'a self, op: &'static str) -> Result<InputTensors<'a>> {
                let mut tensors = InputTensors::new();
                $(tensors.extend(checked::<$A, $X>(op, $k, &self.$k)?);)*
                Ok(tensors)
            }
            #[inline(always)]
            fn lines(self, mut slots: impl Iterator<Item = *const u8>) -> Self::Lines {
                let ($($x,)*) = self;
                ($($x.line(slot($x.tensor(), &mut slots)),)*)
            }
            $($pair!();)?
        }
    )* };
}
/// The slot of an input, if it is a tensor.
#[inline(always)]
fn slot(x: Option<&Tensor>, slots: &mut impl Iterator<Item = *const u8>) -> *const u8 {
    match x {
        Some(_) => slots.next().unwrap_or(core::ptr::null()),
        None => core::ptr::null(),
    }
}
/// Two inputs, one of which may be a single value along the inner loop, like a column beside a
/// matrix: so the most common broadcast needs no packing.
macro_rules! pair {
    () => {
        fn takes(values: u64) -> bool {
            values < 3
        }
        #[inline(always)]
        unsafe fn visit<W: Visitor<(A, B)>>(self, slots: &[*mut u8], values: u64, v: W) {
            let mut rest = slots.iter().map(|slot| *slot as *const u8);
            let x = slot(self.0.tensor(), &mut rest);
            let y = slot(self.1.tensor(), &mut rest);
            // the bit of the second input, which is the only tensor if the first is a value
            let second = 1 << self.0.tensor().is_some() as u64;
            // SAFETY: the caller's promise; slots with a single value have one element.
            unsafe {
                match values {
                    0 => v.visit((self.0.line(x), self.1.line(y))),
                    bit if bit == second => v.visit((self.0.line(x), self.1.one(y))),
                    _ => v.visit((self.0.one(x), self.1.line(y))),
                }
            }
        }
    };
}
tuples! {
    (A X x 0);
    (A X x 0 B Y y 1) pair;
    (A X x 0 B Y y 1 C Z z 2);
    (A X x 0 B Y y 1 C Z z 2 D U u 3);
    (A X x 0 B Y y 1 C Z z 2 D U u 3 E V v 4);
    (A X x 0 B Y y 1 C Z z 2 D U u 3 E V v 4 F W w 5);
}
