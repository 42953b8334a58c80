//! Scans of floats. A prefix is what joining in order gives, for sums and products up to rounding; it
//! depends on the elements before it alone, and sums of what is not negative never decrease.
//!
//! A line is cut into chunks, and a chunk into runs. A run is scanned in order, what comes before it
//! in its chunk is joined in front, then what comes before the chunk: `before + (carry + local)`. Each
//! of these joins is monotone, and a carry is the last result of what it stands for, so that nothing
//! steps back from a run to the next. Runs are scanned side by side, a lane each.
//!
//! From the first element on at which one of these is not [plain](LaneJoin::is_plain), the rest of its
//! chunk is joined in order: a run may overflow, or its product vanish, where what comes before would
//! have prevented that. Behind a product of zero, or an infinite sum, finite elements change
//! nothing but signs.

use super::{CHUNK, Scan};
use crate::dtype::Pod;
use crate::kernel::math::{Number, Real};
use crate::kernel::reduce::{Max, Min, Prod, Reduce, Sum};
use crate::simd::Isa;
use crate::simd::lanes::Lanes;
use core::marker::PhantomData;

/// The elements of a run, as many as the largest vector has lanes.
const RUN: usize = 16;
const _: () = assert!(CHUNK.is_multiple_of(RUN * RUN));

/// The scan `R` of floats.
pub struct ByLanes<R>(PhantomData<R>);

impl<T: Pod + Real, R: LaneJoin<T>> Scan<T> for ByLanes<R> {
    type Reduction = R;
    const ROUNDS: bool = R::ROUNDS;
    fn first(x: &[T], y: &mut [T]) -> (T, bool) {
        let plain = chunk::<T, R>(x, y);
        (y.last().copied().unwrap_or(R::IDENTITY), plain)
    }
    fn second(_: &[T], y: &mut [T], before: T) -> bool {
        if R::absorbs(before) {
            super::put_before::<T, R>(before, y);
            return true;
        }
        put_plainly_before::<T, R>(before, y)
    }
    fn line(x: &[T], y: &mut [T], mut before: Option<T>) {
        for (x, y) in x.chunks(CHUNK).zip(y.chunks_mut(CHUNK)) {
            let plain = chunk::<T, R>(x, y);
            let joined = plain.then_some(before).flatten();
            if !plain || joined.is_some_and(|before| !Self::second(x, y, before)) {
                in_order::<T, R>(x, y, before.unwrap_or(R::IDENTITY), joined.is_some());
            }
            before = y.last().copied();
        }
    }
}

kernel! {
    /// Scans a chunk by itself; whether all went plainly.
    fn chunk<'a, T: Real, R: LaneJoin<T>>(x: &'a [T], y: &'a mut [T]) -> bool { |I| vectors::<I, T, R>(x, y) }
}
kernel! {
    /// Joins a value in front of each of `y`; whether all went plainly.
    fn put_plainly_before<'a, T: Real, R: LaneJoin<T>>(before: T, y: &'a mut [T]) -> bool { |I|
        let mut plain = true;
        for y in y.iter_mut() {
            *y = R::join(before, *y);
            plain &= R::is_plain(*y);
        }
        plain
    }
}

kernel! {
    /// Joins `by` in front of prefixes that it absorbs, of which it leaves signs at most; false, with
    /// nothing done, if it does not absorb one.
    fn put_absorber<'a, T: Real, R: LaneJoin<T>>(by: T, y: &'a mut [T]) -> bool { |I|
        let mut absorbed = true;
        for y in y.iter() {
            absorbed &= R::is_absorbed(*y, by);
        }
        if absorbed {
            for y in y.iter_mut() {
                *y = R::join(by, *y);
            }
        }
        absorbed
    }
}

/// A chunk that does not go plainly, after `before`. `y` has its prefixes joined otherwise, with what
/// comes before if `joined`.
#[cold]
#[inline(never)]
fn in_order<T: Real, R: LaneJoin<T>>(x: &[T], y: &mut [T], before: T, joined: bool) {
    let (mut carry, mut last, mut done) = (R::IDENTITY, before, 0);
    'plain: for run in x.chunks(RUN) {
        let mut local = R::IDENTITY;
        for x in run {
            local = R::join(local, *x);
            let inner = R::join(carry, local);
            let value = R::join(before, inner);
            if ![local, inner, value].into_iter().all(R::is_plain) {
                break 'plain;
            }
            (y[done], last) = (value, value);
            done += 1;
        }
        carry = R::join(carry, local);
    }
    for (y, x) in y[done..].iter_mut().zip(&x[done..]) {
        last = R::join(last, *x);
        *y = last;
        done += 1;
        if R::absorbs(last) {
            break;
        }
    }
    let (x, y) = (&x[done..], &mut y[done..]);
    let sign = if joined { R::IDENTITY } else { before };
    if put_absorber::<T, R>(R::absorber(last, sign), y) {
        return;
    }
    for (y, x) in y.iter_mut().zip(x) {
        last = R::join(last, *x);
        *y = last;
    }
}

