//! Matrix products.

use super::{Checks, assert_close, list, tensor};
use flex::{DType, Result, Tensor, nn, ops};

pub const ALL: Checks = &[("matrix products", products)];

fn products() -> Result<()> {
    for [m, k, n] in [[1, 1, 1], [1, 40, 3], [3, 7, 5], [8, 8, 8], [5, 33, 7], [17, 9, 1], [13, 14, 15]] {
        let (a, b) = (tensor(&[m, k], 8)?, tensor(&[k, n], 9)?);
        let (va, vb) = (list(&a)?, list(&b)?);
        let want = || {
            let (va, vb) = (&va, &vb);
            (0..m * n).map(move |p| (0..k).map(|j| va[p / n * k + j] as f64 * vb[j * n + p % n] as f64).sum::<f64>())
        };
        assert_close(&list(&ops::matmul(&a, &b)?)?, want(), 2e-6);
        let turned = ops::matmul(&b.transpose(0, 1)?, &a.transpose(0, 1)?)?;
        assert_close(&list(&turned.transpose(0, 1)?.contiguous()?)?, want(), 2e-6);
        let weight = b.transpose(0, 1)?.contiguous()?;
        let bias = tensor(&[n], 10)?;
        let vbias = list(&bias)?;
        let linear = nn::linear(&a, &weight, Some(&bias))?;
        assert_close(&list(&linear)?, want().enumerate().map(|(p, x)| x + vbias[p % n] as f64), 2e-6);
    }
    assert!(matches!(ops::matmul(&tensor(&[2, 3], 11)?, &tensor(&[2, 3], 12)?), Err(flex::Error::Shape { op: "matmul", .. })));
    let (a, b) = (Tensor::from_slice(&[100i8, -100], [1, 2])?, Tensor::from_slice(&[100u8, 200], [2, 1])?);
    assert_eq!(ops::matmul_as(&a, &b, DType::I32)?.item::<i32>()?, -10_000);
    Ok(())
}
