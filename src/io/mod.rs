//! Tensors in files: [`safetensors`] and [`npy`].
//!
//! Loading maps the file where it can: tensors then lie in the mapping and are read when they are used. Whoever cuts such a file
//! short meanwhile (not: replaces it, as `save` does) ends the process with a bus error at the next read, as with every mapping;
//! load with `mmap` off where that may happen. What lies misaligned or in the other byte order is copied.
//!
//! Without the standard library the same formats are read from and written to memory.

#[cfg(feature = "std")]
mod file;
pub mod npy;
mod raw;
pub mod safetensors;
mod source;
