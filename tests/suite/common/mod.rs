//! The oracle's parts: layouts of every kind, values of every dtype, and reads of single elements
//! without the library's own loops.
#![allow(dead_code, reason = "each combination of features uses its part")]

mod random;
pub mod ulp;

use flex::{DType, Layout, Scalar, Tensor};
pub use random::Rng;
use smallvec::SmallVec;

/// `FLEX_TEST_FEWER`: by how much fewer examples are drawn where many more are than each case needs.
pub fn fewer() -> usize {
    let value = std::env::var("FLEX_TEST_FEWER");
    value.map_or(1, |n| n.parse().expect("FLEX_TEST_FEWER is a number"))
}

/// The index of an element, on the stack: an oracle's inner loop makes millions of them.
pub type Index = SmallVec<[usize; 7]>;

/// All indices of a shape, row-major.
pub fn indices(shape: &[usize]) -> Vec<Index> {
    let mut index = Index::from_elem(0, shape.len());
    (0..shape.iter().product())
        .map(|_| {
            let this = index.clone();
            for (i, n) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < *n {
                    break;
                }
                *i = 0;
            }
            this
        })
        .collect()
}

/// One element, as the oracle sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

/// The element at `p`, decoded from its bytes.
fn read(dtype: DType, b: &[u8]) -> Value {
    let native = |b: &[u8]| {
        let push = |w: u128, x: &u8| w << 8 | *x as u128;
        if cfg!(target_endian = "big") {
            b.iter().fold(0, push)
        } else {
            b.iter().rev().fold(0, push)
        }
    };
    let word = native(b);
    let (re, im) = b.split_at(b.len() / 2);
    let bits = 8 * b.len() as u32;
    let half = |w: u16| half::f16::from_bits(w).to_f64();
    let float8 = |digits, bias, infinity| Value::Float(float8(word as u8, digits, bias, infinity));
    match dtype {
        DType::Bool => Value::Bool(word != 0),
        d if d.is_integer() && d.is_signed() => {
            Value::Int(((word << (128 - bits)) as i128) >> (128 - bits))
        }
        d if d.is_integer() => Value::Int(word as i128),
        DType::F8E4M3 => float8(3, 7, None),
        DType::F8E5M2 => float8(2, 15, Some(0x7c)),
        DType::F16 => Value::Float(half(word as u16)),
        DType::BF16 => Value::Float(f32::from_bits((word as u32) << 16) as f64),
        DType::F32 => Value::Float(f32::from_bits(word as u32) as f64),
        DType::F64 => Value::Float(f64::from_bits(word as u64)),
        DType::Complex64 => Value::Complex(
            f32::from_bits(native(re) as u32) as f64,
            f32::from_bits(native(im) as u32) as f64,
        ),
        _ => Value::Complex(
            f64::from_bits(native(re) as u64),
            f64::from_bits(native(im) as u64),
        ),
    }
}

/// The value of an 8-bit float with so many digits after the point, by powers of two. NaN is every
/// bit pattern above infinity or, without infinities, the largest one.
pub fn float8(bits: u8, digits: u32, bias: i32, infinity: Option<u8>) -> f64 {
    let (sign, code) = (if bits < 128 { 1.0 } else { -1.0 }, bits & 127);
    let (exponent, fraction) = (
        (code >> digits) as i32,
        (code & ((1 << digits) - 1)) as f64 / f64::from(1u32 << digits),
    );
    sign * match code {
        c if Some(c) == infinity => f64::INFINITY,
        c if infinity.map_or(c == 127, |i| c > i) => f64::NAN,
        _ if exponent == 0 => fraction * 2f64.powi(1 - bias),
        _ => (1.0 + fraction) * 2f64.powi(exponent - bias),
    }
}

/// All elements in row-major order, walked index by index.
pub fn values(t: &Tensor) -> Vec<Value> {
    let size = t.dtype().size();
    (0..t.len())
        .map(|n| {
            let (mut n, mut at) = (n, 0isize);
            for k in (0..t.rank()).rev() {
                at += (n % t.shape()[k]) as isize * t.strides()[k];
                n /= t.shape()[k];
            }
            // SAFETY: an element inside the tensor (TENSOR1); little-endian hosts run these tests.
            let bytes =
                unsafe { std::slice::from_raw_parts(t.as_ptr().offset(at * size as isize), size) };
            read(t.dtype(), bytes)
        })
        .collect()
}
/// The same as floats; the real part of complex numbers.
pub fn floats(t: &Tensor) -> Vec<f64> {
    values(t).into_iter().map(Value::float).collect()
}
impl Value {
    pub fn float(self) -> f64 {
        match self {
            Value::Bool(x) => x as u8 as f64,
            Value::Int(x) => x as f64,
            Value::Float(x) | Value::Complex(x, _) => x,
        }
    }
    pub fn int(self) -> i128 {
        match self {
            Value::Bool(x) => x as i128,
            Value::Int(x) => x,
            Value::Float(x) | Value::Complex(x, _) => x as i128,
        }
    }
}

