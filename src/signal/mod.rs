//! Signals: windows, short-time Fourier transforms, mel filters, convolution and correlation.
//!
//! ```
//! use flex::{DType, Tensor, signal::{self, Ends, Stft, Window}};
//! let window = signal::window(8, Window::Hann, Ends::Periodic, DType::F32)?;
//! let x = Tensor::zeros(64, DType::F32)?;
//! let frames = signal::stft(&x, &Stft { window: Some(&window), ..Stft::of(8) })?;
//! assert_eq!(frames.shape(), [5, 33]); // frequencies, and frames two samples apart
//! # Ok::<(), flex::Error>(())
//! ```

#[cfg(feature = "complex")]
mod convolve;
#[cfg(feature = "f64")]
mod filter;
#[cfg(feature = "complex")]
mod frames;
mod mel;
mod windows;

#[cfg(all(feature = "bindings", feature = "complex"))]
#[doc(hidden)]
pub use convolve::fftconvolve;
#[cfg(feature = "complex")]
pub use convolve::{Extent, Method, convolve, correlate};
#[cfg(feature = "f64")]
pub use filter::{lfilter, sosfilt};
#[cfg(feature = "complex")]
pub use frames::{Stft, istft, stft};
pub use mel::{Mel, mel_filters};
pub use windows::{Ends, Window, window};
