//! Fourier transforms against sums of products in float64, over lengths, dtypes, layouts and axes.
#![cfg(all(feature = "complex", feature = "f64"))]

use crate::common::*;
use flex::dtype::{Complex64, Complex128};
use flex::fft::{self, Fft, FftN, Norm};
use flex::{DType, Error, Tensor, ops};
use num_complex::Complex;

type Z = Complex<f64>;

/// The transform by its definition, the angles reduced in integers.
fn naive(x: &[Z], inverse: bool) -> Vec<Z> {
    let n = x.len();
    let sign = if inverse { 1.0 } else { -1.0 };
    let roots: Vec<Z> = (0..n)
        .map(|k| {
            let k = if 2 * k > n {
                k as f64 - n as f64
            } else {
                k as f64
            };
            Z::from_polar(1.0, sign * 2.0 * std::f64::consts::PI * k / n as f64)
        })
        .collect();
    (0..n)
        .map(|k| (0..n).map(|j| x[j] * roots[j * k % n]).sum())
        .collect()
}

fn random(n: usize, rng: &mut Rng) -> Vec<Z> {
    (0..n).map(|_| Z::new(rng.unit(), rng.unit())).collect()
}

fn tensor(x: &[Z], dtype: DType) -> Tensor {
    Tensor::from_slice(x, [x.len()])
        .unwrap()
        .astype(dtype)
        .unwrap()
}
fn real_tensor(x: &[Z], dtype: DType) -> Tensor {
    let x: Vec<f64> = x.iter().map(|z| z.re).collect();
    Tensor::from_slice(&x, [x.len()])
        .unwrap()
        .astype(dtype)
        .unwrap()
}
fn complex(x: &Tensor) -> Vec<Z> {
    x.astype(DType::Complex128)
        .unwrap()
        .to_vec::<Complex128>()
        .unwrap()
}

/// The error of all elements together, relative to their size.
#[track_caller]
fn assert_close(got: &Tensor, want: &[Z], tolerance: f64, what: &str) {
    let got = complex(got);
    assert_eq!(got.len(), want.len(), "{what}");
    let error: f64 = got.iter().zip(want).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f64 = want.iter().map(|b| b.norm_sqr()).sum();
    let relative = (error / size.max(1e-300)).sqrt();
    assert!(relative <= tolerance, "{what}: error {relative:e}");
}

/// Each factor, products of them, primes, and lengths around the vectors' widths.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=68)
        .chain([
            81, 96, 97, 100, 105, 121, 125, 128, 143, 169, 192, 210, 243, 251, 256, 343,
        ])
        .chain([360, 384, 385, 509, 512, 520, 625, 640, 729, 1000, 1001])
}

#[test]
fn lines_of_any_length() {
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
            let back = fft::irfft(&half, how.clone()).unwrap();
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
fn long_lines() {
    let mut rng = Rng(8);
    // a few frequencies, whose transform is known
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
            let y = flex::par::with_threads(1, run);
            assert_close(&y, &want, tolerance, &format!("{n} {dtype}"));
            let back = fft::ifft(&y, ()).unwrap();
            assert_close(&back, &x, tolerance, &format!("{n} {dtype}, back"));
            for threads in [2, 7] {
                let other = flex::par::with_threads(threads, run);
                assert!(complex(&y) == complex(&other), "{n} on {threads} threads");
            }
        }
    }
}

