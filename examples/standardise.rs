//! Standardises the columns of a table to mean 0 and standard deviation 1, ignoring missing values.
//!
//! ```sh
//! cargo run --release --example standardise
//! ```

use flex::prelude::*;

/// Height in cm, weight in kg, age; NaN if unknown.
const TABLE: [[f32; 3]; 5] = [
    [181.0, 74.0, 41.0],
    [165.0, 58.0, f32::NAN],
    [172.0, 69.0, 28.0],
    [f32::NAN, 81.0, 53.0],
    [158.0, 49.0, 34.0],
];

/// The standardised columns; missing values become the column's mean.
fn standardise(table: &Tensor) -> flex::Result<Tensor> {
    let missing = table.isnan()?;
    let known = missing.logical_not()?.sum_keepdims(0)?;
    let mean = table.masked_fill(&missing, 0.0)?.sum_keepdims(0)? / &known;
    let centred = (table - &mean).masked_fill(&missing, 0.0)?;
    let deviation = (centred.square()?.sum_keepdims(0)? / &known).sqrt()?;
    Ok(centred / deviation)
}

fn main() -> flex::Result<()> {
    let table = Tensor::from(TABLE);
    let scaled = standardise(&table)?;
    println!("{table}\nis, standardised,\n{scaled}");

    assert!(scaled.mean(0)?.abs()?.max(())?.item::<f32>()? < 1e-6);
    assert_eq!(scaled.at::<f32>((1, 2))?, 0.0); // an unknown age becomes the average
    // for a column without missing values, var gives the deviation
    let weights = table.slice(s![.., 1])?;
    let by_var = (&weights - weights.mean(())?) / weights.std((), 0.0)?;
    let apart = (by_var - scaled.slice(s![.., 1])?).abs()?.max(())?;
    assert!(apart.item::<f32>()? < 1e-6);
    Ok(())
}
