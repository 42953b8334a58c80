//! Gradients of `grid_sample`.

use super::*;
use nn::{GridSample, GridSampleMode, PaddingMode};

const MODES: [GridSampleMode; 3] = [
    GridSampleMode::Bilinear,
    GridSampleMode::Bicubic,
    GridSampleMode::Nearest,
];
const PADDINGS: [PaddingMode; 3] = [
    PaddingMode::Zeros,
    PaddingMode::Border,
    PaddingMode::Reflection,
];

fn options(mode: usize, padding_mode: usize, align_corners: bool) -> GridSample {
    GridSample {
        mode: MODES[mode],
        padding_mode: PADDINGS[padding_mode],
        align_corners,
    }
}

/// Gradient, image and grid of these sizes, in float64.
fn operands(x: &[usize], places: &[usize]) -> [Tensor; 3] {
    let rank = places.len();
    let result = [&x[..2], places].concat();
    let grid = [&x[..1], places, &[rank]].concat();
    [wide(&result, 1), wide(x, 2), wide(&grid, 3)]
}

#[track_caller]
fn check(x: &[usize], places: &[usize], options: GridSample) {
    let [g, x, grid] = operands(x, places);
    let f = |x: &Tensor, grid: &Tensor| nn::grid_sample(x, grid, options).unwrap();
    let [dx, dgrid] = grad::grid_sample(&g, &x, &grid, options).unwrap();
    assert_eq!((dx.shape(), dgrid.shape()), (x.shape(), grid.shape()));
    agree(&dx, &differences(&x, &g, |x| f(x, &grid)));
    agree(&dgrid, &differences(&grid, &g, |grid| f(&x, grid)));
}

/// Points inside the image and far outside, in every mode, for images and volumes.
#[test]
fn sampling_matches_differences() {
    for padding in 0..3 {
        for align_corners in [false, true] {
            for mode in 0..3 {
                let options = options(mode, padding, align_corners);
                check(&[2, 2, 5, 6], &[4, 3], options);
                check(&[1, 1, 1, 7], &[3, 3], options);
                if mode != 1 {
                    check(&[1, 2, 3, 4, 5], &[2, 3, 4], options);
                    check(&[2, 1, 1, 2, 3], &[1, 2, 3], options);
                }
            }
        }
    }
}

/// Channel counts below, at and above the number of lanes, and more points than a run.
#[test]
fn sampling_matches_differences_for_any_channel_count() {
    for channels in [1, 2, 3, 4, 7, 16, 21, 34] {
        check(&[1, channels, 3, 4], &[2, 3], options(0, 0, false));
        check(&[3, channels, 2, 3], &[1, 2], options(1, 2, true));
    }
    check(&[1, 48, 2, 2], &[1, 3], options(0, 1, false));
    check(&[1, 2, 3, 3], &[7, 11], options(0, 2, false));
}

/// Any layout and number of threads give the same bits; 16-bit floats are computed in float32.
#[test]
fn sampling_supports_any_layout_and_float() {
    for (shape, places) in [
        (&[3, 40, 9, 8][..], &[17, 13][..]),
        (&[1, 3, 4, 9, 8], &[5, 7, 6]),
    ] {
        let [g, x, grid] = operands(shape, places).map(|t| t.astype(DType::F32).unwrap());
        let options = options(0, 2, false);
        let f =
            |g: &Tensor, x: &Tensor, grid: &Tensor| grad::grid_sample(g, x, grid, options).unwrap();
        let same = |a: &[Tensor; 2], b: &[Tensor; 2]| {
            a.iter().zip(b).all(|(a, b)| numbers(a) == numbers(b))
        };
        let want = f(&g, &x, &grid);
        assert!(same(
            &f(
                &channels_last(&g),
                &channels_last(&x),
                &channels_last(&grid)
            ),
            &want
        ));
        let flipped = |t: &Tensor| {
            let t = t.flip(-1).unwrap().contiguous().unwrap();
            t.flip(-1).unwrap()
        };
        assert!(same(&f(&flipped(&g), &flipped(&x), &flipped(&grid)), &want));
        // a broadcast gradient
        let one = Tensor::from_slice(&[0.5f32], [1]).unwrap();
        let all = one.broadcast_to(g.shape()).unwrap();
        assert!(same(
            &f(&all, &x, &grid),
            &f(&all.contiguous().unwrap(), &x, &grid)
        ));
        #[cfg(feature = "std")]
        for threads in [1, 2, 7] {
            let got = flex::par::with_threads(threads, || f(&g, &x, &grid));
            assert!(same(&got, &want));
        }
        for dtype in [DType::F16, DType::BF16]
            .into_iter()
            .filter(|d| d.is_available())
        {
            let [g, x, grid] = [&g, &x, &grid].map(|t| t.astype(dtype).unwrap());
            let single = |t: &Tensor| t.astype(DType::F32).unwrap();
            let want = f(&single(&g), &single(&x), &single(&grid));
            let got = f(&g, &x, &grid);
            for (got, want) in got.iter().zip(&want) {
                assert_eq!(got.dtype(), dtype);
                assert!(numbers(got) == numbers(&want.astype(dtype).unwrap()));
            }
        }
    }
}

