//! Converts an image from bytes to the input of a network (floats, normalised by channel, channels
//! first) and back.
//!
//! ```sh
//! cargo run --release --example image
//! ```

use flex::prelude::*;

const HEIGHT: usize = 48;
const WIDTH: usize = 64;
/// ImageNet's mean and standard deviation, for red, green, blue.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// Rows of pixels of three bytes, as decoders return them.
fn decoded() -> Vec<u8> {
    let pixel = |y: usize, x: usize| [(4 * x) as u8, (5 * y) as u8, (x ^ y) as u8];
    (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).flat_map(move |x| pixel(y, x)))
        .collect()
}

/// `[3, height, width]` of float32 from `[height, width, 3]` of bytes.
fn normalised(image: &Tensor) -> flex::Result<Tensor> {
    let unit = image.astype(DType::F32)? / 255.0;
    ((unit - Tensor::from(MEAN)) / Tensor::from(DEVIATION)).permute([2, 0, 1])
}

/// The reverse, rounded and clamped to a byte.
fn bytes(image: &Tensor) -> flex::Result<Tensor> {
    let unit = image.permute([1, 2, 0])? * Tensor::from(DEVIATION) + Tensor::from(MEAN);
    (unit * 255.0).round()?.clip(0, 255)?.astype(DType::U8)
}

fn main() -> flex::Result<()> {
    let image = Tensor::from_vec(decoded(), (HEIGHT, WIDTH, 3))?;
    let input = normalised(&image)?;
    println!(
        "{:?} of {} became {:?} of {}",
        image.shape(),
        image.dtype(),
        input.shape(),
        input.dtype()
    );
    assert_eq!(input.shape(), [3, HEIGHT, WIDTH]);
    let first = (0.0 - MEAN[0]) / DEVIATION[0];
    assert!((input.at::<f32>((0, 0, 0))? - first).abs() < 1e-6);

    // cropping, flipping and stacking are views and one copy
    let left = input.slice(s![.., ..32, ..32])?;
    let mirrored = left.flip(-1)?;
    let batch = ops::stack(&[&left, &mirrored], 0)?;
    assert_eq!(batch.shape(), [2, 3, 32, 32]);
    assert_eq!(
        batch.at::<f32>((1, 2, 0, 0))?,
        batch.at::<f32>((0, 2, 0, -1))?
    );

    let again = bytes(&input)?;
    assert!(
        again.equal(&image)?.all(())?.item::<bool>()?,
        "no byte was lost"
    );
    println!(
        "by channel: mean {}, deviation {}",
        input.mean([1, 2])?,
        input.std([1, 2], 0.0)?
    );
    Ok(())
}
