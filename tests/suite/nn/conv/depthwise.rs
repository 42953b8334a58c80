//! Depthwise convolutions with channels as lanes: channel counts and output sizes around the
//! transposed blocks, and several bands of rows.

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
            // the kernel must fit in the padded image
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

/// An output sees only the taps of its phase, including those that fall on the zero padding.
#[test]
fn non_finite_weights_of_transposed_convolutions_stay_in_their_phase() {
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

/// Images of size 0, all padding, with enough channels to fill lanes and with fewer.
#[test]
fn empty_images_give_zeros() {
    for channels in [15, 16] {
        for size in [[3, 0], [0, 3]] {
            let x = Tensor::zeros([1, channels, size[0], size[1]], DType::F32).unwrap();
            let w = tensor(&[channels, 1, 3, 3], 1);
            let options = || nn::Conv {
                padding: 3.into(),
                groups: channels,
                ..Default::default()
            };
            let y = nn::conv2d(&x, &w, options()).unwrap();
            assert_eq!(y.shape(), [1, channels, size[0] + 4, size[1] + 4]);
            assert!(y.to_vec::<f32>().unwrap().iter().all(|y| *y == 0.0));
            let g = Tensor::from_slice(&vec![1f32; y.len()], y.shape()).unwrap();
            let [dx, dw, _] = nn::grad::conv2d(&g, &x, &w, options()).unwrap();
            assert_eq!((dx.shape(), dw.shape()), (x.shape(), w.shape()));
            assert!(dw.to_vec::<f32>().unwrap().iter().all(|d| *d == 0.0));
        }
    }
}
