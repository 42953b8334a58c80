//! Deformable convolutions against the sum over all taps in float64, by the definition of
//! interpolation, and their gradients against its finite differences.

use super::*;
use flex::nn::{DeformConv, grad};

/// The sizes and options of a deformable convolution.
#[derive(Clone, Copy)]
struct Plane {
    batch: usize,
    channels: usize,
    image: [usize; 2],
    outputs: usize,
    groups: usize,
    offset_groups: usize,
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    masked: bool,
}
impl Plane {
    fn places(&self) -> [usize; 2] {
        [0, 1].map(|k| {
            let spans = self.dilation[k] * (self.kernel[k] - 1) + 1;
            (self.image[k] + 2 * self.padding[k] - spans) / self.stride[k] + 1
        })
    }
    fn positions(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }
    fn shapes(&self) -> [Vec<usize>; 5] {
        let ([y, x], taps) = (self.places(), self.offset_groups * self.positions());
        let [h, w] = self.image;
        [
            vec![self.batch, self.channels, h, w],
            vec![self.batch, 2 * taps, y, x],
            [
                &[self.outputs, self.channels / self.groups],
                &self.kernel[..],
            ]
            .concat(),
            vec![self.outputs],
            vec![self.batch, taps, y, x],
        ]
    }
    fn options<'a>(&self, bias: Option<&'a Tensor>, mask: Option<&'a Tensor>) -> DeformConv<'a> {
        DeformConv {
            bias,
            stride: self.stride.into(),
            padding: Padding::Both(self.padding.into()),
            dilation: self.dilation.into(),
            mask,
        }
    }
}

/// The result for `x`, offset, weight, bias and mask.
fn oracle(p: &Plane, all: [&[f64]; 5]) -> Vec<f64> {
    let [x, offset, weight, bias, mask] = all;
    let ([height, width], [down, across]) = (p.image, p.places());
    let (seen, positions) = (p.channels / p.groups, p.positions());
    let taps = indices(&[seen, p.kernel[0], p.kernel[1]]);
    let mut y = Vec::new();
    for at in indices(&[p.batch, p.outputs, down, across]) {
        let (n, o, place) = (at[0], at[1], at[2] * across + at[3]);
        let mut sum = bias[o];
        for tap in &taps {
            let channel = o / (p.outputs / p.groups) * seen + tap[0];
            let group = channel / (p.channels / p.offset_groups);
            let row = (n * p.offset_groups + group) * positions + tap[1] * p.kernel[1] + tap[2];
            let to = [0, 1].map(|k| {
                let from = (at[k + 2] * p.stride[k] + tap[k + 1] * p.dilation[k]) as f64;
                from - p.padding[k] as f64 + offset[(2 * row + k) * down * across + place]
            });
            // bilinear interpolation: the weights are tents around each element
            let mut value = 0.0;
            let near = |a: f64, size: usize| {
                let of = |a: f64| a.clamp(0.0, size as f64) as usize;
                of(a - 1.0)..of(a + 2.0)
            };
            for (i, j) in near(to[0], height).flat_map(|i| near(to[1], width).map(move |j| (i, j)))
            {
                let part = |a: f64, b: usize| (1.0 - (a - b as f64).abs()).max(0.0);
                let part = part(to[0], i) * part(to[1], j);
                if part > 0.0 {
                    value += part * x[((n * p.channels + channel) * height + i) * width + j];
                }
            }
            let factor = if p.masked {
                mask[row * down * across + place]
            } else {
                1.0
            };
            let w = ((o * seen + tap[0]) * p.kernel[0] + tap[1]) * p.kernel[1] + tap[2];
            sum += value * factor * weight[w];
        }
        y.push(sum);
    }
    y
}

fn planes() -> Vec<Plane> {
    let one = Plane {
        batch: 2,
        channels: 4,
        image: [7, 9],
        outputs: 6,
        groups: 1,
        offset_groups: 1,
        kernel: [3, 3],
        stride: [1, 1],
        padding: [1, 1],
        dilation: [1, 1],
        masked: true,
    };
    vec![
        one,
        Plane {
            groups: 2,
            offset_groups: 4,
            stride: [2, 1],
            masked: false,
            ..one
        },
        // weight groups and offset groups that don't nest
        Plane {
            channels: 12,
            groups: 2,
            offset_groups: 3,
            kernel: [2, 1],
            dilation: [2, 3],
            ..one
        },
        Plane {
            channels: 6,
            groups: 3,
            offset_groups: 2,
            padding: [0, 3],
            batch: 1,
            ..one
        },
        // channels that fill lanes, and a remainder
        Plane {
            channels: 40,
            outputs: 5,
            groups: 1,
            offset_groups: 2,
            kernel: [2, 2],
            ..one
        },
        Plane {
            image: [1, 1],
            kernel: [1, 1],
            padding: [0, 0],
            ..one
        },
        Plane {
            image: [9, 40],
            batch: 1,
            channels: 2,
            outputs: 17,
            ..one
        },
    ]
}

