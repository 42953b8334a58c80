//! The code written in x86-64 intrinsics.

pub mod amx;
pub mod half;
pub mod lanes;
pub mod lookup;
pub mod mask;
pub mod narrow;
pub mod nibbles;
pub mod transpose;
pub mod vector;
