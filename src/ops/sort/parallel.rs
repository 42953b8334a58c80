//! Sorts one line on all threads: the line is partitioned, and its parts are sorted by different
//! threads. The result of a sort is unique, so its bits don't depend on the partition.

use crate::exec::chunks::{Chunks, READ};
use crate::kernel::sort::pack::{self, KeyPacking};
use crate::kernel::sort::{self as kernel, Key, Ordered, Part};
use crate::par::{self, Cost};
use alloc::vec;
use alloc::vec::Vec;

/// The approximate cost of sorting a line of `n` elements.
pub(super) fn cost(n: usize, bytes: usize) -> Cost {
    Cost {
        bytes: n.saturating_mul(bytes),
        flops: n.saturating_mul(16 * (n.max(1).ilog2() as usize + 1)),
    }
}

/// Sorts one line on all threads.
pub(super) fn sort_line<T: Ordered>(
    x: &[T],
    descending: bool,
    out: &mut [T],
    scratch: &mut [T::Key],
) {
    let keys = kernel::as_keys(out);
    let moved = Cost {
        bytes: 2 * size_of::<T>(),
        flops: 4,
    };
    par::split(keys, 1, 64, moved, |r, keys| {
        kernel::keys(&x[r], descending, keys)
    });
    sort_parts(Part::new(keys, scratch), |keys| {
        kernel::values::<T>(keys, descending)
    });
    kernel::settle_zeros(x, descending, out);
}

/// Sorts on all threads: partitions, and sorts the parts on different threads. `done` is called
/// with each sorted part.
fn sort_parts<K: Key>(whole: Part<K>, done: impl Fn(&mut [K]) + Sync) {
    // more parts than threads, since parts differ in size
    const PARTS: usize = 4;
    let n = whole.len();
    let most = par::parts_for(cost(n, 4 * size_of::<K>()));
    let mut parts = vec![whole];
    while most > 1 && parts.len() < PARTS * most {
        let before = parts.len();
        let mut halves: Vec<[Part<K>; 2]> = (parts.into_iter())
            .map(|part| [part, Part::default()])
            .collect();
        let of_part = Cost {
            bytes: 4 * size_of::<K>() * n / before,
            flops: 16 * n / before,
        };
        par::each(&mut halves, of_part, |_, [part, half]| {
            (*part, *half) = K::split(core::mem::take(part))
        });
        let halves = halves.into_iter().flatten();
        parts = halves.filter(|part| !part.is_empty()).collect();
        if parts.len() == before {
            break;
        }
    }
    let of_part = cost(n / parts.len().max(1), 4 * size_of::<K>());
    par::each(&mut parts, of_part, |_, part| {
        done(core::mem::take(part).sort())
    });
}

/// The positions that sort one line, on all threads.
pub(super) fn argsort_line<T: Ordered>(
    x: &[T],
    descending: bool,
    out: &mut [i64],
    scratch: &mut [i64],
) {
    let packing = KeyPacking::of_width(8 * size_of::<T>() as u32, x.len()).unwrap_or_else(|| {
        let (least, most) = extent(x, descending);
        KeyPacking::new(least, most, x.len())
    });
    let cost = Cost {
        bytes: size_of::<T>() + 8,
        flops: 4,
    };
    par::split(out, 1, 64, cost, |r, out| {
        pack::pairs(&x[r.clone()], r.start, packing, descending, out)
    });
    sort_parts(Part::new(out, scratch), |_| ());
    pack::settle(x, packing, descending, out);
    par::split(out, 1, 64, cost, |_, out| pack::positions(out, packing));
}

/// The least and the largest key of a line.
fn extent<T: Ordered>(x: &[T], descending: bool) -> (i64, i64) {
    const MAX_CHUNKS: usize = 64;
    let chunk = x.len().div_ceil(MAX_CHUNKS).max(READ);
    let chunks = Chunks::new(x.len(), x.len(), chunk);
    let mut found = [(i64::MAX, i64::MIN); MAX_CHUNKS];
    let cost = Cost {
        bytes: chunk * size_of::<T>(),
        flops: 4 * chunk,
    };
    let of_chunks = &mut found[..chunks.len()];
    chunks.run(of_chunks, &mut [(); 0], cost, |c, found, _| {
        *found = pack::extent(&x[c.range], descending)
    });
    let wider = |(a, b): (i64, i64), (c, d)| (a.min(c), b.max(d));
    found.into_iter().fold((i64::MAX, i64::MIN), wider)
}
