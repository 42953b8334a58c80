//! Chains of operations by Burn's queue, which have the bits that the operations give one by one.

use crate::common::{DEVICE, Rng};
use burn_autodiff::Autodiff;
use burn_backend::ops::*;
use burn_backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn_backend::{
    AutodiffBackend, Backend, BoolDType, ExecutionError, FloatDType, IntDType, Slice, TensorData,
    TensorMetadata,
};
use burn_fusion::Optimization;
use burn_fusion::observer::{BlockOperations, FusionObservation, FusionObserver};
use burn_ir::{
    BinaryOpIr, FloatOperationIr, NumericOperationIr, OperationIr, TensorId, TensorIr,
    TensorStatus, UnaryOpIr,
};
use burn_std::reader::try_read_sync;
use burn_std::{DType, Shape};
use flex_burn::fusion::{Chain, FlexFusion};
use flex_burn::{Flex, FlexDevice, Fusion};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Fused = Fusion<Flex>;

const BOOL: BoolDType = BoolDType::Native;

fn read(data: impl Future<Output = Result<TensorData, ExecutionError>>) -> TensorData {
    try_read_sync(data).unwrap().unwrap()
}
fn values<B: Backend<Device = FlexDevice>>(x: FloatTensor<B>) -> Vec<f32> {
    read(B::float_into_data(x)).iter::<f32>().collect()
}
fn floats<B: Backend<Device = FlexDevice>>(
    shape: &[usize],
    dtype: FloatDType,
    seed: u64,
) -> FloatTensor<B> {
    let mut rng = Rng(seed);
    let n = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|_| 4.0 * rng.unit() as f32 - 2.0).collect();
    let x = B::float_from_data(TensorData::new(values, shape.to_vec()), &DEVICE);
    B::float_cast(x, dtype)
}

/// The sizes of the blocks of operations that ran, of a test at a time.
struct Blocks(Mutex<Vec<usize>>);
impl FusionObserver for Blocks {
    fn registered(&self, _: &OperationIr) {}
    fn block_starts(&self, block: BlockOperations<'_>) {
        let computing =
            |x: &&OperationIr| !matches!(x, OperationIr::Drop(_) | OperationIr::Init(_));
        let n = block.iter().filter(computing).count();
        self.0.lock().unwrap().push(n);
    }
    fn block_ran(&self) {}
}
static ALONE: Mutex<()> = Mutex::new(());
/// Tests of this file run one after the other, since an observer sees what all threads do.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
/// The largest block of `f`.
fn largest_block(f: impl FnOnce()) -> usize {
    let blocks = Arc::new(Blocks(Mutex::default()));
    let observed = FusionObservation::new(blocks.clone());
    f();
    drop(observed);
    blocks.0.lock().unwrap().iter().copied().max().unwrap_or(0)
}

/// `x (1 + erf(x / sqrt 2)) / 2` with Abramowitz and Stegun's 7.1.26 for erf.
fn gelu<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let erf = |x: FloatTensor<B>| {
        let (sign, x) = (B::float_sign(x.clone()), B::float_abs(x));
        let t = B::float_mul_scalar(x.clone(), 0.3275911.into());
        let t = B::float_recip(B::float_add_scalar(t, 1.0.into()));
        let step = |sum, a: f64| B::float_mul(B::float_add_scalar(sum, a.into()), t.clone());
        let first = B::float_mul_scalar(t.clone(), 1.061405429.into());
        let factors = [-1.453152027, 1.421413741, -0.284496736, 0.254829592];
        let sum = factors.into_iter().fold(first, step);
        let tail = B::float_exp(B::float_neg(B::float_mul(x.clone(), x)));
        let tail = B::float_neg(B::float_mul(sum, tail));
        B::float_mul(sign, B::float_add_scalar(tail, 1.0.into()))
    };
    let y = erf(B::float_div_scalar(x.clone(), 2f64.sqrt().into()));
    let y = B::float_mul(x, B::float_add_scalar(y, 1.0.into()));
    B::float_div_scalar(y, 2.0.into())
}

