//! Values put at positions.

use alloc::vec::Vec;
use burn_backend::tensor::IndexingUpdateOp as Update;
use flex::ops::{self, Index, ScatterMode};
use flex::{DType, Error, Result, Tensor};

fn mode(update: Update) -> ScatterMode {
    match update {
        Update::Assign => ScatterMode::Set,
        Update::Add => ScatterMode::Add,
        Update::Mul => ScatterMode::Multiply,
        Update::Min => ScatterMode::Min,
        Update::Max => ScatterMode::Max,
    }
}

/// In each line along an axis, at the positions in the same line of `indices`.
pub(super) fn along_axis(
    x: Tensor,
    dim: usize,
    indices: &Tensor,
    values: &Tensor,
    update: Update,
) -> Result<Tensor> {
    x.scatter(indices, values, dim, mode(update))
}

/// The slices at positions along an axis.
pub(super) fn slices(
    mut x: Tensor,
    dim: usize,
    indices: &Tensor,
    values: &Tensor,
    update: Update,
) -> Result<Tensor> {
    match update {
        Update::Add => x.index_add(indices, values, dim),
        Update::Assign => {
            let mut items: Vec<Index> = alloc::vec![Index::ALL; dim];
            items.push(Index::Array(indices.clone()));
            ops::set(&mut x, &items, values)?;
            Ok(x)
        }
        _ => x.scatter(
            &lines(indices, dim, values.shape())?,
            values,
            dim,
            mode(update),
        ),
    }
}

/// Positions along an axis, the same in all lines of a shape.
fn lines(indices: &Tensor, dim: usize, shape: &[usize]) -> Result<Tensor> {
    let mut line = alloc::vec![1; shape.len()];
    line[dim] = indices.len();
    indices.reshape(line)?.broadcast_to(shape)
}

/// [`along_axis`] by a logical or.
pub(super) fn or_along_axis(
    x: Tensor,
    dim: usize,
    indices: &Tensor,
    values: &Tensor,
) -> Result<Tensor> {
    // of bytes that are 0 or 1 it is the larger
    let [x, values] = [&x, values].map(|t| t.bitcast(DType::U8));
    along_axis(x?, dim, indices, &values?, Update::Max)?.bitcast(DType::Bool)
}

/// [`slices`] by a logical or.
pub(super) fn or_slices(
    x: Tensor,
    dim: usize,
    indices: &Tensor,
    values: &Tensor,
) -> Result<Tensor> {
    or_along_axis(x, dim, &lines(indices, dim, values.shape())?, values)
}

/// One tensor of positions for each of the first axes, which the last axis of `indices` lists.
fn columns(indices: &Tensor) -> Result<Vec<Tensor>> {
    let axes = indices.shape().last().copied().unwrap_or(0);
    (0..axes).map(|k| indices.select(-1, k as i64)).collect()
}

/// What lies at positions of several axes.
pub(super) fn gather_nd(x: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let items: Vec<Index> = columns(indices)?.into_iter().map(Index::Array).collect();
    ops::get(x, &items)
}

/// Values put at positions of several axes.
pub(super) fn scatter_nd(
    mut x: Tensor,
    indices: &Tensor,
    values: &Tensor,
    update: Update,
) -> Result<Tensor> {
    let columns = columns(indices)?;
    if update == Update::Assign {
        let items: Vec<Index> = columns.into_iter().map(Index::Array).collect();
        ops::set(&mut x, &items, values)?;
        return Ok(x);
    }
    let shape = x.shape().to_vec();
    let Some((first, rest)) = shape.split_at_checked(columns.len()) else {
        let message = alloc::format!("{} positions for {} axes", columns.len(), shape.len());
        return Err(Error::shape("scatter_nd", message));
    };
    // the axes that are indexed as one
    let mut flat = Tensor::zeros(&indices.shape()[..indices.rank() - 1], DType::I64)?;
    for (at, size) in columns.iter().zip(first) {
        let inside = ops::logical_and(ops::greater_equal(at, 0)?, ops::less(at, *size)?)?;
        if !inside.all(())?.item::<bool>()? {
            let message = alloc::format!("a position is out of range for an axis of size {size}");
            return Err(Error::value("scatter_nd", message));
        }
        flat = ops::add(ops::multiply(flat, *size)?, at.astype(DType::I64)?)?;
    }
    let (n, row) = (
        first.iter().product::<usize>(),
        rest.iter().product::<usize>(),
    );
    let values = values.reshape([flat.len(), row])?;
    let y = slices(x.reshape([n, row])?, 0, &flat.reshape(-1)?, &values, update)?;
    y.reshape(shape)
}