/// A NaN coordinate gives NaN in its own point's gradient and nowhere else.
#[test]
fn nan_coordinates_affect_only_their_own_point() {
    let x = wide(&[1, 2, 3, 3], 1);
    let grid = [f64::NAN, 0.1, 0.1, f64::NAN, f64::INFINITY, 0.1, 0.2, 0.1];
    let grid = Tensor::from_slice(&grid, [1, 1, 4, 2]).unwrap();
    let g = wide(&[1, 2, 1, 4], 2);
    let [dx, dgrid] = grad::grid_sample(&g, &x, &grid, GridSample::default()).unwrap();
    assert!(numbers(&dx).iter().all(|v| v.is_finite()));
    let nan: Vec<bool> = numbers(&dgrid).iter().map(|v| v.is_nan()).collect();
    // the slope along one axis is weighted by the other coordinate
    assert_eq!(nan, [false, true, true, false, false, true, false, false]);
    for padding in [1, 2] {
        let [dx, dgrid] = grad::grid_sample(&g, &x, &grid, options(0, padding, false)).unwrap();
        let all = [numbers(&dx), numbers(&dgrid)].concat();
        assert!(all.iter().all(|v| v.is_finite()), "{padding}");
    }
    // a non-finite element affects only the points that see it
    let mut values = numbers(&x);
    values[0] = f64::INFINITY;
    let x = Tensor::from_slice(&values, [1, 2, 3, 3]).unwrap();
    let [_, dgrid] = grad::grid_sample(&g, &x, &grid, options(0, 1, false)).unwrap();
    assert!(numbers(&dgrid)[6..].iter().all(|v| v.is_finite()));
    let [dx, dgrid] = grad::grid_sample(&g, &x, &grid, options(2, 1, false)).unwrap();
    assert!(numbers(&dx).iter().all(|v| v.is_finite()));
    assert_eq!(numbers(&dgrid), [0.0; 8]);
}

/// Taps outside the image contribute nothing even to infinite gradients, for few channels (planes)
/// and for many (pixels).
#[test]
fn taps_outside_the_image_do_not_affect_infinite_gradients() {
    let grid = Tensor::from_slice(&[-1.0f64, 0.1], [1, 1, 1, 2]).unwrap();
    for channels in [1, 3, 4, 8] {
        let of = |shape: &[usize], v: f64| {
            Tensor::from_slice(&vec![v; shape.iter().product()], shape).unwrap()
        };
        let (x, g) = (
            of(&[1, channels, 3, 3], 1.0),
            of(&[1, channels, 1, 1], f64::INFINITY),
        );
        let [_, dgrid] = grad::grid_sample(&g, &x, &grid, GridSample::default()).unwrap();
        let dgrid = numbers(&dgrid);
        assert!(
            dgrid[0] == f64::INFINITY && dgrid[1].is_nan(),
            "{channels}: {dgrid:?}"
        );
    }
}

#[test]
fn empty_operands_give_zeros() {
    for mode in 0..3 {
        let options = options(mode, 0, false);
        for (x, places) in [
            ([0, 3, 4, 5], [2, 2]),
            ([2, 0, 4, 5], [2, 2]),
            ([2, 3, 4, 5], [0, 2]),
        ] {
            let [g, x, grid] = operands(&x, &places);
            let [dx, dgrid] = grad::grid_sample(&g, &x, &grid, options).unwrap();
            assert_eq!(numbers(&dx), vec![0.0; x.len()]);
            assert_eq!(numbers(&dgrid), vec![0.0; grid.len()]);
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let [g, x, grid] = operands(&[2, 3, 4, 5], &[6, 7]);
    let bilinear = GridSample::default();
    assert!(grad::grid_sample(&g, &x, &grid, bilinear).is_ok());
    let narrow = |t: &Tensor, axis| t.narrow(axis, 0, 1).unwrap();
    assert!(grad::grid_sample(&narrow(&g, 1), &x, &grid, bilinear).is_err());
    assert!(grad::grid_sample(&narrow(&g, 3), &x, &grid, bilinear).is_err());
    assert!(grad::grid_sample(&g, &narrow(&x, 0), &grid, bilinear).is_err());
    assert!(grad::grid_sample(&g, &x, &narrow(&grid, 3), bilinear).is_err());
    assert!(grad::grid_sample(&g, &x, &grid.narrow(0, 0, 0).unwrap(), bilinear).is_err());
    let none = x.narrow(2, 0, 0).unwrap();
    assert!(grad::grid_sample(&g, &none, &grid, bilinear).is_err());
    let [g3, x3, grid3] = operands(&[1, 2, 2, 2, 2], &[1, 2, 3]);
    assert!(grad::grid_sample(&g3, &x3, &grid3, bilinear).is_ok());
    let error = grad::grid_sample(&g3, &x3, &grid3, options(1, 0, false)).unwrap_err();
    if cfg!(feature = "messages") {
        assert!(error.to_string().starts_with("grad.grid_sample: mode"));
    }
    let integers = [&g, &x, &grid].map(|t| t.astype(DType::I64).unwrap());
    let [g, x, grid] = &integers;
    assert!(grad::grid_sample(g, x, grid, bilinear).is_err());
}
