//! Measures on this machine what the constants of `kernel/gemm/blocking.rs` were fitted to: the
//! cost of packing an element, in multiply-adds of a tile, and products with several block sizes.
//!
//! ```sh
//! cargo bench --bench blocking
//! FLEX_ISA=avx2 cargo bench --bench blocking
//! ```

mod common;
use common::uniform;
use flex::DType;
use flex::kernel::gemm::{Algorithm, Epilogue, Mat, MatMut, Panels, Strided, blocks, product};
use std::hint::black_box;
use std::time::Instant;

/// The time of the fastest of repeated calls, in seconds.
fn fastest(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_millis() < 300 {
        let begin = Instant::now();
        f();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    let (m, n, k) = (192, 512, 512);
    let values = |len: usize| uniform(&[len], DType::F32).to_vec::<f32>().unwrap();
    let (a, b) = (values(m * k), values(k * n));
    let mut c = vec![0.0f32; m * n];
    let (rows, columns) = (Mat::from_slice(&a, m, k), Mat::from_slice(&a, k, m).t());
    let right = Mat::from_slice(&b, k, n);

    let mut packed = vec![0.0f32; Panels::<f32>::len(blocks::<f32, f32>(k), n)];
    let pack = fastest(|| _ = black_box(Panels::pack(&Strided::columns(right), 0..n, &mut packed)));
    let transposed = Mat::from_slice(&b, n, k).t();
    let pack_transposed = fastest(|| {
        _ = black_box(Panels::pack(
            &Strided::columns(transposed),
            0..n,
            &mut packed,
        ))
    });
    let panels = Panels::pack(&Strided::columns(right), 0..n, &mut packed);
    let mut multiply = |a: Mat<f32>| {
        fastest(|| {
            let c = &mut MatMut::from_slice(&mut c, m, n);
            let done = Algorithm::Blocked.product(a, right, Some(panels), c, false, Epilogue::NONE);
            done.unwrap();
        })
    };
    let direct = multiply(rows);
    let packs_a = multiply(columns);
    let one = direct / (m * n * k) as f64;
    println!("instruction set        {:?}", flex::simd::level());
    println!("multiply-adds          {:8.2} a nanosecond", 1e-9 / one);
    println!(
        "PACK_B                 {:8.1} of them an element",
        pack / (k * n) as f64 / one
    );
    println!(
        "the same, transposed   {:8.1}",
        pack_transposed / (k * n) as f64 / one
    );
    println!(
        "PACK_A                 {:8.1}",
        (packs_a - direct).max(0.0) / (m * k) as f64 / one
    );
    let tiny = fastest(|| {
        let (a, b) = (
            Mat::from_slice(&a[..1], 1, 1),
            Mat::from_slice(&b[..1], 1, 1),
        );
        product(
            a,
            b,
            MatMut::from_slice(&mut c[..1], 1, 1),
            false,
            Epilogue::NONE,
        )
        .unwrap();
    });
    println!("BLOCK                  {:8.0} of them", tiny / one);
    println!("\nm x 512 x 512 by packed panels, of the speed at m = {m}:");
    for m in [1, 2, 4, 6, 7, 12, 13, 24, 48, 96] {
        let mut c = vec![0.0f32; m * n];
        let time = fastest(|| {
            let c = &mut MatMut::from_slice(&mut c, m, n);
            let a = rows.block(0..m, 0..k);
            let done = Algorithm::Blocked.product(a, right, Some(panels), c, false, Epilogue::NONE);
            done.unwrap();
        });
        println!(
            "{m:4}                   {:8.2}",
            one * (m * n * k) as f64 / time
        );
    }
}
