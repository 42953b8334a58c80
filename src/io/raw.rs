//! The bytes of tensors as files have them: row-major, in a given byte order, bool as 0 or 1.

use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Bytes of what a byte order concerns: an element, or a half of a complex one.
pub(super) fn part(dtype: DType) -> usize {
    dtype.real().size()
}

/// Turns parts of `size` bytes around.
pub(super) fn swap(bytes: &mut [u8], size: usize) {
    if size > 1 {
        bytes.chunks_exact_mut(size).for_each(|part| part.reverse());
    }
}

/// A fresh tensor whose bytes `read` fills in; `big` says in which byte order.
pub(super) fn fill(shape: &[usize], dtype: DType, big: bool, read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Tensor> {
    let mut t = Tensor::empty(shape, dtype)?;
    let len = t.len() * dtype.size();
    let start = t.as_mut_ptr()?;
    if len > 0 {
        // SAFETY: contiguous elements inside the storage (T1), initialised (S1), exclusive while `t` is (S3).
        let bytes = unsafe { core::slice::from_raw_parts_mut(start, len) };
        read(bytes)?;
        if big != cfg!(target_endian = "big") {
            swap(bytes, part(dtype));
        }
    }
    Ok(t)
}

/// Calls `f` with the bytes of a tensor, little-endian.
pub(super) fn with_bytes<R>(t: &Tensor, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let t = t.contiguous()?;
    let len = t.len() * t.dtype().size();
    // SAFETY: contiguous elements inside the storage (T1), initialised (S1); `t` keeps others from writing to it (S3).
    let bytes = if len == 0 { &[][..] } else { unsafe { core::slice::from_raw_parts(t.as_ptr(), len) } };
    Ok(if t.dtype().is_bool() && bytes.iter().any(|b| *b > 1) {
        f(&bytes.iter().map(|b| (*b != 0) as u8).collect::<Vec<_>>())
    } else if cfg!(target_endian = "big") {
        let mut bytes = bytes.to_vec();
        swap(&mut bytes, part(t.dtype()));
        f(&bytes)
    } else {
        f(bytes)
    })
}
