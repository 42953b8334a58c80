//! Extremes of runs of float32 and float64, and their positions, in vectors. NaN is looked for beside
//! the comparisons, in two vectors at a time: comparisons that let it win would take twice as long.

use crate::kernel::math::Real;
use crate::kernel::reduce::short::{Sums, across};
use crate::simd::lanes::Lanes;
use core::mem::MaybeUninit;

/// The lanes of `b` that are better, else those of `a`.
#[inline(always)]
fn better<V: Lanes, const LEAST: bool>(a: V, b: V) -> V {
    if LEAST { a.smaller(b) } else { a.larger(b) }
}

/// Whether a mark is NaN, where the others are 0.
#[inline(always)]
fn has_nan<V: Lanes<Number: Real>>(marks: [V; 2]) -> bool {
    let sum = across::<V, Sums>(V::Number::ZERO, marks[0] + marks[1]);
    // anything else is 0
    sum.partial_cmp(&V::Number::ZERO).is_none()
}

/// The largest element of a run, or with `LEAST` the smallest, or NaN if there is one. Of equal ones
/// (zeros) the one that [`lanes!`] would find among 64.
#[inline(always)]
pub fn extreme<V: Lanes<Number: Real>, const LEAST: bool>(
    x: &[V::Number],
    none: V::Number,
) -> V::Number {
    /// Accumulators that are in registers. A group that has more is passed over again, each time at
    /// other vectors.
    const TOGETHER: usize = 8;
    let vectors = 64 / V::LEN;
    let mut best = [V::splat(none); 16];
    let mut marks = [V::splat(V::Number::ZERO); 2];
    let (groups, rest) = x.as_chunks::<64>();
    for (from, best) in best[..vectors].chunks_mut(TOGETHER).enumerate() {
        let from = from * TOGETHER * V::LEN;
        let mut some = [V::splat(none); TOGETHER];
        for group in groups {
            for k in (0..TOGETHER.min(vectors)).step_by(2) {
                // SAFETY: LANES1: two of the group's vectors.
                let (a, b) = unsafe {
                    let first = group.as_ptr().add(from + k * V::LEN);
                    (V::load(first), V::load(first.add(V::LEN)))
                };
                some[k] = better::<V, LEAST>(some[k], a);
                some[k + 1] = better::<V, LEAST>(some[k + 1], b);
                marks[k / 2 % 2] = marks[k / 2 % 2] + a.unordered(b);
            }
        }
        best.copy_from_slice(&some[..best.len()]);
    }
    for (best, part) in best.iter_mut().zip(rest.chunks(V::LEN)) {
        let v = load_some(part, V::splat(none));
        *best = better::<V, LEAST>(*best, v);
        marks[0] = marks[0] + v.unordered(v);
    }
    if has_nan(marks) {
        return V::Number::from_f64(f64::NAN);
    }
    let mut half = vectors / 2;
    while half > 0 {
        for k in 0..half {
            best[k] = better::<V, LEAST>(best[k], best[k + half]);
        }
        half /= 2;
    }
    let (mut all, mut width) = (best[0], V::LEN);
    while width > 1 {
        let (low, high) = all.zip(all);
        all = better::<V, LEAST>(low, high);
        width /= 2;
    }
    first_lane(all)
}

/// The first elements, at least one, and in lanes behind the last those of `none`.
#[inline(always)]
fn load_some<V: Lanes>(x: &[V::Number], none: V) -> V {
    if x.len() >= V::LEN {
        // SAFETY: LANES1: a whole vector.
        return unsafe { V::load(x.as_ptr()) };
    }
    // SAFETY: LANES1: as many as there are.
    unsafe { V::load_first(x.as_ptr(), x.len()) }.first(x.len(), none)
}