/// Values of a plane's operands; some offsets lead outside the image, and none is near an integer,
/// where slopes change.
fn operands(p: &Plane) -> [Tensor; 5] {
    let mut seed = 0;
    p.shapes().map(|shape| {
        seed += 1;
        let mut random = Rng(seed);
        let n: usize = shape.iter().product();
        let offset = seed == 2;
        let values: Vec<f32> = (0..n)
            .map(|_| {
                let part = random.between(1, 15) as f32 / 16.0;
                let whole = random.below(6) as f32 - 3.0;
                if offset {
                    whole + part
                } else {
                    whole / 2.0 + part
                }
            })
            .collect();
        Tensor::from_slice(&values, &shape[..]).unwrap()
    })
}

fn deform(p: &Plane, all: &[Tensor; 5]) -> Tensor {
    let [x, offset, weight, bias, mask] = all;
    let options = p.options(Some(bias), p.masked.then_some(mask));
    nn::deform_conv2d(x, offset, weight, options).unwrap()
}

#[cfg(any(feature = "f64", feature = "std"))]
fn gradients(p: &Plane, g: &Tensor, all: &[Tensor; 5]) -> [Tensor; 5] {
    let [x, offset, weight, bias, mask] = all;
    let options = p.options(Some(bias), p.masked.then_some(mask));
    grad::deform_conv2d(g, x, offset, weight, options).unwrap()
}

#[test]
fn deformable_convolutions_match_the_sum_over_taps() {
    for p in planes() {
        let all = operands(&p);
        let numbers = all.each_ref().map(doubles);
        let want = oracle(&p, numbers.each_ref().map(|x| &x[..]));
        let y = deform(&p, &all);
        assert_eq!(&y.shape()[2..], p.places());
        close(&y, &want, 1e-6);
        // another layout in memory
        let turned = all.each_ref().map(|t| {
            let last = t.moveaxis(0, -1).unwrap().contiguous().unwrap();
            last.moveaxis(-1, 0).unwrap()
        });
        assert_eq!(doubles(&y), doubles(&deform(&p, &turned)));
        #[cfg(feature = "std")]
        for threads in [1, 2, 7] {
            let again = flex::with_threads(threads, || deform(&p, &all));
            assert_eq!(doubles(&y), doubles(&again));
        }
        for dtype in [DType::F64, DType::F16, DType::BF16] {
            if !dtype.is_available() {
                continue;
            }
            let narrow = all.each_ref().map(|t| t.astype(dtype).unwrap());
            let got = deform(&p, &narrow);
            assert_eq!(got.dtype(), dtype);
            // computed in float32 and rounded once
            let single = narrow.each_ref().map(|t| t.astype(DType::F32).unwrap());
            let want = deform(&p, &single).astype(dtype).unwrap();
            if dtype != DType::F64 {
                assert_eq!(exact(&got), exact(&want));
            } else {
                close(
                    &got.astype(DType::F32).unwrap(),
                    &oracle(&p, numbers.each_ref().map(|x| &x[..])),
                    1e-6,
                );
            }
        }
    }
}

