//! Lines of any length and dtype, on any number of threads.

use super::oracle::*;
use crate::common::Rng;
use flex::DType;
use flex::fft::{self, Fft};

/// Every radix, products of them, primes, and lengths around the vector widths.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=68)
        .chain([
            81, 96, 97, 100, 105, 121, 125, 128, 143, 169, 192, 210, 243, 251, 256, 343,
        ])
        .chain([
            360, 384, 385, 509, 512, 520, 527, 589, 625, 640, 729, 1000, 1001,
        ])
}

#[test]
fn lines_match_the_definition() {
    let mut rng = Rng(7);
    for n in lengths() {
        let x = random(n, &mut rng);
        let reals: Vec<Z> = x.iter().map(|z| Z::new(z.re, 0.0)).collect();
        for (dtype, tolerance) in [(DType::Complex64, 4e-7), (DType::Complex128, 8e-16)] {
            let tolerance = tolerance * (1.0 + (n as f64).log2()).sqrt();
            let x = complex(&tensor(&x, dtype));
            let what = |name: &str| format!("{name} of {n} {dtype}");
            let t = tensor(&x, dtype);
            let y = fft::fft(&t, ()).unwrap();
            assert_eq!(y.dtype(), dtype);
            assert_close(&y, &naive(&x, false), tolerance, &what("fft"));
            let inverse: Vec<Z> = naive(&x, true).iter().map(|z| z / n as f64).collect();
            assert_close(
                &fft::ifft(&t, ()).unwrap(),
                &inverse,
                tolerance,
                &what("ifft"),
            );

            let r = real_tensor(&reals, dtype.real());
            let reals = complex(&r);
            let want = naive(&reals, false);
            assert_close(
                &fft::rfft(&r, ()).unwrap(),
                &want[..n / 2 + 1],
                tolerance,
                &what("rfft"),
            );
            assert_close(
                &fft::fft(&r, ()).unwrap(),
                &want,
                tolerance,
                &what("fft of reals"),
            );
            let conjugates: Vec<Z> = want.iter().map(|z| z.conj() / n as f64).collect();
            assert_close(
                &fft::ifft(&r, ()).unwrap(),
                &conjugates,
                tolerance,
                &what("ifft of reals"),
            );
            assert_close(
                &fft::ihfft(&r, ()).unwrap(),
                &conjugates[..n / 2 + 1],
                tolerance,
                &what("ihfft"),
            );
            let half = tensor(&want[..n / 2 + 1], dtype);
            let how = Fft {
                n: Some(n),
                ..().into()
            };
            let back = fft::irfft(&half, how).unwrap();
            assert_eq!(back.dtype(), dtype.real());
            assert_close(&back, &reals, tolerance, &what("irfft"));
            let half = tensor(&conjugates[..n / 2 + 1], dtype);
            assert_close(
                &fft::hfft(&half, how).unwrap(),
                &reals,
                tolerance,
                &what("hfft"),
            );
        }
    }
}

#[test]
fn long_lines_match_known_spectra() {
    let mut rng = Rng(8);
    // a sum of a few frequencies, whose transform is known
    for n in [1 << 16, 3 << 14, 30030, 65537, 100_003] {
        let tones: Vec<(usize, Z)> = (0..4)
            .map(|_| (rng.below(n), Z::new(rng.unit(), rng.unit())))
            .collect();
        let root = |k: usize| Z::from_polar(1.0, 2.0 * std::f64::consts::PI * k as f64 / n as f64);
        let x: Vec<Z> = (0..n)
            .map(|j| tones.iter().map(|(f, a)| a * root(f * j % n)).sum())
            .collect();
        let mut want = vec![Z::ZERO; n];
        tones.iter().for_each(|(f, a)| want[*f] += a * n as f64);
        for (dtype, tolerance) in [(DType::Complex64, 2e-6), (DType::Complex128, 4e-15)] {
            let run = || fft::fft(&tensor(&x, dtype), ()).unwrap();
            let y = run();
            assert_close(&y, &want, tolerance, &format!("{n} {dtype}"));
            let back = fft::ifft(&y, ()).unwrap();
            assert_close(&back, &x, tolerance, &format!("{n} {dtype}, back"));
            #[cfg(feature = "std")]
            for threads in [1, 2, 7] {
                let other = flex::par::with_threads(threads, run);
                assert!(complex(&y) == complex(&other), "{n} on {threads} threads");
            }
        }
    }
}

#[test]
#[cfg(feature = "std")]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(9);
    for shape in [[300, 257], [3, 1 << 15], [64, 1000], [2, 12289]] {
        let x: Vec<f64> = (0..shape[0] * shape[1]).map(|_| rng.unit()).collect();
        let x = flex::Tensor::from_slice(&x, shape).unwrap();
        for axis in [0, 1] {
            for dtype in [DType::F32, DType::F64] {
                let x = x.astype(dtype).unwrap();
                let run = || {
                    let y = fft::rfft(&x, axis).unwrap();
                    let n = Some(shape[axis as usize]);
                    let back = fft::irfft(
                        &y,
                        Fft {
                            n,
                            axis,
                            ..().into()
                        },
                    )
                    .unwrap();
                    (
                        complex(&y),
                        back.astype(DType::F64).unwrap().to_vec::<f64>().unwrap(),
                    )
                };
                let one = flex::par::with_threads(1, run);
                for threads in [2, 7] {
                    assert!(
                        flex::par::with_threads(threads, run) == one,
                        "{shape:?} axis {axis}"
                    );
                }
            }
        }
    }
}

#[test]
fn non_finite_values_reach_the_whole_line() {
    for n in [8usize, 15, 64, 97, 256, 1000] {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut x = vec![Z::ONE; n];
            x[n / 2].re = bad;
            let y = complex(&fft::fft(&tensor(&x, DType::Complex64), ()).unwrap());
            assert!(
                y.iter().all(|z| !z.re.is_finite() || !z.im.is_finite()),
                "{n} {bad}"
            );
            let y = complex(&fft::rfft(&real_tensor(&x, DType::F64), ()).unwrap());
            assert!(
                y.iter().all(|z| !z.re.is_finite() || !z.im.is_finite()),
                "{n} {bad}"
            );
        }
    }
}
