//! Gradients of resampling.

use super::*;
use nn::{Interpolate, InterpolateMode, PadMode};

#[track_caller]
fn check(shape: &[usize], options: Interpolate) {
    let x = wide(shape, 1);
    let f = |x: &Tensor| nn::interpolate(x, options.clone()).unwrap();
    let g = wide(f(&x).shape(), 2);
    let d = grad::interpolate(&g, shape, options.clone()).unwrap();
    assert_eq!(d.shape(), shape);
    agree(&d, &differences(&x, &g, f));
}

#[test]
fn interpolation_matches_differences() {
    use InterpolateMode::*;
    for (align_corners, antialias) in [(false, false), (true, false), (false, true)] {
        for size in [[3, 9], [7, 2], [1, 1], [5, 6], [11, 4]] {
            let to = |mode| Interpolate {
                size: Some(size.into()),
                mode,
                align_corners: align_corners && !matches!(mode, Lanczos3),
                antialias,
                ..Default::default()
            };
            for mode in [Bilinear, Bicubic, Lanczos3] {
                check(&[1, 2, 5, 6], to(mode));
            }
        }
    }
    for mode in [Nearest, NearestExact, Area] {
        for (shape, size) in [
            (&[2, 1, 5][..], &[7][..]),
            (&[2, 1, 5], &[3]),
            (&[1, 2, 4, 3], &[8, 6]),
            (&[1, 2, 4, 5], &[3, 7]),
            (&[1, 1, 3, 4, 2], &[2, 5, 4]),
            (&[2, 1, 5], &[15]),
            (&[1, 2, 2, 3, 2], &[4, 9, 2]),
        ] {
            let options = Interpolate {
                size: Some(size.into()),
                mode,
                ..Default::default()
            };
            check(shape, options);
        }
    }
    for (align_corners, factor) in [(false, 1.7), (true, 2.5), (false, 0.6)] {
        let by = |mode| Interpolate {
            scale_factor: [factor].into_iter().collect(),
            mode,
            align_corners,
            ..Default::default()
        };
        check(&[2, 2, 7], by(Linear));
        check(&[1, 1, 3, 4, 5], by(Trilinear));
    }
}

#[test]
fn padding_matches_differences() {
    let constant = PadMode::Constant(3.into());
    for mode in [
        constant,
        PadMode::Reflect,
        PadMode::Replicate,
        PadMode::Circular,
    ] {
        for (shape, pad) in [
            (&[2, 5][..], &[2, 1][..]),
            (&[1, 2, 5], &[-1, 3]),
            (&[2, 4, 5], &[1, 2, 3, 0]),
            (&[1, 2, 3, 4, 3], &[1, 1, 2, -1, 0, 2]),
        ] {
            let x = wide(shape, 1);
            let f = |x: &Tensor| nn::pad(x, pad, mode).unwrap();
            let g = wide(f(&x).shape(), 2);
            let d = grad::pad(&g, shape, pad, mode).unwrap();
            assert_eq!(d.shape(), shape);
            agree(&d, &differences(&x, &g, f));
        }
    }
}

#[test]
fn resampling_supports_any_layout_and_float() {
    let (shape, options) = (
        [2, 16, 9, 21],
        Interpolate {
            size: Some([14, 40].into()),
            mode: InterpolateMode::Bicubic,
            ..Default::default()
        },
    );
    let g = tensor(&[2, 16, 14, 40], 1);
    let f = |g: &Tensor| grad::interpolate(g, shape, options.clone()).unwrap();
    let want = numbers(&f(&g));
    let last = g.permute([0, 2, 3, 1]).unwrap().contiguous().unwrap();
    let last = last.permute([0, 3, 1, 2]).unwrap();
    let near = |x: &[f64]| x.iter().zip(&want).all(|(x, y)| (x - y).abs() < 1e-5);
    assert!(near(&numbers(&f(&last))));
    #[cfg(feature = "std")]
    for threads in [1, 2, 7] {
        let got = flex::par::with_threads(threads, || f(&g));
        assert!(numbers(&got) == want);
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let g = g.astype(dtype).unwrap();
        let single = f(&g.astype(DType::F32).unwrap());
        let want = single.astype(dtype).unwrap();
        let got = f(&g);
        assert_eq!(got.dtype(), dtype);
        assert!(numbers(&got) == numbers(&want));
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let g = tensor(&[1, 2, 4], 1);
    let to = |size: usize| Interpolate {
        size: Some(size.into()),
        ..Default::default()
    };
    assert!(grad::interpolate(&g, [1, 2, 8], to(4)).is_ok());
    assert!(grad::interpolate(&g, [1, 2, 8], to(5)).is_err());
    assert!(grad::interpolate(&g, [1, 1, 8], to(4)).is_err());
    assert!(grad::interpolate(&g, [1, 2, 0], to(4)).is_err());
    assert!(grad::interpolate(&g, [2, 8], to(4)).is_err());
    assert!(grad::interpolate(&g, [1, 2, 8], Interpolate::default()).is_err());
    assert!(grad::interpolate(&g, [1, 2, 8], InterpolateMode::Bilinear).is_err());
    let integers = g.astype(DType::I64).unwrap();
    assert!(grad::interpolate(&integers, [1, 2, 8], to(4)).is_err());
    assert!(grad::pad(&g, [1, 2, 3], &[1, 0], PadMode::Reflect).is_ok());
    assert!(grad::pad(&g, [1, 2, 3], &[1, 1], PadMode::Reflect).is_err());
    assert!(grad::pad(&g, [1, 2, 1], &[3, 0], PadMode::Reflect).is_err());
    assert!(grad::pad(&g, [1, 2, 3], &[1], PadMode::Replicate).is_err());
    assert!(grad::pad(&integers, [1, 2, 3], &[1, 0], PadMode::Replicate).is_err());
    let beyond = [isize::MIN, isize::MAX];
    assert!(grad::pad(&g, [1, 2, 5], &beyond, PadMode::Constant(0.into())).is_err());
}
