//! Elementwise loops: contiguous operands (or one value each) in, a contiguous result out. No
//! layout, no threads.

mod integer;
mod loops;
mod table;

pub use loops::{COPY_FORMS, Copy1, Op1, Op2, Op3};
pub use table::{Kernel, Lookup, Row, rows};
