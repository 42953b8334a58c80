//! Channels one by one, as many as fill lanes: numbers of them and of places around the blocks that are
//! transposed, and several bands of rows.

use super::direct::few;
use super::*;

#[test]
fn channels_as_lanes_match_the_sum_over_taps() {
    let mut random = Rng(11);
    for (round, image) in [
        [1, 1],
        [1, 30],
        [3, 3],
        [5, 2],
        [7, 7],
        [9, 15],
        [14, 14],
        [25, 1],
        [33, 31],
    ]
    .into_iter()
    .enumerate()
    {
        let image = image.map(|n| n + if n > 30 { 0 } else { 8 * (round % 2) });
        for (groups, made) in [(16, 1), (19, 1), (33, 1), (16, 3), (9, 2)] {
            let mut case = few(groups, 1, made, image, &mut random);
            // as far as the padding reaches
            for (k, size) in image.iter().enumerate() {
                let padded = size + case.padding[k].0 + case.padding[k].1;
                case.dilation[k] = 1 + (case.dilation[k] - 1) * (padded > 13) as usize;
                case.kernel[k] = case.kernel[k].min(padded);
            }
            check(&case, DType::F32, round % 4);
            let other = [DType::F64, DType::F16, DType::BF16][round % 3];
            if other.is_available() {
                check(&case, other, (round + 1) % 4);
            }
        }
    }
}

/// A place sees the taps of its phase alone, also of zeros around the elements.
#[test]
fn transposed_weights_that_are_not_finite_reach_their_own_places_alone() {
    let x = tensor(&[1, 16, 5, 5], 1);
    let mut weights = vec![1.0f32; 16 * 9];
    weights[4] = f32::INFINITY;
    weights[9 + 8] = f32::NAN;
    let w = Tensor::from_slice(&weights, [16, 1, 3, 3]).unwrap();
    let options = nn::ConvTranspose {
        stride: 2.into(),
        groups: 16,
        ..Default::default()
    };
    let y = nn::conv_transpose2d(&x, &w, options).unwrap();
    let y = y.to_vec::<f32>().unwrap();
    for (i, y) in y.iter().enumerate() {
        let (channel, row, column) = (i / 121, i / 11 % 11, i % 11);
        let finite = match channel {
            0 => row % 2 == 0 || column % 2 == 0,
            1 => row % 2 == 1 || column % 2 == 1,
            _ => true,
        };
        assert_eq!(y.is_finite(), finite, "{channel} {row} {column}");
    }
}
