//! How loops run: collapse the layouts (nest), walk them in L1 tiles (tile), on threads (par), on an instruction set (isa).
//! Nothing here knows what an operation means.

#[macro_use]
pub mod isa;
pub mod par;
