//! Scans: every prefix of a line reduced. Joins that don't round are made within a register by
//! doubling distances, from register to register by a carry, so that the chain of dependent
//! operations is one for sixteen elements; those of floats side by side, a lane each, those that round
//! in an order that keeps sums monotone ([`by_lanes`]).
//!
//! Sums and products of floats are `before + (carry + local)`: runs of 16 elements in order, a lane
//! each, after what comes before in the chunk, after what comes before the chunk. So prefixes of
//! sums of non-negative numbers never decrease, and the bits of a prefix don't depend on what
//! follows it. What overflows or vanishes within a chunk is joined in order; neighbouring columns,
//! and complex numbers, are scanned in order.

mod by_lanes;

pub use by_lanes::{ByLanes, LaneJoin};

use crate::dtype::Pod;
use crate::kernel::reduce::Reduce;
use core::marker::PhantomData;

/// Elements of a chunk, over which a scan passes twice, the second time in L2.
pub const CHUNK: usize = 1 << 13;

/// How a line is scanned, whole or in chunks of [`CHUNK`] elements from its start, with the same
/// bits.
pub trait Scan<T: Pod> {
    /// What joins the elements.
    type Reduction: Reduce<T, Acc = T, Out = T>;
    /// Whether lines are not joined in order although joins round, so that the result shows how.
    const ROUNDS: bool;
    /// The first pass over a chunk, which may write `y`: the chunk's total, and whether a second
    /// pass can join it to what comes before.
    fn first(x: &[T], y: &mut [T]) -> (T, bool);
    /// The second pass: writes the scan of the chunk after `before` to `y`, which is as the first
    /// one left it. False if the line has to be scanned [in order](Scan::line) from this chunk on.
    fn second(x: &[T], y: &mut [T], before: T) -> bool;
    /// A line, or the rest of one from a chunk on, after what comes before.
    fn line(x: &[T], y: &mut [T], before: Option<T>);
}

/// The scan `R` of integers, whose joins are associative.
pub struct Exact<R>(PhantomData<R>);

impl<T: Pod, R: Reduce<T, Acc = T, Out = T>> Scan<T> for Exact<R> {
    type Reduction = R;
    const ROUNDS: bool = false;
    fn first(x: &[T], _: &mut [T]) -> (T, bool) {
        let mut total = R::IDENTITY;
        R::runs_of_tile(x, x.len(), core::slice::from_mut(&mut total));
        (total, true)
    }
    fn second(x: &[T], y: &mut [T], before: T) -> bool {
        scan::<T, R>(x, y, before);
        true
    }
    fn line(x: &[T], y: &mut [T], before: Option<T>) {
        scan::<T, R>(x, y, before.unwrap_or(R::IDENTITY))
    }
}

/// The scan `R` of complex numbers: element by element.
pub struct InOrder<R>(PhantomData<R>);

impl<T: Pod, R: Reduce<T, Acc = T, Out = T>> Scan<T> for InOrder<R> {
    type Reduction = R;
    const ROUNDS: bool = false;
    fn first(_: &[T], _: &mut [T]) -> (T, bool) {
        (R::IDENTITY, false)
    }
    fn second(_: &[T], _: &mut [T], _: T) -> bool {
        false
    }
    fn line(x: &[T], y: &mut [T], before: Option<T>) {
        let mut last = before.unwrap_or(R::IDENTITY);
        for (y, x) in y.iter_mut().zip(x) {
            last = R::join(last, *x);
            *y = last;
        }
    }
}

kernel! {
    /// `y[i]` is `carry` joined with `x[0] .. x[i]`; both are equally long.
    fn scan<'a, T: Pod, R: Reduce<T, Acc = T>>(x: &'a [T], y: &'a mut [T], carry: T) -> () { |I|
        // a register holds too few elements of 8 bytes: joined in order, they take a cycle each
        if size_of::<T>() == 8 {
            blocks::<T, R, 1>(x, y, carry)
        } else if I::AVX512 {
            blocks::<T, R, 16>(x, y, carry)
        } else {
            blocks::<T, R, 8>(x, y, carry)
        }
    }
}

/// In blocks of `W` elements.
#[inline(always)]
fn blocks<T: Copy, R: Reduce<T, Acc = T>, const W: usize>(x: &[T], y: &mut [T], mut carry: T) {
    let ((blocks, rest), (results, tail)) = (x.as_chunks::<W>(), y.as_chunks_mut::<W>());
    for (x, y) in blocks.iter().zip(results) {
        let mut prefix = *x;
        let mut distance = 1;
        while distance < W {
            let shorter = prefix;
            for i in distance..W {
                prefix[i] = R::join(shorter[i - distance], shorter[i]);
            }
            distance *= 2;
        }
        for i in 0..W {
            y[i] = R::join(carry, prefix[i]);
        }
        carry = R::join(carry, prefix[W - 1]);
    }
    for (x, y) in rest.iter().zip(tail) {
        carry = R::join(carry, *x);
        *y = carry;
    }
}

kernel! {
    /// Joins a value in front of each of `y`.
    fn put_before<'a, T: Pod, R: Reduce<T, Acc = T>>(before: T, y: &'a mut [T]) -> () { |I|
        for y in y.iter_mut() {
            *y = R::join(before, *y);
        }
    }
}

kernel! {
    /// `y[i]` is `above[i]` joined with `x[i]`: a step of the scans of neighbouring columns.
    pub fn step<'a, T: Copy, R: Reduce<T, Acc = T>>(above: &'a [T], x: &'a [T], y: &'a mut [T]) -> () { |I|
        for ((y, x), above) in y.iter_mut().zip(x).zip(above) {
            *y = R::join(*above, *x);
        }
    }
}
