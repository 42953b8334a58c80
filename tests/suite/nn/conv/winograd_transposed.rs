//! Transposed convolutions by Winograd's algorithm.

use super::*;

type Sizes = &'static [usize];

/// Shapes of `x` and the weight, stride, padding, output padding, dilation, groups.
pub(super) const CASES: &[(Sizes, Sizes, Sizes, usize, usize, Sizes, usize)] = &[
    // two taps for each phase, from three elements or from two
    (&[1, 32, 20, 21], &[32, 16, 4, 4], &[2, 2], 1, 0, &[1, 1], 1),
    (&[2, 16, 9, 30], &[16, 20, 4, 4], &[2, 2], 0, 0, &[1, 1], 1),
    (&[1, 48, 16, 16], &[48, 24, 3, 3], &[2, 2], 1, 1, &[1, 1], 2),
    (&[1, 20, 13, 40], &[20, 33, 3, 6], &[1, 3], 2, 0, &[1, 1], 1),
    // three elements for each phase
    (&[1, 16, 14, 12], &[16, 16, 6, 6], &[2, 2], 2, 0, &[1, 1], 1),
    // signals: phases of two taps, and of three
    (&[3, 32, 100], &[32, 40, 4], &[2], 1, 0, &[1], 1),
    (&[1, 64, 60], &[64, 32, 16], &[8], 4, 0, &[1], 1),
    (&[2, 16, 90], &[16, 16, 9], &[3], 3, 0, &[1], 1),
    // volumes
    (
        &[1, 16, 5, 10, 11],
        &[16, 18, 4, 4, 4],
        &[2, 2, 2],
        1,
        0,
        &[1, 1, 1],
        1,
    ),
    (
        &[2, 16, 3, 12, 12],
        &[16, 16, 1, 4, 4],
        &[1, 2, 2],
        0,
        0,
        &[1, 1, 1],
        1,
    ),
    (
        &[1, 16, 6, 12, 12],
        &[16, 16, 3, 4, 4],
        &[1, 2, 2],
        1,
        0,
        &[2, 1, 1],
        1,
    ),
];

/// The result of a case for these operands.
pub(super) fn transposed(
    case: usize,
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    precise: bool,
) -> Tensor {
    let (_, _, stride, padding, output_padding, dilation, groups) = CASES[case];
    let options = nn::ConvTranspose {
        bias,
        stride: PerAxis::from(stride),
        padding: padding.into(),
        output_padding: output_padding.into(),
        dilation: PerAxis::from(dilation),
        groups,
        precise,
    };
    match x.rank() {
        3 => nn::conv_transpose1d(x, w, options),
        4 => nn::conv_transpose2d(x, w, options),
        _ => nn::conv_transpose3d(x, w, options),
    }
    .unwrap()
}

/// The largest difference.
fn farthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    (a.iter().zip(b)).fold(0.0, |far, (a, b)| f64::max(far, (a - b).abs()))
}

/// With a bias, from images of any layout, three times, since the transformed weight is
/// cached from the second time on.
#[test]
fn transposed_winograd_matches_the_sum_over_elements() {
    for (i, (shape, weight, .., groups)) in CASES.iter().enumerate() {
        let x = integers(shape, DType::F32, 1, i % 4);
        let w = integers(weight, DType::F32, 2, i % 2);
        let b = tensor(&[weight[1] * groups], 3);
        let want = doubles(&transposed(i, &x, &w, Some(&b), true));
        for _ in 0..3 {
            let far = farthest(&doubles(&transposed(i, &x, &w, Some(&b), false)), &want);
            assert!(far < 1e-3, "{shape:?}: {far}");
        }
    }
}

#[cfg(feature = "f64")]
#[test]
fn errors_of_transposed_winograd_are_at_most_four_times_as_large() {
    for (i, (shape, weight, ..)) in CASES.iter().enumerate() {
        let (x, w) = (tensor(shape, 1), tensor(weight, 2));
        let wide = |t: &Tensor| t.astype(DType::F64).unwrap();
        let want = transposed(i, &wide(&x), &wide(&w), None, true);
        let want = want.to_vec::<f64>().unwrap();
        let [fast, precise] =
            [false, true].map(|precise| doubles(&transposed(i, &x, &w, None, precise)));
        assert!(fast != precise, "{shape:?}: not by Winograd's algorithm");
        let (fast, precise) = (farthest(&fast, &want), farthest(&precise, &want));
        assert!(fast <= 4.0 * precise, "{shape:?}: {fast:e} {precise:e}");
    }
}

/// All is recomputed then.
#[test]
fn transposed_winograd_confines_non_finite_values() {
    for (i, (shape, weight, ..)) in CASES.iter().enumerate() {
        let mut values = tensor(shape, 1).to_vec::<f32>().unwrap();
        (values[30], values[50], values[77]) = (f32::NAN, f32::INFINITY, 3e38);
        let x = Tensor::from_slice(&values, *shape).unwrap();
        let w = tensor(weight, 2);
        let [got, want] =
            [false, true].map(|precise| doubles(&transposed(i, &x, &w, None, precise)));
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        assert!(got.iter().zip(&want).all(same), "{shape:?}");
        assert!(got.iter().any(|x| x.is_finite()));
    }
}

#[cfg(feature = "std")]
#[test]
fn bits_of_transposed_winograd_do_not_depend_on_threads() {
    for (i, (shape, weight, ..)) in CASES.iter().enumerate() {
        let (x, w) = (tensor(shape, 1), tensor(weight, 2));
        let of =
            |threads| flex::with_threads(threads, || doubles(&transposed(i, &x, &w, None, false)));
        let one = of(1);
        assert!(of(2) == one && of(7) == one, "{shape:?}");
    }
}

/// The gradient of a strided convolution's image is a transposed one, which is exact if asked to.
#[test]
fn gradients_of_strided_images_are_precise_if_asked() {
    let (x, w) = (
        integers(&[1, 16, 24, 24], DType::F32, 1, 0),
        integers(&[32, 16, 4, 4], DType::F32, 2, 0),
    );
    let options = |precise| Conv {
        stride: 2.into(),
        padding: 1.into(),
        precise,
        ..Default::default()
    };
    let y = nn::conv2d(&x, &w, options(true)).unwrap();
    let grad = integers(y.shape(), DType::F32, 3, 0);
    let of = |precise| nn::grad::conv2d(&grad, &x, &w, options(precise)).unwrap();
    let (fast, exact) = (doubles(&of(false)[0]), doubles(&of(true)[0]));
    assert!(exact.iter().all(|x| x.fract() == 0.0));
    assert!(farthest(&fast, &exact) < 1e-3);
}
