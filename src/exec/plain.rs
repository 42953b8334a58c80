//! [`Plain`] where drivers look for it.

pub use crate::dtype::Plain;
