//! Signals: windows against known values, frames and convolutions against their definitions. The
//! comparison with SciPy is in tests/python.

use flex::signal::{self, Ends, Mel, Window};
use flex::{DType, Error};

#[test]
fn windows_have_known_values() {
    let values = |n, shape, ends| {
        let w = signal::window(n, shape, ends, DType::F32).unwrap();
        w.to_vec::<f32>().unwrap()
    };
    assert_eq!(
        values(5, Window::Hann, Ends::Symmetric),
        [0.0, 0.5, 1.0, 0.5, 0.0]
    );
    assert_eq!(
        values(4, Window::Hann, Ends::Periodic),
        [0.0, 0.5, 1.0, 0.5]
    );
    assert_eq!(
        values(3, Window::Hamming, Ends::Symmetric),
        [0.08, 1.0, 0.08]
    );
    assert_eq!(values(1, Window::Blackman, Ends::Symmetric), [1.0]);
    assert_eq!(values(0, Window::Kaiser(3.0), Ends::Periodic), [0.0f32; 0]);
    // I0(1) = 1.2660658777520084, I0(sqrt(3) / 2) = 1.1964
    let kaiser = values(5, Window::Kaiser(1.0), Ends::Symmetric);
    assert!((kaiser[0] - 1.0 / 1.266_066).abs() < 1e-6 && kaiser[2] == 1.0);
    let tail = values(3, Window::Gaussian(0.5), Ends::Symmetric)[0];
    assert!((tail - (-2.0f32).exp()).abs() < 1e-7);
    for shape in [
        Window::Gaussian(0.0),
        Window::Kaiser(f64::NAN),
        Window::Kaiser(1e3),
    ] {
        assert!(matches!(
            signal::window(3, shape, Ends::Symmetric, DType::F32),
            Err(Error::Value { .. })
        ));
    }
    assert!(matches!(
        signal::window(3, Window::Hann, Ends::Symmetric, DType::I64),
        Err(Error::DType { .. })
    ));
}

#[test]
fn mel_filters_are_triangles() {
    // by HTK's formula, 8 kHz is 2840.02 mel
    let how = Mel {
        n_mels: 3,
        htk: true,
        normalized: false,
        ..Mel::of(16000.0, 16)
    };
    let filters = signal::mel_filters(&how, DType::F32).unwrap();
    let got = filters.to_vec::<f32>().unwrap();
    let edges = [0.0, 614.3, 1767.8, 3933.4, 8000.0f64];
    for (k, got) in got.iter().enumerate() {
        let (m, f) = (k / 9, (k % 9) as f64 * 1000.0);
        let rise = (f - edges[m]) / (edges[m + 1] - edges[m]);
        let fall = (edges[m + 2] - f) / (edges[m + 2] - edges[m + 1]);
        assert!(
            (*got as f64 - rise.min(fall).max(0.0)).abs() < 1e-3,
            "{k}: {got}"
        );
    }
    for wrong in [
        Mel {
            fmin: 9000.0,
            ..how
        },
        Mel { fmin: -1.0, ..how },
        Mel { n_mels: 0, ..how },
        Mel { n_fft: 0, ..how },
        Mel {
            sample_rate: f64::NAN,
            ..how
        },
    ] {
        assert!(matches!(
            signal::mel_filters(&wrong, DType::F32),
            Err(Error::Value { .. })
        ));
    }
}

#[cfg(all(feature = "complex", feature = "f64"))]
mod spectra {
    use crate::common::Rng;
    use flex::signal::{self, Extent, Method, Stft};
    use flex::{Error, Tensor, fft, ops};

    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng(seed);
        (0..n).map(|_| rng.unit()).collect()
    }
    fn tensor(x: &[f64]) -> Tensor {
        Tensor::from_slice(x, [x.len()]).unwrap()
    }
    #[track_caller]
    fn assert_close(got: &Tensor, want: &[f64]) {
        let got = got.to_vec::<f64>().unwrap();
        assert_eq!(got.len(), want.len());
        for (k, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() < 1e-12, "{k}: {got}, not {want}");
        }
    }

    #[test]
    fn stft_frames_match_rfft() {
        let (x, w) = (random(50, 1), random(8, 2));
        let window = tensor(&w);
        let how = Stft {
            hop_length: Some(3),
            window: Some(&window),
            center: false,
            ..Stft::of(8)
        };
        let got = signal::stft(&tensor(&x), &how).unwrap();
        assert_eq!(got.shape(), [5, 15]);
        for t in 0..15 {
            let frame: Vec<f64> = (0..8).map(|j| x[3 * t + j] * w[j]).collect();
            let want = fft::rfft(&tensor(&frame), ()).unwrap();
            let got = got.select(1, t as i64).unwrap();
            let parts = |z: &Tensor| ops::real(z).unwrap().to_vec::<f64>().unwrap();
            assert_close(&ops::real(&got).unwrap(), &parts(&want));
        }
        let short = Stft {
            n_fft: 64,
            window: None,
            ..how
        };
        assert!(matches!(
            signal::stft(&tensor(&x), &short),
            Err(Error::Shape { .. })
        ));
        let none = Stft {
            hop_length: Some(0),
            ..how
        };
        assert!(matches!(
            signal::stft(&tensor(&x), &none),
            Err(Error::Value { .. })
        ));
    }

    #[test]
    fn istft_inverts_stft() {
        let x = random(100, 3);
        for (n_fft, hop) in [(8, 2), (16, 4), (7, 3), (10, 10)] {
            let how = Stft {
                hop_length: Some(hop),
                ..Stft::of(n_fft)
            };
            let spectra = signal::stft(&tensor(&x), &how).unwrap();
            let covered = n_fft / 2 * 2 + hop * (spectra.shape()[1] - 1) - n_fft / 2;
            let back = signal::istft(&spectra, &how, Some(100)).unwrap();
            let known = covered.min(100);
            assert_close(&back.narrow(0, 0, known).unwrap(), &x[..known]);
        }
    }

    #[test]
    fn convolve_and_correlate_match_the_definition() {
        for (n, m) in [(1, 1), (5, 3), (3, 5), (200, 7), (130, 90)] {
            let (x, h) = (random(n, 4), random(m, 5));
            let mut full = vec![0.0; n + m - 1];
            for (j, x) in x.iter().enumerate() {
                h.iter().enumerate().for_each(|(k, h)| full[j + k] += x * h);
            }
            let same = &full[(m - 1) / 2..][..n];
            let valid = &full[n.min(m) - 1..n.max(m)];
            for method in [Method::Auto, Method::Direct, Method::Fft] {
                let run =
                    |extent| signal::convolve(&tensor(&x), &tensor(&h), extent, method).unwrap();
                assert_close(&run(Extent::Full), &full);
                assert_close(&run(Extent::Same), same);
                assert_close(&run(Extent::Valid), valid);
            }
            let turned: Vec<f64> = h.iter().rev().copied().collect();
            let got = signal::correlate(&tensor(&x), &tensor(&turned), Extent::Full, Method::Auto);
            assert_close(&got.unwrap(), &full);
        }
    }
}