/// The largest element of each column, or with `LEAST` the smallest, or NaN if there is one: of
/// equal ones the first. Rows are `stride` elements apart.
#[inline(always)]
pub fn columns<V: Lanes<Number: Real>, const LEAST: bool>(
    x: &[V::Number],
    stride: usize,
    rows: usize,
    none: V::Number,
    out: &mut [V::Number],
) {
    /// Columns whose marks, what is left of NaN, stay in L1 beside their extremes.
    const BLOCK: usize = 1024;
    /// Rows, read side by side from end to end, between which extremes are in registers.
    const ROWS: usize = 8;
    if rows == 0 {
        return out.fill(none);
    }
    assert!(x.len() >= (rows - 1) * stride + out.len());
    let mut marks = [const { MaybeUninit::<V::Number>::uninit() }; BLOCK];
    let marks = marks.as_mut_ptr() as *mut V::Number;
    for (k, best) in out.chunks_mut(BLOCK).enumerate() {
        let (n, x, best) = (best.len(), &x[k * BLOCK..], best.as_mut_ptr());
        for row in (0..rows).step_by(ROWS) {
            let (first, count) = (x[row * stride..].as_ptr(), ROWS.min(rows - row));
            let part = Part {
                begins: (row == 0).then_some(none),
                ends: row + count == rows,
            };
            let whole = if count == ROWS { n - n % V::LEN } else { 0 };
            for at in (0..whole).step_by(V::LEN) {
                let first = first.wrapping_add(at);
                // SAFETY: a vector of these rows by the assertion, and of their extremes and marks,
                // which the first part writes.
                unsafe {
                    let to = (best.add(at), marks.add(at));
                    compare::<V, LEAST>(first, stride, ROWS, V::LEN, part, to)
                }
            }
            for at in (whole..n).step_by(V::LEN) {
                let (first, few) = (first.wrapping_add(at), V::LEN.min(n - at));
                // SAFETY: the same for all that is left of a vector, if less.
                unsafe {
                    let to = (best.add(at), marks.add(at));
                    compare::<V, LEAST>(first, stride, count, few, part, to)
                }
            }
        }
    }
}

/// # Safety
/// LANES1 for `n` numbers, of at most a vector.
#[inline(always)]
unsafe fn load<V: Lanes>(x: *const V::Number, n: usize) -> V {
    // SAFETY: LANES1, by the caller.
    unsafe {
        if n == V::LEN {
            V::load(x)
        } else {
            V::load_first(x, n)
        }
    }
}
/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<V: Lanes>(v: V, to: *mut V::Number, n: usize) {
    // SAFETY: LANES1, by the caller.
    unsafe {
        if n == V::LEN {
            v.store(to)
        } else {
            v.store_first(to, n)
        }
    }
}

/// Which rows of columns are compared: the first ones, with what is no extreme yet, or the last ones.
#[derive(Clone, Copy)]
struct Part<F> {
    begins: Option<F>,
    ends: bool,
}

/// Compares `rows > 0` rows of `n` columns, of at most a vector, with their extremes so far.
///
/// # Safety
/// LANES1 for `n` numbers in each row from `first` on, of the extremes and of the marks, which are
/// initialised unless the part begins.
#[inline(always)]
unsafe fn compare<V: Lanes<Number: Real>, const LEAST: bool>(
    first: *const V::Number,
    stride: usize,
    rows: usize,
    n: usize,
    part: Part<V::Number>,
    (best, marks): (*mut V::Number, *mut V::Number),
) {
    // SAFETY: by the caller.
    let row = |k: usize| unsafe { load::<V>(first.wrapping_add(k * stride), n) };
    let (mut extreme, mut mark) = match part.begins {
        Some(none) => (V::splat(none), V::splat(V::Number::ZERO)),
        // SAFETY: by the caller.
        None => unsafe { (load::<V>(best, n), load::<V>(marks, n)) },
    };
    for k in (0..rows).step_by(2) {
        // an odd last row is taken twice
        let (a, b) = (row(k), row((k + 1).min(rows - 1)));
        extreme = better::<V, LEAST>(better::<V, LEAST>(extreme, a), b);
        mark = mark + a.unordered(b);
    }
    // SAFETY: by the caller.
    unsafe {
        if part.ends {
            // what is not 0 is NaN
            let below = V::splat(-V::Number::ONE);
            store(mark.if_greater(below, extreme, mark), best, n);
        } else {
            store(extreme, best, n);
            store(mark, marks, n);
        }
    }
}

