//! Steps of training by Burn's autodiff: forward, backward, and gradient descent.

use super::rows;
use crate::data::{ints, weights};
use burn_autodiff::Autodiff;
use burn_backend::ops::{
    ActivationOps, AttentionModuleOptions, ConvOptions, FloatTensorOps, ModuleOps,
};
use burn_backend::tensor::{FloatTensor, IntTensor};
use burn_backend::{AutodiffBackend, Backend};

/// The parameters of the network and of the block.
const NETWORK: &[&[usize]] = &[
    &[8, 1, 3, 3],
    &[8],
    &[16, 8, 3, 3],
    &[16],
    &[16 * 49, 10],
    &[10],
];
const BLOCK: &[&[usize]] = &[
    &[128],
    &[128],
    &[128, 384],
    &[384],
    &[128, 128],
    &[128],
    &[128],
    &[128],
    &[128, 512],
    &[512],
    &[512, 128],
];

rows! { B;
    "training" {
        "a small CNN, 32 images of 28 x 28" => {
            let (image, labels) = (weights::<B>(&[32, 1, 28, 28], 7), ints::<B>(&[32, 1], 10, 8));
            step::<B>(NETWORK, move |p| {
                let scores = network::<B>(Autodiff::<B>::from_inner(image.clone()), p);
                cross_entropy::<B>(scores, labels.clone())
            })
        };
        "a transformer block, 4 x 64 x 128" => {
            let x = weights::<B>(&[4, 64, 128], 9);
            step::<B>(BLOCK, move |p| {
                let y = block::<B>(Autodiff::<B>::from_inner(x.clone()), p);
                Autodiff::<B>::float_mean(Autodiff::<B>::float_mul(y.clone(), y))
            })
        };
    }
    "inference" {
        "a small CNN, 32 images of 28 x 28" => {
            let p: Vec<_> = NETWORK.iter().zip(1..).map(|(shape, seed)| weights::<B>(shape, seed)).collect();
            let image = weights::<B>(&[32, 1, 28, 28], 7);
            move || plain_network::<B>(image.clone(), &p)
        };
    }
}

/// A step of training of parameters of these shapes, which lowers a loss.
fn step<B: Backend>(
    shapes: &'static [&'static [usize]],
    loss: impl Fn(&[FloatTensor<Autodiff<B>>]) -> FloatTensor<Autodiff<B>>,
) -> impl FnMut() {
    let scaled = |(shape, seed): (&&[usize], u64)| {
        let fan = shape.iter().product::<usize>() / shape.last().copied().unwrap_or(1);
        B::float_mul_scalar(
            weights::<B>(shape, seed),
            (1.0 / (fan.max(1) as f64).sqrt()).into(),
        )
    };
    let mut parameters: Vec<FloatTensor<B>> = shapes.iter().zip(1..).map(scaled).collect();
    move || {
        let tracked: Vec<FloatTensor<Autodiff<B>>> = parameters
            .drain(..)
            .map(|p| Autodiff::<B>::float_set_require_grad(Autodiff::<B>::from_inner(p), true))
            .collect();
        let mut gradients = Autodiff::<B>::backward(loss(&tracked));
        parameters.extend(tracked.into_iter().map(|p| {
            match Autodiff::<B>::grad_remove(&p, &mut gradients) {
                Some(gradient) => {
                    let descent = B::float_mul_scalar(gradient, 1e-3.into());
                    B::float_sub(Autodiff::<B>::inner(p), descent)
                }
                None => Autodiff::<B>::inner(p),
            }
        }));
    }
}

/// Two convolutions with pools, and a linear layer.
fn network<B: Backend>(
    image: FloatTensor<Autodiff<B>>,
    p: &[FloatTensor<Autodiff<B>>],
) -> FloatTensor<Autodiff<B>> {
    plain_network::<Autodiff<B>>(image, p)
}
fn plain_network<B: Backend>(image: FloatTensor<B>, p: &[FloatTensor<B>]) -> FloatTensor<B> {
    let same = || ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
    let stage = |x, k: usize| {
        let y = B::relu(B::conv2d(x, p[k].clone(), Some(p[k + 1].clone()), same()));
        B::max_pool2d(y, [2, 2], [2, 2], [0, 0], [1, 1], false)
    };
    let parts = stage(stage(image, 0), 2);
    let flat = B::float_reshape(parts, vec![32, 16 * 49].into());
    B::linear(flat, p[4].clone(), Some(p[5].clone()))
}

fn cross_entropy<B: Backend>(
    scores: FloatTensor<Autodiff<B>>,
    labels: IntTensor<B>,
) -> FloatTensor<Autodiff<B>> {
    let logarithms = Autodiff::<B>::log_softmax(scores, 1);
    let right = Autodiff::<B>::float_gather(1, logarithms, labels);
    Autodiff::<B>::float_neg(Autodiff::<B>::float_mean(right))
}

/// Attention of four heads and a perceptron, each after a normalisation and beside a residual.
fn block<B: Backend>(
    x: FloatTensor<Autodiff<B>>,
    p: &[FloatTensor<Autodiff<B>>],
) -> FloatTensor<Autodiff<B>> {
    type A<B> = Autodiff<B>;
    let norm = |x, k: usize| A::<B>::layer_norm(x, p[k].clone(), Some(p[k + 1].clone()), 1e-5);
    let linear = |x, k: usize| A::<B>::linear(x, p[k].clone(), p.get(k + 1).cloned());
    let heads = A::<B>::float_reshape(linear(norm(x.clone(), 0), 2), vec![4, 64, 3, 4, 32].into());
    let head = |k: usize| {
        let one = A::<B>::float_slice(
            A::<B>::float_permute(heads.clone(), &[2, 0, 3, 1, 4]),
            &[burn_backend::Slice::new(
                k as isize,
                Some(k as isize + 1),
                1,
            )],
        );
        A::<B>::float_reshape(one, vec![4, 4, 64, 32].into())
    };
    let seen = A::<B>::attention(
        head(0),
        head(1),
        head(2),
        None,
        None,
        AttentionModuleOptions::default(),
    );
    let joined =
        A::<B>::float_reshape(A::<B>::float_swap_dims(seen, 1, 2), vec![4, 64, 128].into());
    let x = A::<B>::float_add(x, linear(joined, 4));
    let wide = A::<B>::gelu(linear(norm(x.clone(), 6), 8));
    A::<B>::float_add(x, A::<B>::linear(wide, p[10].clone(), None))
}
