//! Arrays of float64 in row-major order as oracles, and tensors of their values in any layout.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{DType, FloatDType, IntDType, Shape, Slice, TensorData};
use flex_burn::{Flex, FlexDevice, FlexTensor};

pub const DEVICE: FlexDevice = FlexDevice;
pub const FLOATS: [FloatDType; 4] = [
    FloatDType::F64,
    FloatDType::F32,
    FloatDType::F16,
    FloatDType::BF16,
];
pub const INTS: [IntDType; 8] = [
    IntDType::I64,
    IntDType::I32,
    IntDType::I16,
    IntDType::I8,
    IntDType::U64,
    IntDType::U32,
    IntDType::U16,
    IntDType::U8,
];

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// A small generator of numbers.
pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn unit(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 31) as f64
    }
}

impl Array {
    pub fn new(shape: &[usize], values: Vec<f64>) -> Array {
        assert_eq!(shape.iter().product::<usize>(), values.len());
        Array {
            shape: shape.to_vec(),
            values,
        }
    }
    /// Of each place, from the places.
    pub fn of(shape: &[usize], mut f: impl FnMut(&[usize]) -> f64) -> Array {
        let values = places(shape).iter().map(|at| f(at)).collect();
        Array::new(shape, values)
    }
    /// Uniform within two numbers, of few bits, so that all float dtypes hold them.
    pub fn random(shape: &[usize], low: f64, high: f64, seed: u64) -> Array {
        let mut rng = Rng(seed);
        Array::of(shape, |_| {
            let x = low + (high - low) * rng.unit();
            let magnitude = x.abs().log2().floor().exp2();
            (x / magnitude * 64.0).round() / 64.0 * magnitude
        })
    }
    /// Integers from `low` up to `high`.
    pub fn integers(shape: &[usize], low: i64, high: i64, seed: u64) -> Array {
        let mut rng = Rng(seed);
        Array::of(shape, |_| {
            (low + rng.below((high - low) as u64) as i64) as f64
        })
    }
    pub fn at(&self, place: &[usize]) -> f64 {
        self.values[offset(&self.shape, place)]
    }
    pub fn at_mut(&mut self, place: &[usize]) -> &mut f64 {
        &mut self.values[offset(&self.shape, place)]
    }
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Array {
        Array::new(&self.shape, self.values.iter().map(|x| f(*x)).collect())
    }
    /// Of both, which broadcast.
    pub fn zip(&self, other: &Array, f: impl Fn(f64, f64) -> f64) -> Array {
        let pairs = self.shape.iter().zip(&other.shape);
        let shape: Vec<usize> = pairs.map(|(a, b)| *a.max(b)).collect();
        let within = |of: &Array, at: &[usize]| {
            let at: Vec<usize> = at.iter().zip(&of.shape).map(|(i, n)| i % n).collect();
            of.at(&at)
        };
        Array::of(&shape, |at| f(within(self, at), within(other, at)))
    }
    /// Lines along an axis folded to one element.
    pub fn fold(&self, axis: usize, f: impl Fn(&[f64]) -> f64) -> Array {
        let mut shape = self.shape.clone();
        shape[axis] = 1;
        Array::of(&shape, |at| f(&self.line(axis, at)))
    }
    /// Lines along an axis, each replaced by another.
    pub fn lines(&self, axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Array {
        let first = f(&self.line(axis, &vec![0; self.shape.len()]));
        let mut shape = self.shape.clone();
        shape[axis] = first.len();
        Array::of(&shape, |at| f(&self.line(axis, at))[at[axis]])
    }
    pub fn line(&self, axis: usize, at: &[usize]) -> Vec<f64> {
        let mut at = at.to_vec();
        (0..self.shape[axis])
            .map(|k| {
                at[axis] = k;
                self.at(&at)
            })
            .collect()
    }
}

fn offset(shape: &[usize], place: &[usize]) -> usize {
    place.iter().zip(shape).fold(0, |o, (i, n)| o * n + i)
}

/// All places of a shape in row-major order.
pub fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for n in shape {
        all = all
            .iter()
            .flat_map(|at| (0..*n).map(move |i| [&at[..], &[i]].concat()))
            .collect();
    }
    all
}

pub const LAYOUTS: usize = 4;

/// The values as data of a dtype.
pub fn data(a: &Array, dtype: DType) -> TensorData {
    TensorData::new(a.values.clone(), a.shape.clone()).convert_dtype(dtype)
}

