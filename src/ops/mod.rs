//! The operations: validate, promote and broadcast, pick a kernel, hand it to `exec`.

pub mod copy;