/// Special values of a dtype: ends of the range, zeros, ones, and for floats infinities, NaN,
/// subnormals.
pub fn special(dtype: DType) -> Vec<Scalar> {
    match dtype {
        DType::Bool => vec![false.into(), true.into()],
        d if d.is_integer() => {
            let bits = 8 * d.size() as u32;
            let (low, high) = if d.is_signed() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            let mut v = vec![low, low + 1, 0, 1, 2, 3, 7, 8, high / 2, high - 1, high];
            if d.is_signed() {
                v.extend([-1, -2, -3, -8]);
            }
            v.into_iter().map(Scalar::Int).collect()
        }
        d => {
            let mut v = vec![
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                -2.5,
                3.0,
                1e-3,
                100.25,
                -7.75,
                1e4,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
            ];
            v.extend(if d == DType::F16 {
                [6e-8, 65504.0]
            } else if d.real() == DType::F64 {
                [5e-324, 1.7e308]
            } else {
                [1.1e-38, 3e38]
            });
            if d.is_complex() {
                (0..v.len())
                    .map(|i| Scalar::Complex(v[i], v[(i * 7 + 3) % v.len()]))
                    .collect()
            } else {
                v.into_iter().map(Scalar::Float).collect()
            }
        }
    }
}

/// A contiguous tensor of these numbers.
pub fn tensor(numbers: &[Scalar], shape: &[usize], dtype: DType) -> Tensor {
    let size = dtype.size();
    let mut out = Tensor::empty(shape, dtype).unwrap();
    assert_eq!(out.len(), numbers.len());
    let p = out.as_mut_ptr().unwrap();
    for (i, s) in numbers.iter().enumerate() {
        let one = Tensor::scalar(*s, dtype).unwrap();
        // SAFETY: element i of a fresh tensor; one element of another.
        unsafe { std::ptr::copy_nonoverlapping(one.as_ptr(), p.add(i * size), size) };
    }
    out
}

/// Random numbers of moderate size that every dtype can represent.
pub fn random(rng: &mut Rng, shape: &[usize], dtype: DType) -> Tensor {
    let n = shape.iter().product();
    let numbers: Vec<Scalar> = (0..n)
        .map(|_| {
            let x = rng.unit() * 50.0;
            match dtype {
                DType::Bool => Scalar::Bool(x > 0.0),
                d if d.is_integer() => Scalar::Int(if d.is_signed() { x } else { x.abs() } as i128),
                d if d.is_complex() => Scalar::Complex(x, rng.unit() * 50.0),
                _ => Scalar::Float(x / 8.0),
            }
        })
        .collect();
    tensor(&numbers, shape, dtype)
}

/// For each kind of layout, a tensor equal to `x` element by element.
pub fn layouts(x: &Tensor) -> Vec<(&'static str, Tensor)> {
    let mut out = vec![("contiguous", x.clone())];
    let rank = x.rank();
    // in a bigger storage, at an offset that is not a multiple of a vector
    let put = |strides: Vec<isize>, offset: usize, room: usize| {
        let mut big = Tensor::zeros([room], x.dtype()).unwrap();
        let size = x.dtype().size();
        let p = big.as_mut_ptr().unwrap();
        let l = Layout::new(x.shape(), &strides, offset).unwrap();
        let source = x.contiguous().unwrap();
        for n in 0..x.len() {
            let (mut m, mut at) = (n, offset as isize);
            for k in (0..rank).rev() {
                at += (m % x.shape()[k]) as isize * strides[k];
                m /= x.shape()[k];
            }
            // SAFETY: from_parts below checks that the layout lies inside; each element is copied
            // to its place.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    source.as_ptr().add(n * size),
                    p.offset(at * size as isize),
                    size,
                )
            };
        }
        Tensor::from_parts(big.storage().clone(), l, x.dtype()).unwrap()
    };
    let row_major: Vec<isize> = (0..rank)
        .map(|k| x.shape()[k + 1..].iter().product::<usize>() as isize)
        .collect();
    let n = x.len();
    out.push(("offset", put(row_major.clone(), 3, n + 5)));
    out.push((
        "stepped",
        put(row_major.iter().map(|s| 2 * s).collect(), 1, 2 * n + 2),
    ));
    if n > 0 {
        out.push((
            "flipped",
            put(row_major.iter().map(|s| -s).collect(), n - 1, n),
        ));
    }
    if rank > 1 {
        let column_major: Vec<isize> = (0..rank)
            .map(|k| x.shape()[..k].iter().product::<usize>() as isize)
            .collect();
        out.push(("transposed", put(column_major.clone(), 0, n)));
        if n > 0 {
            let first = column_major[0] * (x.shape()[0] as isize - 1);
            let mut strides = column_major;
            strides[0] = -strides[0];
            out.push(("transposed and flipped", put(strides, first as usize, n)));
        }
    }
    out
}

/// Whether two floats are equal to a relative (and absolute) tolerance; NaN equals NaN.
pub fn close(a: f64, b: f64, relative: f64, absolute: f64) -> bool {
    a == b
        || a.is_nan() && b.is_nan()
        || (a - b).abs() <= relative * a.abs().max(b.abs()) + absolute
}

/// The machine epsilon of a float dtype.
pub fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F8E4M3 => 2f64.powi(-3),
        DType::F8E5M2 => 2f64.powi(-2),
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => 2f64.powi(-23),
        _ => 2f64.powi(-52),
    }
}

/// Integers wrapped to the dtype's width.
pub fn wrap(x: i128, d: DType) -> i128 {
    let bits = 128 - 8 * d.size() as u32;
    if d.is_signed() {
        (x << bits) >> bits
    } else {
        ((x as u128) << bits >> bits) as i128
    }
}
