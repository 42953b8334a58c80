//! The backend against naive loops, over methods, dtypes and layouts.

mod autodiff;
mod boolean;
mod common;
mod data;
mod float;
#[cfg(feature = "fusion")]
mod fusion;
mod index;
mod integer;
mod layers;
mod lines;
mod pools;
mod quantized;
mod random;
mod resample;
mod structure;
