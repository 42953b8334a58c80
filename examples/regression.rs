//! Fits a linear model to noisy points by gradient descent.
//!
//! ```sh
//! cargo run --release --example regression
//! ```

use flex::{DType, Result, Tensor, s};

const POINTS: usize = 1000;
const STEPS: usize = 200;
const RATE: f64 = 0.1;
const TRUTH: [f32; 3] = [2.0, -1.0, 0.5]; // two slopes and the intercept

/// Numbers in [-1, 1) from a linear congruential generator.
fn random(shape: [usize; 2], state: &mut u64) -> Result<Tensor> {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    Tensor::from_slice(&values, shape)
}

fn main() -> Result<()> {
    let mut state = 1;
    let mut x = random([POINTS, 3], &mut state)?;
    // the last column is the intercept
    x.set(s![.., 2], 1.0)?;
    let truth = Tensor::from_slice(&TRUTH, (3, 1))?;
    let y = x.matmul(&truth)? + random([POINTS, 1], &mut state)? * 0.1;

    let mut weights = Tensor::zeros((3, 1), DType::F32)?;
    for step in 0..=STEPS {
        let error = x.matmul(&weights)? - &y;
        if step % 50 == 0 {
            let loss = error.square()?.mean(())?;
            println!(
                "step {step:3}: mean square error {:.6}",
                loss.item::<f32>()?
            );
        }
        let gradient = x.transpose(0, 1)?.matmul(&error)? * (2.0 / POINTS as f64);
        weights -= gradient * RATE;
    }

    let fitted = weights.to_vec::<f32>()?;
    println!("fitted {fitted:?}, true {TRUTH:?}");
    assert!(
        fitted.iter().zip(TRUTH).all(|(a, b)| (a - b).abs() < 0.02),
        "the fit is off"
    );
    Ok(())
}
