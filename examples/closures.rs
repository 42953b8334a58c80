//! Closures over tensors of any layout: elementwise, as reductions and along axes.
//!
//! ```sh
//! cargo run --release --example closures
//! ```

use flex::prelude::*;

/// Huber's loss: quadratic near 0, linear beyond `delta`.
fn huber(predicted: &Tensor, wanted: &Tensor, delta: f32) -> flex::Result<Tensor> {
    predicted.zip_with(wanted, |a: f32, b: f32| {
        let error = (a - b).abs();
        if error <= delta {
            0.5 * error * error
        } else {
            delta * (error - 0.5 * delta)
        }
    })
}

/// The median of each row: rows are slices, with all of Rust's methods for slices.
fn medians(x: &Tensor) -> flex::Result<Tensor> {
    let rows = x.contiguous()?;
    let width = rows.shape()[1];
    let of_row = |row: &[f32]| {
        let mut row = row.to_vec();
        let (_, median, _) = row.select_nth_unstable_by(width / 2, f32::total_cmp);
        *median
    };
    Ok(rows
        .as_slice::<f32>()?
        .chunks_exact(width)
        .map(of_row)
        .collect())
}

fn main() -> flex::Result<()> {
    let predicted = Tensor::from([[0.1f32, 0.9, 5.0], [0.5, 0.5, 0.5]]);
    let wanted = Tensor::from([0.0f32, 1.0, 1.0]); // broadcasts
    let loss = huber(&predicted, &wanted, 1.0)?;
    println!("loss\n{loss}\nmean {}", loss.mean(())?);
    assert_eq!(loss.at::<f32>((0, 2))?, 3.5);

    // the dtype of the result is the closure's return type
    let grade = predicted.map(|p: f32| (p * 10.0).clamp(0.0, 10.0) as u8)?;
    assert_eq!(grade.to_vec::<u8>()?, [1, 9, 10, 5, 5, 5]);

    // several tensors, several results, in one pass
    let (error, within) = ops::ewise((&predicted, &wanted, 0.6), |a: f32, b: f32, limit: f32| {
        ((a - b).powi(2), (a - b).abs() < limit)
    })?;
    assert_eq!(
        within.to_vec::<bool>()?,
        [true, true, false, true, true, true]
    );
    assert_eq!(error.at::<f32>((0, 2))?, 16.0);

    // momentum: two tensors change in place
    let (mut weight, mut velocity) = (wanted.copy()?, Tensor::zeros(3, DType::F32)?);
    let step = |w: &mut f32, v: &mut f32, gradient: f32, rate: f32| {
        *v = 0.9 * *v - rate * gradient;
        *w += *v;
    };
    let gradient = Tensor::from([1.0f32, 2.0, 4.0]);
    ops::ewise_inplace((&mut weight, &mut velocity), (&gradient, 0.5), step)?;
    assert_eq!(weight.to_vec::<f32>()?, [-0.5, 0.0, -1.0]);

    // a function of an element's index
    let checkers = ops::iwise((3, 4), |[i, j]| (i + j) % 2 == 0)?;
    println!("checkers\n{checkers}");

    // reductions over several tensors: the mean and the largest error of each row
    let errors = |(sum, most): (f32, f32), a: f32, b: f32| {
        let error = (a - b).abs();
        (sum + error, most.max(error))
    };
    let errors = ops::reducer((0.0f32, 0.0f32), errors, |a, b| (a.0 + b.0, a.1.max(b.1)))
        .post(|(sum, most), n| (sum / n as f32, most));
    let (mean, largest) = ops::reduce_axes_ewise((&predicted, &wanted), 1, errors)?;
    println!("mean error {mean}, largest {largest}");
    assert_eq!(largest.to_vec::<f32>()?, [4.0, 0.5]);

    // any layout, in place; tensors that share the storage are unchanged
    let mut turned = predicted.transpose(0, 1)?;
    turned.map_inplace(|p: f32| if p > 1.0 { 1.0 } else { p })?;
    assert_eq!(turned.at::<f32>((2, 0))?, 1.0);
    assert_eq!(predicted.at::<f32>((0, 2))?, 5.0);

    // in row-major order, as a Rust iterator
    let above: Vec<usize> = predicted
        .iter::<f32>()?
        .enumerate()
        .filter(|(_, p)| *p > 0.5)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(above, [1, 2]);

    let medians = medians(&predicted)?;
    println!("medians {medians}");
    assert_eq!(medians.to_vec::<f32>()?, [0.9, 0.5]);
    Ok(())
}
