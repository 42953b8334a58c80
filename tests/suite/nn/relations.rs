//! Relations between results: of scaled operands, batches, channels, and prefixes.

use super::*;
use flex::nn::{AvgPool, Conv, Interpolate, InterpolateMode, MaxPool, Recurrent};
use flex::ops;

type Layer = Box<dyn Fn(&Tensor) -> Tensor>;

/// Layers of images `[batch, 16, 24, 20]` that are linear up to rounding, and their names. `bits`
/// says whether an example's bits don't depend on the batch.
fn layers(dtype: DType) -> Vec<(&'static str, bool, Layer)> {
    let made = move |shape: &[usize], seed| tensor(shape, seed).astype(dtype).unwrap();
    let w = made(&[16, 16, 3, 3], 1);
    let few = made(&[6, 16, 5, 4], 2);
    let (each, back) = (made(&[16, 1, 3, 3], 3), made(&[16, 8, 4, 4], 4));
    let (square, point) = (made(&[12, 20], 5), made(&[40, 16, 1, 1], 6));
    let conv = |groups: usize, precise: bool| Conv {
        padding: 1.into(),
        groups,
        precise,
        ..Default::default()
    };
    let pool = |include: bool| AvgPool {
        stride: Some(2.into()),
        padding: 1.into(),
        ceil_mode: true,
        count_include_pad: include,
        ..Default::default()
    };
    let to = |mode, size: [usize; 2]| Interpolate {
        size: Some(size.into()),
        mode,
        ..Default::default()
    };
    let plain = w.clone();
    vec![
        (
            "conv2d, precise",
            false,
            Box::new(move |x: &Tensor| nn::conv2d(x, &plain, conv(1, true)).unwrap()) as Layer,
        ),
        (
            "conv2d",
            false,
            Box::new(move |x: &Tensor| nn::conv2d(x, &w, conv(1, false)).unwrap()),
        ),
        (
            "conv2d, few",
            false,
            Box::new(move |x: &Tensor| nn::conv2d(x, &few, None).unwrap()),
        ),
        (
            "conv2d, depthwise",
            false,
            Box::new(move |x: &Tensor| nn::conv2d(x, &each, conv(16, false)).unwrap()),
        ),
        (
            "conv2d, pointwise",
            false,
            Box::new(move |x: &Tensor| nn::conv2d(x, &point, None).unwrap()),
        ),
        (
            "conv_transpose2d",
            false,
            Box::new(move |x: &Tensor| {
                let options = nn::ConvTranspose {
                    stride: 2.into(),
                    ..Default::default()
                };
                nn::conv_transpose2d(x, &back, options).unwrap()
            }),
        ),
        (
            "linear",
            false,
            Box::new(move |x: &Tensor| nn::linear(x, &square, None).unwrap()),
        ),
        (
            "sum",
            false,
            Box::new(|x: &Tensor| ops::sum(x, [-1, -2]).unwrap()),
        ),
        (
            "mean",
            false,
            Box::new(|x: &Tensor| ops::mean(x, [-1]).unwrap()),
        ),
        (
            "avg_pool2d",
            true,
            Box::new(move |x: &Tensor| nn::avg_pool2d(x, 3, pool(true)).unwrap()),
        ),
        (
            "avg_pool2d, inside",
            true,
            Box::new(move |x: &Tensor| nn::avg_pool2d(x, 3, pool(false)).unwrap()),
        ),
        (
            "max_pool2d",
            true,
            Box::new(|x: &Tensor| {
                let options = MaxPool {
                    stride: Some(2.into()),
                    padding: 1.into(),
                    dilation: 2.into(),
                    ceil_mode: true,
                };
                nn::max_pool2d(x, 3, options).unwrap()
            }),
        ),
        (
            "adaptive_avg_pool2d",
            true,
            Box::new(|x: &Tensor| nn::adaptive_avg_pool2d(x, [5, 7]).unwrap()),
        ),
        (
            "nearest",
            true,
            Box::new(move |x: &Tensor| {
                nn::interpolate(x, to(InterpolateMode::Nearest, [31, 9])).unwrap()
            }),
        ),
        (
            "bilinear",
            true,
            Box::new(move |x: &Tensor| {
                nn::interpolate(x, to(InterpolateMode::Bilinear, [31, 9])).unwrap()
            }),
        ),
        (
            "bicubic",
            true,
            Box::new(move |x: &Tensor| {
                nn::interpolate(x, to(InterpolateMode::Bicubic, [50, 30])).unwrap()
            }),
        ),
        (
            "area",
            true,
            Box::new(move |x: &Tensor| {
                nn::interpolate(x, to(InterpolateMode::Area, [7, 6])).unwrap()
            }),
        ),
        (
            "unfold",
            true,
            Box::new(|x: &Tensor| nn::unfold(x, 3, nn::Unfold::default()).unwrap()),
        ),
        (
            "pad",
            true,
            Box::new(|x: &Tensor| nn::pad(x, &[3, 2, 1, 0], nn::PadMode::Reflect).unwrap()),
        ),
    ]
}

