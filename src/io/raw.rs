//! The bytes of tensors in files: row-major, in a given byte order, bool as 0 or 1.

use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;

/// A sink of bytes.
pub(super) type Put<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// The size of the unit that is byte-swapped: an element, or one part of a complex one.
pub(super) fn part(dtype: DType) -> usize {
    dtype.real().size()
}

/// Byte-swaps parts of `size` bytes.
fn swap(bytes: &mut [u8], size: usize) {
    if size > 1 {
        bytes.chunks_exact_mut(size).for_each(|part| part.reverse());
    }
}

/// A new tensor whose bytes `read` fills in, big-endian if `big`.
pub(super) fn fill(
    shape: &[usize],
    dtype: DType,
    big: bool,
    read: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Tensor> {
    let mut t = Tensor::empty(shape, dtype)?;
    let bytes = t.as_mut_bytes()?;
    if !bytes.is_empty() {
        read(bytes)?;
        if big != cfg!(target_endian = "big") {
            swap(bytes, part(dtype));
        }
    }
    Ok(t)
}

/// Writes the bytes of a tensor, little-endian.
pub(super) fn put_elements(t: &Tensor, put: Put) -> Result<()> {
    /// Size of the buffer on the stack; a multiple of every part.
    const PIECE: usize = 4096;
    let t = t.contiguous()?;
    let (bytes, dtype) = (t.as_bytes(), t.dtype());
    if !dtype.is_bool() && cfg!(target_endian = "little") {
        return put(bytes);
    }
    let mut changed = [0; PIECE];
    for piece in bytes.chunks(PIECE) {
        let changed = &mut changed[..piece.len()];
        changed.copy_from_slice(piece);
        if dtype.is_bool() {
            changed.iter_mut().for_each(|b| *b = (*b != 0) as u8); // bools in borrowed memory may be any byte
        } else {
            swap(changed, part(dtype));
        }
        put(changed)?;
    }
    Ok(())
}
