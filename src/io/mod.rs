//! Tensors in files: [`safetensors`] and [`npy`], and, to read, `gguf`.
//!
//! Files can be mapped: tensors then lie in the mapping and are read when they are used. Misaligned
//! data and data in the other byte order is copied.
//!
//! # Mapped files must not change
//!
//! The memory of a mapped tensor is the file itself, which no library can keep others from writing
//! to. So [`npy::map`] and [`safetensors::map`] are unsafe:
//!
//! - **MAP1.** While a tensor of the mapped file (or a view of it) lives, nobody writes to that file
//!   in place or truncates it, in this process or any other. Numbers that change under a `&[T]` from
//!   [`as_slice`](crate::Tensor::as_slice) are undefined behaviour, and a read beyond the end of a
//!   truncated file ends the process with a bus error.
//!
//! Replacing the file (a rename over it, as `save` does) is fine: the mapping keeps the old one. If
//! others may write to the file, use `load`, which reads it into memory.
//!
//! # Saving
//!
//! A file is written next to the one it replaces, synced to disk, and takes its name and
//! permissions when it is complete: readers of the old file never see a part of the new one, and if
//! saving fails the old one stays and nothing else is left. Symbolic links are followed, as by
//! `open`, even to targets that do not exist yet; devices and pipes are written directly.
//!
//! Without the standard library the same formats are read from and written to memory.

#[cfg(feature = "std")]
pub(crate) mod file;
#[cfg(all(feature = "quant", feature = "half"))]
pub mod gguf;
mod json;
pub mod npy;
mod raw;
#[cfg(feature = "std")]
pub(crate) mod replacement;
pub mod safetensors;
pub(crate) mod source;