#[test]
#[cfg(feature = "f64")]
fn gradients_match_differences() {
    const H: f64 = 1e-4;
    for p in planes() {
        let all = operands(&p);
        let numbers = all.each_ref().map(doubles);
        let shape = deform(&p, &all).shape().to_vec();
        let g = tensor(&shape, 9);
        let wide = all.each_ref().map(|t| t.astype(DType::F64).unwrap());
        let got = gradients(&p, &g.astype(DType::F64).unwrap(), &wide);
        let g = doubles(&g);
        let value = |numbers: &[Vec<f64>; 5]| -> f64 {
            let y = oracle(&p, numbers.each_ref().map(|x| &x[..]));
            y.iter().zip(&g).map(|(y, g)| y * g).sum()
        };
        // the result is linear in each operand between integer positions: sample some elements
        let mut random = Rng(5);
        for (k, got) in got.iter().enumerate() {
            assert_eq!(got.shape(), &p.shapes()[k][..]);
            if k == 4 && !p.masked {
                continue;
            }
            let got = got.to_vec::<f64>().unwrap();
            for _ in 0..4 {
                let i = random.below(got.len());
                let at = |h: f64| {
                    let mut changed = numbers.clone();
                    changed[k][i] += h;
                    value(&changed)
                };
                let want = (at(H) - at(-H)) / (2.0 * H);
                assert!(
                    (got[i] - want).abs() <= 1e-6 * want.abs().max(1.0),
                    "operand {k}, element {i}: {} for {want}",
                    got[i]
                );
            }
        }
        // no mask is a mask of ones
        if !p.masked {
            let ones =
                Tensor::from_slice(&vec![1.0; numbers[4].len()], &p.shapes()[4][..]).unwrap();
            let [x, offset, weight, ..] = &wide;
            let g = Tensor::from_slice(&g, &shape[..]).unwrap();
            let options = p.options(None, Some(&ones));
            let with = grad::deform_conv2d(&g, x, offset, weight, options).unwrap();
            for (a, b) in got.iter().zip(&with) {
                assert_eq!(a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
            }
        }
    }
}

#[test]
#[cfg(feature = "std")]
fn gradients_do_not_depend_on_threads() {
    for p in planes() {
        let all = operands(&p);
        let g = tensor(deform(&p, &all).shape(), 9);
        let one = flex::with_threads(1, || gradients(&p, &g, &all));
        for threads in [2, 7] {
            let more = flex::with_threads(threads, || gradients(&p, &g, &all));
            for (a, b) in one.iter().zip(&more) {
                assert_eq!(doubles(a), doubles(b));
            }
        }
    }
}

/// Zero offsets give a plain convolution, and samples outside the image are zero.
#[test]
fn zero_offsets_and_offsets_outside_the_image() {
    let (x, w) = (tensor(&[2, 3, 8, 8], 1), tensor(&[4, 3, 3, 3], 2));
    let none = Tensor::zeros([2, 18, 6, 6], DType::F32).unwrap();
    let plain = nn::conv2d(
        &x,
        &w,
        Conv {
            precise: true,
            ..Default::default()
        },
    )
    .unwrap();
    let y = nn::deform_conv2d(&x, &none, &w, None).unwrap();
    close(&y, &doubles(&plain), 1e-6);
    // unbatched
    let one = |t: &Tensor| t.select(0, 1).unwrap();
    let single = nn::deform_conv2d(&one(&x), &one(&none), &w, None).unwrap();
    assert_eq!(doubles(&single), doubles(&one(&y)));
    for far in [f32::NAN, f32::INFINITY, -1e30, 8.0, 1e30] {
        let offset = Tensor::from_slice(&vec![far; 2 * 18 * 36], [2, 18, 6, 6]).unwrap();
        let y = nn::deform_conv2d(&x, &offset, &w, None).unwrap();
        let right = |y: &f64| if far.is_nan() { y.is_nan() } else { *y == 0.0 };
        assert!(doubles(&y).iter().all(right), "{far}");
        let g = tensor(y.shape(), 3);
        let [dx, ..] = grad::deform_conv2d(&g, &x, &offset, &w, None).unwrap();
        assert!(doubles(&dx).iter().all(|d| *d == 0.0), "{far}");
    }
    let empty = Tensor::zeros([0, 3, 8, 8], DType::F32).unwrap();
    let none = Tensor::zeros([0, 18, 6, 6], DType::F32).unwrap();
    let y = nn::deform_conv2d(&empty, &none, &w, None).unwrap();
    assert_eq!(y.shape(), [0, 4, 6, 6]);
    let [dx, offset, dw, db, mask] = grad::deform_conv2d(&y, &empty, &none, &w, None).unwrap();
    assert_eq!(
        (dx.shape(), offset.shape(), mask.shape()),
        (empty.shape(), none.shape(), &[0, 9, 6, 6][..])
    );
    assert!(doubles(&dw).iter().chain(&doubles(&db)).all(|d| *d == 0.0));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (x, w) = (tensor(&[1, 4, 5, 5], 1), tensor(&[2, 4, 3, 3], 2));
    let of = |shape: &[usize]| Tensor::zeros(shape, DType::F32).unwrap();
    let offset = of(&[1, 18, 3, 3]);
    assert!(nn::deform_conv2d(&x, &offset, &w, None).is_ok());
    for shape in [
        &[1, 17, 3, 3][..],
        &[1, 54, 3, 3],
        &[1, 0, 3, 3],
        &[1, 18, 3, 2],
        &[18, 3, 3],
        &[2, 18, 3, 3],
    ] {
        assert!(
            nn::deform_conv2d(&x, &of(shape), &w, None).is_err(),
            "{shape:?}"
        );
    }
    for weight in [&[2, 3, 3, 3][..], &[2, 0, 3, 3], &[2, 4, 0, 3], &[2, 4, 3]] {
        assert!(
            nn::deform_conv2d(&x, &offset, &of(weight), None).is_err(),
            "{weight:?}"
        );
    }
    let mask = of(&[1, 18, 3, 3]);
    let masked = DeformConv {
        mask: Some(&mask),
        ..Default::default()
    };
    assert!(nn::deform_conv2d(&x, &offset, &w, masked).is_err());
    assert!(nn::deform_conv2d(&x, &offset, &w, Some(&of(&[3]))).is_err());
    let whole = |t: &Tensor| t.astype(DType::I32).unwrap();
    assert!(nn::deform_conv2d(&whole(&x), &whole(&offset), &whole(&w), None).is_err());
    assert!(grad::deform_conv2d(&x, &x, &offset, &w, None).is_err());
}
