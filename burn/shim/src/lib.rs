//! Burn's flex backend, computed by [`flex_burn`].
#![no_std]

pub use flex_burn::*;
