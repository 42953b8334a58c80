//! The loops, one a number of operands. An operation gives the body for one element; LLVM
//! vectorises the loop.

use crate::dtype::Bool;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::simd::{Isa, Loop};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// An operation of one operand, for one element type.
pub trait Op1<T> {
    /// The result's type.
    type Out: Copy;
    /// The body.
    fn f<I: Isa>(a: T) -> Self::Out;
    /// Whether some elements need `far`.
    const FAR: bool = false;
    /// Whether this one does.
    #[inline(always)]
    fn is_far<I: Isa>(_: T) -> bool {
        false
    }
    /// The body that holds everywhere.
    #[inline(always)]
    fn far<I: Isa>(a: T) -> Self::Out {
        Self::f::<I>(a)
    }
}
/// An operation of two operands.
pub trait Op2<T> {
    /// The result's type.
    type Out: Copy;
    /// The body.
    fn f<I: Isa>(a: T, b: T) -> Self::Out;
    /// Whether some elements need `far`.
    const FAR: bool = false;
    /// Whether these do.
    #[inline(always)]
    fn is_far<I: Isa>(_: T, _: T) -> bool {
        false
    }
    /// The body that holds everywhere.
    #[inline(always)]
    fn far<I: Isa>(a: T, b: T) -> Self::Out {
        Self::f::<I>(a, b)
    }
}
/// An operation of three operands.
pub trait Op3<T> {
    /// The body.
    fn f<I: Isa>(a: T, b: T, c: T) -> T;
}

/// Element types whose loops have forms for operands that are one value: the commonest, since each
/// form is code. For the rest a value is repeated in a tile.
pub trait Forms: Copy {
    /// Whether it has them.
    const FORMS: bool = false;
}
macro_rules! forms {
    ($($(#[$cfg:meta])* $T:ty: $yes:literal),*) => { $($(#[$cfg])* impl Forms for $T { const FORMS: bool = $yes; })* };
}
forms!(Bool: false, i8: false, i16: false, i32: true, i64: true, u8: false, u16: false, u32: true, u64: true, f32: true, f64: true,
    #[cfg(feature = "half")] crate::dtype::f16: false, #[cfg(feature = "half")] crate::dtype::bf16: false,
    #[cfg(feature = "complex")] crate::dtype::Complex64: false, #[cfg(all(feature = "complex", feature = "f64"))] crate::dtype::Complex128: false);

/// The scalar masks of a loop of `arity` operands of a type with forms or without.
pub const fn masks(arity: usize, forms: bool) -> u8 {
    match (arity, forms) {
        (1, _) => 0b11,
        (2, true) => 0b111,
        (3, true) => 1 | 1 << 0b110,
        _ => 1,
    }
}
/// The masks of [`Select`].
pub const SELECT_FORMS: u8 = 1 | 1 << 0b010 | 1 << 0b100 | 1 << 0b110;
/// The masks of [`Copy1`].
pub const COPY_FORMS: u8 = masks(1, true);

/// # Safety
/// LOOP1 for `n` initialised, aligned elements.
#[inline(always)]
unsafe fn operand<'a, T>(p: *const u8, n: usize) -> &'a [T] {
    // SAFETY: LOOP1, by the caller's promise: `n` initialised, aligned elements.
    unsafe { from_raw_parts(p as *const T, n) }
}
/// # Safety
/// LOOP1, and room for `n` aligned elements that nothing else refers to.
#[inline(always)]
unsafe fn result<'a, T>(p: *mut u8, n: usize) -> &'a mut [MaybeUninit<T>] {
    // SAFETY: LOOP1, by the caller's promise: room for `n` that nothing else refers to.
    unsafe { from_raw_parts_mut(p as *mut MaybeUninit<T>, n) }
}

/// Elements that are looked over for far ones at a time.
const NEAR: usize = 512;
/// `near` and `far` for the elements of an iterator of results and operands, with far ones done
/// again.
macro_rules! each {
    ($O:ident $I:ident $items:expr, |$d:ident, $p:pat_param| ($($x:expr),*)) => {{
        let mut any = false;
        for ($d, $p) in $items {
            $d.write($O::f::<$I>($($x),*));
            any |= $O::is_far::<$I>($($x),*);
        }
        if $O::FAR && any {
            for ($d, $p) in $items {
                if $O::is_far::<$I>($($x),*) {
                    $d.write($O::far::<$I>($($x),*));
                }
            }
        }
    }};
}

/// The loop of one operand.
pub struct K1<O, T>(PhantomData<(O, T)>);
impl<T: Copy, O: Op1<T>> Loop for K1<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        _: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one where its bit of `scalars` is set;
        // room for `n` results.
        unsafe {
            let d = result::<O::Out>(d, n);
            if scalars & 1 == 1 {
                let x = *(a as *const T);
                return d.fill(MaybeUninit::new(O::far::<I>(x)));
            }
            let a = operand::<T>(a, n);
            let part = if O::FAR { NEAR } else { n.max(1) };
            for (d, a) in d.chunks_mut(part).zip(a.chunks(part)) {
                each!(O I d.iter_mut().zip(a), |d, a| (*a));
            }
        }
    }
}

/// The loop of two operands.
pub struct K2<O, T>(PhantomData<(O, T)>);
impl<T: Forms, O: Op2<T>> Loop for K2<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one where its bit of `scalars` is set;
        // room for `n` results.
        unsafe {
            let d = result::<O::Out>(d, n);
            let part = if O::FAR { NEAR } else { n.max(1) };
            if T::FORMS && scalars == 1 {
                let a = *(a as *const T);
                for (d, b) in d.chunks_mut(part).zip(operand::<T>(b, n).chunks(part)) {
                    each!(O I d.iter_mut().zip(b), |d, b| (a, *b));
                }
            } else if T::FORMS && scalars == 2 {
                let b = *(b as *const T);
                for (d, a) in d.chunks_mut(part).zip(operand::<T>(a, n).chunks(part)) {
                    each!(O I d.iter_mut().zip(a), |d, a| (*a, b));
                }
            } else {
                for ((d, a), b) in d
                    .chunks_mut(part)
                    .zip(operand::<T>(a, n).chunks(part))
                    .zip(operand::<T>(b, n).chunks(part))
                {
                    each!(O I d.iter_mut().zip(a.iter().zip(b)), |d, (a, b)| (*a, *b));
                }
            }
        }
    }
}

