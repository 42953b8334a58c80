//! Matrix products: gemm, with its kernels for AVX-512, and faer.

use crate::{compare, values};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use flex::{Tensor, ops};
use gemm::Parallelism;

pub fn run(threads: usize) {
    for [m, k, n] in [
        [64, 64, 64],
        [256, 256, 256],
        [512, 512, 512],
        [1024, 1024, 1024],
        [8, 4096, 4096],
        [2048, 384, 1536],
    ] {
        product(m, k, n, threads, |x| x as f32);
        product(m, k, n, threads, |x| x);
    }
}

/// The product of row-major matrices `[m, k]` and `[k, n]`, into existing memory.
fn product<T>(m: usize, k: usize, n: usize, threads: usize, of: impl Fn(f64) -> T)
where
    T: flex::Element + faer::traits::ComplexField + Copy + 'static,
{
    let [a, b]: [Vec<T>; 2] = [m * k, k * n].map(|len| values(len).into_iter().map(&of).collect());
    let (x, y) = (
        Tensor::from_slice(&a, [m, k]).unwrap(),
        Tensor::from_slice(&b, [k, n]).unwrap(),
    );
    let (mut c, zero, one) = (vec![of(0.0); m * n], of(0.0), of(1.0));
    let gemm_threads = match threads {
        1 => Parallelism::None,
        n => Parallelism::Rayon(n),
    };
    // row-major, as flex's operands are: faer's fastest order is column-major
    let rows = |v: &[T], m, n| Mat::from_fn(n, m, |j, i| v[i * n + j]);
    let (left, right) = (rows(&a, m, k), rows(&b, k, n));
    let mut result = Mat::<T>::zeros(n, m);
    let par = match threads {
        1 => Par::Seq,
        n => Par::rayon(n),
    };
    let mut peers: [crate::Peer; 3] = [
        (
            "flex",
            Box::new(|| {
                flex::with_threads(threads, || ops::matmul(&x, &y)).unwrap();
            }),
        ),
        (
            "gemm",
            Box::new(|| {
                let (n, k) = (n as isize, k as isize);
                // SAFETY: row-major matrices of these shapes; the result overlaps no operand.
                unsafe {
                    gemm::gemm(
                        m,
                        n as usize,
                        k as usize,
                        c.as_mut_ptr(),
                        1,
                        n,
                        false,
                        a.as_ptr(),
                        1,
                        k,
                        b.as_ptr(),
                        1,
                        n,
                        zero,
                        one,
                        false,
                        false,
                        false,
                        gemm_threads,
                    )
                }
            }),
        ),
        (
            "faer",
            Box::new(|| {
                // the transposed product of transposed operands, which are column-major
                matmul(&mut result, Accum::Replace, &right, &left, one, par)
            }),
        ),
    ];
    let what = format!("{} {m} x {k} x {n}", T::DTYPE);
    compare(&what, threads, &mut peers);
}
