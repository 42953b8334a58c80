//! Matrix products, large and small, and the layers of models built from them.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, nn, ops};

fn main() {
    divan::main();
}

#[divan::bench(args = [16, 64, 128, 256, 512, 1024])]
fn square(bencher: Bencher, n: usize) {
    let (a, b) = (uniform(&[n, n], DType::F32), uniform(&[n, n], DType::F32));
    time(bencher, || ops::matmul(&a, &b));
}

#[divan::bench(args = [DType::F64, DType::F16, DType::BF16, DType::I8, DType::I32, DType::Complex64])]
fn square_512(bencher: Bencher, dtype: DType) {
    let (a, b) = (uniform(&[512, 512], dtype), uniform(&[512, 512], dtype));
    time(bencher, || ops::matmul(&a, &b));
}

#[divan::bench(args = [1, 4, 8, 16])]
fn few_rows(bencher: Bencher, rows: usize) {
    let (a, b) = (
        uniform(&[rows, 4096], DType::F32),
        uniform(&[4096, 4096], DType::F32),
    );
    time(bencher, || ops::matmul(&a, &b));
}

#[divan::bench]
fn batch(bencher: Bencher) {
    let (a, b) = (
        uniform(&[96, 64, 64], DType::F32),
        uniform(&[96, 64, 64], DType::F32),
    );
    time(bencher, || ops::matmul(&a, &b));
}

#[divan::bench(args = [8, 256, 2048])]
fn linear(bencher: Bencher, tokens: usize) {
    let (x, weight, bias) = (
        uniform(&[tokens, 384], DType::F32),
        uniform(&[1536, 384], DType::F32),
        uniform(&[1536], DType::F32),
    );
    time(bencher, || nn::linear(&x, &weight, Some(&bias)));
}

#[divan::bench]
fn attention(bencher: Bencher) {
    let x = uniform(&[32, 12, 64, 32], DType::F32);
    time(bencher, || {
        nn::scaled_dot_product_attention(&x, &x, &x, nn::Attention::default())
    });
}
