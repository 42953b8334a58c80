//! Few positions, and axes of one element.

use super::*;

#[test]
fn few_positions_match_the_sum_over_taps() {
    let mut random = Rng(39);
    // image, kernel, stride: as many axes as there are
    let shapes: [[&[usize]; 3]; 8] = [
        [&[576], &[256], &[128]],
        [&[4], &[3], &[1]],
        [&[4], &[3], &[2]],
        [&[33], &[9], &[7]],
        [&[5, 6], &[3, 2], &[1, 3]],
        [&[3, 4], &[3, 3], &[1, 1]],
        [&[1, 9], &[1, 5], &[1, 2]],
        [&[3, 3, 4], &[2, 3, 3], &[1, 1, 2]],
    ];
    for (round, [image, kernel, stride]) in shapes.into_iter().enumerate() {
        for batch in [1, 3] {
            let case = Case {
                batch,
                channels: if kernel[0] > 200 {
                    1
                } else {
                    20 + random.below(20)
                },
                image: image.to_vec(),
                outputs: 120 + random.below(20),
                kernel: kernel.to_vec(),
                stride: stride.to_vec(),
                padding: kernel.iter().map(|k| ((k - 1) / 2, k / 2 / 2)).collect(),
                dilation: kernel
                    .iter()
                    .zip(image)
                    .map(|(k, n)| if 2 * k < *n { 2 } else { 1 })
                    .collect(),
                groups: 1,
            };
            check(&case, DType::F32, round % 4);
            let other = [DType::F64, DType::BF16, DType::I32][round % 3];
            if other.is_available() {
                check(&case, other, (round + 1) % 4);
            }
        }
    }
}

#[test]
fn few_positions_have_activations_and_residuals() {
    let (x, w) = (tensor(&[2, 64, 6], 1), tensor(&[48, 64, 3], 2));
    let (bias, residual) = (tensor(&[48], 3), tensor(&[2, 48, 4], 4));
    let y = nn::conv1d(&x, &w, &bias).unwrap();
    let want = ops::add(ops::relu(&y).unwrap(), &residual).unwrap();
    let options = Conv {
        bias: Some(&bias),
        activation: Some(nn::Activation::Relu),
        residual: Some(&residual),
        ..Default::default()
    };
    let y = nn::conv1d(&x, &w, options).unwrap();
    assert_eq!(bits_of(&y), bits_of(&want));
}

#[test]
fn last_axes_of_one_element_are_left_out() {
    for (image, kernel) in [([40, 1], [5, 1]), ([9, 1], [3, 1]), ([1, 1], [1, 1])] {
        for (batch, outputs, groups) in [(1, 32, 1), (2, 6, 2), (2, 32, 16)] {
            let case = Case {
                batch,
                channels: 32,
                image: image.to_vec(),
                outputs,
                kernel: kernel.to_vec(),
                stride: vec![1 + batch % 2, 3],
                padding: vec![(kernel[0] / 2, kernel[0] / 2), (0, 0)],
                dilation: vec![1, 2],
                groups,
            };
            for layout in 0..4 {
                check(&case, DType::F32, layout);
            }
        }
    }
    // a kernel along rows of one element is one along columns
    let plan = |x: &[usize], w: &[usize]| nn::conv_plan(x, w, (), DType::F32).unwrap();
    let rows = plan(&[1, 256, 512, 1], &[512, 256, 5, 1]);
    assert_eq!(rows, plan(&[1, 256, 512], &[512, 256, 5]));
    assert_eq!(rows.algorithm, nn::ConvAlgorithm::Winograd);
}

fn bits_of(t: &Tensor) -> Vec<u32> {
    let all = t.to_vec::<f32>().unwrap();
    all.into_iter().map(f32::to_bits).collect()
}
