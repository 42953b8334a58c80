//! Pools.

use crate::common::*;
use burn_backend::ops::*;
use burn_backend::{FloatDType, IntDType};
use flex_burn::{Flex, FlexTensor};

/// What pools see: kernel, stride, padding, dilation, rounding up.
type Window = (usize, usize, usize, usize, bool);
const WINDOWS: &[Window] = &[
    (2, 2, 0, 1, false),
    (3, 2, 1, 1, false),
    (3, 2, 1, 1, true),
    (3, 1, 1, 2, false),
    (2, 3, 1, 1, true),
    (8, 3, 0, 1, true),  // larger than the image
    (3, 1, 2, 1, false), // padded by more than half a window
    (4, 3, 3, 1, true),
    (3, 2, 4, 2, true),
];

fn windows((kernel, stride, padding, dilation, ceil): Window, size: usize) -> Vec<Vec<usize>> {
    let of = conv::calculate_pool_output_size(kernel, stride, padding, dilation, size, ceil);
    (0..of)
        .map(|p| {
            let taps = (0..kernel).map(|t| (p * stride + t * dilation).wrapping_sub(padding));
            taps.filter(|i| *i < size).collect()
        })
        .collect()
}

#[test]
fn pools() {
    for window @ (kernel, stride, padding, dilation, ceil) in WINDOWS.iter().copied() {
        let (height, width) = (7, 9);
        let x = Array::random(&[2, 3, height, width], -3.0, 3.0, 1);
        let (rows, columns) = (windows(window, height), windows(window, width));
        let of = [2, 3, rows.len(), columns.len()];
        let g = Array::random(&of, -3.0, 3.0, 2);
        let seen = |at: &[usize]| -> Vec<[usize; 2]> {
            rows[at[2]]
                .iter()
                .flat_map(|r| columns[at[3]].iter().map(|c| [*r, *c]))
                .collect()
        };
        for dtype in FLOATS {
            println!("{window:?} {dtype:?}");
            let t = |a: &Array, layout| floats(a, dtype, layout);
            let two = |n: usize| [n, n];
            let best = |at: &[usize]| {
                let all = seen(at);
                let value = |p: &[usize; 2]| x.at(&[at[0], at[1], p[0], p[1]]);
                let most = all.iter().map(value).fold(f64::MIN, f64::max);
                (most, *all.iter().find(|p| value(p) == most).unwrap())
            };
            let most = Array::of(&of, |at| best(at).0);
            let at = Array::of(&of, |at| (best(at).1[0] * width + best(at).1[1]) as f64);
            let mut dx = Array::of(&x.shape, |_| 0.0);
            for p in places(&of) {
                let [r, c] = best(&p).1;
                *dx.at_mut(&[p[0], p[1], r, c]) += g.at(&p);
            }
            let (k, s, p, d) = (two(kernel), two(stride), two(padding), two(dilation));
            equal(Flex::max_pool2d(t(&x, 1), k, s, p, d, ceil), &most, dtype);
            let all = Flex::max_pool2d_with_indices(t(&x, 2), k, s, p, d, ceil, IntDType::I32);
            equal(all.output, &most, dtype);
            equal(all.indices.clone(), &at, IntDType::I32);
            let back = Flex::max_pool2d_with_indices_backward(
                t(&x, 0),
                k,
                s,
                p,
                d,
                ceil,
                t(&g, 0),
                all.indices,
            );
            close(back.x_grad, &dx, dtype, 4.0, 4.0);
            if dilation != 1 {
                continue;
            }
            for pads in [false, true] {
                let count = |at: &[usize]| {
                    // the padding counts, but not what is beyond it
                    let axis = |p: usize, size: usize| {
                        (p * stride + kernel).min(size + 2 * padding) - p * stride
                    };
                    match pads {
                        true => axis(at[2], height) * axis(at[3], width),
                        false => seen(at).len(),
                    }
                };
                let mean = Array::of(&of, |at| {
                    let sum: f64 = seen(at)
                        .iter()
                        .map(|p| x.at(&[at[0], at[1], p[0], p[1]]))
                        .sum();
                    sum / count(at) as f64
                });
                let mut dx = Array::of(&x.shape, |_| 0.0);
                for at in places(&of) {
                    for [r, c] in seen(&at) {
                        *dx.at_mut(&[at[0], at[1], r, c]) += g.at(&at) / count(&at) as f64;
                    }
                }
                close(
                    Flex::avg_pool2d(t(&x, 1), k, s, p, pads, ceil),
                    &mean,
                    dtype,
                    4.0,
                    1.0,
                );
                close(
                    Flex::avg_pool2d_backward(t(&x, 0), t(&g, 1), k, s, p, pads, ceil),
                    &dx,
                    dtype,
                    8.0,
                    4.0,
                );
            }
        }
    }
}