/// What a float32 body gives, as a 16-bit operation's result.
#[cfg(feature = "half")]
pub trait Narrow: Copy + Default {
    /// The 16-bit type itself, or bool.
    type To<T: Widen>: Copy;
    /// Rounded.
    fn narrow<T: Widen>(self) -> Self::To<T>;
    /// A slice rounded, into another of its length.
    fn narrow_all<I: Isa, T: Widen>(x: &[Self], y: &mut [MaybeUninit<Self::To<T>>]);
}
#[cfg(feature = "half")]
impl Narrow for f32 {
    type To<T: Widen> = T;
    #[inline(always)]
    fn narrow<T: Widen>(self) -> T {
        T::narrow(self)
    }
    #[inline(always)]
    fn narrow_all<I: Isa, T: Widen>(x: &[f32], y: &mut [MaybeUninit<T>]) {
        T::narrow_all::<I>(x, y)
    }
}
#[cfg(feature = "half")]
impl Narrow for Bool {
    type To<T: Widen> = Bool;
    #[inline(always)]
    fn narrow<T: Widen>(self) -> Bool {
        self
    }
    #[inline(always)]
    fn narrow_all<I: Isa, T: Widen>(x: &[Bool], y: &mut [MaybeUninit<Bool>]) {
        y.iter_mut().zip(x).for_each(|(y, x)| _ = y.write(*x));
    }
}
/// Elements that are widened, computed and narrowed at a time: they stay in L1, and their loops
/// have no remainder.
#[cfg(feature = "half")]
const BLOCK: usize = 128;
/// A block of elements as float32.
#[cfg(feature = "half")]
#[inline(always)]
fn widened<I: Isa, T: Widen>(x: &[T], y: &mut [f32; BLOCK]) {
    let y = &mut y[..x.len()];
    // SAFETY: initialised values may be written as if they were not; the type is the same.
    T::widen_all::<I>(x, unsafe {
        from_raw_parts_mut(y.as_mut_ptr().cast(), y.len())
    })
}

