//! Fourier transforms against sums of products in float64.

#[cfg(all(feature = "complex", feature = "f64"))]
mod lines;
mod slices;
#[cfg(all(feature = "complex", feature = "f64"))]
mod tensors;

#[cfg(all(feature = "complex", feature = "f64"))]
mod oracle {
    use crate::common::Rng;
    use flex::dtype::Complex128;
    use flex::{DType, Tensor};
    use num_complex::Complex;

    pub type Z = Complex<f64>;

    /// The transform by its definition, the angles reduced in integers.
    pub fn naive(x: &[Z], inverse: bool) -> Vec<Z> {
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

    pub fn random(n: usize, rng: &mut Rng) -> Vec<Z> {
        (0..n).map(|_| Z::new(rng.unit(), rng.unit())).collect()
    }

    pub fn tensor(x: &[Z], dtype: DType) -> Tensor {
        Tensor::from_slice(x, [x.len()])
            .unwrap()
            .astype(dtype)
            .unwrap()
    }
    pub fn real_tensor(x: &[Z], dtype: DType) -> Tensor {
        let x: Vec<f64> = x.iter().map(|z| z.re).collect();
        Tensor::from_slice(&x, [x.len()])
            .unwrap()
            .astype(dtype)
            .unwrap()
    }
    pub fn complex(x: &Tensor) -> Vec<Z> {
        x.astype(DType::Complex128)
            .unwrap()
            .to_vec::<Complex128>()
            .unwrap()
    }

    /// The relative error in the 2-norm is within the tolerance.
    #[track_caller]
    pub fn assert_close(got: &Tensor, want: &[Z], tolerance: f64, what: &str) {
        let got = complex(got);
        assert_eq!(got.len(), want.len(), "{what}");
        let error: f64 = got.iter().zip(want).map(|(a, b)| (a - b).norm_sqr()).sum();
        let size: f64 = want.iter().map(|b| b.norm_sqr()).sum();
        let relative = (error / size.max(1e-300)).sqrt();
        assert!(relative <= tolerance, "{what}: error {relative:e}");
    }
}