#[test]
fn pools_of_lines_are_those_of_images_of_one_row() {
    let x = Array::random(&[2, 3, 11], -3.0, 3.0, 1);
    let dtype = FloatDType::F32;
    let image = |x: FlexTensor| {
        let s = array(x.clone()).shape;
        Flex::float_reshape(x, shape(&[s[0], s[1], 1, s[2]]))
    };
    let line = |x: FlexTensor| {
        let s = array(x.clone()).shape;
        array(Flex::float_reshape(x, shape(&[s[0], s[1], s[3]])))
    };
    let t = || floats(&x, dtype, 1);
    let (k, s, p, d) = ([1, 3], [1, 2], [0, 1], [1, 2]);
    assert_eq!(
        array(Flex::max_pool1d(t(), 3, 2, 1, 2, true)),
        line(Flex::max_pool2d(image(t()), k, s, p, d, true))
    );
    let one = Flex::max_pool1d_with_indices(t(), 3, 2, 1, 2, false, IntDType::I64);
    let two = Flex::max_pool2d_with_indices(image(t()), k, s, p, d, false, IntDType::I64);
    assert_eq!(array(one.output.clone()), line(two.output.clone()));
    assert_eq!(
        array(one.indices.clone()).values,
        array(two.indices.clone()).values
    );
    let a = Flex::max_pool1d_with_indices_backward(t(), 3, 2, 1, 2, false, one.output, one.indices);
    let b = Flex::max_pool2d_with_indices_backward(
        image(t()),
        k,
        s,
        p,
        d,
        false,
        two.output,
        two.indices,
    );
    assert_eq!(array(a.x_grad), line(b.x_grad));
    let y = Flex::avg_pool1d(t(), 3, 2, 1, true, true);
    assert_eq!(
        array(y.clone()),
        line(Flex::avg_pool2d(image(t()), k, s, p, true, true))
    );
    let back = Flex::avg_pool2d_backward(image(t()), image(y.clone()), k, s, p, true, true);
    assert_eq!(
        array(Flex::avg_pool1d_backward(t(), y, 3, 2, 1, true, true)),
        line(back)
    );
    let y = Flex::adaptive_avg_pool1d(t(), 4);
    assert_eq!(
        array(y.clone()),
        line(Flex::adaptive_avg_pool2d(image(t()), [1, 4]))
    );
    let back = Flex::adaptive_avg_pool2d_backward(image(t()), image(y.clone()));
    assert_eq!(
        array(Flex::adaptive_avg_pool1d_backward(t(), y)),
        line(back)
    );
}

#[test]
fn adaptive_pools() {
    let x = Array::random(&[2, 3, 5, 7, 6], -3.0, 3.0, 1);
    let range = |p: usize, of: usize, size: usize| p * size / of..((p + 1) * size).div_ceil(of);
    let of = [2, 3, 4];
    let sizes = [2, 3, 2, 3, 4];
    let mean = Array::of(&sizes, |at| {
        let axes: Vec<_> = (0..3)
            .map(|k| range(at[k + 2], of[k], x.shape[k + 2]))
            .collect();
        let mut all = vec![];
        for i in axes[0].clone() {
            for j in axes[1].clone() {
                for k in axes[2].clone() {
                    all.push(x.at(&[at[0], at[1], i, j, k]));
                }
            }
        }
        all.iter().sum::<f64>() / all.len() as f64
    });
    for dtype in FLOATS {
        let y = Flex::adaptive_avg_pool3d(floats(&x, dtype, 1), of);
        close(y.clone(), &mean, dtype, 8.0, 1.0);
        // what a gradient of ones gives back adds up to their number
        let ones = floats(&Array::of(&sizes, |_| 1.0), dtype, 0);
        let back = array(Flex::adaptive_avg_pool3d_backward(
            floats(&x, dtype, 0),
            ones,
        ));
        assert_eq!(back.shape, x.shape);
        let sum: f64 = back.values.iter().sum();
        assert!((sum / 144.0 - 1.0).abs() < 0.01);
    }
}
