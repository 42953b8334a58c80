//! Elementwise operations: in cache and beyond, over layouts, and the elementary functions.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, ops};

const SIZES: [usize; 4] = [16, 4 << 10, 1 << 20, 16 << 20];
const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::BF16, DType::I32];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn add(bencher: Bencher, n: usize) {
    let (a, b) = (uniform(&[n], DType::F32), uniform(&[n], DType::F32));
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench(args = SIZES)]
fn multiply_by_a_number(bencher: Bencher, n: usize) {
    let a = uniform(&[n], DType::F32);
    time(bencher, || ops::multiply(&a, 2.5));
}

#[divan::bench(args = DTYPES)]
fn add_in_cache(bencher: Bencher, dtype: DType) {
    let (a, b) = (uniform(&[64 << 10], dtype), uniform(&[64 << 10], dtype));
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench]
fn row(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1024, 1024], DType::F32),
        uniform(&[1024], DType::F32),
    );
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench]
fn column(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1024, 1024], DType::F32),
        uniform(&[1024, 1], DType::F32),
    );
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench]
fn transposed(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1024, 1024], DType::F32),
        uniform(&[1024, 1024], DType::F32),
    );
    let a = a.transpose(0, 1).unwrap();
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench]
fn flipped(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1 << 20], DType::F32),
        uniform(&[1 << 20], DType::F32),
    );
    let a = a.flip([0]).unwrap();
    time(bencher, || ops::add(&a, &b));
}

#[divan::bench(args = [DType::F32, DType::F64, DType::BF16])]
fn exp(bencher: Bencher, dtype: DType) {
    let a = uniform(&[1 << 20], dtype);
    time(bencher, || ops::exp(&a));
}

#[divan::bench(args = [DType::F64, DType::F16, DType::BF16, DType::I32, DType::Bool])]
fn cast_from_float32(bencher: Bencher, dtype: DType) {
    let a = uniform(&[1 << 20], DType::F32);
    time(bencher, || a.astype(dtype));
}
