//! `grid_sample` and `affine_grid`.

use super::*;

/// The element of a plane nearest to a point, by the padding mode if that is outside.
fn sampled(plane: &[f64], sizes: &[usize], at: &[f64], beyond: PaddingMode, align: bool) -> f64 {
    let mut index = 0;
    for (p, n) in at.iter().zip(sizes) {
        let p = brought(*p, *n as f64, beyond, align).round();
        if !(0.0..*n as f64).contains(&p) {
            return 0.0;
        }
        index = index * n + p as usize;
    }
    plane[index]
}

fn brought(p: f64, n: f64, beyond: PaddingMode, align: bool) -> f64 {
    let mut p = p;
    if beyond == PaddingMode::Reflection {
        let (low, high) = if align {
            (0.0, n - 1.0)
        } else {
            (-0.5, n - 0.5)
        };
        if low == high {
            return 0.0;
        }
        while p < low || p > high {
            p = if p < low {
                2.0 * low - p
            } else {
                2.0 * high - p
            };
        }
    }
    if beyond == PaddingMode::Zeros {
        p
    } else {
        p.clamp(0.0, n - 1.0)
    }
}

#[test]
fn grid_sample_matches_the_definition() {
    let mut random = Rng(9);
    for round in 0..54 {
        let mode = [
            GridSampleMode::Bilinear,
            GridSampleMode::Bicubic,
            GridSampleMode::Nearest,
        ][round % 3];
        let rank = if round % 2 == 0 && mode != GridSampleMode::Bicubic {
            3
        } else {
            2
        };
        let padding_mode = [
            PaddingMode::Zeros,
            PaddingMode::Border,
            PaddingMode::Reflection,
        ][round / 3 % 3];
        let align_corners = round / 9 % 2 == 1;
        let sizes: Vec<usize> = (0..rank).map(|_| random.between(1, 9)).collect();
        // rows that fill vectors, and shorter ones
        let mut places: Vec<usize> = (0..rank).map(|_| random.between(1, 7)).collect();
        places[rank - 1] = random.between(1, 21);
        let x = converted(
            &[&[2, 3], &sizes[..]].concat(),
            DType::F32,
            round as u64,
            round % 4,
        );
        let shape = [&[2], &places[..], &[rank]].concat();
        let grid = tensor(&shape, 100 + round as u64);
        let y = nn::grid_sample(
            &x,
            &grid,
            GridSample {
                mode,
                padding_mode,
                align_corners,
            },
        )
        .unwrap();
        let (values, points) = (exact(&x), exact(&grid));
        let plane: usize = sizes.iter().product();
        let points_of_image = points.len() / 2;
        let mut want = Vec::new();
        for (i, plane) in values.chunks(plane).enumerate() {
            for point in points[i / 3 * points_of_image..][..points_of_image].chunks(rank) {
                // in units of elements; the first coordinate is along the last axis
                let at: Vec<f64> = (0..rank)
                    .map(|k| {
                        let (x, n) = (point[rank - 1 - k], sizes[k] as f64);
                        if align_corners {
                            (x + 1.0) / 2.0 * (n - 1.0)
                        } else {
                            ((x + 1.0) * n - 1.0) / 2.0
                        }
                    })
                    .collect();
                want.push(match mode {
                    GridSampleMode::Nearest => {
                        let near: Vec<f64> = (0..rank)
                            .map(|k| {
                                brought(at[k], sizes[k] as f64, padding_mode, align_corners)
                                    .round_ties_even()
                            })
                            .collect();
                        sampled(plane, &sizes, &near, PaddingMode::Zeros, align_corners)
                    }
                    _ => {
                        let linear = mode == GridSampleMode::Bilinear;
                        let at: Vec<f64> = (0..rank)
                            .map(|k| {
                                if linear {
                                    brought(at[k], sizes[k] as f64, padding_mode, align_corners)
                                } else {
                                    at[k]
                                }
                            })
                            .collect();
                        let beyond = if linear {
                            PaddingMode::Zeros
                        } else {
                            padding_mode
                        };
                        let mut sum = 0.0;
                        for tap in indices(&vec![4; rank]) {
                            let near: Vec<f64> = (0..rank)
                                .map(|k| at[k].floor() + tap[k] as f64 - 1.0)
                                .collect();
                            let w: f64 = (0..rank)
                                .map(|k| {
                                    let d = (at[k] - near[k]).abs();
                                    if linear {
                                        (1.0 - d).max(0.0)
                                    } else {
                                        cubic(d, -0.75)
                                    }
                                })
                                .product();
                            if w != 0.0 {
                                sum += w * sampled(plane, &sizes, &near, beyond, align_corners);
                            }
                        }
                        sum
                    }
                });
            }
        }
        assert_eq!(y.shape(), [&[2, 3], &places[..]].concat());
        close(&y, &want, 4e-6);
    }
}

#[test]
fn the_identity_grid_gives_the_image() {
    let x = tensor(&[2, 3, 6, 5], 1);
    let theta =
        Tensor::from_slice(&[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0].repeat(2), [2, 2, 3]).unwrap();
    for align_corners in [false, true] {
        let grid = nn::affine_grid(&theta, x.shape(), nn::AffineGrid { align_corners }).unwrap();
        let y = nn::grid_sample(
            &x,
            &grid,
            GridSample {
                align_corners,
                ..Default::default()
            },
        )
        .unwrap();
        close(&y, &doubles(&x), 1e-6);
    }
}

/// Elements with weight 0 and positions outside the image don't affect a sample.
#[test]
fn non_finite_neighbours_do_not_affect_samples() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    // two channels of 2 x 3 elements; points half an element beyond the first column and the last
    let x = [1.0, nan, 2.0, 1.0, inf, 2.0, 3.0, nan, 4.0, 3.0, inf, 4.0];
    let x = Tensor::from_slice(&x, [1, 2, 2, 3]).unwrap();
    let points: Vec<f32> = (0..16)
        .flat_map(|k| [[-1.0, 0.0], [1.0, 0.0]][k % 2])
        .collect();
    let grid = Tensor::from_slice(&points, [1, 2, 8, 2]).unwrap();
    let y = nn::grid_sample(&x, &grid, GridSample::default()).unwrap();
    let want: Vec<f32> = (0..32)
        .map(|k| [0.5, 1.0, 1.5, 2.0][k / 16 * 2 + k % 2])
        .collect();
    assert_eq!(y.to_vec::<f32>().unwrap(), want);
}
