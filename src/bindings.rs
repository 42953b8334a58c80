//! What bindings to other languages use of private modules. As all that `bindings` or `doc(hidden)`
//! marks, it is no part of the API and free to change.

macro_rules! features {
    ($($name:literal)*) => { [$(($name, cfg!(feature = $name))),*] };
}

pub use crate::fallible::{collect, push};
pub use crate::format::{Style, elements};
pub use crate::io::replacement::Replacement;
pub use crate::scalar::Shown;
pub use crate::tensor::resolve_shape;

/// The features that shape the library, and whether this build has each.
pub const FEATURES: &[(&str, bool)] =
    &features!("std" "simd" "ints" "f64" "half" "float8" "complex" "rayon");
