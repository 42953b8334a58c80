//! What functions take: tensors, whose elements the machine hands out as contiguous lines, and
//! values.

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The tensors among the inputs.
pub(in crate::ops) type Tensors<'a> = SmallVec<[&'a Tensor; 6]>;

/// An input of a caller's function whose argument there is a `T`: `&Tensor` of that dtype, which
/// broadcasts, or a `T` for all elements.
///
/// # Safety
/// Implemented here alone: a line is that of the tensor, where there is one.
#[diagnostic::on_unimplemented(
    message = "an input is a `&Tensor`, or a value of the argument's own type `{T}`",
    label = "not `&Tensor` or `{T}`"
)]
pub unsafe trait Input<T: Element>: Copy + Sync {
    #[doc(hidden)]
    type Line: Line<T>;
    #[doc(hidden)]
    fn tensor(&self) -> Option<&Tensor>;
    /// `slot` is its line; of a value, none is used.
    #[doc(hidden)]
    fn line(self, slot: *const u8) -> Self::Line;
    /// The one element of its slot, or its value.
    ///
    /// # Safety
    /// `slot` is an initialised element, aligned.
    #[doc(hidden)]
    unsafe fn one(self, slot: *const u8) -> One<T>;
}
// SAFETY: its slot is the line.
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
        // SAFETY: the caller's.
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

/// What one argument is along a stretch of elements.
#[doc(hidden)]
pub trait Line<T>: Copy {
    /// # Safety
    /// By ARGS1, the line has an element `i`.
    unsafe fn at(self, i: usize) -> T;
}
/// Neighbours in memory.
///
/// Contract (ARGS1): from the pointer on lie initialised elements of the dtype, aligned, as many as
/// are asked for.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Elements<T>(*const T);
impl<T: Element> Line<T> for Elements<T> {
    #[inline(always)]
    unsafe fn at(self, i: usize) -> T {
        // SAFETY: ARGS1.
        unsafe { T::load(self.0.add(i)) }
    }
}
/// The same for all.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct One<T>(T);
impl<T: Copy> Line<T> for One<T> {
    #[inline(always)]
    unsafe fn at(self, _: usize) -> T {
        self.0
    }
}

/// All arguments along a stretch of elements.
#[doc(hidden)]
pub trait Lines<Args>: Copy {
    /// # Safety
    /// By ARGS1, each line has an element `i`.
    unsafe fn at(self, i: usize) -> Args;
}

/// What is done with lines, whatever they are made of.
#[doc(hidden)]
pub trait Visitor<Args> {
    /// # Safety
    /// ARGS1 for the lines that [`Inputs::visit`] was called for.
    unsafe fn visit<L: Lines<Args>>(self, lines: L);
}

/// The inputs of a caller's function with arguments `Args`: a tuple of an [`Input`] for each
/// argument, of up to six; `&Tensor` alone for one.
///
/// # Safety
/// Implemented here alone: lines take a slot of each of the tensors, whose dtypes are those of the
/// arguments.
#[diagnostic::on_unimplemented(
    message = "inputs are a tuple of one `&Tensor` or value for each argument of the function",
    label = "not the inputs of a function of `{Args}`"
)]
pub unsafe trait Inputs<Args>: Copy + Sync {
    #[doc(hidden)]
    type Lines: Lines<Args>;
    /// The tensors, in order; errors, of `op`, where one is not of its argument's type.
    #[doc(hidden)]
    fn tensors<'a>(&'a self, op: &'static str) -> Result<Tensors<'a>>;
    /// The lines in the slots of the tensors.
    #[doc(hidden)]
    fn lines(self, slots: impl Iterator<Item = *const u8>) -> Self::Lines;
    /// Whether [`visit`](Inputs::visit) takes slots of one value, those of the bits that are set.
    #[doc(hidden)]
    fn takes(values: u64) -> bool {
        values == 0
    }
    /// Visits the lines in the slots of the tensors, of which those in `values`, which it takes,
    /// are one value.
    ///
    /// # Safety
    /// ARGS1 for the slots, and what the visitor asks for.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn visit<V: Visitor<Args>>(self, slots: &[*mut u8], _values: u64, v: V) {
        // SAFETY: the caller's.
        unsafe { v.visit(self.lines(slots.iter().map(|slot| *slot as *const u8))) }
    }
}

/// The tensor of argument `k`, where it is one.
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
    fn tensors<'a>(&'a self, op: &'static str) -> Result<Tensors<'a>> {
        Ok(checked::<A, _>(op, 0, self)?.into_iter().collect())
    }
    #[inline(always)]
    fn lines(self, mut slots: impl Iterator<Item = *const u8>) -> (Elements<A>,) {
        (<Self as Input<A>>::line(self, slot(Some(self), &mut slots)),)
    }
}

/// For a function of its targets alone.
impl Lines<()> for () {
    #[inline(always)]
    unsafe fn at(self, _: usize) {}
}
// SAFETY: no tensors, which take no slots.
unsafe impl Inputs<()> for () {
    type Lines = ();
    fn tensors<'a>(&'a self, _: &'static str) -> Result<Tensors<'a>> {
        Ok(Tensors::new())
    }
    fn lines(self, _: impl Iterator<Item = *const u8>) {}
}

macro_rules! tuples {
    ($(($($A:ident $X:ident $x:ident $k:tt)*) $($pair:ident)?;)*) => { $(
        impl<$($A, $X: Line<$A>),*> Lines<($($A,)*)> for ($($X,)*) {
            #[inline(always)]
            unsafe fn at(self, i: usize) -> ($($A,)*) {
                // SAFETY: ARGS1, by the caller.
                unsafe { ($(self.$k.at(i),)*) }
            }
        }
        // SAFETY: each input that is a tensor of the argument's dtype, which is checked, takes the next
        // slot.
        unsafe impl<$($A: Element, $X: Input<$A>),*> Inputs<($($A,)*)> for ($($X,)*) {
            type Lines = ($($X::Line,)*);
            fn tensors<'a>(&'a self, op: &'static str) -> Result<Tensors<'a>> {
                let mut tensors = Tensors::new();
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
/// The slot of an input, where it is a tensor.
#[inline(always)]
fn slot(x: Option<&Tensor>, slots: &mut impl Iterator<Item = *const u8>) -> *const u8 {
    match x {
        Some(_) => slots.next().unwrap_or(core::ptr::null()),
        None => core::ptr::null(),
    }
}
/// Two inputs, of which one may be a value along the inner loop, as a column beside a matrix: the
/// commonest broadcast is not packed.
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
            // the bit of the second one, which is the only one where the first is no tensor
            let second = 1 << self.0.tensor().is_some() as u64;
            // SAFETY: the caller's; slots of one value have one element.
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