#[test]
fn a_function_written_out_is_one_block() {
    let _alone = alone();
    let of = |n: usize| {
        let x = floats::<Fused>(&[n], FloatDType::F32, 1);
        let y = values::<Fused>(gelu::<Fused>(x));
        let x = floats::<Flex>(&[n], FloatDType::F32, 1);
        assert_eq!(y, values::<Flex>(gelu::<Flex>(x.clone())));
        let exact = values::<Flex>(Flex::gelu(x));
        assert!(y.iter().zip(exact).all(|(y, e)| (y - e).abs() < 1e-6));
    };
    // found again for another size
    for n in [1000, 3, 70_000] {
        let largest = largest_block(|| of(n));
        assert!(largest >= 27, "{largest}");
    }
}

/// A random program; what it leaves, as data.
fn program<B: Backend<Device = FlexDevice>>(dtype: FloatDType, seed: u64) -> Vec<TensorData> {
    let mut rng = Rng(seed);
    let sizes = [[6, 4, 5], [6, 1, 5], [1, 4, 1], [6, 4, 5]];
    let mut floating: Vec<FloatTensor<B>> = (0..4)
        .map(|k| floats::<B>(&sizes[k], dtype, seed + k as u64))
        .collect();
    let of =
        |x: FloatTensor<B>| B::float_into_int(B::float_mul_scalar(x, 50.0.into()), IntDType::I32);
    let mut integers: Vec<IntTensor<B>> = vec![of(floating[0].clone())];
    let mut bools: Vec<BoolTensor<B>> =
        vec![B::float_lower_elem(floating[0].clone(), 0.5.into(), BOOL)];
    for _ in 0..30 {
        let n = floating.len();
        // one that ends here, or stays as well
        let mut x = match rng.below(3) {
            0 if n > 3 => floating.remove(rng.below(n as u64) as usize),
            _ => floating[rng.below(n as u64) as usize].clone(),
        };
        let y = floating[rng.below(floating.len() as u64) as usize].clone();
        let i = integers[rng.below(integers.len() as u64) as usize].clone();
        let b = bools[rng.below(bools.len() as u64) as usize].clone();
        let number = 3.0 * rng.unit() - 1.0;
        // the other in the shape of one, if it is not larger
        let like = |y: FloatTensor<B>, x: &FloatTensor<B>| {
            let (from, to) = (y.shape(), x.shape());
            match from.iter().zip(to.iter()).all(|(a, b)| a == b || *a == 1) {
                true => B::float_expand(y, to),
                false => B::float_full(to, number.into(), &DEVICE, dtype),
            }
        };
        match rng.below(26) {
            0 => x = B::float_add(x, y),
            1 => x = B::float_sub(y, x),
            2 => x = B::float_mul(x, y),
            3 => x = B::float_div(x, B::float_add_scalar(B::float_abs(y), 1.0.into())),
            4 => x = B::float_mul_scalar(x, number.into()),
            5 => x = B::float_sin(B::float_add_scalar(x, number.into())),
            6 => x = B::float_tanh(x),
            7 => x = B::float_erf(B::float_sqrt(B::float_abs(x))),
            8 => x = B::float_clamp(x, (-1.0).into(), 1.5.into()),
            9 => x = B::float_powf_scalar(B::float_abs(x), 1.5.into()),
            10 => x = B::float_round(B::float_mul_scalar(x, 4.0.into())),
            11 => x = B::float_sum_dim(x, 1),
            12 => x = B::float_max_dim(x, 2),
            13 => x = B::float_mean_dim(x, 0),
            14 => x = B::float_reshape(B::float_sum(x), [1, 1, 1].into()),
            15 => x = B::float_flip(x, &[0, 2]),
            16 => {
                x = B::float_permute(
                    B::float_exp(B::float_clamp(
                        B::float_permute(x, &[2, 0, 1]),
                        (-9.0).into(),
                        1.0.into(),
                    )),
                    &[1, 2, 0],
                )
            }
            17 => x = B::float_swap_dims(B::float_neg(B::float_swap_dims(x, 0, 2)), 0, 2),
            18 => {
                let shape = x.shape();
                let flat = B::float_reshape(B::float_cos(x), [shape.num_elements()].into());
                x = B::float_reshape(B::float_add_scalar(flat, 0.5.into()), shape);
            }
            19 => {
                // not in chains
                let half = B::float_slice(x, &[Slice::new(0, None, 1), Slice::new(0, Some(1), 1)]);
                x = B::float_mul_scalar(half, 0.75.into());
            }
            20 => {
                let mask = B::bool_and(
                    B::float_greater_elem(x.clone(), number.into(), BOOL),
                    B::bool_not(B::float_lower(x.clone(), like(y, &x), BOOL)),
                );
                let other = B::float_full(x.shape(), number.into(), &DEVICE, dtype);
                if x.shape().num_elements() == 120 {
                    bools.push(mask.clone());
                }
                x = B::float_mask_where(x, mask, other);
            }
            21 => {
                let mask = B::bool_reshape(b, [120].into());
                let filled = B::int_mask_fill(B::int_reshape(i, [120].into()), mask, (-3).into());
                integers.push(B::int_reshape(filled, [6, 4, 5].into()));
            }
            22 => integers.push(B::int_mul(B::int_add_scalar(i.clone(), 70_000.into()), i)),
            23 => bools.push(B::bool_xor(B::int_greater_elem(i, 5.into(), BOOL), b)),
            24 => {
                let i = B::int_clamp(B::bitwise_xor_scalar(i, 21.into()), (-9).into(), 99.into());
                x = B::float_mul_scalar(B::int_into_float(i, dtype), 0.125.into());
            }
            _ => x = B::float_mul(x, B::bool_into_float(b, dtype)),
        }
        floating.push(x);
    }
    let floating = floating.into_iter().map(|x| read(B::float_into_data(x)));
    let integers = integers.into_iter().map(|x| read(B::int_into_data(x)));
    let bools = bools.into_iter().map(|x| read(B::bool_into_data(x)));
    floating.chain(integers).chain(bools).collect()
}
#[test]
fn random_programs_have_the_same_bits() {
    let _alone = alone();
    for (k, dtype) in [
        FloatDType::F32,
        FloatDType::F64,
        FloatDType::F16,
        FloatDType::BF16,
    ]
    .into_iter()
    .enumerate()
    {
        for seed in 0..25 {
            let seed = 1000 * k as u64 + seed;
            let (fused, single) = (program::<Fused>(dtype, seed), program::<Flex>(dtype, seed));
            assert_eq!(fused.len(), single.len());
            for (n, (a, b)) in fused.iter().zip(&single).enumerate() {
                assert_eq!(
                    (a.shape(), a.dtype()),
                    (b.shape(), b.dtype()),
                    "{dtype:?}, seed {seed}, result {n}"
                );
                let same = a
                    .iter::<f64>()
                    .zip(b.iter::<f64>())
                    .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
                assert!(same, "{dtype:?}, seed {seed}, result {n}: {a} and {b}");
            }
        }
    }
}

