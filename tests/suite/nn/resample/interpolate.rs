//! `interpolate`.

use super::*;

fn lanczos(x: f64) -> f64 {
    let sinc = |x: f64| {
        if x == 0.0 {
            1.0
        } else {
            (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x)
        }
    };
    if x.abs() < 3.0 {
        sinc(x) * sinc(x / 3.0)
    } else {
        0.0
    }
}

/// The weights of all elements, for each output along an axis.
fn matrix(
    size: usize,
    places: usize,
    mode: InterpolateMode,
    align: bool,
    antialias: bool,
) -> Vec<Vec<f64>> {
    let step = match (align, places) {
        (true, 1) => 0.0,
        (true, _) => (size - 1) as f64 / (places - 1) as f64,
        _ => size as f64 / places as f64,
    };
    (0..places)
        .map(|place| {
            let mut row = vec![0.0; size];
            let windowed = antialias || mode == InterpolateMode::Lanczos3;
            if windowed {
                let wide = if antialias { step.max(1.0) } else { 1.0 };
                let centre = step * (place as f64 + 0.5);
                let (reach, filter): (f64, fn(f64) -> f64) = match mode {
                    InterpolateMode::Bicubic => (2.0, |x| cubic(x, -0.5)),
                    InterpolateMode::Lanczos3 => (3.0, lanczos),
                    _ => (1.0, |x| (1.0 - x.abs()).max(0.0)),
                };
                let first = ((centre - reach * wide + 0.5) as i64).max(0) as usize;
                let end = ((centre + reach * wide + 0.5) as usize).min(size);
                for (i, w) in row.iter_mut().enumerate().take(end).skip(first) {
                    *w = filter((i as f64 + 0.5 - centre) / wide);
                }
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|w| *w /= sum);
                return row;
            }
            let at = if align {
                step * place as f64
            } else {
                step * (place as f64 + 0.5) - 0.5
            };
            if mode == InterpolateMode::Bicubic {
                for k in -1..3 {
                    let i = at.floor() as i64 + k;
                    row[i.clamp(0, size as i64 - 1) as usize] += cubic(at - i as f64, -0.75);
                }
            } else {
                let at = at.clamp(0.0, (size - 1) as f64);
                for (i, w) in row.iter_mut().enumerate() {
                    *w = (1.0 - (at - i as f64).abs()).max(0.0);
                }
            }
            row
        })
        .collect()
}

/// Planes resampled along each axis by its weights.
fn resampled(x: &[f64], sizes: &[usize], matrices: &[Vec<Vec<f64>>]) -> Vec<f64> {
    let places: Vec<usize> = matrices.iter().map(Vec::len).collect();
    let all = indices(sizes);
    let mut y = Vec::new();
    for plane in x.chunks(sizes.iter().product()) {
        for to in indices(&places) {
            let mut sum = 0.0;
            for (i, from) in all.iter().enumerate() {
                let w: f64 = (0..sizes.len())
                    .map(|k| matrices[k][to[k]][from[k]])
                    .product();
                sum += if w == 0.0 { 0.0 } else { w * plane[i] };
            }
            y.push(sum);
        }
    }
    y
}

#[test]
fn interpolation_matches_weighted_sums() {
    use InterpolateMode::*;
    let mut random = Rng(5);
    let modes = [Linear, Bilinear, Bicubic, Trilinear, Lanczos3];
    for round in 0..60 {
        let mode = modes[round % 5];
        let rank = [1, 2, 2, 3, 2][round % 5];
        let antialias = matches!(mode, Bilinear | Bicubic | Lanczos3) && round % 2 == 1;
        let align_corners = mode != Lanczos3 && round % 3 == 0;
        let most = [0, 70, 24, 8][rank];
        let sizes: Vec<usize> = (0..rank).map(|_| random.between(1, most)).collect();
        let places: Vec<usize> = (0..rank)
            .map(|_| random.between(1, most + most / 2))
            .collect();
        let dtypes = [DType::F32, DType::F64, DType::F16, DType::BF16];
        let dtype = dtypes[round / 5 % 4];
        let dtype = if dtype.is_available() {
            dtype
        } else {
            DType::F32
        };
        let x = converted(
            &[&[2, 3], &sizes[..]].concat(),
            dtype,
            round as u64,
            round / 5 % 4,
        );
        let options = Interpolate {
            size: Some(PerAxis::from(&places[..])),
            mode,
            align_corners,
            antialias,
            ..Default::default()
        };
        let y = nn::interpolate(&x, options).unwrap();
        assert_eq!((&y.shape()[2..], y.dtype()), (&places[..], dtype));
        let matrices: Vec<_> = (0..rank)
            .map(|k| matrix(sizes[k], places[k], mode, align_corners, antialias))
            .collect();
        let want = resampled(&exact(&x), &sizes, &matrices);
        let tolerance = match dtype {
            DType::F16 => 1e-3,
            DType::BF16 => 8e-3,
            _ => 1e-6,
        };
        close(&y.astype(DType::F32).unwrap(), &want, tolerance);
    }
}