/// The runs of a chunk from some run on, after `carry`, which is the identity or its last result.
#[inline(always)]
fn runs<T: Real, R: LaneJoin<T>>(x: &[T], y: &mut [T], mut carry: T) -> bool {
    let mut plain = true;
    for (x, y) in x.chunks(RUN).zip(y.chunks_mut(RUN)) {
        let mut local = R::IDENTITY;
        let mut value = carry;
        for (x, y) in x.iter().zip(y) {
            local = R::join(local, *x);
            value = R::join(carry, local);
            plain &= R::is_plain(local) & R::is_plain(value);
            *y = value;
        }
        carry = value;
    }
    plain
}

/// Scans a chunk, in vectors with a lane for each run.
#[inline(always)]
fn vectors<I: Isa, F: Real, R: LaneJoin<F>>(x: &[F], y: &mut [F]) -> bool {
    let len = F::Vector::<I>::LEN;
    let (none, mut carry) = (F::Vector::<I>::splat(R::IDENTITY), R::IDENTITY);
    let mut seen = R::nothing::<F::Vector<I>>();
    let whole = x.len() - x.len() % (len * RUN);
    let blocks = x[..whole].chunks_exact(len * RUN);
    for (x, y) in blocks.zip(y.chunks_exact_mut(len * RUN)) {
        // element `i` of each run
        let mut kept = [none; RUN];
        let mut local = none;
        for first in (0..RUN).step_by(len) {
            let mut square = [none; 16];
            for (j, row) in square.iter_mut().enumerate().take(len) {
                // SAFETY: LANES1: a part of run `j` of the block.
                *row = unsafe { F::Vector::<I>::load(x[j * RUN + first..][..len].as_ptr()) };
            }
            F::Vector::<I>::transpose(&mut square);
            for i in 0..len {
                local = R::of_vectors(local, square[i]);
                kept[first + i] = local;
            }
        }
        let (mut totals, mut carries) = ([R::IDENTITY; 16], [R::IDENTITY; 16]);
        // SAFETY: LANES1: at most 16 lanes.
        unsafe { local.store(totals.as_mut_ptr()) };
        for (own, total) in carries.iter_mut().zip(totals).take(len) {
            *own = carry;
            carry = R::join(carry, total);
        }
        // SAFETY: LANES1: at most 16 lanes.
        let carries = unsafe { F::Vector::<I>::load(carries.as_ptr()) };
        for first in (0..RUN).step_by(len) {
            let mut square = [none; 16];
            for i in 0..len {
                let local = kept[first + i];
                square[i] = R::of_vectors(carries, local);
                seen = R::see(seen, local, square[i]);
            }
            F::Vector::<I>::transpose(&mut square);
            for (j, row) in square.iter().enumerate().take(len) {
                // SAFETY: LANES1: a part of run `j` of the block.
                unsafe { row.store(y[j * RUN + first..][..len].as_mut_ptr()) };
            }
        }
    }
    let mut found = [[R::IDENTITY; 16]; 2];
    for (found, seen) in found.iter_mut().zip(seen) {
        // SAFETY: LANES1: at most 16 lanes.
        unsafe { seen.store(found.as_mut_ptr()) };
    }
    let plain = (0..len).all(|i| R::saw_plain(found[0][i], found[1][i]));
    runs::<F, R>(&x[whole..], &mut y[whole..], carry) & plain
}

