//! Transforms along axes of tensors in any layout, and their errors.

use super::oracle::*;
use crate::common::Rng;
use flex::fft::{self, Fft, FftN, Norm};
use flex::{DType, Error, Tensor, ops};

#[test]
fn layouts_do_not_matter_along_any_axis() {
    let mut rng = Rng(10);
    for shape in [
        vec![6, 5, 4],
        vec![3, 40, 2],
        vec![17, 33],
        vec![2, 12, 50],
        vec![300, 11],
    ] {
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
                let what = format!("{shape:?} axis {axis}");
                assert_close(&got, &complex(&want), 1e-15, &what);
            }
        }
    }
}

#[test]
fn several_axes_match_one_axis_at_a_time() {
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
fn inputs_are_truncated_and_zero_padded() {
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
            &fft::fft(&x, how).unwrap(),
            &naive(&values, false),
            1e-15,
            "fft",
        );
        let half = fft::rfft(&x, how).unwrap();
        assert_close(&half, &naive(&values, false)[..n / 2 + 1], 1e-15, "rfft");
    }
    // the default length is that of a whole spectrum of even length
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
        let got = fft::fft(&x, how).unwrap();
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
fn empty_tensors_and_errors() {
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
    let endless = Fft {
        n: Some(usize::MAX / 2),
        ..().into()
    };
    assert!(fft::fft(&x, endless).is_err());
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

/// The inverse cosine transforms, by sums in float64 over the definitions in the documentation.
#[test]
fn inverse_cosines_by_their_definitions() {
    use flex::fft::Dct;
    use std::f64::consts::PI;
    let mut rng = Rng(31);
    for n in [2usize, 3, 4, 7, 16, 30] {
        let y: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
        let t = Tensor::from(&y[..]);
        let at = |j: usize| y[j];
        for kind in [Dct::I, Dct::II, Dct::III, Dct::IV] {
            let x = fft::idct(&t, kind, ()).unwrap().to_vec::<f64>().unwrap();
            for (k, x) in x.into_iter().enumerate() {
                let (m, k) = (n as f64, k as f64);
                let sum =
                    |f: &dyn Fn(f64) -> f64| -> f64 { (0..n).map(|j| at(j) * f(j as f64)).sum() };
                let want = match kind {
                    Dct::I => {
                        let twice = 2.0 * sum(&|j| (PI * j * k / (m - 1.0)).cos());
                        let last = at(n - 1) * (PI * k).cos();
                        (twice - at(0) - last) / (2.0 * m - 2.0)
                    }
                    Dct::II => {
                        let twice = 2.0 * sum(&|j| (PI * (2.0 * k + 1.0) * j / (2.0 * m)).cos());
                        (twice - at(0)) / (2.0 * m)
                    }
                    Dct::III => sum(&|j| (PI * k * (2.0 * j + 1.0) / (2.0 * m)).cos()) / m,
                    _ => {
                        let angle = |j: f64| PI * (2.0 * k + 1.0) * (2.0 * j + 1.0) / (4.0 * m);
                        sum(&|j| angle(j).cos()) / m
                    }
                };
                assert!((x - want).abs() < 1e-13, "{kind:?} {n} {k}: {x} {want}");
            }
        }
    }
}

#[test]
fn fast_lengths() {
    let odd = [1usize, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45];
    for least in (1..3000).chain([10_007, 1 << 20, (1 << 20) + 1]) {
        let n = fft::next_fast_len(least);
        assert!(n >= least && n <= least.next_power_of_two());
        assert!(odd.contains(&(n >> n.trailing_zeros())), "{n}");
    }
    assert_eq!(fft::next_fast_len(usize::MAX), usize::MAX);
}
