//! Views, files, memory in flash, errors, exhausted memory.

use super::{Checks, list, series, tensor};
use alloc::string::ToString;
use alloc::vec::Vec;
use flex::{DType, Error, Result, Tensor, ops};

pub const ALL: Checks =
    &[("views", views), ("files", files), ("memory in flash", flash), ("errors", errors), ("memory that can't be had", exhaustion)];

fn views() -> Result<()> {
    let x = ops::arange(0, 24, 1, DType::F32)?.reshape(&[2, 3, 4])?;
    let t = x.permute(&[2, 0, 1])?;
    assert!(t.shares_storage(&x));
    assert_eq!(t.select(0, 1)?.to_vec::<f32>()?, [1.0, 5.0, 9.0, 13.0, 17.0, 21.0]);
    assert_eq!(x.slice_axis(2, None, None, -3)?.select(0, 1)?.to_vec::<f32>()?, [15.0, 12.0, 19.0, 16.0, 23.0, 20.0]);
    assert_eq!(x.narrow(1, 1, 1)?.squeeze(1)?.to_vec::<f32>()?, [4.0, 5.0, 6.0, 7.0, 16.0, 17.0, 18.0, 19.0]);
    // a write changes only one tensor
    let mut y = x.clone();
    y += 1.0;
    assert_eq!(
        (x.select(0, 0)?.select(0, 0)?.to_vec::<f32>()?, y.select(0, 0)?.select(0, 0)?.to_vec::<f32>()?),
        (Vec::from([0.0, 1.0, 2.0, 3.0]), Vec::from([1.0, 2.0, 3.0, 4.0]))
    );
    Ok(())
}

fn files() -> Result<()> {
    let x = tensor(&[3, 4], 13)?;
    let file = flex::io::npy::write(&x)?;
    assert_eq!(file[..6], *b"\x93NUMPY");
    assert_eq!(file[file.len() - 4..], list(&x)?[11].to_le_bytes());
    assert_eq!(list(&flex::io::npy::parse(&file)?)?, list(&x)?);
    assert!(flex::io::npy::parse(&file[..file.len() - 1]).is_err());
    Ok(())
}

fn flash() -> Result<()> {
    #[repr(align(16))]
    struct Aligned([u8; 16]);
    static WEIGHTS: Aligned = Aligned(*b"\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40");
    let x = Tensor::from_static(&WEIGHTS.0, &[4], DType::F32)?;
    assert_eq!(x.as_ptr(), WEIGHTS.0.as_ptr());
    assert_eq!(list(&(&x + 1.0))?, [2.0, 3.0, 4.0, 5.0]);
    // a write copies first
    let mut y = x.clone();
    y *= 2.0;
    assert_eq!((list(&y)?, list(&x)?), (Vec::from([2.0, 4.0, 6.0, 8.0]), Vec::from([1.0, 2.0, 3.0, 4.0])));
    Ok(())
}

fn errors() -> Result<()> {
    let (x, y) = (tensor(&[2, 3], 14)?, tensor(&[4], 15)?);
    let e = ops::add(&x, &y).unwrap_err();
    let source: &dyn core::error::Error = &e;
    assert_eq!(source.to_string(), "add: shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 differ and neither is 1");
    assert!(matches!(x.transpose(0, 2), Err(Error::Axis { axis: 2, rank: 2, .. })));
    assert!(matches!(x.select(0, 2), Err(Error::Index { index: 2, size: 2, .. })));
    Ok(())
}

fn exhaustion() -> Result<()> {
    let kept = tensor(&[10], 16)?;
    for len in [crate::HEAP_BYTES, usize::MAX / 8, usize::MAX / 2] {
        assert!(matches!(Tensor::zeros(&[len], DType::U8), Err(Error::Memory { .. })), "{len}");
    }
    assert!(Tensor::zeros(&[usize::MAX, usize::MAX], DType::F32).is_err());
    // a result that the heap has no room for: nothing was written, nothing is lost
    let column = kept.reshape(&[10, 1])?.broadcast_to(&[10, crate::HEAP_BYTES / 4])?;
    assert!(matches!(ops::add(&column, 1.0), Err(Error::Memory { .. })));
    assert!(matches!(column.copy(), Err(Error::Memory { .. })));
    assert_eq!(list(&(&kept + 1.0))?, series(10, 16).iter().map(|x| x + 1.0).collect::<Vec<_>>());
    Ok(())
}
