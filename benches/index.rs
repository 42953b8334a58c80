//! Gathering, scattering, masks.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, Tensor, ops};

fn main() {
    divan::main();
}

/// `n` indices below `size`, spread over the range.
fn positions(n: usize, size: usize) -> Tensor {
    let values: Vec<i64> = (0..n)
        .map(|k| (k.wrapping_mul(2_654_435_761) % size) as i64)
        .collect();
    Tensor::from_slice(&values, [n]).unwrap()
}

#[divan::bench]
fn take_rows(bencher: Bencher) {
    let (x, rows) = (uniform(&[30_522, 384], DType::F32), positions(8192, 30_522));
    time(bencher, || ops::take(&x, &rows, 0));
}

#[divan::bench]
fn take_along_axis(bencher: Bencher) {
    let (x, columns) = (
        uniform(&[1024, 1024], DType::F32),
        positions(1 << 20, 1024).reshape([1024, 1024]).unwrap(),
    );
    time(bencher, || ops::take_along_axis(&x, &columns, 1));
}

#[divan::bench]
fn masked_select(bencher: Bencher) {
    let x = uniform(&[1 << 20], DType::F32);
    let mask = ops::greater(&x, 0.0).unwrap();
    time(bencher, || ops::masked_select(&x, &mask));
}

#[divan::bench]
fn index_add(bencher: Bencher) {
    let (x, rows, values) = (
        uniform(&[1024, 384], DType::F32),
        positions(8192, 1024),
        uniform(&[8192, 384], DType::F32),
    );
    time(bencher, || ops::index_add(&x, &rows, &values, 0));
}

#[divan::bench]
fn transposed_copy(bencher: Bencher) {
    let x = uniform(&[2048, 2048], DType::F32).transpose(0, 1).unwrap();
    time(bencher, || x.contiguous());
}