#[test]
fn nearest_modes_match_the_definition() {
    let mut random = Rng(6);
    for round in 0..60 {
        let rank = round % 3 + 1;
        let most = [0, 60, 20, 7][rank];
        let sizes: Vec<usize> = (0..rank).map(|_| random.between(1, most)).collect();
        let places: Vec<usize> = match round % 4 {
            0 => sizes.iter().map(|n| 2 * n).collect(),
            _ => (0..rank).map(|_| random.between(1, 2 * most)).collect(),
        };
        let dtypes = [DType::F32, DType::Bool, DType::I64, DType::I8];
        let dtype = dtypes[round % 4];
        let dtype = if dtype.is_available() {
            dtype
        } else {
            DType::F32
        };
        let exactly = round % 2 == 1;
        let layout = if rank == 1 { 0 } else { round / 4 % 4 };
        let x = converted(&[&[2, 3], &sizes[..]].concat(), dtype, round as u64, layout);
        let mode = if exactly {
            InterpolateMode::NearestExact
        } else {
            InterpolateMode::Nearest
        };
        let options = Interpolate {
            size: Some(PerAxis::from(&places[..])),
            mode,
            ..Default::default()
        };
        let y = nn::interpolate(&x, options).unwrap();
        // in integers, so that nothing is rounded
        let element = |k: usize, p: usize| {
            let (n, m) = (sizes[k], places[k]);
            if exactly {
                (2 * p + 1) * n / (2 * m)
            } else {
                p * n / m
            }
        };
        let matrices: Vec<Vec<Vec<f64>>> = (0..rank)
            .map(|k| {
                let row = |p| {
                    (0..sizes[k])
                        .map(|i| (i == element(k, p)) as u8 as f64)
                        .collect()
                };
                (0..places[k]).map(row).collect()
            })
            .collect();
        assert_eq!(
            exact(&y),
            resampled(&exact(&x), &sizes, &matrices),
            "{sizes:?} {places:?}"
        );
    }
}

