//! Gradients of pools.

use super::*;

/// Shuffled values further apart than the step of the finite differences.
fn distinct(shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let of = |k: usize| (k * 7919 % 100_003) as f64 / 1000.0;
    Tensor::from_slice(&(0..n).map(of).collect::<Vec<_>>(), shape).unwrap()
}

#[test]
fn max_pools_match_differences() {
    let with = |stride: usize, padding: usize, dilation: usize| nn::MaxPool {
        stride: Some(stride.into()),
        padding: padding.into(),
        dilation: dilation.into(),
        ceil_mode: true,
    };
    // overlapping windows, and elements outside all windows
    for (stride, padding, dilation) in [(2, 0, 1), (1, 1, 1), (3, 1, 2)] {
        let options = with(stride, padding, dilation);
        let x = distinct(&[2, 3, 11]);
        let (y, i) = nn::max_pool1d_with_indices(&x, 3, options.clone()).unwrap();
        let g = wide(y.shape(), 1);
        agree(
            &grad::max_pool1d(&g, &i, x.shape()).unwrap(),
            &differences(&x, &g, |x| nn::max_pool1d(x, 3, options.clone()).unwrap()),
        );
        let x = distinct(&[2, 2, 7, 6]);
        let (y, i) = nn::max_pool2d_with_indices(&x, [3, 2], options.clone()).unwrap();
        let g = wide(y.shape(), 2);
        agree(
            &grad::max_pool2d(&g, &i, x.shape()).unwrap(),
            &differences(&x, &g, |x| {
                nn::max_pool2d(x, [3, 2], options.clone()).unwrap()
            }),
        );
        let x = distinct(&[2, 5, 6, 5]);
        let (y, i) = nn::max_pool3d_with_indices(&x, 2, options.clone()).unwrap();
        let g = wide(y.shape(), 3);
        agree(
            &grad::max_pool3d(&g, &i, x.shape()).unwrap(),
            &differences(&x, &g, |x| nn::max_pool3d(x, 2, options.clone()).unwrap()),
        );
    }
    // a window that passes the image
    let options = with(4, 1, 2);
    let x = distinct(&[2, 3, 3, 2]);
    let (y, i) = nn::max_pool2d_with_indices(&x, 4, options.clone()).unwrap();
    assert_eq!(y.shape(), [2, 3, 1, 1]);
    let g = wide(y.shape(), 6);
    agree(
        &grad::max_pool2d(&g, &i, x.shape()).unwrap(),
        &differences(&x, &g, |x| nn::max_pool2d(x, 4, options.clone()).unwrap()),
    );
    let x = distinct(&[2, 3, 7, 5]);
    let (y, i) = nn::adaptive_max_pool2d_with_indices(&x, [3, 4]).unwrap();
    let g = wide(y.shape(), 4);
    agree(
        &grad::adaptive_max_pool2d(&g, &i, x.shape()).unwrap(),
        &differences(&x, &g, |x| nn::adaptive_max_pool2d(x, [3, 4]).unwrap()),
    );
}

/// Layouts, threads, int32 indices, and 16-bit floats, which are summed in float32.
#[test]
fn max_pools_support_any_layout_and_float() {
    let x = tensor(&[3, 4, 9, 8], 1);
    let options = nn::MaxPool {
        stride: Some(1.into()),
        ..Default::default()
    };
    let (y, i) = nn::max_pool2d_with_indices(&x, 3, options).unwrap();
    let g = tensor(y.shape(), 2);
    let want = grad::max_pool2d(&g, &i, x.shape()).unwrap();
    let turned = |t: &Tensor| {
        let t = t.permute([2, 0, 3, 1]).unwrap().contiguous().unwrap();
        t.permute([1, 3, 0, 2]).unwrap()
    };
    let i32s = turned(&i).astype(DType::I32).unwrap();
    let got = grad::max_pool2d(&turned(&g), &i32s, x.shape()).unwrap();
    assert!(numbers(&got) == numbers(&want));
    #[cfg(feature = "std")]
    for threads in [1, 2, 7] {
        let run = || grad::max_pool2d(&g, &i, x.shape()).unwrap();
        let got = flex::par::with_threads(threads, run);
        assert!(numbers(&got) == numbers(&want));
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let g = g.astype(dtype).unwrap();
        let got = grad::max_pool2d(&g, &i, x.shape()).unwrap();
        let single = g.astype(DType::F32).unwrap();
        let want = grad::max_pool2d(&single, &i, x.shape()).unwrap();
        assert_eq!(got.dtype(), dtype);
        assert!(numbers(&got) == numbers(&want.astype(dtype).unwrap()));
    }
}

