//! Tensors in files: [`safetensors`] and [`npy`].
//!
//! Loading maps the file where it can: tensors then lie in the mapping and are read when they are used. What lies misaligned or in
//! the other byte order is copied.
//!
//! # Mapped files must not change
//!
//! The memory of a mapped tensor is the file itself. While such a tensor (or a view of it) lives, nobody may write to that file in
//! place or cut it short, in this process or any other:
//! - numbers that change under a `&[T]` from [`as_slice`](crate::Tensor::as_slice) are undefined behaviour in Rust, of which the type
//!   system knows nothing here, since no library can keep others from writing to a file;
//! - a read beyond the end of a file cut short ends the process with a bus error.
//!
//! Replacing the file (a rename over it, as `save` does) is fine: the mapping keeps the old one. Where others may write to the file,
//! load with `mmap` off, which reads it into memory of flex's own.
//!
//! Without the standard library the same formats are read from and written to memory.

#[cfg(feature = "std")]
mod file;
pub mod npy;
mod raw;
pub mod safetensors;
mod source;
