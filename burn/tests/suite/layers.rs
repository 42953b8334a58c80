//! Layers: convolutions, norms, attention, linear layers; transforms.

use crate::common::*;
use burn_backend::ops::*;
use burn_backend::{FloatDType, IntDType};
use flex_burn::{Flex, FlexTensor};

/// A convolution along any number of axes.
#[derive(Clone)]
struct Case {
    image: Vec<usize>,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<(usize, usize)>,
    dilation: Vec<usize>,
    groups: usize,
}

impl Case {
    fn places(&self) -> Vec<usize> {
        (0..self.image.len())
            .map(|k| {
                let (before, after) = self.padding[k];
                let spans = self.dilation[k] * (self.kernel[k] - 1) + 1;
                (self.image[k] + before + after - spans) / self.stride[k] + 1
            })
            .collect()
    }
}

/// `y[n, o, p] = sum x[n, c, s p + d t - before] w[o, c, t]`, visited for `f(y, x, w)` as places.
fn visit(c: &Case, [outputs, inputs]: [usize; 2], mut f: impl FnMut(&[usize], &[usize], &[usize])) {
    let (of, rank) = (c.places(), c.image.len());
    for n in 0..2 {
        for o in 0..outputs {
            let group = o / (outputs / c.groups);
            for i in 0..inputs / c.groups {
                for place in places(&of) {
                    for tap in places(&c.kernel) {
                        let at: Option<Vec<usize>> = (0..rank)
                            .map(|k| {
                                let at = place[k] * c.stride[k] + tap[k] * c.dilation[k];
                                at.checked_sub(c.padding[k].0).filter(|at| *at < c.image[k])
                            })
                            .collect();
                        if let Some(at) = at {
                            let channel = group * (inputs / c.groups) + i;
                            f(
                                &[&[n, o], &place[..]].concat(),
                                &[&[n, channel], &at[..]].concat(),
                                &[&[o, i], &tap[..]].concat(),
                            )
                        }
                    }
                }
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let case = |image: &[usize],
                kernel: &[usize],
                stride: &[usize],
                padding: &[(usize, usize)],
                dilation: &[usize],
                groups| Case {
        image: image.to_vec(),
        kernel: kernel.to_vec(),
        stride: stride.to_vec(),
        padding: padding.to_vec(),
        dilation: dilation.to_vec(),
        groups,
    };
    vec![
        case(&[9], &[3], &[1], &[(1, 1)], &[1], 1),
        case(&[10], &[3], &[2], &[(0, 2)], &[2], 2),
        case(&[7, 8], &[3, 3], &[1, 1], &[(1, 1), (1, 1)], &[1, 1], 1),
        case(&[8, 7], &[3, 2], &[2, 1], &[(1, 1), (0, 0)], &[1, 2], 2),
        case(&[6, 9], &[2, 3], &[2, 3], &[(0, 1), (2, 0)], &[1, 1], 4),
        case(&[9, 9], &[1, 1], &[1, 1], &[(0, 0), (0, 0)], &[1, 1], 1),
        case(
            &[4, 5, 6],
            &[2, 3, 2],
            &[1, 2, 1],
            &[(1, 1), (0, 0), (1, 1)],
            &[1, 1, 2],
            2,
        ),
    ]
}

fn options<const N: usize>(c: &Case) -> ConvOptions<N> {
    let of = |v: &[usize]| -> [usize; N] { v.try_into().unwrap() };
    ConvOptions::new_with_padding(
        of(&c.stride),
        c.padding.clone().try_into().unwrap(),
        of(&c.dilation),
        c.groups,
    )
}
fn transposed<const N: usize>(c: &Case, after: &[usize]) -> ConvTransposeOptions<N> {
    let of = |v: &[usize]| -> [usize; N] { v.try_into().unwrap() };
    let padding: Vec<usize> = c.padding.iter().map(|p| p.0).collect();
    ConvTransposeOptions::new(
        of(&c.stride),
        of(&padding),
        of(after),
        of(&c.dilation),
        c.groups,
    )
}

/// `by_rank!(rank => |N, method names| body)`.
macro_rules! by_rank {
    ($rank:expr, |$N:ident, $($f:ident = $one:ident $two:ident $three:ident),*| $body:expr) => {
        match $rank {
            1 => { const $N: usize = 1; $(let $f = Flex::$one;)* $body }
            2 => { const $N: usize = 2; $(let $f = Flex::$two;)* $body }
            _ => { const $N: usize = 3; $(let $f = Flex::$three;)* $body }
        }
    };
}

#[test]
fn convolutions() {
    for (k, c) in cases().iter().enumerate() {
        let (rank, [outputs, inputs]) = (c.image.len(), [8, 4]);
        let of = c.places();
        let image = [&[2, inputs], &c.image[..]].concat();
        let result = [&[2, outputs], &of[..]].concat();
        let weight = [&[outputs, inputs / c.groups], &c.kernel[..]].concat();
        let x = Array::integers(&image, -3, 4, 1);
        let w = Array::integers(&weight, -3, 4, 2);
        let g = Array::integers(&result, -3, 4, 3);
        let b = Array::integers(&[outputs], -3, 4, 4);
        let mut y = Array::of(&result, |at| b.values[at[1]]);
        let mut dx = Array::of(&image, |_| 0.0);
        let mut dw = Array::of(&weight, |_| 0.0);
        visit(c, [outputs, inputs], |r, i, t| {
            *y.at_mut(r) += x.at(i) * w.at(t);
            *dx.at_mut(i) += g.at(r) * w.at(t);
            *dw.at_mut(t) += g.at(r) * x.at(i);
        });
        let sums = |a: &Array| {
            let mut sums = vec![0.0; a.shape[1]];
            for at in places(&a.shape) {
                sums[at[1]] += a.at(&at);
            }
            Array::new(&[a.shape[1]], sums)
        };
        for dtype in FLOATS {
            println!("{k} {dtype:?}");
            let t = |a: &Array, layout| floats(a, dtype, layout);
            by_rank!(rank, |N, conv = conv1d conv2d conv3d, of_x = conv1d_x_backward conv2d_x_backward conv3d_x_backward,
                of_w = conv1d_weight_backward conv2d_weight_backward conv3d_weight_backward,
                of_b = conv1d_bias_backward conv2d_bias_backward conv3d_bias_backward| {
                let o = || options::<N>(c);
                close(conv(t(&x, 1), t(&w, 0), Some(t(&b, 0)), o()), &y, dtype, 4.0, 16.0);
                let unbiased = y.zip(&Array::of(&y.shape, |at| b.values[at[1]]), |y, b| y - b);
                close(conv(t(&x, 0), t(&w, 2), None, o()), &unbiased, dtype, 4.0, 16.0);
                close(of_x(t(&x, 0), t(&w, 1), t(&g, 0), o()), &dx, dtype, 4.0, 16.0);
                close(of_w(t(&x, 3), t(&w, 0), t(&g, 1), o()), &dw, dtype, 4.0, 16.0);
                close(of_b(t(&x, 0), t(&b, 0), t(&g, 2)), &sums(&g), dtype, 4.0, 16.0);
            });
            // the transposed convolution is the gradient of the image
            if c.padding.iter().any(|(a, b)| a != b) {
                continue;
            }
            let after: Vec<usize> = (0..rank)
                .map(|k| {
                    let least = (of[k] - 1) * c.stride[k] + c.dilation[k] * (c.kernel[k] - 1) + 1;
                    c.image[k] + 2 * c.padding[k].0 - least
                })
                .collect();
            let bias = Array::integers(&[inputs], -3, 4, 5);
            let biased = dx.zip(&Array::of(&image, |at| bias.values[at[1]]), |x, b| x + b);
            by_rank!(rank, |N, conv = conv_transpose1d conv_transpose2d conv_transpose3d,
                of_x = conv_transpose1d_x_backward conv_transpose2d_x_backward conv_transpose3d_x_backward,
                of_w = conv_transpose1d_weight_backward conv_transpose2d_weight_backward conv_transpose3d_weight_backward,
                of_b = conv_transpose1d_bias_backward conv_transpose2d_bias_backward conv_transpose3d_bias_backward| {
                let o = || transposed::<N>(c, &after);
                close(conv(t(&g, 1), t(&w, 0), Some(t(&bias, 0)), o()), &biased, dtype, 4.0, 16.0);
                let back = y.zip(&Array::of(&y.shape, |at| b.values[at[1]]), |y, b| y - b);
                close(of_x(t(&w, 0), t(&x, 1), o()), &back, dtype, 4.0, 16.0);
                close(of_w(t(&g, 0), t(&w, 0), t(&x, 3), o()), &dw, dtype, 4.0, 16.0);
                close(of_b(t(&g, 0), t(&bias, 0), t(&x, 0)), &sums(&x), dtype, 4.0, 16.0);
            });
        }
    }
}

#[test]
fn deformed_convolutions() {
    // without offsets and with a mask of ones it is a convolution
    let c = &cases()[2];
    let x = Array::integers(&[2, 4, 7, 8], -3, 4, 1);
    let w = Array::integers(&[8, 4, 3, 3], -3, 4, 2);
    let g = Array::integers(&[2, 8, 7, 8], -3, 4, 3);
    let b = Array::integers(&[8], -3, 4, 4);
    let zeros = Array::of(&[2, 18, 7, 8], |_| 0.0);
    let ones = Array::of(&[2, 9, 7, 8], |_| 1.0);
    let options = || DeformConvOptions::new([1, 1], [1, 1], [1, 1], 1, 1);
    for dtype in FLOATS {
        let t = |a: &Array| floats(a, dtype, 0);
        let y = array(Flex::conv2d(
            t(&x),
            t(&w),
            Some(t(&b)),
            self::options::<2>(c),
        ));
        let got = Flex::deform_conv2d(
            t(&x),
            t(&zeros),
            t(&w),
            Some(t(&ones)),
            Some(t(&b)),
            options(),
        );
        close(got, &y, dtype, 4.0, 16.0);
        let all = Flex::deform_conv2d_backward(
            t(&x),
            t(&zeros),
            t(&w),
            Some(t(&ones)),
            Some(t(&b)),
            t(&g),
            options(),
        );
        let dx = array(Flex::conv2d_x_backward(
            t(&x),
            t(&w),
            t(&g),
            self::options::<2>(c),
        ));
        let dw = array(Flex::conv2d_weight_backward(
            t(&x),
            t(&w),
            t(&g),
            self::options::<2>(c),
        ));
        close(all.x_grad, &dx, dtype, 4.0, 16.0);
        close(all.weight_grad, &dw, dtype, 4.0, 16.0);
        let db = array(Flex::conv2d_bias_backward(t(&x), t(&b), t(&g)));
        close(all.bias_grad.unwrap(), &db, dtype, 4.0, 16.0);
        assert_eq!(array(all.offset_grad).shape, zeros.shape);
        assert_eq!(array(all.mask_grad.unwrap()).shape, ones.shape);
        let few =
            Flex::deform_conv2d_backward(t(&x), t(&zeros), t(&w), None, None, t(&g), options());
        assert!(few.mask_grad.is_none() && few.bias_grad.is_none());
    }
}

#[test]
fn unfolding() {
    let x = Array::integers(&[2, 3, 6, 7], -3, 4, 1);
    for (stride, padding, dilation) in [([1, 1], [0, 0], [1, 1]), ([2, 1], [1, 2], [1, 2])] {
        let kernel = [2, 3];
        let options = || UnfoldOptions::new(stride, padding, dilation);
        let of: Vec<usize> = (0..2)
            .map(|k| {
                (x.shape[k + 2] + 2 * padding[k] - dilation[k] * (kernel[k] - 1) - 1) / stride[k]
                    + 1
            })
            .collect();
        let sizes = [2, 3 * 6, of[0] * of[1]];
        let source = |at: &[usize]| {
            let (c, i, j) = (at[1] / 6, at[1] % 6 / 3, at[1] % 3);
            let (p, q) = (at[2] / of[1], at[2] % of[1]);
            let r = (p * stride[0] + i * dilation[0]).wrapping_sub(padding[0]);
            let s = (q * stride[1] + j * dilation[1]).wrapping_sub(padding[1]);
            (r < 6 && s < 7).then_some([at[0], c, r, s])
        };
        let want = Array::of(&sizes, |at| source(at).map_or(0.0, |at| x.at(&at)));
        let g = Array::integers(&sizes, -3, 4, 2);
        let mut folded = Array::of(&x.shape, |_| 0.0);
        for at in places(&sizes) {
            if let Some(to) = source(&at) {
                *folded.at_mut(&to) += g.at(&at);
            }
        }
        for dtype in FLOATS {
            equal(
                Flex::unfold4d(floats(&x, dtype, 1), kernel, options()),
                &want,
                dtype,
            );
            equal(
                Flex::fold4d(floats(&g, dtype, 1), [6, 7], kernel, options()),
                &folded,
                dtype,
            );
        }
    }
}

#[test]
fn attention() {
    let (heads, queries, keys, depth) = (3, 4, 6, 5);
    let q = Array::random(&[2, heads, queries, depth], -1.0, 1.0, 1);
    let k = Array::random(&[2, heads, keys, depth], -1.0, 1.0, 2);
    let v = Array::random(&[2, heads, keys, depth], -1.0, 1.0, 3);
    let hidden = Array::integers(&[2, heads, queries, keys], 0, 2, 4);
    let bias = Array::random(&[2, heads, queries, keys], -1.0, 1.0, 5);
    for (masked, biased, causal, softcap, scale) in [
        (false, false, false, None, None),
        (true, false, false, None, None),
        (false, true, false, None, Some(0.3)),
        (true, true, true, None, None),
        (false, false, true, Some(2.0), Some(0.7)),
    ] {
        let want = Array::of(&q.shape, |at| {
            let (n, h, i) = (at[0], at[1], at[2]);
            let score = |j: usize| {
                let dot: f64 = (0..depth)
                    .map(|d| q.at(&[n, h, i, d]) * k.at(&[n, h, j, d]))
                    .sum();
                let mut s = dot * scale.unwrap_or(1.0 / (depth as f64).sqrt());
                s = softcap.map_or(s, |c: f64| c * (s / c).tanh());
                if biased {
                    s += bias.at(&[n, h, i, j]);
                }
                let masked = masked && hidden.at(&[n, h, i, j]) != 0.0;
                let later = causal && j > i + keys - queries;
                if masked || later { 0.0 } else { s.exp() }
            };
            let all: Vec<f64> = (0..keys).map(score).collect();
            let sum: f64 = all.iter().sum();
            let total: f64 = (0..keys).map(|j| all[j] * v.at(&[n, h, j, at[3]])).sum();
            if sum == 0.0 { 0.0 } else { total / sum }
        });
        for dtype in FLOATS {
            let t = |a: &Array| floats(a, dtype, 1);
            let options = AttentionModuleOptions {
                scale,
                softcap,
                is_causal: causal,
            };
            let mask = masked.then(|| bools(&hidden, 1));
            let got = Flex::attention(t(&q), t(&k), t(&v), mask, biased.then(|| t(&bias)), options);
            close(got, &want, dtype, 16.0, 1.0);
        }
    }
}

#[test]
fn norms() {
    let x = Array::random(&[4, 3, 5], -3.0, 3.0, 1);
    let (w, b) = (
        Array::random(&[5], 0.5, 2.0, 2),
        Array::random(&[5], -1.0, 1.0, 3),
    );
    let moments = |l: &[f64]| {
        let mean = l.iter().sum::<f64>() / l.len() as f64;
        (
            mean,
            l.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / l.len() as f64,
        )
    };
    let eps = 1e-5;
    for dtype in FLOATS {
        let t = |a: &Array| floats(a, dtype, 0);
        for bias in [false, true] {
            let want = x.lines(2, |l| {
                let (mean, var) = moments(l);
                let shift = |k: usize| if bias { b.values[k] } else { 0.0 };
                l.iter()
                    .enumerate()
                    .map(|(k, x)| (x - mean) / (var + eps).sqrt() * w.values[k] + shift(k))
                    .collect()
            });
            let got = Flex::layer_norm(floats(&x, dtype, 1), t(&w), bias.then(|| t(&b)), eps);
            close(got, &want, dtype, 16.0, 1.0);
        }
        let channel = |c: usize| -> Vec<f64> {
            places(&x.shape)
                .iter()
                .filter(|at| at[1] == c)
                .map(|at| x.at(at))
                .collect()
        };
        let (gamma, beta) = (
            Array::random(&[3], 0.5, 2.0, 2),
            Array::random(&[3], -1.0, 1.0, 3),
        );
        let of = |f: &dyn Fn(f64, f64) -> f64| {
            Array::of(&[3], |at| {
                let (mean, var) = moments(&channel(at[0]));
                f(mean, var)
            })
        };
        let want = Array::of(&x.shape, |at| {
            let (mean, var) = moments(&channel(at[1]));
            (x.at(at) - mean) / (var + eps).sqrt() * gamma.values[at[1]] + beta.values[at[1]]
        });
        let all = Flex::batch_norm_train(floats(&x, dtype, 1), t(&gamma), t(&beta), eps);
        close(all.mean.clone(), &of(&|mean, _| mean), dtype, 16.0, 1.0);
        close(all.variance.clone(), &of(&|_, var| var), dtype, 16.0, 1.0);
        close(all.output, &want, dtype, 64.0, 1.0);
        let given = Flex::batch_norm(
            floats(&x, dtype, 2),
            t(&gamma),
            t(&beta),
            all.mean,
            all.variance,
            eps,
        );
        close(given, &want, dtype, 64.0, 1.0);
        // a channel with one value is what is added to it
        let one = Array::random(&[1, 3], -3.0, 3.0, 4);
        let all = Flex::batch_norm_train(t(&one), t(&gamma), t(&beta), eps);
        let flat = Array::new(&[3], one.values.clone());
        equal(all.mean.clone(), &flat, dtype);
        equal(all.variance.clone(), &flat.map(|_| 0.0), dtype);
        close(
            all.output,
            &Array::new(&[1, 3], beta.values.clone()),
            dtype,
            4.0,
            1.0,
        );
        let back = Flex::batch_norm_train_backward(
            t(&one),
            t(&gamma),
            all.mean,
            all.variance,
            eps,
            t(&one),
        );
        equal(back.x_grad, &one.map(|_| 0.0), dtype);
        close(back.beta_grad, &flat, dtype, 4.0, 1.0);
    }
}

#[test]
fn linear_layers_and_embeddings() {
    let x = Array::integers(&[2, 3, 4], -3, 4, 1);
    let w = Array::integers(&[4, 5], -3, 4, 2);
    let b = Array::integers(&[5], -3, 4, 3);
    let g = Array::integers(&[2, 3, 5], -3, 4, 4);
    let y = Array::of(&[2, 3, 5], |at| {
        (0..4)
            .map(|k| x.at(&[at[0], at[1], k]) * w.at(&[k, at[2]]))
            .sum()
    });
    let dx = Array::of(&[2, 3, 4], |at| {
        (0..5)
            .map(|k| g.at(&[at[0], at[1], k]) * w.at(&[at[2], k]))
            .sum()
    });
    let over = |f: &dyn Fn(&[usize]) -> f64| places(&[2, 3]).iter().map(|p| f(p)).sum::<f64>();
    let dw = Array::of(&[4, 5], |at| {
        over(&|p| x.at(&[p[0], p[1], at[0]]) * g.at(&[p[0], p[1], at[1]]))
    });
    let db = Array::of(&[5], |at| over(&|p| g.at(&[p[0], p[1], at[0]])));
    let table = Array::integers(&[6, 4], -3, 4, 5);
    let i = Array::integers(&[2, 3], 0, 6, 6);
    let rows = Array::of(&[2, 3, 4], |at| table.at(&[i.at(&at[..2]) as usize, at[2]]));
    let mut dtable = Array::of(&[6, 4], |_| 0.0);
    for at in places(&[2, 3, 4]) {
        *dtable.at_mut(&[i.at(&at[..2]) as usize, at[2]]) += x.at(&at);
    }
    for dtype in FLOATS {
        for layout in 0..LAYOUTS {
            let t = |a: &Array| floats(a, dtype, layout);
            let biased = Array::of(&y.shape, |at| y.at(at) + b.values[at[2]]);
            equal(Flex::linear(t(&x), t(&w), None), &y, dtype);
            equal(Flex::linear(t(&x), t(&w), Some(t(&b))), &biased, dtype);
            equal(Flex::linear_x_backward(t(&w), t(&g)), &dx, dtype);
            equal(Flex::linear_weight_backward(t(&x), t(&g)), &dw, dtype);
            equal(Flex::linear_bias_backward(t(&g)), &db, dtype);
            let index = || {
                ints(
                    &i,
                    [IntDType::I32, IntDType::I64, IntDType::U8, IntDType::I16][layout],
                    layout,
                )
            };
            equal(Flex::embedding(t(&table), index()), &rows, dtype);
            equal(
                Flex::embedding_backward(t(&table), t(&x), index()),
                &dtable,
                dtype,
            );
        }
    }
}

#[test]
fn transforms() {
    use flex_burn::ops::fft::*;
    type Forward = fn(FlexTensor, usize, Option<usize>) -> (FlexTensor, FlexTensor);
    type Back = fn(FlexTensor, FlexTensor, usize, Option<usize>) -> FlexTensor;
    let all: [(FloatDType, Forward, Back); 4] = [
        (FloatDType::F64, rfft_f64, irfft_f64),
        (FloatDType::F32, rfft_f32, irfft_f32),
        (FloatDType::F16, rfft_f16, irfft_f16),
        (FloatDType::BF16, rfft_bf16, irfft_bf16),
    ];
    let x = Array::random(&[3, 8, 2], -1.0, 1.0, 1);
    for (dtype, forward, back) in all {
        for n in [None, Some(4), Some(16)] {
            let length = n.unwrap_or(8);
            let part = |f: fn(f64) -> f64| {
                x.lines(1, |l| {
                    (0..length / 2 + 1)
                        .map(|k| {
                            let term = |j: usize| {
                                let turn = -2.0 * std::f64::consts::PI * (k * j % length) as f64
                                    / length as f64;
                                l[j] * f(turn)
                            };
                            (0..length.min(8)).map(term).sum()
                        })
                        .collect()
                })
            };
            let (re, im) = forward(floats(&x, dtype, 1), 1, n);
            close(re.clone(), &part(f64::cos), dtype, 16.0, 4.0);
            close(im.clone(), &part(f64::sin), dtype, 16.0, 4.0);
            let padded = x.lines(1, |l| {
                (0..length)
                    .map(|j| l.get(j).copied().unwrap_or(0.0))
                    .collect()
            });
            close(back(re, im, 1, Some(length)), &padded, dtype, 32.0, 4.0);
        }
    }
}
