//! Random tensors: flex's generator, one for all threads.

use crate::FlexTensor;
use crate::convert::{done, range};
use burn_backend::{Distribution, ElementConversion};
use burn_std::rand::gen_random;
use burn_std::sync::Mutex;
use flex::random::{Generator, default_rng};
use flex::{DType, Result, Scalar, Tensor, ops};

static GENERATOR: Mutex<Option<Generator>> = Mutex::new(None);

/// Starts the sequence of a seed.
pub(crate) fn seed(seed: u64) {
    *GENERATOR.lock() = Some(default_rng(seed));
}

/// The next tensor of the sequence; that of a random seed before there is one.
pub(crate) fn draw(shape: &[usize], distribution: Distribution, dtype: DType) -> FlexTensor {
    let mut generator = GENERATOR.lock();
    let generator = generator.get_or_insert_with(|| default_rng(gen_random()));
    let drawn = match dtype.is_integer() {
        true => integers(generator, shape, distribution, dtype),
        false => floats(generator, shape, distribution, dtype),
    };
    done(drawn).into()
}

fn floats(rng: &mut Generator, shape: &[usize], of: Distribution, dtype: DType) -> Result<Tensor> {
    match of {
        Distribution::Default => rng.random(shape, dtype),
        Distribution::Uniform(low, high) => rng.uniform(low, high, shape, dtype),
        Distribution::Normal(mean, std) => rng.normal(mean, std, shape, dtype),
        Distribution::Bernoulli(p) => trials(rng, shape, p)?.astype(dtype),
    }
}

fn integers(
    rng: &mut Generator,
    shape: &[usize],
    of: Distribution,
    dtype: DType,
) -> Result<Tensor> {
    match of {
        Distribution::Default => {
            let (low, high) = range(dtype);
            rng.integers_inclusive(Scalar::Int(low), Scalar::Int(high), shape, dtype)
        }
        Distribution::Uniform(low, high) => {
            let [low, high] = [low, high].map(|x| match dtype {
                DType::U64 => i128::from(x.elem::<u64>()),
                _ => i128::from(x.elem::<i64>()),
            });
            rng.integers(Scalar::Int(low), Scalar::Int(high), shape, dtype)
        }
        Distribution::Normal(mean, std) => rng.normal(mean, std, shape, DType::F64)?.astype(dtype),
        Distribution::Bernoulli(p) => trials(rng, shape, p)?.astype(dtype),
    }
}

/// True with a probability.
fn trials(rng: &mut Generator, shape: &[usize], p: f64) -> Result<Tensor> {
    ops::less(rng.random(shape, DType::F32)?, p)
}