#[test]
fn memory_is_used_again() {
    let _alone = alone();
    let values: Vec<f32> = (0..100_000).map(|i| i as f32 / 1e5).collect();
    let chain = |x| {
        let y = Fused::float_exp(Fused::float_mul_scalar(x, 2.0.into()));
        Fused::float_add_scalar(Fused::float_sqrt(y), 1.0.into())
    };
    let given = || {
        let given = values.clone();
        let first = given.as_ptr();
        (
            Fused::float_from_data(TensorData::new(given, [100_000]), &DEVICE),
            first,
        )
    };
    // of a tensor that ends in an operation, and of one that is dropped
    let (x, first) = given();
    let data = read(Fused::float_into_data(chain(x)));
    assert_eq!(data.as_slice::<f32>().unwrap().as_ptr(), first);
    let (x, first) = given();
    let y = chain(x.clone());
    drop(x);
    let again = read(Fused::float_into_data(y));
    assert_eq!(again.as_slice::<f32>().unwrap().as_ptr(), first);
    assert_eq!(again, data);
    // not while somebody else has it
    let (x, first) = given();
    let y = chain(x.clone());
    assert_eq!(read(Fused::float_into_data(y)), data);
    let x = read(Fused::float_into_data(x));
    assert_eq!(x.as_slice::<f32>().unwrap(), values);
    assert_eq!(x.as_slice::<f32>().unwrap().as_ptr(), first);
}

#[test]
fn numbers_and_sizes_are_given_again() {
    let _alone = alone();
    for (n, factor) in [(5, 2.0), (5, 3.0), (9, -1.0)] {
        let x = floats::<Fused>(&[n, 2], FloatDType::F32, 1);
        let before = values::<Fused>(x.clone());
        let y = Fused::float_add_scalar(Fused::float_mul_scalar(x, factor.into()), 0.25.into());
        let z = Fused::float_sum(y.clone());
        let want: Vec<f32> = before.iter().map(|x| x * factor as f32 + 0.25).collect();
        assert_eq!(values::<Fused>(y), want);
        let sum: f32 = want.iter().sum();
        assert!((values::<Fused>(z)[0] - sum).abs() < 1e-4);
    }
}