/// A tensor of these values: row-major, permuted, reversed or every second element of a longer one.
pub fn tensor(a: &Array, dtype: DType, layout: usize) -> FlexTensor {
    let rank = a.shape.len();
    let of = |a: &Array| {
        let data = data(a, dtype);
        match dtype {
            d if d.is_float() => Flex::float_from_data(data, &DEVICE),
            _ => Flex::int_from_data(data, &DEVICE),
        }
    };
    match layout {
        0 => of(a),
        1 => {
            let axes: Vec<usize> = (0..rank).rev().collect();
            let shape: Vec<usize> = a.shape.iter().rev().copied().collect();
            let turned = Array::of(&shape, |at| {
                a.at(&at.iter().rev().copied().collect::<Vec<_>>())
            });
            Flex::float_permute(of(&turned), &axes)
        }
        2 => {
            let mirrored = Array::of(&a.shape, |at| {
                let at: Vec<usize> = at.iter().zip(&a.shape).map(|(i, n)| n - 1 - i).collect();
                a.at(&at)
            });
            Flex::float_flip(of(&mirrored), &(0..rank).collect::<Vec<_>>())
        }
        _ => {
            let mut shape = a.shape.clone();
            shape[rank - 1] *= 2;
            let doubled = Array::of(&shape, |at| {
                let mut at = at.to_vec();
                at[rank - 1] /= 2;
                a.at(&at)
            });
            let mut slices = vec![Slice::full(); rank];
            slices[rank - 1] = Slice::new(0, None, 2);
            Flex::float_slice(of(&doubled), &slices)
        }
    }
}

pub fn floats(a: &Array, dtype: FloatDType, layout: usize) -> FlexTensor {
    tensor(a, dtype.into(), layout)
}
pub fn ints(a: &Array, dtype: IntDType, layout: usize) -> FlexTensor {
    tensor(a, dtype.into(), layout)
}
pub fn bools(a: &Array, layout: usize) -> FlexTensor {
    use burn_backend::BoolDType;
    Flex::int_not_equal_elem(tensor(a, DType::U8, layout), 0.into(), BoolDType::Native)
}

/// The tensor's values.
pub fn array(x: FlexTensor) -> Array {
    let data = x.into_data();
    Array::new(data.shape().as_slice(), data.iter::<f64>().collect())
}

pub fn shape(sizes: &[usize]) -> Shape {
    Shape::from(sizes.to_vec())
}

/// The relative error of a result that is rounded once, and of one that is rounded a few times.
pub fn precision(dtype: FloatDType) -> f64 {
    match dtype {
        FloatDType::F64 => 1e-15,
        FloatDType::F32 | FloatDType::Flex32 => 6e-8,
        FloatDType::F16 => 4.9e-4,
        FloatDType::BF16 => 4e-3,
    }
}

/// Asserts that numbers agree up to some units of precision of the dtype, relative to the larger of
/// the number and `scale`.
#[track_caller]
pub fn close(got: FlexTensor, want: &Array, dtype: FloatDType, units: f64, scale: f64) {
    assert_eq!(got.dtype(), dtype.into());
    let got = array(got);
    assert_eq!(got.shape, want.shape);
    for (i, (g, w)) in got.values.iter().zip(&want.values).enumerate() {
        let same = g == w || g.is_nan() && w.is_nan();
        let error = (g - w).abs() / w.abs().max(scale);
        assert!(
            same || error <= units * precision(dtype),
            "{dtype:?}, element {i}: {g}, not {w}"
        );
    }
}

#[track_caller]
pub fn equal(got: FlexTensor, want: &Array, dtype: impl Into<DType>) {
    assert_eq!(got.dtype(), dtype.into());
    assert_eq!(array(got), *want);
}

/// An integer as its dtype holds it.
pub fn wrap(x: i128, dtype: IntDType) -> f64 {
    match dtype {
        IntDType::I64 => x as i64 as f64,
        IntDType::I32 => f64::from(x as i32),
        IntDType::I16 => f64::from(x as i16),
        IntDType::I8 => f64::from(x as i8),
        IntDType::U64 => x as u64 as f64,
        IntDType::U32 => f64::from(x as u32),
        IntDType::U16 => f64::from(x as u16),
        IntDType::U8 => f64::from(x as u8),
    }
}
pub fn is_signed(dtype: IntDType) -> bool {
    matches!(
        dtype,
        IntDType::I64 | IntDType::I32 | IntDType::I16 | IntDType::I8
    )
}

/// What an operation panics with.
pub fn panic_message<T>(f: impl FnOnce() -> T + std::panic::UnwindSafe) -> String {
    let quiet = std::panic::catch_unwind(f);
    let Err(payload) = quiet else {
        panic!("it did not panic");
    };
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload
            .downcast::<&str>()
            .map(|s| s.to_string())
            .unwrap_or_default(),
    }
}