#[test]
fn threads_have_no_say() {
    let mut rng = Rng(9);
    for shape in [[300, 257], [3, 1 << 15], [64, 1000], [2, 12289]] {
        let x: Vec<f64> = (0..shape[0] * shape[1]).map(|_| rng.unit()).collect();
        let x = Tensor::from_slice(&x, shape).unwrap();
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
fn layouts_and_axes() {
    let mut rng = Rng(10);
    for shape in [vec![6, 5, 4], vec![3, 40, 2], vec![17, 33]] {
        let len: usize = shape.iter().product();
        let x = Tensor::from_slice(&random(len, &mut rng), &shape[..]).unwrap();
        for axis in 0..shape.len() as isize {
            let last = x.moveaxis(axis, -1).unwrap().contiguous().unwrap();
            let want = fft::fft(&last, -1).unwrap().moveaxis(-1, axis).unwrap();
            for view in [
                x.clone(),
                x.moveaxis(0, -1)
                    .unwrap()
                    .contiguous()
                    .unwrap()
                    .moveaxis(-1, 0)
                    .unwrap(),
                x.flip(axis)
                    .unwrap()
                    .contiguous()
                    .unwrap()
                    .flip(axis)
                    .unwrap(),
            ] {
                let got = fft::fft(&view, axis).unwrap();
                assert_eq!(got.shape(), x.shape());
                assert!(complex(&got) == complex(&want), "{shape:?} axis {axis}");
            }
        }
    }
}

#[test]
fn several_axes_are_one_after_the_other() {
    let mut rng = Rng(11);
    let x = Tensor::from_slice(&random(4 * 6 * 10, &mut rng), [4, 6, 10]).unwrap();
    let one_by_one = |x: &Tensor, axes: &[isize], inverse: bool| {
        axes.iter().fold(x.clone(), |x, axis| match inverse {
            true => fft::ifft(&x, *axis).unwrap(),
            false => fft::fft(&x, *axis).unwrap(),
        })
    };
    for axes in [vec![0], vec![1, 2], vec![0, 1, 2], vec![2, 0], vec![]] {
        for inverse in [false, true] {
            let got = match inverse {
                true => fft::ifftn(&x, &axes[..]).unwrap(),
                false => fft::fftn(&x, &axes[..]).unwrap(),
            };
            let want = complex(&one_by_one(&x, &axes, inverse));
            assert_close(&got, &want, 1e-15, &format!("{axes:?}"));
        }
    }
    assert!(complex(&fft::fft2(&x, ()).unwrap()) == complex(&fft::fftn(&x, [1, 2]).unwrap()));
    let real = ops::real(&x).unwrap();
    for s in [[4usize, 6, 10], [5, 3, 7], [8, 6, 9]] {
        let how = FftN {
            s: Some(s.into_iter().collect()),
            ..().into()
        };
        let half = fft::rfftn(&real, how.clone()).unwrap();
        assert_eq!(half.shape(), [s[0], s[1], s[2] / 2 + 1]);
        let whole = fft::fftn(&real, how.clone()).unwrap();
        let want = complex(&whole.narrow(2, 0, s[2] / 2 + 1).unwrap());
        assert_close(&half, &want, 1e-14, &format!("{s:?}"));
        let back = fft::irfftn(&half, how.clone()).unwrap();
        assert_eq!(back.shape(), s);
        let want = complex(&fft::ifftn(&whole, ()).unwrap());
        assert_close(&back, &want, 1e-14, &format!("{s:?}, back"));
    }
}

#[test]
fn lengths_are_cut_and_padded() {
    let x = Tensor::from([1.0f64, 2.0, 3.0, 4.0, 5.0]);
    for n in [1usize, 3, 5, 8, 11] {
        let how = Fft {
            n: Some(n),
            ..().into()
        };
        let values: Vec<Z> = (0..n)
            .map(|k| Z::new(if k < 5 { k as f64 + 1.0 } else { 0.0 }, 0.0))
            .collect();
        assert_close(
            &fft::fft(&x, how.clone()).unwrap(),
            &naive(&values, false),
            1e-15,
            "fft",
        );
        let half = fft::rfft(&x, how).unwrap();
        assert_close(&half, &naive(&values, false)[..n / 2 + 1], 1e-15, "rfft");
    }
    // without a length: of as many as half a spectrum stands for
    assert_eq!(fft::irfft(&x, ()).unwrap().shape(), [8]);
    assert_eq!(fft::hfft(&x, ()).unwrap().shape(), [8]);
}

#[test]
fn norms() {
    let mut rng = Rng(12);
    let x = tensor(&random(12, &mut rng), DType::Complex128);
    let y = complex(&fft::fft(&x, ()).unwrap());
    for (norm, forward) in [
        (Norm::Backward, 1.0),
        (Norm::Ortho, 12f64.sqrt().recip()),
        (Norm::Forward, 1.0 / 12.0),
    ] {
        let how = Fft { norm, ..().into() };
        let got = fft::fft(&x, how.clone()).unwrap();
        let want: Vec<Z> = y.iter().map(|z| z * forward).collect();
        assert_close(&got, &want, 1e-15, &format!("{norm:?}"));
        assert_close(
            &fft::ifft(&got, how).unwrap(),
            &complex(&x),
            1e-15,
            &format!("{norm:?}"),
        );
        let how = FftN { norm, ..().into() };
        let got = fft::fftn(&x, how.clone()).unwrap();
        assert_close(
            &fft::ifftn(&got, how).unwrap(),
            &complex(&x),
            1e-15,
            &format!("{norm:?}"),
        );
    }
}

#[test]
fn dtypes() {
    for d in DType::ALL.into_iter().filter(|d| d.is_available()) {
        let x = ops::ones([6], d).unwrap();
        let y = fft::fft(&x, ());
        if d.is_storage() {
            assert!(matches!(y, Err(Error::DType { .. })));
            continue;
        }
        assert_eq!(y.unwrap().dtype(), d.complex());
        assert_eq!(fft::irfft(&x, ()).unwrap().dtype(), d.complex().real());
        match d.is_complex() {
            true => assert!(matches!(
                fft::rfft(&x, ()),
                Err(Error::DType { op: "rfft", .. })
            )),
            false => assert_eq!(fft::rfft(&x, ()).unwrap().dtype(), d.complex()),
        }
    }
}

#[test]
fn what_is_not_finite_reaches_all() {
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

#[test]
fn no_lines_and_errors() {
    let empty = Tensor::zeros([0, 8], DType::F32).unwrap();
    assert_eq!(fft::rfft(&empty, ()).unwrap().shape(), [0, 5]);
    assert_eq!(
        fft::fft2(&Tensor::zeros([0, 3, 8], DType::F32).unwrap(), ())
            .unwrap()
            .shape(),
        [0, 3, 8]
    );
    assert!(matches!(
        fft::fft(&empty, 0),
        Err(Error::Value { op: "fft", .. })
    ));
    let padded = fft::fft(
        &empty,
        Fft {
            n: Some(3),
            axis: 0,
            ..().into()
        },
    )
    .unwrap();
    assert!(complex(&padded).iter().all(|z| *z == Z::ZERO) && padded.shape() == [3, 8]);
    let x = Tensor::from([1.0f32, 2.0]);
    assert!(matches!(
        fft::fft(&x, 1),
        Err(Error::Axis { op: "fft", .. })
    ));
    assert!(matches!(
        fft::fft(
            &x,
            Fft {
                n: Some(0),
                ..().into()
            }
        ),
        Err(Error::Value { .. })
    ));
    assert!(matches!(
        fft::irfft(&Tensor::from([1.0f32]), ()),
        Err(Error::Value { .. })
    ));
    assert!(matches!(
        fft::fft2(&x, ()),
        Err(Error::Axis { op: "fft2", .. })
    ));
    assert!(matches!(
        fft::rfftn(&x, &[] as &[isize]),
        Err(Error::Value { .. })
    ));
    assert!(matches!(
        fft::fftn(&x, [0, 0]),
        Err(Error::Axis { repeated: true, .. })
    ));
    let two = FftN {
        s: Some([2usize, 2].into_iter().collect()),
        ..().into()
    };
    assert!(matches!(fft::fftn(&x, two), Err(Error::Value { .. })));
    assert!(matches!(
        fft::fft(
            &x,
            Fft {
                n: Some(usize::MAX / 2),
                ..().into()
            }
        ),
        Err(_)
    ));
}

#[test]
fn frequencies_and_shifts() {
    let t = |x: &[f64]| Tensor::from_slice(x, [x.len()]).unwrap();
    for (n, all, half) in [
        (1, vec![0.0], vec![0.0]),
        (2, vec![0.0, -1.0], vec![0.0, 1.0]),
        (4, vec![0.0, 1.0, -2.0, -1.0], vec![0.0, 1.0, 2.0]),
        (5, vec![0.0, 1.0, 2.0, -2.0, -1.0], vec![0.0, 1.0, 2.0]),
    ] {
        let d = 1.0 / n as f64;
        let got = fft::fftfreq(n, d, DType::F64).unwrap();
        assert_eq!(got.to_vec::<f64>().unwrap(), all);
        assert_eq!(
            fft::rfftfreq(n, d, DType::F64)
                .unwrap()
                .to_vec::<f64>()
                .unwrap(),
            half
        );
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let shifted = fft::fftshift(&t(&all), ()).unwrap();
        assert_eq!(shifted.to_vec::<f64>().unwrap(), sorted);
        assert_eq!(
            fft::ifftshift(&shifted, 0)
                .unwrap()
                .to_vec::<f64>()
                .unwrap(),
            all
        );
    }
    assert!(matches!(
        fft::fftfreq(0, 1.0, DType::F32),
        Err(Error::Value { .. })
    ));
    assert!(matches!(
        fft::fftfreq(3, 1.0, DType::I64),
        Err(Error::DType { .. })
    ));
}

#[test]
fn shapes_of_complex_types() {
    // the types of the crate are those that tests write
    let x = [Complex64::new(1.0, 2.0)];
    assert_eq!(
        fft::fft(&Tensor::from_slice(&x, [1]).unwrap(), ())
            .unwrap()
            .to_vec::<Complex64>()
            .unwrap(),
        x
    );
}
