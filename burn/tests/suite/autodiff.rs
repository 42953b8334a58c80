//! Gradients by Burn's autodiff against central differences, in float64.

use crate::common::*;
use burn_autodiff::Autodiff;
use burn_backend::ops::*;
use burn_backend::tensor::{FloatTensor, IndexingUpdateOp};
use burn_backend::{AutodiffBackend, FloatDType, IntDType, Slice};
use flex_burn::Flex;

type B = Autodiff<Flex>;
type T = FloatTensor<B>;
/// A function, and the shapes of its operands.
type Function = (&'static str, &'static [&'static [usize]], fn(&[T]) -> T);

fn i(values: &[usize], sizes: &[usize]) -> flex_burn::FlexTensor {
    let a = Array::new(sizes, values.iter().map(|i| *i as f64).collect());
    ints(&a, IntDType::I32, 0)
}
fn c(t: &T) -> T {
    t.clone()
}

const FUNCTIONS: &[Function] = &[
    ("add", &[&[3, 4], &[1, 4]], |x| {
        B::float_add(c(&x[0]), c(&x[1]))
    }),
    ("sub", &[&[3, 4], &[3, 1]], |x| {
        B::float_sub(c(&x[0]), c(&x[1]))
    }),
    ("mul", &[&[3, 4], &[3, 4]], |x| {
        B::float_mul(c(&x[0]), c(&x[1]))
    }),
    ("div", &[&[3, 4], &[1, 4]], |x| {
        B::float_div(c(&x[0]), c(&x[1]))
    }),
    ("powf", &[&[3, 4], &[3, 4]], |x| {
        B::float_powf(c(&x[0]), c(&x[1]))
    }),
    ("exp", &[&[3, 4]], |x| B::float_exp(c(&x[0]))),
    ("log", &[&[3, 4]], |x| B::float_log(c(&x[0]))),
    ("tanh", &[&[3, 4]], |x| B::float_tanh(c(&x[0]))),
    ("erf", &[&[3, 4]], |x| B::float_erf(c(&x[0]))),
    ("gelu", &[&[3, 4]], |x| B::gelu(c(&x[0]))),
    ("sigmoid", &[&[3, 4]], |x| B::sigmoid(c(&x[0]))),
    ("log_sigmoid", &[&[3, 4]], |x| B::log_sigmoid(c(&x[0]))),
    ("relu", &[&[3, 4]], |x| {
        B::relu(B::float_sub_scalar(c(&x[0]), 1.0.into()))
    }),
    ("leaky_relu", &[&[3, 4]], |x| {
        B::leaky_relu(B::float_sub_scalar(c(&x[0]), 1.0.into()), 0.1.into())
    }),
    ("softmax", &[&[3, 4]], |x| B::softmax(c(&x[0]), 1)),
    ("log_softmax", &[&[3, 4]], |x| B::log_softmax(c(&x[0]), 0)),
    ("matmul", &[&[2, 3, 4], &[2, 4, 5]], |x| {
        B::float_matmul(c(&x[0]), c(&x[1]))
    }),
    ("sum", &[&[3, 4]], |x| B::float_sum_dim(c(&x[0]), 1)),
    ("mean", &[&[3, 4]], |x| B::float_mean(c(&x[0]))),
    ("max", &[&[3, 4]], |x| B::float_max_dim(c(&x[0]), 1)),
    ("cumsum", &[&[3, 4]], |x| B::float_cumsum(c(&x[0]), 1)),
    ("sort", &[&[3, 4]], |x| B::float_sort(c(&x[0]), 1, true)),
    ("cat", &[&[3, 4], &[2, 4]], |x| {
        B::float_cat(vec![c(&x[0]), c(&x[1])], 0)
    }),
    ("slice", &[&[4, 6]], |x| {
        B::float_slice(c(&x[0]), &[Slice::new(1, None, 1), Slice::new(0, None, -2)])
    }),
    ("slice_assign", &[&[4, 6], &[2, 6]], |x| {
        B::float_slice_assign(c(&x[0]), &[Slice::new(1, Some(3), 1)], c(&x[1]))
    }),
    ("permute", &[&[2, 3, 4]], |x| {
        B::float_permute(c(&x[0]), &[2, 0, 1])
    }),
    ("expand", &[&[3, 1]], |x| {
        B::float_expand(c(&x[0]), shape(&[3, 4]))
    }),
    ("repeat_dim", &[&[3, 2]], |x| {
        B::float_repeat_dim(c(&x[0]), 1, 3)
    }),
    ("gather", &[&[3, 4]], |x| {
        B::float_gather(1, c(&x[0]), i(&[0, 3, 1, 1, 2, 2], &[3, 2]))
    }),
    ("scatter", &[&[3, 4], &[3, 2]], |x| {
        B::float_scatter(
            1,
            c(&x[0]),
            i(&[0, 3, 1, 1, 2, 2], &[3, 2]),
            c(&x[1]),
            IndexingUpdateOp::Add,
        )
    }),
    ("select", &[&[3, 4]], |x| {
        B::float_select(c(&x[0]), 0, i(&[2, 0, 2], &[3]))
    }),
    ("select_assign", &[&[3, 4], &[2, 4]], |x| {
        B::float_select_assign(
            c(&x[0]),
            0,
            i(&[2, 2], &[2]),
            c(&x[1]),
            IndexingUpdateOp::Add,
        )
    }),
    ("embedding", &[&[5, 3]], |x| {
        B::embedding(c(&x[0]), i(&[0, 4, 1, 1], &[2, 2]))
    }),
    ("linear", &[&[2, 3, 4], &[4, 5], &[5]], |x| {
        B::linear(c(&x[0]), c(&x[1]), Some(c(&x[2])))
    }),
    ("layer_norm", &[&[3, 4], &[4], &[4]], |x| {
        B::layer_norm(c(&x[0]), c(&x[1]), Some(c(&x[2])), 1e-3)
    }),
    ("batch_norm", &[&[4, 3, 2], &[3], &[3]], |x| {
        B::batch_norm_train(c(&x[0]), c(&x[1]), c(&x[2]), 1e-3).output
    }),
    ("conv1d", &[&[2, 4, 8], &[6, 2, 3], &[6]], |x| {
        let options = ConvOptions::new_with_padding([2], [(1, 2)], [2], 2);
        B::conv1d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
    }),
    ("conv2d", &[&[2, 4, 5, 6], &[6, 2, 3, 2], &[6]], |x| {
        let options = ConvOptions::new([1, 2], [1, 1], [1, 2], 2);
        B::conv2d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
    }),
    ("conv3d", &[&[1, 2, 3, 4, 4], &[3, 2, 2, 2, 2], &[3]], |x| {
        let options = ConvOptions::new([1, 2, 1], [1, 0, 1], [1, 1, 1], 1);
        B::conv3d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
    }),
    ("conv_transpose1d", &[&[2, 4, 5], &[4, 2, 3], &[4]], |x| {
        let options = ConvTransposeOptions::new([2], [1], [1], [1], 2);
        B::conv_transpose1d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
    }),
    (
        "conv_transpose2d",
        &[&[2, 2, 3, 4], &[2, 3, 2, 3], &[3]],
        |x| {
            let options = ConvTransposeOptions::new([2, 1], [1, 0], [1, 0], [1, 2], 1);
            B::conv_transpose2d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
        },
    ),
    (
        "conv_transpose3d",
        &[&[1, 2, 2, 3, 2], &[2, 2, 2, 2, 2], &[2]],
        |x| {
            let options = ConvTransposeOptions::new([1, 2, 1], [0, 1, 0], [0, 1, 0], [1, 1, 1], 1);
            B::conv_transpose3d(c(&x[0]), c(&x[1]), Some(c(&x[2])), options)
        },
    ),
    (
        "deform_conv2d",
        &[
            &[1, 2, 4, 4],
            &[1, 18, 4, 4],
            &[3, 2, 3, 3],
            &[1, 9, 4, 4],
            &[3],
        ],
        |x| {
            let options = DeformConvOptions::new([1, 1], [1, 1], [1, 1], 1, 1);
            let offset = B::float_mul_scalar(c(&x[1]), 0.3.into());
            B::deform_conv2d(
                c(&x[0]),
                offset,
                c(&x[2]),
                Some(c(&x[3])),
                Some(c(&x[4])),
                options,
            )
        },
    ),
    ("unfold4d", &[&[1, 2, 5, 5]], |x| {
        B::unfold4d(c(&x[0]), [2, 3], UnfoldOptions::new([2, 1], [1, 1], [1, 1]))
    }),
    ("max_pool1d", &[&[2, 2, 7]], |x| {
        B::max_pool1d(c(&x[0]), 3, 2, 1, 1, false)
    }),
    ("max_pool2d", &[&[1, 2, 5, 6]], |x| {
        B::max_pool2d(c(&x[0]), [2, 3], [2, 1], [1, 0], [1, 1], true)
    }),
    ("avg_pool1d", &[&[2, 2, 7]], |x| {
        B::avg_pool1d(c(&x[0]), 3, 2, 1, false, true)
    }),
    ("avg_pool2d", &[&[1, 2, 5, 6]], |x| {
        B::avg_pool2d(c(&x[0]), [2, 3], [2, 1], [1, 0], true, false)
    }),
    ("adaptive_avg_pool2d", &[&[1, 2, 5, 6]], |x| {
        B::adaptive_avg_pool2d(c(&x[0]), [3, 4])
    }),
    ("bilinear", &[&[1, 2, 3, 4]], |x| {
        B::interpolate(
            c(&x[0]),
            [5, 7],
            InterpolateOptions::new(InterpolateMode::Bilinear),
        )
    }),
    ("bicubic", &[&[1, 2, 4, 4]], |x| {
        let options = InterpolateOptions::new(InterpolateMode::Bicubic).with_align_corners(false);
        B::interpolate(c(&x[0]), [5, 7], options)
    }),
    (
        "attention",
        &[&[1, 2, 3, 4], &[1, 2, 5, 4], &[1, 2, 5, 4]],
        |x| {
            B::attention(
                c(&x[0]),
                c(&x[1]),
                c(&x[2]),
                None,
                None,
                AttentionModuleOptions::default(),
            )
        },
    ),
];

/// The weighted sum of what a function returns, as one number.
fn loss(f: fn(&[T]) -> T, x: &[T]) -> T {
    let y = f(x);
    use burn_backend::TensorMetadata;
    let weights = Array::random(y.shape().as_slice(), 0.5, 2.0, 99);
    let weights = B::from_inner(floats(&weights, FloatDType::F64, 0));
    B::float_sum(B::float_mul(y, weights))
}

#[test]
fn functions() {
    for (name, shapes, f) in FUNCTIONS {
        println!("{name}");
        // no two numbers are equal: the larger of two has a gradient
        let random = |(s, seed): (&&[usize], u64)| {
            let mut rng = Rng(seed);
            Array::of(s, |_| 0.3 + 1.6 * rng.unit())
        };
        let arrays: Vec<Array> = shapes.iter().zip(1..).map(random).collect();
        let tensor = |a: &Array| B::from_inner(floats(a, FloatDType::F64, 0));
        let x: Vec<T> = arrays
            .iter()
            .map(|a| B::float_set_require_grad(tensor(a), true))
            .collect();
        let grads = B::backward(loss(*f, &x));
        for (k, t) in x.iter().enumerate() {
            let got = array(B::grad(t, &grads).expect("a gradient"));
            assert_eq!(got.shape, arrays[k].shape, "{name}, operand {k}");
            for at in 0..got.values.len() {
                let step = 1e-5;
                let ends = [step, -step].map(|d| {
                    let mut moved = arrays.clone();
                    moved[k].values[at] += d;
                    let x: Vec<T> = moved.iter().map(tensor).collect();
                    array(B::inner(loss(*f, &x))).values[0]
                });
                let want = (ends[0] - ends[1]) / (2.0 * step);
                let error = (got.values[at] - want).abs() / want.abs().max(1.0);
                assert!(
                    error < 1e-6,
                    "{name}, operand {k}, element {at}: {}, not {want}",
                    got.values[at]
                );
            }
        }
    }
}

/// Two classes of points in the plane, told apart by a small network after some steps of descent.
#[test]
fn training() {
    let mut rng = Rng(5);
    let points = Array::of(&[64, 2], |_| 2.0 * rng.unit() - 1.0);
    let target = Array::of(&[64, 1], |at| {
        (points.at(&[at[0], 0]) * points.at(&[at[0], 1]) > 0.0).into()
    });
    let f = FloatDType::F32;
    let constant = |a: &Array| B::from_inner(floats(a, f, 0));
    let mut weights: Vec<Array> = [&[2, 16][..], &[16], &[16, 1], &[1]]
        .iter()
        .zip(10..)
        .map(|(s, seed)| Array::random(s, -1.0, 1.0, seed))
        .collect();
    let run = |w: &[T]| {
        let hidden = B::linear(constant(&points), c(&w[0]), Some(c(&w[1])));
        let logits = B::linear(B::float_tanh(hidden), c(&w[2]), Some(c(&w[3])));
        let error = B::float_sub(B::sigmoid(logits), constant(&target));
        B::float_mean(B::float_powi_scalar(error, 2.into()))
    };
    let mut losses = vec![];
    for _ in 0..400 {
        let w: Vec<T> = weights
            .iter()
            .map(|a| B::float_set_require_grad(constant(a), true))
            .collect();
        let loss = run(&w);
        losses.push(array(B::inner(loss.clone())).values[0]);
        let grads = B::backward(loss);
        for (a, t) in weights.iter_mut().zip(&w) {
            let g = array(B::grad(t, &grads).unwrap());
            *a = a.zip(&g, |x, g| x - 3.0 * g);
        }
    }
    assert!(
        losses[399] < 0.3 * losses[0],
        "{} to {}",
        losses[0],
        losses[399]
    );
}
