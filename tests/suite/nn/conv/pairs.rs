//! Convolutions of bfloat16, which some CPUs compute from pairs of channels.

use super::*;

#[test]
fn bfloat16_matches_the_sum_over_taps() {
    if !DType::BF16.is_available() {
        return;
    }
    for rank in 1..=3 {
        for (round, mut case) in cases(rank).into_iter().enumerate() {
            // as many outputs as are worth a product
            case.outputs += 9 * case.groups;
            check(&case, DType::BF16, round % 4);
        }
    }
}

/// Images whose words don't fit scratch are read in bands: in float32, which isn't, the sums of
/// small integers are the same.
#[cfg(feature = "std")]
#[test]
fn large_images_of_bfloat16_are_read_in_bands() {
    if !DType::BF16.is_available() {
        return;
    }
    for (image, kernel, stride, padding) in [
        (vec![150, 120], vec![3, 2], vec![1, 1], vec![(1, 1), (0, 1)]),
        (vec![75, 240], vec![5, 1], vec![3, 2], vec![(9, 2), (0, 0)]),
        (vec![18_001], vec![3], vec![2], vec![(1, 0)]),
        (
            vec![15, 40, 30],
            vec![2, 1, 2],
            vec![1, 2, 3],
            vec![(1, 0), (0, 0), (2, 2)],
        ),
    ] {
        let case = Case {
            batch: 2,
            channels: 260,
            outputs: 20,
            dilation: vec![1; kernel.len()],
            groups: 2,
            image,
            kernel,
            stride,
            padding,
        };
        for layout in [0, 1] {
            let x = integers(&case.image_shape(), DType::BF16, 1, layout);
            let w = integers(&case.weight_shape(), DType::BF16, 2, 0);
            let wide = |t: &Tensor| t.astype(DType::F32).unwrap();
            let want = run(&wide(&x), &wide(&w), case.options()).unwrap();
            let want = want.astype(DType::BF16).unwrap();
            let y = run(&x, &w, case.options()).unwrap();
            assert!(
                exact(&y) == exact(&want),
                "{:?} layout {layout}",
                case.image
            );
        }
    }
}
