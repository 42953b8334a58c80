//! Sorting networks over registers. The keys are columns, one per lane: columns are sorted across
//! registers, which moves nothing between lanes, then neighbouring columns are merged, and at the
//! end the columns are laid out one after the other.
//!
//! All functions are inlined into a kernel of the vectors' instruction set, and their loops count to a
//! constant: unrolled, they leave the registers where they are.

use crate::simd::x86::vector::Vector;

/// Moves the smaller keys to register `i`, the larger ones to `j`.
#[inline(always)]
fn exchange<V: Vector<Key: super::Key>, const R: usize>(v: &mut [V; R], i: usize, j: usize) {
    let (x, y) = (v[i], v[j]);
    v[i] = x.min(y);
    v[j] = x.max(y);
}
/// Compares and exchanges registers `D` apart.
#[inline(always)]
fn halve<V: Vector<Key: super::Key>, const D: usize, const R: usize>(v: &mut [V; R]) {
    for i in 0..R {
        if i & D == 0 {
            exchange(v, i, i + D);
        }
    }
}
/// Compares the first of each `K` registers with the last, the second with the second last, and so
/// on: two sorted halves become two bitonic ones, the first with the smaller keys.
#[inline(always)]
fn fold<V: Vector<Key: super::Key>, const K: usize, const R: usize>(v: &mut [V; R]) {
    for i in 0..R {
        let at = i % K;
        if at < K / 2 {
            exchange(v, i, i + K - 1 - 2 * at);
        }
    }
}
/// Sorts each column.
#[inline(always)]
fn sort_columns<V: Vector<Key: super::Key>, const R: usize>(v: &mut [V; R]) {
    halve::<V, 1, R>(v);
    if R >= 4 {
        fold::<V, 4, R>(v);
        halve::<V, 1, R>(v);
    }
    if R >= 8 {
        fold::<V, 8, R>(v);
        halve::<V, 2, R>(v);
        halve::<V, 1, R>(v);
    }
    if R >= 16 {
        fold::<V, 16, R>(v);
        halve::<V, 4, R>(v);
        halve::<V, 2, R>(v);
        halve::<V, 1, R>(v);
    }
}
/// Sorts each column, which must be bitonic.
#[inline(always)]
fn merge_columns<V: Vector<Key: super::Key>, const R: usize>(v: &mut [V; R]) {
    if R >= 16 {
        halve::<V, 8, R>(v);
    }
    if R >= 8 {
        halve::<V, 4, R>(v);
    }
    if R >= 4 {
        halve::<V, 2, R>(v);
    }
    halve::<V, 1, R>(v);
}
/// Compares neighbouring runs of `BIT` columns, the second one backwards. `J` is `2 * BIT - 1`:
/// lane `i ^ J` is as far from the end of the second run as lane `i` is from the start of the
/// first.
#[inline(always)]
fn fold_lanes<V: Vector<Key: super::Key>, const J: usize, const BIT: usize, const R: usize>(
    v: &mut [V; R],
) {
    for i in 0..R / 2 {
        let (x, y) = (v[i], v[R - 1 - i]);
        let (of_x, of_y) = (y.exchange::<J>(), x.exchange::<J>());
        v[i] = x.min(of_x).blend::<BIT>(x.max(of_x));
        v[R - 1 - i] = y.min(of_y).blend::<BIT>(y.max(of_y));
    }
}
/// Compares and exchanges columns `J` apart.
#[inline(always)]
fn halve_lanes<V: Vector<Key: super::Key>, const J: usize, const R: usize>(v: &mut [V; R]) {
    for x in v {
        let y = x.exchange::<J>();
        *x = x.min(y).blend::<J>(x.max(y));
    }
}
/// Interleaves the lanes of registers `D` apart.
#[inline(always)]
fn interleave<V: Vector<Key: super::Key>, const D: usize, const R: usize>(v: &mut [V; R]) {
    for i in 0..R {
        if i & D == 0 && D < R {
            (v[i], v[i + D]) = v[i].interleave(v[i + D]);
        }
    }
}
/// Sorts all lanes of `R` registers. Register [`register`] of the result is in `v[i]`.
#[inline(always)]
fn network<V: Vector<Key: super::Key>, const R: usize>(v: &mut [V; R]) {
    sort_columns(v);
    fold_lanes::<V, 1, 1, R>(v);
    merge_columns(v);
    fold_lanes::<V, 3, 2, R>(v);
    halve_lanes::<V, 1, R>(v);
    merge_columns(v);
    if V::LANES > 4 {
        fold_lanes::<V, 7, 4, R>(v);
        halve_lanes::<V, 2, R>(v);
        halve_lanes::<V, 1, R>(v);
        merge_columns(v);
    }
    if V::LANES > 8 {
        fold_lanes::<V, 15, 8, R>(v);
        halve_lanes::<V, 4, R>(v);
        halve_lanes::<V, 2, R>(v);
        halve_lanes::<V, 1, R>(v);
        merge_columns(v);
    }
    // Each step moves a bit of the register number to the front of the lane number, and the last
    // bit of the lane number to its position.
    if V::LANES > 8 {
        interleave::<V, 8, R>(v);
    }
    if V::LANES > 4 {
        interleave::<V, 4, R>(v);
    }
    interleave::<V, 2, R>(v);
    interleave::<V, 1, R>(v);
}
/// The register of the result that is in `v[i]` after [`network`]: with more registers than lanes,
/// some bits of the number stay behind.
#[inline(always)]
fn register<V: Vector<Key: super::Key>, const R: usize>(i: usize) -> usize {
    if R > V::LANES {
        i % V::LANES * (R / V::LANES) + i / V::LANES
    } else {
        i
    }
}
/// Sorts `n <= R * LANES` keys from `x` to `to`, which may be the same.
///
/// # Safety
/// VECTOR1; both hold `n` keys.
#[inline(always)]
unsafe fn sort_in<V: Vector<Key: super::Key>, const R: usize>(
    x: *const V::Key,
    to: *mut V::Key,
    n: usize,
) {
    let at = |i: usize| (i * V::LANES).min(n);
    // SAFETY: VECTOR1, by the caller's promise.
    let mut v = [unsafe { V::splat(V::MAX) }; R];
    for (i, v) in v.iter_mut().enumerate() {
        // SAFETY: VECTOR1; `at(i) .. at(i + 1)` lies within the `n` keys.
        *v = unsafe { V::load_first(x.add(at(i)), at(i + 1) - at(i)) };
    }
    network(&mut v);
    for (i, v) in v.into_iter().enumerate() {
        let i = register::<V, R>(i);
        // SAFETY: the same range of `to`, which holds `n` keys too.
        unsafe { v.store_first(to.add(at(i)), at(i + 1) - at(i)) }
    }
}
/// The most keys that [`sort_short`] takes.
pub const fn longest<V: Vector<Key: super::Key>>() -> usize {
    V::REGISTERS * V::LANES
}
/// Sorts up to [`longest`] keys from `x` to `to`, which may be the same.
///
/// # Safety
/// VECTOR1; both hold `n` keys.
#[inline(always)]
pub unsafe fn sort_short<V: Vector<Key: super::Key>>(x: *const V::Key, to: *mut V::Key, n: usize) {
    debug_assert!(n <= longest::<V>());
    // SAFETY: the caller's promise is the same.
    unsafe {
        if n > 8 * V::LANES && V::REGISTERS == 16 {
            sort_in::<V, 16>(x, to, n)
        } else if n > 4 * V::LANES {
            sort_in::<V, 8>(x, to, n)
        } else if n > 2 * V::LANES {
            sort_in::<V, 4>(x, to, n)
        } else {
            sort_in::<V, 2>(x, to, n)
        }
    }
}
