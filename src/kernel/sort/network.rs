//! Bitonic networks: up to 16 vectors are sorted in registers, without a branch. All functions have the contract V1 of
//! [`Vector`], and are inlined into a kernel of its instruction set.
#![allow(unsafe_op_in_unsafe_fn)]

use super::vector::Vector;

/// Compares lane `i` with lane `i ^ J` in each register; the larger goes to the lane whose number has `BIT`.
#[inline(always)]
unsafe fn step<V: Vector, const J: usize, const BIT: usize, const R: usize>(v: &mut [V; R]) {
    for x in v {
        let y = x.exchange::<J>();
        *x = x.min(y).blend::<BIT>(x.max(y));
    }
}
/// Sorts each register, which is bitonic.
#[inline(always)]
unsafe fn merge_lanes<V: Vector, const R: usize>(v: &mut [V; R]) {
    if V::LANES > 8 {
        step::<V, 8, 8, R>(v);
    }
    if V::LANES > 4 {
        step::<V, 4, 4, R>(v);
    }
    step::<V, 2, 2, R>(v);
    step::<V, 1, 1, R>(v);
}
/// Compares registers `D` apart.
#[inline(always)]
unsafe fn merge_registers<V: Vector, const D: usize, const R: usize>(v: &mut [V; R]) {
    for i in 0..R {
        if i & D == 0 {
            let (x, y) = (v[i], v[i + D]);
            v[i] = x.min(y);
            v[i + D] = x.max(y);
        }
    }
}
#[inline(always)]
unsafe fn reversed<V: Vector>(v: V) -> V {
    match V::LANES {
        16 => v.exchange::<15>(),
        8 => v.exchange::<7>(),
        _ => v.exchange::<3>(),
    }
}
/// Compares the lower half of each `K` registers with the reversed upper half. The upper half stays reversed as a whole,
/// which is bitonic all the same.
#[inline(always)]
unsafe fn fold<V: Vector, const K: usize, const R: usize>(v: &mut [V; R]) {
    for b in (0..R).step_by(K) {
        if K == 2 {
            let (x, y) = (v[b], reversed(v[b + 1]));
            v[b] = x.min(y);
            v[b + 1] = x.max(y);
        }
        for i in 0..K / 4 {
            let (p, q) = (b + i, b + K / 2 - 1 - i);
            let (p2, q2) = (b + K / 2 + i, b + K - 1 - i);
            let (x, y) = (v[p], reversed(v[q2]));
            let (z, w) = (v[q], reversed(v[p2]));
            v[p] = x.min(y);
            v[p2] = x.max(y);
            v[q] = z.min(w);
            v[q2] = z.max(w);
        }
    }
}
/// Sorts all lanes of `R` registers.
#[inline(always)]
unsafe fn network<V: Vector, const R: usize>(v: &mut [V; R]) {
    step::<V, 1, 1, R>(v);
    step::<V, 3, 2, R>(v);
    step::<V, 1, 1, R>(v);
    if V::LANES > 4 {
        step::<V, 7, 4, R>(v);
        step::<V, 2, 2, R>(v);
        step::<V, 1, 1, R>(v);
    }
    if V::LANES > 8 {
        step::<V, 15, 8, R>(v);
        step::<V, 4, 4, R>(v);
        step::<V, 2, 2, R>(v);
        step::<V, 1, 1, R>(v);
    }
    if R >= 2 {
        fold::<V, 2, R>(v);
        merge_lanes(v);
    }
    if R >= 4 {
        fold::<V, 4, R>(v);
        merge_registers::<V, 1, R>(v);
        merge_lanes(v);
    }
    if R >= 8 {
        fold::<V, 8, R>(v);
        merge_registers::<V, 2, R>(v);
        merge_registers::<V, 1, R>(v);
        merge_lanes(v);
    }
    if R >= 16 {
        fold::<V, 16, R>(v);
        merge_registers::<V, 4, R>(v);
        merge_registers::<V, 2, R>(v);
        merge_registers::<V, 1, R>(v);
        merge_lanes(v);
    }
}
/// Sorts `n <= R * LANES` keys at `x`.
#[inline(always)]
unsafe fn sort_in<V: Vector, const R: usize>(x: *mut V::Key, n: usize) {
    let at = |i: usize| (i * V::LANES).min(n);
    let mut v = [V::splat(V::MAX); R];
    for (i, v) in v.iter_mut().enumerate() {
        *v = V::load_first(x.add(at(i)), at(i + 1) - at(i));
    }
    network(&mut v);
    for (i, v) in v.into_iter().enumerate() {
        v.store_first(x.add(at(i)), at(i + 1) - at(i));
    }
}
/// The most keys that [`sort_short`] takes.
pub const fn longest<V: Vector>() -> usize {
    V::REGISTERS * V::LANES
}
/// Sorts up to [`longest`] keys.
///
/// # Safety
/// V1.
#[inline(always)]
pub unsafe fn sort_short<V: Vector>(x: &mut [V::Key]) {
    let (p, n) = (x.as_mut_ptr(), x.len());
    debug_assert!(n <= longest::<V>());
    if n > 8 * V::LANES && V::REGISTERS == 16 {
        sort_in::<V, 16>(p, n)
    } else if n > 4 * V::LANES {
        sort_in::<V, 8>(p, n)
    } else if n > 2 * V::LANES {
        sort_in::<V, 4>(p, n)
    } else if n > 1 {
        sort_in::<V, 2>(p, n)
    }
}
