//! Images resampled to other sizes and at other places.

use crate::common::*;
use burn_backend::FloatDType;
use burn_backend::ops::*;
use flex_burn::Flex;

/// Where a place of the result lies on the image.
fn coordinate(p: usize, size: usize, of: usize, corners: bool) -> f64 {
    match corners {
        true if of == 1 => 0.0,
        true => p as f64 * (size - 1) as f64 / (of - 1) as f64,
        false => (p as f64 + 0.5) * size as f64 / of as f64 - 0.5,
    }
}

/// The weights of the elements of an axis.
fn weights(mode: &InterpolateMode, p: usize, size: usize, of: usize, corners: bool) -> Vec<f64> {
    let mut all = vec![0.0; size];
    let at = coordinate(p, size, of, corners);
    let last = size as isize - 1;
    let mut add = |i: isize, w: f64| all[i.clamp(0, last) as usize] += w;
    let base = at.floor();
    match mode {
        InterpolateMode::Nearest => add((p * size / of) as isize, 1.0),
        InterpolateMode::NearestExact => {
            add(((p as f64 + 0.5) * size as f64 / of as f64) as isize, 1.0)
        }
        InterpolateMode::Bilinear => {
            let at = at.clamp(0.0, last as f64);
            add(at.floor() as isize, 1.0 - at.fract());
            add(at.floor() as isize + 1, at.fract());
        }
        InterpolateMode::Bicubic => {
            let cubic = |x: f64| {
                let (a, x) = (-0.75, x.abs());
                match x {
                    x if x <= 1.0 => (a + 2.0) * x.powi(3) - (a + 3.0) * x.powi(2) + 1.0,
                    x if x < 2.0 => a * x.powi(3) - 5.0 * a * x.powi(2) + 8.0 * a * x - 4.0 * a,
                    _ => 0.0,
                }
            };
            for i in -1..3 {
                add(base as isize + i, cubic(at - base - i as f64));
            }
        }
        InterpolateMode::Lanczos3 => {
            let sinc = |x: f64| match std::f64::consts::PI * x {
                0.0 => 1.0,
                x => x.sin() / x,
            };
            for i in base as isize - 2..=base as isize + 3 {
                if (0..=last).contains(&i) {
                    let x = at - i as f64;
                    add(
                        i,
                        if x.abs() < 3.0 {
                            sinc(x) * sinc(x / 3.0)
                        } else {
                            0.0
                        },
                    );
                }
            }
            let sum: f64 = all.iter().sum();
            all.iter_mut().for_each(|w| *w /= sum);
        }
    }
    all
}

#[test]
fn interpolation() {
    let x = Array::random(&[2, 3, 5, 7], -3.0, 3.0, 1);
    let modes = [
        InterpolateMode::Nearest,
        InterpolateMode::NearestExact,
        InterpolateMode::Bilinear,
        InterpolateMode::Bicubic,
        InterpolateMode::Lanczos3,
    ];
    for mode in modes {
        for of in [[10, 14], [3, 4], [8, 5], [1, 7], [5, 7]] {
            for corners in [false, true] {
                println!("{mode:?} {of:?} {corners}");
                let axis = |k: usize| -> Vec<Vec<f64>> {
                    (0..of[k])
                        .map(|p| weights(&mode, p, x.shape[k + 2], of[k], corners))
                        .collect()
                };
                let (rows, columns) = (axis(0), axis(1));
                let sizes = [2, 3, of[0], of[1]];
                let want = Array::of(&sizes, |at| {
                    let mut sum = 0.0;
                    for (i, r) in rows[at[2]].iter().enumerate() {
                        for (j, c) in columns[at[3]].iter().enumerate() {
                            sum += r * c * x.at(&[at[0], at[1], i, j]);
                        }
                    }
                    sum
                });
                let g = Array::random(&sizes, -3.0, 3.0, 2);
                let mut dx = Array::of(&x.shape, |_| 0.0);
                for at in places(&sizes) {
                    for (i, r) in rows[at[2]].iter().enumerate() {
                        for (j, c) in columns[at[3]].iter().enumerate() {
                            *dx.at_mut(&[at[0], at[1], i, j]) += r * c * g.at(&at);
                        }
                    }
                }
                let options = || InterpolateOptions::new(mode.clone()).with_align_corners(corners);
                for dtype in FLOATS {
                    let t = |a: &Array| floats(a, dtype, 1);
                    close(
                        Flex::interpolate(t(&x), of, options()),
                        &want,
                        dtype,
                        24.0,
                        3.0,
                    );
                    close(
                        Flex::interpolate_backward(t(&x), t(&g), of, options()),
                        &dx,
                        dtype,
                        24.0,
                        6.0,
                    );
                }
            }
        }
    }
}

#[test]
fn grids() {
    // at the centres of elements every mode finds them
    let x = Array::random(&[2, 3, 4, 5], -3.0, 3.0, 1);
    let grid = Array::of(&[2, 4, 5, 2], |at| match at[3] {
        0 => (2 * at[2] + 1) as f64 / 5.0 - 1.0,
        _ => (2 * at[1] + 1) as f64 / 4.0 - 1.0,
    });
    for dtype in [FloatDType::F64, FloatDType::F32] {
        for mode in [
            InterpolateMode::Bilinear,
            InterpolateMode::Nearest,
            InterpolateMode::Bicubic,
        ] {
            for pad in [
                GridSamplePaddingMode::Zeros,
                GridSamplePaddingMode::Border,
                GridSamplePaddingMode::Reflection,
            ] {
                let options = GridSampleOptions::new(mode.clone()).with_padding_mode(pad);
                let y = Flex::float_grid_sample_2d(
                    floats(&x, dtype, 0),
                    floats(&grid, dtype, 0),
                    options,
                );
                close(y, &x, dtype, 64.0, 3.0);
            }
        }
    }
    let (x, grid) = (
        floats(&x, FloatDType::F32, 0),
        floats(&grid, FloatDType::F32, 0),
    );
    let options = GridSampleOptions::new(InterpolateMode::Lanczos3);
    assert!(
        panic_message(move || Flex::float_grid_sample_2d(x, grid, options)).contains("Lanczos3")
    );
}