/// Convolutions by transforms and by sums, against a loop.
#[test]
#[cfg(feature = "complex")]
fn convolutions_by_their_definition() {
    use crate::common::Rng;
    use flex::{Tensor, signal::Method};
    let mut rng = Rng(5);
    for (n, m) in [(1, 1), (5, 3), (40, 17), (3, 64)] {
        let mut random = |n| (0..n).map(|_| rng.unit()).collect::<Vec<f64>>();
        let (a, b): (Vec<f64>, Vec<f64>) = (random(n), random(m));
        let mut want = vec![0.0; n + m - 1];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                want[i + j] += a * b;
            }
        }
        let (x, y) = (Tensor::from(&a[..]), Tensor::from(&b[..]));
        #[allow(unused_mut)]
        let mut results = vec![
            signal::convolve(&x, &y, (), ()).unwrap(),
            signal::convolve(&x, &y, (), Method::Fft).unwrap(),
        ];
        #[cfg(feature = "bindings")]
        results.push(signal::fftconvolve(&x, &y, signal::Extent::Full).unwrap());
        for result in results {
            for (y, want) in result.to_vec::<f64>().unwrap().iter().zip(&want) {
                assert!((y - want).abs() < 1e-13 * (n + m) as f64);
            }
        }
    }
}

#[cfg(feature = "f64")]
mod filters {
    use crate::common::Rng;
    use flex::{Tensor, signal};

    /// A rational filter by its definition.
    fn filtered(b: &[f64], a: &[f64], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        for n in 0..x.len() {
            let past = |c: &[f64], of: &[f64], from: usize| -> f64 {
                (from..c.len().min(n + 1)).map(|k| c[k] * of[n - k]).sum()
            };
            y[n] = (past(b, x, 0) - past(a, &y, 1)) / a[0];
        }
        y
    }

    #[test]
    fn filters_follow_their_definition() {
        let mut rng = Rng(77);
        for (nb, na) in [(1, 1), (3, 1), (1, 3), (4, 3), (2, 5)] {
            let b: Vec<f64> = (0..nb).map(|_| rng.uniform(-1.0, 1.0)).collect();
            let mut a: Vec<f64> = (0..na).map(|_| 0.2 * rng.uniform(-1.0, 1.0)).collect();
            a[0] = 2.0;
            let x: Vec<f64> = (0..3 * 40).map(|_| rng.uniform(-1.0, 1.0)).collect();
            let vector = |v: &[f64]| Tensor::from_slice(v, [v.len()]).unwrap();
            let t = Tensor::from_slice(&x, [3, 40]).unwrap();
            let (y, state) = signal::lfilter(&vector(&b), &vector(&a), &t, -1, None).unwrap();
            assert!(state.is_none());
            let y = y.to_vec::<f64>().unwrap();
            for k in 0..3 {
                let expected = filtered(&b, &a, &x[k * 40..(k + 1) * 40]);
                for (y, e) in y[k * 40..].iter().zip(&expected) {
                    assert!((y - e).abs() <= 1e-12 * (1.0 + e.abs()), "{y} {e}");
                }
            }
            // along the other axis, the same bits
            let turned = t.transpose(0, 1).unwrap();
            let (other, _) = signal::lfilter(&vector(&b), &vector(&a), &turned, 0, None).unwrap();
            let other = other.transpose(0, 1).unwrap().to_vec::<f64>().unwrap();
            assert_eq!(other, y);
        }
    }

    #[test]
    fn sections_are_filters_one_after_another() {
        let mut rng = Rng(78);
        let x: Vec<f64> = (0..50).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let sections = [
            [1.0, 0.5, 0.25, 1.0, -0.3, 0.1],
            [0.5, 0.0, -1.0, 1.0, 0.2, -0.4],
        ];
        let sos = Tensor::from(sections);
        let (y, _) =
            signal::sosfilt(&sos, &Tensor::from_slice(&x, [50]).unwrap(), 0, None).unwrap();
        let mut expected = x;
        for s in &sections {
            expected = filtered(&s[..3], &s[3..], &expected);
        }
        for (y, e) in y.to_vec::<f64>().unwrap().iter().zip(&expected) {
            assert!((y - e).abs() <= 1e-12 * (1.0 + e.abs()), "{y} {e}");
        }
    }
}