#[test]
fn threads_share_tensors() {
    let _alone = alone();
    let x = floats::<Fused>(&[300], FloatDType::F32, 1);
    let y = Fused::float_exp(Fused::float_mul_scalar(x.clone(), 0.5.into()));
    let other = {
        let (x, y) = (x.clone(), y.clone());
        std::thread::spawn(move || {
            values::<Fused>(Fused::float_sub(Fused::float_add(x.clone(), y), x))
        })
    };
    let here = values::<Fused>(Fused::float_sub(Fused::float_add(x.clone(), y), x));
    assert_eq!(other.join().unwrap(), here);
}

#[test]
fn gradients() {
    let _alone = alone();
    fn gradient<B: AutodiffBackend<Device = FlexDevice>>() -> Vec<f32> {
        let x = B::float_set_require_grad(floats::<B>(&[40, 30], FloatDType::F32, 3), true);
        let y = B::float_mean(gelu::<B>(B::float_mul(x.clone(), x.clone())));
        let mut gradients = B::backward(y);
        let dx = B::grad_remove(&x, &mut gradients).unwrap();
        values::<B::InnerBackend>(dx)
    }
    let mut fused = vec![];
    let largest = largest_block(|| fused = gradient::<Autodiff<Fused>>());
    assert!(largest > 60, "{largest}");
    assert_eq!(fused, gradient::<Autodiff<Flex>>());
}

#[test]
fn a_failure_is_reported_where_it_is_read() {
    let _alone = alone();
    // three terabytes
    let x = Fused::float_expand(
        floats::<Fused>(&[1], FloatDType::F32, 1),
        [1usize << 40].into(),
    );
    let y = Fused::float_exp(Fused::float_add_scalar(x, 1.0.into()));
    let read = try_read_sync(Fused::float_into_data(y)).unwrap();
    let message = format!("{:?}", read.unwrap_err());
    assert!(message.contains("cannot allocate"), "{message}");
    let x = floats::<Fused>(&[2], FloatDType::F32, 1);
    assert_eq!(values::<Fused>(Fused::float_abs(x)).len(), 2);
}

#[test]
fn a_chain_and_its_state() {
    use burn_fusion::{FuserStatus, FusionRuntime, NumOperations};
    let tensor = |id, status| TensorIr {
        id: TensorId::new(id),
        shape: Shape::from([1, 2]),
        status,
        dtype: DType::F32,
    };
    let exp = OperationIr::Float(
        DType::F32,
        FloatOperationIr::Exp(UnaryOpIr {
            input: tensor(0, TensorStatus::ReadOnly),
            out: tensor(1, TensorStatus::NotInit),
        }),
    );
    let sum = OperationIr::NumericFloat(
        DType::F32,
        NumericOperationIr::Add(BinaryOpIr {
            lhs: tensor(0, TensorStatus::ReadOnly),
            rhs: tensor(1, TensorStatus::ReadWrite),
            out: tensor(2, TensorStatus::NotInit),
        }),
    );
    let sort = OperationIr::Custom(burn_ir::CustomOpIr::new("sort", &[], &[]));
    let mut fuser = FlexFusion::fusers(DEVICE).pop().unwrap();
    assert!(fuser.is_empty());
    fuser.fuse(&exp);
    assert!(!fuser.properties().ready);
    fuser.fuse(&sum);
    fuser.fuse(&OperationIr::Drop(tensor(0, TensorStatus::ReadWrite)));
    assert!(fuser.properties().ready);
    assert_eq!((fuser.len(), fuser.status()), (3, FuserStatus::Open));
    fuser.fuse(&sort);
    fuser.fuse(&exp);
    assert_eq!((fuser.len(), fuser.status()), (3, FuserStatus::Closed));
    let chain = fuser.finish();
    let state = chain.to_state();
    let again = Chain::from_state(&DEVICE, state.clone());
    assert_eq!((again.len(), again.to_state()), (3, state));
    fuser.reset();
    assert_eq!((fuser.len(), fuser.status()), (0, FuserStatus::Open));
}
