//! Sorts: the standard library's, and radix sorts. Each gets a copy of the values, as flex makes
//! one.

use crate::{Peer, compare, values};
use flex::{Element, Tensor, ops};
use rdst::RadixSort as _;
use voracious_radix_sort::RadixSort as _;

pub fn run(threads: usize) {
    for n in [1 << 10, 1 << 16, 1 << 20, 1 << 23] {
        sort(n, threads, |x| x as f32);
        sort(n, threads, |x| x);
        sort(n, threads, |x| (x * 2f64.powi(31)) as i32);
        sort(n, threads, |x| (x * 2f64.powi(63)) as i64);
    }
}

/// A sort in place.
type Sort<T> = fn(&mut [T]);

/// The peers that sort elements of a type.
trait Sorted: Element {
    /// On one thread.
    const ALONE: &'static [(&'static str, Sort<Self>)];
    /// On all threads.
    const TOGETHER: &'static [(&'static str, Sort<Self>)];
}
macro_rules! sorted {
    ($($T:ty: $order:path),*) => { $(impl Sorted for $T {
        const ALONE: &'static [(&'static str, Sort<$T>)] = &[
            ("std", |v| v.sort_unstable_by($order)),
            ("radsort", |v| radsort::sort(v)),
            ("voracious", |v| v.voracious_sort()),
            ("rdst", |v| v.radix_sort_builder().with_parallel(false).sort()),
            #[cfg(feature = "vqsort")]
            ("vqsort", |v| vqsort_rs::sort(v)),
        ];
        const TOGETHER: &'static [(&'static str, Sort<$T>)] = &[
            ("voracious", |v| v.voracious_mt_sort(rayon::current_num_threads())),
            ("rdst", |v| v.radix_sort_unstable()),
        ];
    })* };
}
sorted! { f32: f32::total_cmp, f64: f64::total_cmp, i32: i32::cmp, i64: i64::cmp }

fn sort<T: Sorted>(n: usize, threads: usize, of: impl Fn(f64) -> T) {
    let source: Vec<T> = values(n).into_iter().map(of).collect();
    let x = Tensor::from_slice(&source, [n]).unwrap();
    let mut peers: Vec<Peer> = vec![(
        "flex",
        Box::new(|| drop(flex::with_threads(threads, || ops::sort(&x, 0)).unwrap())),
    )];
    let source = &source;
    for (name, sort) in if threads == 1 { T::ALONE } else { T::TOGETHER } {
        let call = move || {
            let mut copy = source.clone();
            sort(&mut copy);
            std::hint::black_box(copy);
        };
        peers.push((name, Box::new(call)));
    }
    compare(&format!("{} sort of {n}", T::DTYPE), threads, &mut peers);
}