fn wide(t: &Tensor) -> Vec<f64> {
    t.astype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

/// Bit for bit, as long as nothing overflows or vanishes.
#[test]
fn powers_of_two_pass_through_linear_layers() {
    for dtype in [DType::F32, DType::F64, DType::BF16] {
        if !dtype.is_available() {
            continue;
        }
        let x = tensor(&[2, 16, 24, 20], 7).astype(dtype).unwrap();
        let x = [x.clone(), channels_last(&x)];
        for (name, _, layer) in layers(dtype) {
            for x in &x {
                let y = wide(&layer(x));
                for power in [-40, -1, 3, 40] {
                    let factor = 2f64.powi(power);
                    let z = wide(&layer(&ops::multiply(x, factor).unwrap()));
                    let same = y.iter().zip(&z).all(|(y, z)| y * factor == *z);
                    assert!(same, "{name} {dtype} 2**{power}");
                }
            }
        }
    }
}

#[test]
fn a_batch_is_its_examples() {
    let x = tensor(&[3, 16, 24, 20], 8);
    for (name, bits, layer) in layers(DType::F32) {
        let whole = layer(&x);
        for k in 0..3 {
            let alone = wide(&layer(&x.narrow(0, k, 1).unwrap()));
            let part = wide(&whole.narrow(0, k, 1).unwrap().copy().unwrap());
            assert_eq!(alone.len(), part.len());
            for (a, b) in alone.iter().zip(&part) {
                let bound = if bits { 0.0 } else { 1e-4 };
                assert!((a - b).abs() <= bound, "{name}: {a} and {b}");
            }
        }
    }
}

#[test]
fn outputs_concatenate() {
    let x = tensor(&[2, 16, 17, 15], 1);
    for (kernel, first, rest) in [(3, 16, 5), (3, 20, 32), (1, 4, 9), (4, 7, 16)] {
        let (a, b) = (
            tensor(&[first, 16, kernel, kernel], 2),
            tensor(&[rest, 16, kernel, kernel], 3),
        );
        let of = |w: &Tensor| nn::conv2d(&x, w, None).unwrap();
        let both = of(&ops::concat(&[&a, &b], 0).unwrap());
        let parts = ops::concat(&[of(&a), of(&b)], 1).unwrap();
        close(&both, &doubles(&parts), 1e-4);
    }
    let (a, b) = (tensor(&[6, 15], 4), tensor(&[40, 15], 5));
    let of = |w: &Tensor| nn::linear(&x, w, None).unwrap();
    let both = of(&ops::concat(&[&a, &b], 0).unwrap());
    close(
        &both,
        &doubles(&ops::concat(&[of(&a), of(&b)], -1).unwrap()),
        1e-4,
    );
}

/// What follows has no part in causal attention, recurrent layers, and convolutions that pad the
/// past.
#[test]
fn prefixes_are_causal() {
    let (q, k, v) = (
        tensor(&[2, 150, 16], 1),
        tensor(&[2, 150, 16], 2),
        tensor(&[2, 150, 8], 3),
    );
    let (i, h) = (tensor(&[32, 16], 4), tensor(&[32, 8], 5));
    let w = tensor(&[24, 16, 3], 6);
    let causal = nn::Attention {
        causal: true,
        ..Default::default()
    };
    let all = |n: usize| {
        let of = |t: &Tensor| t.narrow(1, 0, n).unwrap();
        let steps = Recurrent {
            batch_first: true,
            ..Default::default()
        };
        let past = nn::pad(
            &of(&q).transpose(1, 2).unwrap(),
            &[2, 0],
            nn::PadMode::Constant(0.into()),
        );
        [
            nn::scaled_dot_product_attention(&of(&q), &of(&k), &of(&v), causal).unwrap(),
            nn::lstm(&of(&q), None, &[&i, &h], steps).unwrap().0,
            nn::conv1d(&past.unwrap(), &w, None)
                .unwrap()
                .transpose(1, 2)
                .unwrap(),
        ]
    };
    let whole = all(150);
    for n in [1, 2, 9, 64, 149] {
        for (whole, part) in whole.iter().zip(all(n)) {
            let first = whole.narrow(1, 0, n).unwrap().copy().unwrap();
            close(&part.copy().unwrap(), &doubles(&first), 1e-4);
        }
    }
}
