//! Elementwise operations: in and out of cache, over several layouts, and the elementary functions.

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

#[divan::bench(args = SIZES)]
fn ewise_add(bencher: Bencher, n: usize) {
    let (a, b) = (uniform(&[n], DType::F32), uniform(&[n], DType::F32));
    time(bencher, || ops::ewise((&a, &b), |a: f32, b: f32| a + b));
}

#[divan::bench(args = SIZES)]
fn ewise_multiply_by_a_number(bencher: Bencher, n: usize) {
    let a = uniform(&[n], DType::F32);
    time(bencher, || ops::ewise((&a, 2.5), |a: f32, k: f32| a * k));
}

#[divan::bench(args = SIZES)]
fn multiply_and_add(bencher: Bencher, n: usize) {
    let [a, b, c] = [(); 3].map(|()| uniform(&[n], DType::F32));
    time(bencher, || ops::add(ops::multiply(&a, &b)?, &c));
}

#[divan::bench(args = SIZES)]
fn ewise_multiply_and_add(bencher: Bencher, n: usize) {
    let [a, b, c] = [(); 3].map(|()| uniform(&[n], DType::F32));
    time(bencher, || {
        ops::ewise((&a, &b, &c), |a: f32, b: f32, c: f32| a * b + c)
    });
}

/// A polynomial of degree 4, by Horner's rule.
#[divan::bench(args = SIZES)]
fn polynomial(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    time(bencher, || {
        let mut y = ops::multiply(&x, 0.1)?;
        for c in [0.2, 0.3, 0.4] {
            y = ops::multiply(ops::add(y, c)?, &x)?;
        }
        ops::add(y, 0.5)
    });
}

#[divan::bench(args = SIZES)]
fn ewise_polynomial(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    time(bencher, || {
        ops::ewise(&x, |x: f32| {
            (((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x + 0.5
        })
    });
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
fn ewise_column(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1024, 1024], DType::F32),
        uniform(&[1024, 1], DType::F32),
    );
    time(bencher, || ops::ewise((&a, &b), |a: f32, b: f32| a + b));
}

#[divan::bench]
fn ewise_transposed(bencher: Bencher) {
    let (a, b) = (
        uniform(&[1024, 1024], DType::F32),
        uniform(&[1024, 1024], DType::F32),
    );
    let a = a.transpose(0, 1).unwrap();
    time(bencher, || ops::ewise((&a, &b), |a: f32, b: f32| a + b));
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