/// The loop of one 16-bit operand by the float32 body: twice as fast as three loops through a tile
/// where the body is short.
#[cfg(feature = "half")]
pub struct Half1<O, T>(PhantomData<(O, T)>);
#[cfg(feature = "half")]
impl<T: Widen, O: Op1<f32, Out: Narrow>> Loop for Half1<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize, _: u32) {
        // SAFETY: LOOP1: `n` elements of the operand; room for `n` results.
        let (d, a) = unsafe {
            (
                result::<<O::Out as Narrow>::To<T>>(d, n),
                operand::<T>(a, n),
            )
        };
        if T::IN_LOOPS {
            return d
                .iter_mut()
                .zip(a)
                .for_each(|(d, a)| _ = d.write(O::f::<I>(a.widen()).narrow::<T>()));
        }
        let (mut x, mut y) = ([0.0; BLOCK], [O::Out::default(); BLOCK]);
        for (d, a) in d.chunks_mut(BLOCK).zip(a.chunks(BLOCK)) {
            widened::<I, T>(a, &mut x);
            for k in 0..BLOCK {
                y[k] = O::f::<I>(x[k]);
            }
            O::Out::narrow_all::<I, T>(&y[..a.len()], d);
        }
    }
}
/// The loop of two.
#[cfg(feature = "half")]
pub struct Half2<O, T>(PhantomData<(O, T)>);
#[cfg(feature = "half")]
impl<T: Widen, O: Op2<f32, Out: Narrow>> Loop for Half2<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, b: *const u8, _: *const u8, n: usize, _: u32) {
        // SAFETY: LOOP1: `n` elements of each operand; room for `n` results.
        let (d, a, b) = unsafe {
            (
                result::<<O::Out as Narrow>::To<T>>(d, n),
                operand::<T>(a, n),
                operand::<T>(b, n),
            )
        };
        if T::IN_LOOPS {
            let items = d.iter_mut().zip(a.iter().zip(b));
            return items.for_each(|(d, (a, b))| {
                _ = d.write(O::f::<I>(a.widen(), b.widen()).narrow::<T>())
            });
        }
        let (mut x, mut y, mut z) = ([0.0; BLOCK], [0.0; BLOCK], [O::Out::default(); BLOCK]);
        for ((d, a), b) in d
            .chunks_mut(BLOCK)
            .zip(a.chunks(BLOCK))
            .zip(b.chunks(BLOCK))
        {
            widened::<I, T>(a, &mut x);
            widened::<I, T>(b, &mut y);
            for k in 0..BLOCK {
                z[k] = O::f::<I>(x[k], y[k]);
            }
            O::Out::narrow_all::<I, T>(&z[..a.len()], d);
        }
    }
}

/// The loop of three operands.
pub struct K3<O, T>(PhantomData<(O, T)>);
impl<T: Forms, O: Op3<T>> Loop for K3<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one where its bit of `scalars` is set;
        // room for `n` results.
        unsafe {
            let (d, a) = (result::<T>(d, n), operand::<T>(a, n));
            if T::FORMS && scalars == 0b110 {
                let (b, c) = (*(b as *const T), *(c as *const T));
                for (d, a) in d.iter_mut().zip(a) {
                    d.write(O::f::<I>(*a, b, c));
                }
            } else {
                for (((d, a), b), c) in d
                    .iter_mut()
                    .zip(a)
                    .zip(operand::<T>(b, n))
                    .zip(operand::<T>(c, n))
                {
                    d.write(O::f::<I>(*a, *b, *c));
                }
            }
        }
    }
}

/// An unsigned integer that stands for the bits of any dtype of its width.
pub trait Bits: Copy {
    /// `a` where the condition's byte is not zero. By masks: LLVM makes a branch of `if` here below
    /// AVX-512, ten times slower.
    fn select(c: u8, a: Self, b: Self) -> Self;
}
macro_rules! bits {
    ($($T:ident),*) => { $(impl Bits for $T {
        #[inline(always)]
        fn select(c: u8, a: $T, b: $T) -> $T {
            let m = (0 as $T).wrapping_sub((c != 0) as $T);
            (a & m) | (b & !m)
        }
    })* };
}
bits!(u8, u16, u32, u64);
impl Bits for [u64; 2] {
    #[inline(always)]
    fn select(c: u8, a: Self, b: Self) -> Self {
        [u64::select(c, a[0], b[0]), u64::select(c, a[1], b[1])]
    }
}

/// The loop of `where`.
pub struct Select<U>(PhantomData<U>);
impl<U: Bits> Loop for Select<U> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        c: *const u8,
        a: *const u8,
        b: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one where its bit of `scalars` is set;
        // room for `n` results.
        unsafe {
            let (d, c) = (result::<U>(d, n), operand::<u8>(c, n));
            let (x, y) = (a as *const U, b as *const U);
            match scalars {
                0b010 => {
                    for ((d, c), b) in d.iter_mut().zip(c).zip(operand::<U>(b, n)) {
                        d.write(U::select(*c, *x, *b));
                    }
                }
                0b100 => {
                    for ((d, c), a) in d.iter_mut().zip(c).zip(operand::<U>(a, n)) {
                        d.write(U::select(*c, *a, *y));
                    }
                }
                0b110 => {
                    let (a, b) = (*x, *y);
                    for (d, c) in d.iter_mut().zip(c) {
                        d.write(U::select(*c, a, b));
                    }
                }
                _ => {
                    for (((d, c), a), b) in d
                        .iter_mut()
                        .zip(c)
                        .zip(operand::<U>(a, n))
                        .zip(operand::<U>(b, n))
                    {
                        d.write(U::select(*c, *a, *b));
                    }
                }
            }
        }
    }
}

/// Copies elements of the width of `U`.
pub struct Copy1<U>(PhantomData<U>);
impl<U: Copy> Loop for Copy1<U> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        _: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one where its bit of `scalars` is set;
        // room for `n` results.
        unsafe {
            if scalars & 1 == 1 {
                result::<U>(d, n).fill(MaybeUninit::new(*(a as *const U)))
            } else {
                core::ptr::copy_nonoverlapping(a as *const U, d as *mut U, n)
            }
        }
    }
}
