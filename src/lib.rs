//! flex is a CPU tensor library: n-dimensional arrays whose dtype is known at run time, in pure
//! Rust, with or without the standard library.
//!
//! ```
//! use flex::{DType, Tensor, ops};
//!
//! let a = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//! let scaled = 2.0 * &a - 1.0;
//! assert_eq!(scaled.to_vec::<f32>()?, [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
//!
//! // views move no element; operations read them in place
//! let product = a.matmul(&a.transpose(0, 1)?)?;
//! assert_eq!(product.to_vec::<f32>()?, [14.0, 32.0, 32.0, 77.0]);
//!
//! // each operation is a function and a method; axes are integers, lists, or all: ()
//! assert_eq!(a.sum(0)?.to_vec::<f32>()?, [5.0, 7.0, 9.0]);
//! assert_eq!((&a - a.mean_keepdims(-1)?).to_vec::<f32>()?, [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]);
//!
//! // dtypes are promoted, numbers are weak
//! let counts = Tensor::from([1u8, 2, 3]);
//! assert_eq!((&counts + 1).dtype(), DType::U8);
//! assert_eq!(ops::add(&a, &counts)?.dtype(), DType::F32);
//!
//! // errors say what is wrong
//! let e = ops::add(&a, Tensor::zeros(4, DType::F32)?).unwrap_err();
//! assert_eq!(e.to_string(), "add: shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 differ and neither is 1");
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! - [`Tensor`]: storage, layout, dtype; constructors and views. Clones share storage; a write to
//!   shared storage copies it first.
//! - [`ops`]: elementwise operations, reductions, scans, sorting, indexing, shape manipulation,
//!   matrix products. Names and semantics are the [array API
//!   standard](https://data-apis.org/array-api/)'s.
//! - Methods of [`Tensor`] have the names of the functions that take a tensor first: `x.exp()` is
//!   `ops::exp(&x)`.
//! - [`nn`]: the building blocks of models, with the names of torch.nn.functional.
//! - [`linalg`]: factorisations of matrices, linear systems, eigenvalues, norms.
//! - [`fft`]: Fourier transforms. [`signal`]: windows, convolution, and what is built on
//!   transforms.
//! - [`quant`]: tensors of small integers with scales, and linear layers and convolutions with such
//!   weights.
//! - [`random`]: random numbers, with the methods of NumPy's `Generator`.
//! - [`onnx`]: ONNX models.
//! - [`DType`], [`Scalar`]: element types and their promotion; numbers without a dtype.
//! - [`Error`]: why an operation failed. Errors are returned before anything is written.
//! - [`prelude`]: what most programs need.
//! - [`microcontrollers`]: use without an operating system.
//!
//! Results have the same bits for any number of threads. Integers wrap; 16-bit floats are computed
//! in float32 and rounded once.
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `std` | yes | threads, the caching pool, files, detection of the CPU; without it the crate needs `alloc` |
//! | `simd` | with `avx2` | kernels for instruction sets beyond the target's own, chosen at run time with `std`: those of the next row |
//! | `avx2`, `avx512` | yes | x86-64: AVX2 and AVX-VNNI; AVX-512, VNNI, BF16 and AMX, beside AVX2 |
//! | `messages` | with `std` | the details in the texts of errors |
//! | `i8`, `i32`, `i64` | with `ints` | int8 and uint8; int32; int64, the dtype of indices and of sums of integers |
//! | `ints` | yes | all integers |
//! | `f64`, `half`, `complex` | yes | float64; float16 and bfloat16; complex64 (and with `f64` complex128) |
//! | `float8` | yes | float8_e4m3fn and float8_e5m2, for storage and conversion only |
//! | `fft`, `linalg`, `nn`, `io`, `random` | yes | the modules of these names |
//! | `signal`, `grad`, `quant`, `stream` | yes | [`signal`], with `fft` and `nn`; [`nn::grad`], with `nn`; [`quant`], with `nn` and `i8`; [`stream`], with `nn` and `std` |
//! | `onnx` | yes | [`onnx`], with `nn`, `io`, `ints` and `f64`; operators of other families need their features |
//! | `critical-section` | no | targets without atomic compare-and-swap |
//! | `rayon` | no | `Rayon`: operations run on the program's rayon pool ([`set_executor`]) |
//! | `bindings` | no | what bindings to other languages use beyond this API; it changes without notice |
//!
//! `FLEX_ISA=scalar|avx2|avx512|amx` and `FLEX_NUM_THREADS` are environment variables that limit what
//! flex uses of the machine; [`ignored_settings`] reports values that are not understood.

#![cfg_attr(not(feature = "std"), no_std)]
// What only families that are left out use is dead code; a build with all of them tells what nothing uses.
#![cfg_attr(
    not(all(
        feature = "grad",
        feature = "io",
        feature = "linalg",
        feature = "quant",
        feature = "random",
        feature = "signal",
        any(feature = "stream", not(feature = "std"))
    )),
    allow(dead_code, unused_imports, unused_macros)
)]

extern crate alloc;

#[macro_use]
mod error;
#[doc(hidden)]
#[cfg(feature = "bindings")]
pub mod bindings;
#[macro_use]
pub mod dtype;
#[cfg(feature = "std")]
mod environment;
#[doc(hidden)]
#[macro_use]
pub mod simd;
#[doc(hidden)]
pub mod exec;
mod fallible;
#[cfg(feature = "fft")]
pub mod fft;
mod format;
#[doc(hidden)]
#[macro_use]
pub mod op;
#[cfg(feature = "io")]
pub mod io;
#[doc(hidden)]
pub mod kernel;
pub mod layout;
#[cfg(feature = "linalg")]
pub mod linalg;
#[cfg(feature = "nn")]
pub mod nn;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod ops;
#[doc(hidden)]
pub mod par;
pub mod prelude;
#[cfg(feature = "quant")]
pub mod quant;
#[cfg(feature = "random")]
pub mod random;
mod scalar;
#[cfg(feature = "signal")]
pub mod signal;
pub mod storage;
#[cfg(feature = "stream")]
pub mod stream;
mod tensor;

pub use dtype::{Bool, DType, Element};
pub use error::{Error, Result};
pub use layout::{Axes, Layout};
#[cfg(feature = "rayon")]
pub use par::Rayon;
pub use par::threads as num_threads;
#[cfg(feature = "std")]
pub use par::{Executor, set_executor, set_local_threads, set_num_threads, with_threads};
#[doc(hidden)]
pub use scalar::ElementBytes;
pub use scalar::Scalar;
pub use storage::Bytes;
#[cfg(feature = "std")]
pub use storage::{MemoryStats, empty_cache, memory_stats, set_memory_cap, set_weight_packing};
pub use tensor::Tensor;

/// One line for each environment variable (`FLEX_ISA`, `FLEX_NUM_THREADS`) whose value is not
/// understood and therefore ignored.
///
/// ```
/// for line in flex::ignored_settings() {
///     eprintln!("warning: {line}"); // FLEX_ISA=foo is ignored: it takes scalar, avx2, avx512 or amx
/// }
/// ```
#[cfg(feature = "std")]
pub fn ignored_settings() -> alloc::vec::Vec<alloc::string::String> {
    [
        simd::requested().and_then(core::result::Result::err),
        par::requested().and_then(core::result::Result::err),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(any(doc, doctest))]
#[doc = include_str!("microcontrollers.md")]
pub mod microcontrollers {}

// The tour of the README and the pages for Rust's users run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct FromOtherLibraries;
