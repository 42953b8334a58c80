//! The pool: the cost of allocating and freeing a block, and the hit rate of a mixed workload.

mod common;
use common::Rng;
use divan::{Bencher, black_box};
use flex::{Bytes, memory_stats};

fn main() {
    divan::main();
    mixed();
}

#[divan::bench(args = [64, 64 << 10, 64 << 20])]
fn pair(bencher: Bencher, bytes: usize) {
    bencher.bench(|| drop(black_box(Bytes::new(black_box(bytes)).unwrap())));
}

/// Blocks allocated here and freed on another thread.
#[divan::bench(args = [64, 64 << 10], sample_count = 20)]
fn thousand_given_back_elsewhere(bencher: Bencher, bytes: usize) {
    bencher.bench_local(|| {
        let blocks: Vec<_> = (0..1000).map(|_| Bytes::new(bytes).unwrap()).collect();
        std::thread::spawn(move || drop(blocks)).join().unwrap()
    });
}

/// A hundred live blocks of 64 bytes to 64 MiB, replaced at random by blocks of other sizes.
fn mixed() {
    let mut rng = Rng(1);
    let mut living: Vec<_> = (0..200).map(|_| Bytes::new(64).unwrap()).collect();
    for round in 0..4 {
        let before = memory_stats();
        for _ in 0..20_000 {
            // small blocks are common, and most sizes of large blocks recur
            let bytes = if rng.below(50) == 0 {
                (1 << 20) * (1 + rng.below(64))
            } else {
                64 << rng.below(12)
            };
            living[rng.below(200)] = Bytes::new(bytes).unwrap();
        }
        let now = memory_stats();
        let (hits, misses) = (now.hits - before.hits, now.misses - before.misses);
        let rate = hits as f64 / (hits + misses) as f64;
        println!(
            "round {round}: {rate:.4} of the blocks found, {} MiB in use, {} MiB kept",
            now.in_use >> 20,
            now.cached >> 20
        );
    }
}