#[test]
fn indices_out_of_range_are_refused() {
    let g = tensor(&[2, 3, 2], 1);
    let positions = |last: i64| {
        let mut all = [0i64; 12];
        all[11] = last;
        Tensor::from_slice(&all, [2, 3, 2]).unwrap()
    };
    assert!(grad::max_pool1d(&g, &positions(4), [2, 3, 5]).is_ok());
    for last in [5, -1, i64::MAX, i64::MIN] {
        let error = grad::max_pool1d(&g, &positions(last), [2, 3, 5]);
        let text = error.unwrap_err().to_string();
        if cfg!(feature = "messages") {
            assert!(text.starts_with("grad.max_pool1d: indices has"), "{text}");
            assert!(text.contains(&last.to_string()), "{text}");
        }
    }
    let i = positions(0);
    assert!(grad::max_pool1d(&g, &i, [2, 3]).is_err());
    assert!(grad::max_pool1d(&g, &i, [3, 2, 5]).is_err());
    assert!(grad::max_pool1d(&g, &i, [2, 3, 0]).is_err());
    assert!(grad::max_pool2d(&tensor(&[2], 1), &i, [2]).is_err());
    assert!(grad::max_pool1d(&g, &g, [2, 3, 5]).is_err());
    assert!(grad::max_pool1d(&i, &i, [2, 3, 5]).is_err());
    assert!(grad::max_pool1d(&tensor(&[2, 3, 1], 1), &i, [2, 3, 5]).is_err());
    let none = tensor(&[0, 3, 2], 1);
    let empty = none.astype(DType::I64).unwrap();
    let d = grad::max_pool1d(&none, &empty, [0, 3, 5]).unwrap();
    assert_eq!(d.shape(), [0, 3, 5]);
    // more than memory holds
    assert!(grad::max_pool1d(&g, &i, [2, 3, usize::MAX]).is_err());
}

