//! Random numbers. A node with a seed gives the same numbers in each run; one without, others.

use super::super::call::{Call, Inputs, Node, one};
use super::{Attribute, Kind, Row, float, int, make, maybe, required};
use crate::dtype::DType;
use crate::error::Result;
use crate::nn;
use crate::ops;
use crate::random::{Generator, default_rng};
use crate::tensor::Tensor;
use portable_atomic::{AtomicU64, Ordering};

const SEED: Attribute = maybe("seed", Kind::Float);
const DTYPE: Attribute = maybe("dtype", Kind::Int);
const FLOAT: Attribute = int("dtype", 1);
const SHAPE: Attribute = required("shape", Kind::Ints);
const MEAN: Attribute = float("mean", 0.0);
const SCALE: Attribute = float("scale", 1.0);
const LOW: Attribute = float("low", 0.0);
const HIGH: Attribute = float("high", 1.0);

pub(super) const ROWS: &[Row] = &[
    make(
        "RandomNormal",
        1,
        0..=0,
        &[FLOAT, MEAN, SCALE, SEED, SHAPE],
        normal,
    ),
    make(
        "RandomNormalLike",
        1,
        1..=1,
        &[DTYPE, MEAN, SCALE, SEED],
        normal,
    ),
    make(
        "RandomUniform",
        1,
        0..=0,
        &[FLOAT, HIGH, LOW, SEED, SHAPE],
        uniform,
    ),
    make(
        "RandomUniformLike",
        1,
        1..=1,
        &[DTYPE, HIGH, LOW, SEED],
        uniform,
    ),
    make("Bernoulli", 15, 1..=1, &[DTYPE, SEED], |node| {
        let (dtype, seed) = (node.dtype("dtype")?, node.maybe_float("seed"));
        one(move |x| {
            let p = x.get(0)?;
            let dice = rng(seed).random(p.shape(), DType::F64)?;
            ops::less(&dice, &p.astype(DType::F64)?)?.astype(dtype.unwrap_or(p.dtype()))
        })
    }),
    make(
        "Multinomial",
        7,
        1..=1,
        &[int("dtype", 6), int("sample_size", 1), SEED],
        |node| {
            let (dtype, seed) = (
                node.dtype("dtype")?.unwrap_or(DType::I32),
                node.maybe_float("seed"),
            );
            let count = node.size("sample_size")?;
            one(move |x| {
                // the number of sums that a dice reaches beyond
                let p = nn::softmax(&x.get(0)?.astype(DType::F64)?, -1)?;
                let sums = ops::cumulative_sum(&p, -1)?.expand_dims(-2)?;
                let batch = p.shape()[0];
                let dice = rng(seed).random([batch, count, 1], DType::F64)?;
                let beyond = ops::greater_equal(&dice, &sums)?.astype(DType::I64)?;
                let classes = p.shape()[p.rank() - 1].max(1) as i64 - 1;
                ops::minimum(ops::sum(&beyond, -1)?, classes)?.astype(dtype)
            })
        },
    ),
];

/// The generator of a node's seed, or one that was not there before.
fn rng(seed: Option<f64>) -> Generator {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    match seed {
        Some(seed) => default_rng(u64::from((seed as f32).to_bits())),
        None => Generator::from_words(&[NEXT.fetch_add(1, Ordering::Relaxed), 1]),
    }
}

type Draw = fn(&mut Generator, [f64; 2], &[usize], DType) -> Result<Tensor>;

fn normal(node: &Node) -> Result<Call> {
    let bell: Draw = |rng, [mean, scale], shape, dtype| rng.normal(mean, scale, shape, dtype);
    drawn(node, [node.float("mean"), node.float("scale")], bell)
}
fn uniform(node: &Node) -> Result<Call> {
    let flat: Draw = |rng, [low, high], shape, dtype| rng.uniform(low, high, shape, dtype);
    drawn(node, [node.float("low"), node.float("high")], flat)
}
fn drawn(node: &Node, parameters: [f64; 2], draw: Draw) -> Result<Call> {
    let (dtype, seed) = (node.dtype("dtype")?, node.maybe_float("seed"));
    let shape = match node.attributes.iter().any(|(n, _)| *n == "shape") {
        true => node.maybe_sizes("shape")?,
        false => None,
    };
    one(move |x: &mut Inputs| {
        let like = x.maybe(0);
        let dtype = dtype.or(like.map(Tensor::dtype)).unwrap_or(DType::F32);
        let shape = shape.as_deref().or(like.map(Tensor::shape)).unwrap_or(&[]);
        draw(&mut rng(seed), parameters, shape, DType::F32)?.astype(dtype)
    })
}
