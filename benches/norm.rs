//! Softmax and normalisation.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, nn};

fn main() {
    divan::main();
}

#[divan::bench(args = [(4096, 1024), (1, 50_257)])]
fn softmax(bencher: Bencher, (rows, columns): (usize, usize)) {
    let x = uniform(&[rows, columns], DType::F32);
    time(bencher, || nn::softmax(&x, -1));
}

#[divan::bench]
fn layer_norm(bencher: Bencher) {
    let (x, weight) = (
        uniform(&[4096, 768], DType::F32),
        uniform(&[768], DType::F32),
    );
    time(bencher, || {
        nn::layer_norm(
            &x,
            [768],
            nn::LayerNorm {
                weight: Some(&weight),
                bias: Some(&weight),
                ..Default::default()
            },
        )
    });
}

#[divan::bench]
fn rms_norm(bencher: Bencher) {
    let (x, weight) = (
        uniform(&[4096, 768], DType::F32),
        uniform(&[768], DType::F32),
    );
    time(bencher, || {
        nn::rms_norm(
            &x,
            [768],
            nn::RmsNorm {
                weight: Some(&weight),
                ..Default::default()
            },
        )
    });
}
