//! The nearest of many vectors: cosines by one matrix product, the best by `topk`.
//!
//! ```sh
//! cargo run --release --example retrieval
//! ```

use flex::prelude::*;

const DOCUMENTS: usize = 10_000;
const WIDTH: usize = 64;
const BEST: usize = 5;

/// Numbers in [-1, 1) from a linear congruential generator.
fn random(rows: usize, seed: u64) -> flex::Result<Tensor> {
    let mut state = seed;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    Tensor::from_vec(
        std::iter::repeat_with(next).take(rows * WIDTH).collect(),
        (rows, WIDTH),
    )
}

/// Rows of length 1.
fn normalised(x: &Tensor) -> flex::Result<Tensor> {
    Ok(x / x.square()?.sum_keepdims(-1)?.sqrt()?)
}

fn main() -> flex::Result<()> {
    let documents = normalised(&random(DOCUMENTS, 1)?)?;

    // queries are documents with noise: each should find its own
    let asked = Tensor::from([17i64, 4096, 9999]);
    let questions = normalised(&(documents.take(&asked, 0)? + random(3, 2)? * 0.05))?;

    let cosines = questions.matmul(&documents.matrix_transpose()?)?;
    let (scores, found) = cosines.topk(BEST, -1)?;
    for (k, (scores, found)) in scores.unstack(0)?.iter().zip(found.unstack(0)?).enumerate() {
        println!("question {k}: documents {found}, cosines {scores}");
    }
    assert!(found.select(1, 0)?.equal(&asked)?.all(())?.item::<bool>()?);

    // the least similar, with options
    let (least, _) = cosines.topk(
        1,
        TopK {
            largest: false,
            ..Default::default()
        },
    )?;
    assert!(
        least
            .less(scores.min_keepdims(-1)?)?
            .all(())?
            .item::<bool>()?
    );

    // the documents that nearly equal a query
    let close = cosines.greater(0.8)?.argwhere()?;
    println!("pairs that are close:\n{close}");
    assert_eq!(close.shape(), [3, 2]);
    Ok(())
}
