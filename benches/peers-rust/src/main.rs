//! Compares flex's matrix products and sorts with other crates', on the same data, in turn.
//!
//! `cargo run --release [-- products | sorts]` in this folder, or `make bench-peers`. Times are
//! medians; the last column is the time relative to flex's.

mod products;
mod sorts;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A library's name and the call to time.
type Peer<'a> = (&'a str, Box<dyn FnMut() + 'a>);

fn main() {
    let only = std::env::args().nth(1);
    let wanted = |family: &str| only.as_deref().is_none_or(|o| o == family);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{threads} threads, {}", flex::simd::name());
    for threads in [1, threads] {
        if wanted("products") {
            products::run(threads);
        }
        if wanted("sorts") {
            sorts::run(threads);
        }
    }
}

/// Values in [-1, 1), the same in every run (splitmix64).
fn values(n: usize) -> Vec<f64> {
    let mut state = 0u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..n)
        .map(|_| (next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        .collect()
}

/// Calls the peers in turn for about a second each, and prints the median time of each. The first
/// peer is flex.
fn compare(what: &str, threads: usize, peers: &mut [Peer]) {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        black_box(f)();
        start.elapsed()
    };
    for (_, call) in &mut *peers {
        call(); // threads start, caches fill
    }
    let mut times = vec![Vec::new(); peers.len()];
    let start = Instant::now();
    while times[0].len() < 5
        || times[0].len() < 1000
            && start.elapsed() < Duration::from_millis(500) * peers.len() as u32
    {
        for ((_, call), times) in peers.iter_mut().zip(&mut times) {
            times.push(time(call));
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    };
    let medians: Vec<f64> = times.iter_mut().map(median).collect();
    for ((name, _), seconds) in peers.iter().zip(&medians) {
        println!(
            "{what:<28} {threads} {name:<12} {:>10.1} us {:>6.2}",
            seconds * 1e6,
            seconds / medians[0]
        );
    }
}
