//! Elementwise operations and conversions.

use super::{Checks, assert_close, list, series, tensor};
use alloc::vec::Vec;
use flex::{DType, Result, Tensor, ops};

pub const ALL: Checks = &[
    ("every length around the vectors", lengths),
    ("functions", functions),
    ("integers and booleans", integers),
    ("broadcasts and layouts", layouts),
    ("conversions", conversions),
    #[cfg(feature = "full")]
    ("wide and narrow dtypes", wide),
];

fn lengths() -> Result<()> {
    for n in (0..20).chain([31, 32, 33, 63, 64, 65, 127, 129]) {
        let (a, b) = (series(n, 1), series(n, 2));
        let (x, y) = (Tensor::from_slice(&a, [n])?, Tensor::from_slice(&b, [n])?);
        let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(list(&ops::add(&x, &y)?)?, sum);
        let scaled: Vec<f32> = a.iter().map(|a| a * 2.5 - 1.0).collect();
        assert_eq!(list(&(&x * 2.5 - 1.0))?, scaled);
    }
    Ok(())
}

fn functions() -> Result<()> {
    let a: Vec<f32> = series(150, 3).iter().map(|a| a * 8.0).collect();
    let x = Tensor::from_slice(&a, [150])?;
    let all = |f: fn(f64) -> f64| a.iter().map(move |a| f(*a as f64));
    assert_close(&list(&ops::exp(&x)?)?, all(libm::exp), 2e-7);
    assert_close(&list(&ops::tanh(&x)?)?, all(libm::tanh), 4e-7);
    assert_close(&list(&ops::log(&ops::abs(&x)?)?)?, all(|a| libm::log(libm::fabs(a))), 2e-7);
    assert_close(&list(&ops::sqrt(&ops::abs(&x)?)?)?, all(|a| libm::sqrt(libm::fabs(a))), 1e-7);
    let special = Tensor::from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 200.0, -200.0], [6])?;
    let got = list(&ops::exp(&special)?)?;
    assert!(got[0].is_nan());
    assert_eq!(got[1..], [f32::INFINITY, 0.0, 1.0, f32::INFINITY, 0.0]);
    Ok(())
}

fn integers() -> Result<()> {
    let x = Tensor::from_slice(&[i32::MAX, i32::MIN, -7, 7], [4])?;
    let y = Tensor::from_slice(&[1, -1, 2, -2], [4])?;
    assert_eq!(ops::add(&x, &y)?.to_vec::<i32>()?, [i32::MIN, i32::MAX, -5, 5]);
    assert_eq!(ops::floor_divide(&x, &y)?.to_vec::<i32>()?, [i32::MAX, i32::MIN, -4, -4]);
    assert_eq!(ops::multiply(&x, &y)?.to_vec::<i32>()?, [i32::MAX, i32::MIN, -14, -14]);
    let long = Tensor::from_slice(&[i64::MAX, 1 << 40], [2])?;
    assert_eq!((&long + 1).to_vec::<i64>()?, [i64::MIN, (1 << 40) + 1]);
    let less = ops::less(&x, &y)?;
    assert_eq!((less.dtype(), less.to_vec::<bool>()?), (DType::Bool, Vec::from([false, true, true, false])));
    assert!(matches!(ops::floor_divide(&x, 0), Err(flex::Error::DivisionByZero { .. })));
    assert_eq!(ops::where_(&less, &x, &y)?.to_vec::<i32>()?, [1, i32::MIN, -7, -2]);
    Ok(())
}

fn layouts() -> Result<()> {
    let (a, b, c) = (tensor(&[9, 17], 4)?, tensor(&[17, 9], 5)?, tensor(&[17], 6)?);
    let (va, vb, vc) = (list(&a)?, list(&b)?, list(&c)?);
    let got = list(&ops::subtract(&a, &b.transpose(0, 1)?.flip(&[0])?)?)?;
    let row = list(&ops::multiply(&a, &c)?)?;
    for i in 0..9 {
        for j in 0..17 {
            assert_eq!(got[17 * i + j], va[17 * i + j] - vb[9 * j + 8 - i]);
            assert_eq!(row[17 * i + j], va[17 * i + j] * vc[j]);
        }
    }
    Ok(())
}

fn conversions() -> Result<()> {
    let x = Tensor::from_slice(&[-1.9f32, 300.5, 1e20, f32::NAN], [4])?;
    assert_eq!(x.astype(DType::I8)?.to_vec::<i8>()?, [-1, 127, 127, 0]);
    assert_eq!(x.astype(DType::U8)?.to_vec::<u8>()?, [0, 255, 255, 0]);
    assert_eq!(x.astype(DType::I64)?.to_vec::<i64>()?, [-1, 300, i64::MAX, 0]);
    let n = Tensor::from_slice(&[-1i64, 256, 1 << 33], [3])?;
    assert_eq!(n.astype(DType::U8)?.to_vec::<u8>()?, [255, 0, 0]);
    assert_eq!(n.astype(DType::F32)?.to_vec::<f32>()?, [-1.0, 256.0, 8_589_934_592.0]);
    Ok(())
}

#[cfg(feature = "full")]
fn wide() -> Result<()> {
    let x = Tensor::from_slice(&[1.0f64, 2.0, 4.0], [3])?;
    assert_eq!(ops::divide(1.0, &x)?.to_vec::<f64>()?, [1.0, 0.5, 0.25]);
    assert!(
        (ops::sum(&ops::exp(&x)?, ())?.item::<f64>()? - (libm::exp(1.0) + libm::exp(2.0) + libm::exp(4.0))).abs() < 1e-13
    );
    let h = x.astype(DType::BF16)?;
    assert_eq!((&h * 1.5).astype(DType::F32)?.to_vec::<f32>()?, [1.5, 3.0, 6.0]);
    let u = Tensor::from_slice(&[u64::MAX, 1], [2])?;
    assert_eq!((&u + 1).to_vec::<u64>()?, [0, 2]);
    let z = Tensor::from_slice(&[3.0f32, 4.0], [2])?.astype(DType::Complex64)?;
    assert_eq!(ops::abs(&z)?.to_vec::<f32>()?, [3.0, 4.0]);
    Ok(())
}