#[inline(always)]
fn first_lane<V: Lanes<Number: Real>>(v: V) -> V::Number {
    let mut first = V::Number::ZERO;
    // SAFETY: LANES1, for one number.
    unsafe { v.store_first(&mut first, 1) };
    first
}

/// The most elements that [`position`] takes: numbers of vectors and of lanes are lanes themselves,
/// exact in float32.
pub const POSITIONS: usize = 1 << 20;
/// The vectors that are compared independently of each other.
const CHAINS: usize = 4;

/// The position of the first of the largest elements of a run, or with `LEAST` the smallest, of at
/// most [`POSITIONS`]; `None` if there is a NaN.
#[inline(always)]
pub fn position<V: Lanes<Number: Real>, const LEAST: bool>(x: &[V::Number]) -> Option<usize> {
    macro_rules! number {
        ($x:expr) => {
            V::splat(V::Number::from_f64($x as f64))
        };
    }
    macro_rules! lift {
        ($v:expr) => {{
            let v = $v;
            if LEAST { -v } else { v }
        }};
    }
    let none = V::splat(V::Number::NEG_INFINITY);
    // each lane's extreme, and the group that has it
    let (mut best, mut at) = ([none; CHAINS], [number!(0); CHAINS]);
    let (mut marks, mut group) = ([number!(0); 2], number!(0));
    let (one, len) = (number!(1), CHAINS * V::LEN);
    let mut groups = x.chunks_exact(len);
    for elements in &mut groups {
        let mut v = [none; CHAINS];
        for k in 0..CHAINS {
            // SAFETY: LANES1: one of the group's vectors.
            v[k] = lift!(unsafe { V::load(elements.as_ptr().add(k * V::LEN)) });
            at[k] = v[k].if_greater(best[k], group, at[k]);
            best[k] = best[k].larger(v[k]);
        }
        marks = [
            marks[0] + v[0].unordered(v[1]),
            marks[1] + v[2].unordered(v[3]),
        ];
        group = group + one;
    }
    let rest = groups.remainder();
    for k in 0..CHAINS {
        let part = rest.get(k * V::LEN..).unwrap_or(&[]);
        if part.is_empty() {
            break;
        }
        let v = lift!(load_some(part, lift!(none)));
        at[k] = v.if_greater(best[k], group, at[k]);
        best[k] = best[k].larger(v);
        marks[0] = marks[0] + v.unordered(v);
    }
    if has_nan(marks) {
        return None;
    }
    // positions of the first lanes, in vectors: lanes without an element are behind all that have one
    for (k, at) in at.iter_mut().enumerate() {
        *at = *at * number!(CHAINS) + number!(k);
    }
    let far = number!(2 * POSITIONS);
    macro_rules! join {
        ($a:expr, $b:expr) => {{
            let ((a, a_at), (b, b_at)) = ($a, $b);
            let best = a.larger(b);
            let first = best.if_greater(a, far, a_at);
            (best, first.smaller(best.if_greater(b, far, b_at)))
        }};
    }
    let low = join!((best[0], at[0]), (best[1], at[1]));
    let high = join!((best[2], at[2]), (best[3], at[3]));
    let (mut best, at) = join!(low, high);
    let mut lanes = [V::Number::ZERO; 16];
    for (k, lane) in lanes.iter_mut().enumerate() {
        *lane = V::Number::from_f64(k as f64);
    }
    // SAFETY: LANES1: at most 16 lanes.
    let lane = unsafe { V::load(lanes.as_ptr()) };
    let (mut at, mut width) = (at * number!(V::LEN) + lane, V::LEN);
    while width > 1 {
        let ((low, high), (low_at, high_at)) = (best.zip(best), at.zip(at));
        (best, at) = join!((low, low_at), (high, high_at));
        width /= 2;
    }
    Some(first_lane(at).to_f64() as usize)
}