/// Reductions of floats that join vectors. The defaults are those of joins that don't round, to which
/// every value is plain.
pub trait LaneJoin<F: Real>: Reduce<F, Acc = F, Out = F> {
    /// Whether joins round.
    const ROUNDS: bool = false;
    /// Whether joining in parts rounds little at this value: it is finite and, of products, not so
    /// small that digits were lost.
    #[inline(always)]
    fn is_plain(_: F) -> bool {
        true
    }
    /// Whether joining plain values to this one in any order is joining them in order.
    #[inline(always)]
    fn absorbs(_: F) -> bool {
        true
    }
    /// For a result that [absorbs](LaneJoin::absorbs) what comes after it: what gives the results that
    /// come after it when joined to prefixes that lack no more than a factor of the sign of `before`.
    #[inline(always)]
    fn absorber(last: F, _before: F) -> F {
        last
    }
    /// Whether `by` absorbs the elements of this prefix, plain or not.
    #[inline(always)]
    fn is_absorbed(_prefix: F, _by: F) -> bool {
        false
    }
    /// Joins vectors.
    fn of_vectors<V: Lanes<Number = F>>(a: V, b: V) -> V;
    /// What is known before anything is seen.
    #[inline(always)]
    fn nothing<V: Lanes<Number = F>>() -> [V; 2] {
        [V::splat(Self::IDENTITY); 2]
    }
    /// Takes note of scanned values, those of the run and those after the carry.
    #[inline(always)]
    fn see<V: Lanes<Number = F>>(seen: [V; 2], _local: V, _value: V) -> [V; 2] {
        seen
    }
    /// Whether all that was seen in a lane was plain.
    #[inline(always)]
    fn saw_plain(_: F, _: F) -> bool {
        true
    }
}

macro_rules! joins {
    ($($(#[$cfg:meta])* $T:ident)*) => { $(
        $(#[$cfg])*
        impl LaneJoin<$T> for Sum {
            const ROUNDS: bool = true;
            #[inline(always)]
            fn is_plain(x: $T) -> bool {
                x.isfinite()
            }
            #[inline(always)]
            fn absorbs(x: $T) -> bool {
                !x.isfinite()
            }
            #[inline(always)]
            fn is_absorbed(prefix: $T, _: $T) -> bool {
                prefix.isfinite()
            }
            #[inline(always)]
            fn of_vectors<V: Lanes<Number = $T>>(a: V, b: V) -> V {
                a + b
            }
            #[inline(always)]
            fn nothing<V: Lanes<Number = $T>>() -> [V; 2] {
                [V::splat(0.0); 2]
            }
            #[inline(always)]
            fn see<V: Lanes<Number = $T>>([zero, other]: [V; 2], _: V, value: V) -> [V; 2] {
                // infinity times 0 is NaN, which stays; what is infinite is so after the carry, too
                [value * V::splat(0.0) + zero, other]
            }
            #[inline(always)]
            fn saw_plain(zero: $T, _: $T) -> bool {
                zero == 0.0
            }
        }
        $(#[$cfg])*
        impl LaneJoin<$T> for Prod {
            const ROUNDS: bool = true;
            #[inline(always)]
            fn is_plain(x: $T) -> bool {
                x.isfinite() & ((x >= $T::MIN_POSITIVE) | (x <= -$T::MIN_POSITIVE))
            }
            #[inline(always)]
            fn absorbs(x: $T) -> bool {
                !x.isfinite() | (x == 0.0)
            }
            #[inline(always)]
            fn absorber(last: $T, before: $T) -> $T {
                if last == 0.0 { last.abs().copysign(before) } else { last }
            }
            #[inline(always)]
            fn is_absorbed(prefix: $T, by: $T) -> bool {
                prefix.isfinite() & (by == 0.0)
            }
            #[inline(always)]
            fn of_vectors<V: Lanes<Number = $T>>(a: V, b: V) -> V {
                a * b
            }
            #[inline(always)]
            fn nothing<V: Lanes<Number = $T>>() -> [V; 2] {
                [V::splat(0.0), V::splat($T::INFINITY)]
            }
            #[inline(always)]
            fn see<V: Lanes<Number = $T>>([zero, least]: [V; 2], local: V, value: V) -> [V; 2] {
                let small = local.maximum(-local).minimum(value.maximum(-value));
                [value * V::splat(0.0) + zero, least.minimum(small)]
            }
            #[inline(always)]
            fn saw_plain(zero: $T, least: $T) -> bool {
                zero == 0.0 && least >= $T::MIN_POSITIVE
            }
        }
        $(#[$cfg])*
        impl LaneJoin<$T> for Max {
            #[inline(always)]
            fn of_vectors<V: Lanes<Number = $T>>(a: V, b: V) -> V {
                a.maximum(b)
            }
        }
        $(#[$cfg])*
        impl LaneJoin<$T> for Min {
            #[inline(always)]
            fn of_vectors<V: Lanes<Number = $T>>(a: V, b: V) -> V {
                a.minimum(b)
            }
        }
    )* };
}
joins!(f32 #[cfg(feature = "f64")] f64);