/// Windows that overlap, leave gaps or reach outside the image, with every kind of divisor.
#[test]
fn average_pools_match_differences() {
    let pool = |stride: usize, padding: usize, include: bool, divisor| nn::AvgPool {
        stride: Some(stride.into()),
        padding: padding.into(),
        ceil_mode: stride == 2,
        count_include_pad: include,
        divisor_override: divisor,
    };
    for (stride, padding, include, divisor) in [
        (1, 0, true, None),
        (1, 1, false, None),
        (2, 1, true, None),
        (2, 1, false, None),
        (3, 0, true, Some(5)),
        (4, 1, true, None),
    ] {
        let options = pool(stride, padding, include, divisor);
        let x = wide(&[2, 3, 12], 1);
        let f = |x: &Tensor| nn::avg_pool1d(x, 3, options.clone()).unwrap();
        let g = wide(f(&x).shape(), 2);
        let d = grad::avg_pool1d(&g, x.shape(), 3, options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = wide(&[2, 2, 8, 7], 3);
        let f = |x: &Tensor| nn::avg_pool2d(x, [2, 3], options.clone()).unwrap();
        let g = wide(f(&x).shape(), 4);
        let d = grad::avg_pool2d(&g, x.shape(), [2, 3], options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = wide(&[2, 5, 4, 6], 5);
        let f = |x: &Tensor| nn::avg_pool3d(x, 2, options.clone()).unwrap();
        let g = wide(f(&x).shape(), 6);
        let d = grad::avg_pool3d(&g, x.shape(), 2, options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
    }
}

/// Windows that pass the padded image, and such as span many times its size.
#[test]
fn average_pools_beyond_the_image_match_differences() {
    for (kernel, stride, padding, include, places) in [
        (3, 2, 0, true, [1, 2]),
        (6, 4, 1, false, [1, 1]),
        (30, 1, 14, true, [1, 2]),
        (4000, 1999, 2000, true, [2, 2]),
    ] {
        let options = nn::AvgPool {
            stride: Some(stride.into()),
            padding: padding.into(),
            ceil_mode: true,
            count_include_pad: include,
            ..Default::default()
        };
        let x = wide(&[2, 2, 2, 4], 3);
        let f = |x: &Tensor| nn::avg_pool2d(x, kernel, options.clone()).unwrap();
        let g = wide(f(&x).shape(), 4);
        assert!(kernel == 30 || g.shape()[2..] == places);
        let d = grad::avg_pool2d(&g, x.shape(), kernel, options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let norm = nn::LpPool {
            stride: Some(stride.into()),
            ceil_mode: true,
        };
        if padding > 0 {
            continue;
        }
        let x = flex::ops::add(flex::ops::abs(x).unwrap(), 0.25).unwrap();
        let f = |x: &Tensor| nn::lp_pool2d(x, 2.0, kernel, norm.clone()).unwrap();
        let g = wide(f(&x).shape(), 5);
        let d = grad::lp_pool2d(&g, &x, 2.0, kernel, norm.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
    }
}

#[test]
fn adaptive_average_pools_match_differences() {
    for places in [1, 2, 3, 5, 7, 11] {
        let x = wide(&[2, 2, 7], 1);
        let f = |x: &Tensor| nn::adaptive_avg_pool1d(x, places).unwrap();
        let g = wide(f(&x).shape(), 2);
        let d = grad::adaptive_avg_pool1d(&g, x.shape()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = wide(&[3, 6, 5], 3);
        let f = |x: &Tensor| nn::adaptive_avg_pool2d(x, [places, 2]).unwrap();
        let g = wide(f(&x).shape(), 4);
        let d = grad::adaptive_avg_pool2d(&g, x.shape()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = wide(&[2, 3, 4, 5], 5);
        let f = |x: &Tensor| nn::adaptive_avg_pool3d(x, [2, 3, places]).unwrap();
        let g = wide(f(&x).shape(), 6);
        let d = grad::adaptive_avg_pool3d(&g, x.shape()).unwrap();
        agree(&d, &differences(&x, &g, f));
    }
    let none = grad::adaptive_avg_pool2d(&wide(&[2, 0, 3], 1), [2, 4, 5]).unwrap();
    assert_eq!(numbers(&none), [0.0; 40]);
}

#[test]
fn lp_pools_match_differences() {
    let options = nn::LpPool {
        stride: Some(2.into()),
        ceil_mode: true,
    };
    // roots and odd powers need positive sums
    for p in [1.0, 2.0, 3.0, 2.5] {
        let positive = |shape: &[usize], seed| {
            let x = flex::ops::abs(wide(shape, seed)).unwrap();
            flex::ops::add(x, 0.25).unwrap()
        };
        let x = positive(&[2, 9], 1);
        let f = |x: &Tensor| nn::lp_pool1d(x, p, 3, options.clone()).unwrap();
        let g = wide(f(&x).shape(), 2);
        let d = grad::lp_pool1d(&g, &x, p, 3, options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = positive(&[2, 6, 7], 3);
        let f = |x: &Tensor| nn::lp_pool2d(x, p, [2, 3], options.clone()).unwrap();
        let g = wide(f(&x).shape(), 4);
        let d = grad::lp_pool2d(&g, &x, p, [2, 3], options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
        let x = positive(&[2, 3, 4, 5], 5);
        let f = |x: &Tensor| nn::lp_pool3d(x, p, 2, options.clone()).unwrap();
        let g = wide(f(&x).shape(), 6);
        let d = grad::lp_pool3d(&g, &x, p, 2, options.clone()).unwrap();
        agree(&d, &differences(&x, &g, f));
    }
}

#[test]
fn average_pools_support_any_layout_and_float() {
    let options = nn::AvgPool {
        stride: Some([1, 2].into()),
        ..Default::default()
    };
    let shape = [3, 16, 9, 21];
    let places = nn::avg_pool2d(&tensor(&shape, 1), 3, options.clone()).unwrap();
    let g = tensor(places.shape(), 2);
    let f = |g: &Tensor| grad::avg_pool2d(g, shape, 3, options.clone()).unwrap();
    let want = numbers(&f(&g));
    // channels last, and a reversed width
    let last = g.permute([0, 2, 3, 1]).unwrap().contiguous().unwrap();
    let last = last.permute([0, 3, 1, 2]).unwrap();
    assert!(numbers(&f(&last)) == want);
    let back = g.flip(3).unwrap().contiguous().unwrap().flip(3).unwrap();
    assert!(numbers(&f(&back)) == want);
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
        assert_eq!((f(&g).dtype(), numbers(&f(&g))), (dtype, numbers(&want)));
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let g = tensor(&[1, 2, 3], 1);
    assert!(grad::avg_pool1d(&g, [1, 2, 6], 2, None).is_ok());
    assert!(grad::avg_pool1d(&g, [1, 2, 8], 2, None).is_err());
    assert!(grad::avg_pool1d(&g, [2, 6], 2, None).is_err());
    assert!(grad::avg_pool1d(&g, [1, 1, 6], 2, None).is_err());
    assert!(grad::avg_pool1d(&g, [1, 2, 0], 2, None).is_err());
    assert!(grad::avg_pool1d(&g, [1, 2, 6], 0, None).is_err());
    assert!(grad::avg_pool3d(&g, [1, 2, 6], 2, None).is_err());
    assert!(grad::adaptive_avg_pool1d(&g, [1, 3, 6]).is_err());
    let integers = g.astype(DType::I64).unwrap();
    assert!(grad::adaptive_avg_pool1d(&integers, [1, 2, 6]).is_err());
    assert!(grad::avg_pool1d(&integers, [1, 2, 6], 2, None).is_err());
    let x = tensor(&[1, 2, 6], 2);
    assert!(grad::lp_pool1d(&x, &x, 2.0, 2, None).is_err());
    assert!(grad::lp_pool1d(&g, &x, 0.0, 2, None).is_err());
}

#[test]
fn lp_pools_of_zeros_have_gradients_of_zero() {
    let x = Tensor::from_slice(&[0.0f32, 0.0, 3.0, 4.0, 0.0, 0.0], [1, 6]).unwrap();
    let g = Tensor::from_slice(&[1.0f32, 5.0, 0.0], [1, 3]).unwrap();
    for p in [2.0, 1.5, 3.0, 1.0, 0.5, -1.0] {
        let d = numbers(&grad::lp_pool1d(&g, &x, p, 2, None).unwrap());
        let [a, b] = [3f64, 4.0].map(|x| {
            let y = (3f64.powf(p) + 4f64.powf(p)).powf(1.0 / p);
            5.0 * (x / y).powf(p - 1.0)
        });
        // the sum of a window is smooth
        let first = if p == 1.0 { 1.0 } else { 0.0 };
        for (d, want) in d.iter().zip([first, first, a, b, 0.0, 0.0]) {
            assert!(
                (d - want).abs() <= 1e-5 * want.abs(),
                "{p}: {d}, not {want}"
            );
        }
    }
    let x = Tensor::zeros([1, 2, 2], DType::F32).unwrap();
    let g = flex::ops::ones([1, 1, 1], DType::F32).unwrap();
    assert_eq!(
        numbers(&grad::lp_pool2d(&g, &x, 2.0, 2, None).unwrap()),
        [0.0; 4]
    );
    let x = Tensor::zeros([1, 2, 2, 2], DType::F32).unwrap();
    let g = flex::ops::ones([1, 1, 1, 1], DType::F32).unwrap();
    assert_eq!(
        numbers(&grad::lp_pool3d(&g, &x, 2.0, 2, None).unwrap()),
        [0.0; 8]
    );
}