/// `floor(i / scale)`, also where a fractional factor happens to keep or to double the size.
#[test]
fn nearest_modes_follow_the_factor() {
    use InterpolateMode::{Nearest, NearestExact};
    let taken = |size: usize, factor: f64, mode, recompute_scale_factor| {
        let x: Vec<f32> = (0..size).map(|i| i as f32).collect();
        let options = nn::Interpolate {
            scale_factor: [factor].as_slice().into(),
            mode,
            recompute_scale_factor,
            ..Default::default()
        };
        let row = Tensor::from_slice(&x, [1, 1, size]).unwrap();
        let y = nn::interpolate(&row, options.clone()).unwrap();
        // the same down, across, and through channels that are last in memory
        let wide = Tensor::from_slice(&x, [1, 1, size, 1]).unwrap();
        let wide = wide.broadcast_to([1, 3, size, size]).unwrap();
        for image in [wide.copy().unwrap(), channels_last(&wide)] {
            let z = nn::interpolate(&image, options.clone()).unwrap();
            let z = z
                .select(1, 2)
                .unwrap()
                .select(2, 0)
                .unwrap()
                .copy()
                .unwrap();
            assert_eq!(doubles(&z), doubles(&y));
        }
        #[cfg(feature = "f64")]
        {
            // each element of the gradient goes back to where it was taken from
            let g: Vec<f64> = (0..y.len()).map(|i| (1u64 << i) as f64).collect();
            let g = Tensor::from_slice(&g, [1, 1, g.len()]).unwrap();
            let d = nn::grad::interpolate(&g, [1, 1, size], options).unwrap();
            let mut want = vec![0.0; size];
            for (i, from) in doubles(&y).iter().enumerate() {
                want[*from as usize] += (1u64 << i) as f64;
            }
            assert_eq!(d.to_vec::<f64>().unwrap(), want);
        }
        doubles(&y)
    };
    assert_eq!(taken(2, 2.3, Nearest, false), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(taken(2, 2.3, Nearest, true), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(taken(2, 2.0, Nearest, false), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(taken(3, 1.3, Nearest, false), [0.0, 0.0, 1.0]);
    assert_eq!(taken(3, 1.3, Nearest, true), [0.0, 1.0, 2.0]);
    assert_eq!(taken(2, 2.3, NearestExact, false), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(taken(3, 1.3, NearestExact, false), [0.0, 1.0, 1.0]);
    for (size, factor) in [(1, 2.9), (5, 1.1), (7, 2.05), (9, 2.1), (10, 0.7), (6, 3.3)] {
        let places = (size as f64 * factor) as usize;
        let element = |at: f64| at.floor().min(size as f64 - 1.0);
        let want = |i: usize| element(i as f64 / factor);
        let exact = |i: usize| element((i as f64 + 0.5) / factor);
        assert_eq!(
            taken(size, factor, Nearest, false),
            (0..places).map(want).collect::<Vec<_>>()
        );
        assert_eq!(
            taken(size, factor, NearestExact, false),
            (0..places).map(exact).collect::<Vec<_>>()
        );
    }
}

/// An empty batch needs no tables, however large the result would be.
#[test]
fn nothing_is_computed_for_an_empty_batch() {
    let none = Tensor::zeros((0, 1, 2, 2), DType::F32).unwrap();
    let side = 1usize << 26;
    for mode in [
        InterpolateMode::Nearest,
        InterpolateMode::Bilinear,
        InterpolateMode::Area,
    ] {
        let options = nn::Interpolate {
            size: Some([side, side].into()),
            mode,
            ..Default::default()
        };
        assert_eq!(
            nn::interpolate(&none, options).unwrap().shape(),
            [0, 1, side, side]
        );
    }
    let y = nn::adaptive_max_pool2d(&none, [side, side]).unwrap();
    assert_eq!(y.shape(), [0, 1, side, side]);
    let far = side as isize;
    let y = nn::pad(&none, &[far, far, far, far], nn::PadMode::Replicate).unwrap();
    assert_eq!(y.shape(), [0, 1, 2 * side + 2, 2 * side + 2]);
    let theta = Tensor::zeros((0, 2, 3), DType::F32).unwrap();
    let grid = nn::affine_grid(&theta, &[0, 1, side, side], ()).unwrap();
    assert_eq!(grid.shape(), [0, side, side, 2]);
}

#[test]
fn uint8_is_rounded_and_clamped() {
    if !DType::U8.is_available() {
        return;
    }
    let mut random = Rng(8);
    let values: Vec<u8> = (0..2 * 3 * 11 * 13)
        .map(|_| [0, 255, random.below(256) as u8][random.below(3)])
        .collect();
    let x = Tensor::from_slice(&values, [2, 3, 11, 13]).unwrap();
    for (mode, antialias) in [
        (InterpolateMode::Bilinear, false),
        (InterpolateMode::Bicubic, false),
        (InterpolateMode::Bicubic, true),
    ] {
        let options = Interpolate {
            size: Some([7, 20].into()),
            mode,
            antialias,
            ..Default::default()
        };
        let y = nn::interpolate(&x, options)
            .unwrap()
            .to_vec::<u8>()
            .unwrap();
        let wide: Vec<f64> = values.iter().map(|v| *v as f64).collect();
        let matrices = [
            matrix(11, 7, mode, false, antialias),
            matrix(13, 20, mode, false, antialias),
        ];
        for (got, want) in y.iter().zip(resampled(&wide, &[11, 13], &matrices)) {
            assert!(
                (*got as f64 - want.clamp(0.0, 255.0)).abs() <= 0.5 + 1e-3,
                "{got} {want}"
            );
        }
    }
}
