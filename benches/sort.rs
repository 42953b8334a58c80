//! Sorting and selection.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, ops};

fn main() {
    divan::main();
}

#[divan::bench(args = [1 << 10, 1 << 16, 1 << 20])]
fn sort(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    time(bencher, || ops::sort(&x, -1));
}

#[divan::bench(args = [0, 1])]
fn sort_along_an_axis(bencher: Bencher, axis: isize) {
    let x = uniform(&[1024, 1024], DType::F32);
    time(bencher, || ops::sort(&x, axis));
}

#[divan::bench]
fn argsort(bencher: Bencher) {
    let x = uniform(&[1 << 20], DType::F32);
    time(bencher, || ops::argsort(&x, -1));
}

#[divan::bench(args = [50_000, 1_000_000])]
fn topk_50(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    time(bencher, || ops::topk(&x, 50, -1).map(|(values, _)| values));
}
