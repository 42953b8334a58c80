//! Methods of [`Tensor`](crate::Tensor): the functions that take a tensor first, under the same
//! names. `x.exp()` is `ops::exp(&x)`.

mod elementwise;
mod index;
mod linalg;
mod order;
mod reduce;
mod shape;
