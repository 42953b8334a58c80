//! Gradients with non-finite values, and operands that are refused.

use super::*;
use flex::ops;

/// A non-finite element reaches only the taps that it is multiplied with.
#[test]
fn non_finite_elements_reach_only_their_taps() {
    let mut case = plane(1, 3, 21, 3, 3);
    case.groups = 3;
    case.padding = vec![(0, 0); 2];
    let x = tensor(&case.image_shape(), 1);
    let w = tensor(&case.weight_shape(), 2);
    // only the last taps see the last column
    let mut values = doubles(&x).iter().map(|x| *x as f32).collect::<Vec<_>>();
    values[20] = f32::INFINITY;
    let x = Tensor::from_slice(&values, x.shape()).unwrap();
    let g = tensor(&case.result_shape(), 3);
    let [_, dw, _] = grad::conv2d(&g, &x, &w, case.options()).unwrap();
    let finite: Vec<bool> = doubles(&dw).iter().map(|x| x.is_finite()).collect();
    let infinite: Vec<usize> = (0..27).filter(|i| !finite[*i]).collect();
    assert_eq!(infinite, [2]);
}

/// Inside `grad` the result is the plain sum; in the border, products with the zeros around `grad`
/// may give NaN.
#[test]
fn non_finite_weights_may_only_turn_border_gradients_into_nan() {
    for (channels, groups, outputs) in [(1, 1, 1), (4, 1, 4), (2, 1, 9), (16, 16, 16)] {
        let ones = |shape: [usize; 3]| ops::ones(shape, DType::F32).unwrap();
        let mut w = ones([outputs, channels / groups, 3]);
        for (o, c) in (0..outputs).flat_map(|o| (0..channels / groups).map(move |c| (o, c))) {
            w.set_at((o as isize, c as isize, 0), f32::INFINITY)
                .unwrap();
        }
        let options = Conv {
            groups,
            ..Default::default()
        };
        let (g, x) = (ones([1, outputs, 6]), ones([1, channels, 8]));
        let [dx, ..] = grad::conv1d(&g, &x, &w, options).unwrap();
        for dx in doubles(&dx).chunks_exact(8) {
            let (inside, border) = dx.split_at(6);
            assert!(inside.iter().all(|d| *d == f64::INFINITY), "{dx:?}");
            let made = (outputs / groups) as f64;
            let all = border.iter().zip([2.0 * made, made]);
            assert!(
                all.into_iter().all(|(d, sum)| d.is_nan() || *d == sum),
                "{dx:?}"
            );
        }
    }
}

/// The parts of a transposed convolution that its padding cuts off count as zeros of the gradient.
#[test]
fn cut_off_outputs_count_as_zeros() {
    for (channels, groups) in [(1, 1), (4, 1), (16, 16)] {
        let ones = |shape: [usize; 3]| ops::ones(shape, DType::F32).unwrap();
        let options = || ConvTranspose {
            padding: 1.into(),
            groups,
            ..Default::default()
        };
        let (g, mut x) = (ones([1, channels, 5]), ones([1, channels, 5]));
        let mut w = ones([channels, channels / groups, 3]);
        w.set_at((0, 0, 0), f32::INFINITY).unwrap();
        let [dx, ..] = grad::conv_transpose1d(&g, &x, &w, options()).unwrap();
        let dx = doubles(&dx);
        assert!(dx[0].is_nan() && dx[1..5].iter().all(|d| *d == f64::INFINITY));
        x.set_at((0, 0, 0), f32::INFINITY).unwrap();
        let [_, dw, _] = grad::conv_transpose1d(&g, &x, &w, options()).unwrap();
        let dw = doubles(&dw);
        assert!(dw[0].is_nan() && dw[1] == f64::INFINITY && dw[2] == f64::INFINITY);
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (x, w) = (tensor(&[1, 2, 5, 5], 1), tensor(&[3, 2, 3, 3], 2));
    let g = tensor(&[1, 3, 3, 3], 3);
    assert!(grad::conv2d(&g, &x, &w, None).is_ok());
    let bias = tensor(&[3], 4);
    assert!(grad::conv2d(&g, &x, &w, Some(&bias)).is_ok());
    let wrong = grad::conv2d(&tensor(&[1, 3, 4, 3], 3), &x, &w, None).unwrap_err();
    #[cfg(feature = "messages")]
    assert!(
        wrong.to_string().contains("grad.conv2d") && wrong.to_string().contains("[1, 3, 3, 3]")
    );
    let _ = wrong;
    assert!(grad::conv2d(&g, &x, &tensor(&[3, 1, 3, 3], 2), None).is_err());
    assert!(grad::conv1d(&g, &x, &w, None).is_err());
    let activation = Conv {
        activation: Some(nn::Activation::Relu),
        ..Default::default()
    };
    assert!(grad::conv2d(&g, &x, &w, activation).is_err());
    let residual = Conv {
        residual: Some(&g),
        ..Default::default()
    };
    assert!(grad::conv2d(&g, &x, &w, residual).is_err());
    let whole = |t: &Tensor| t.astype(DType::I32).unwrap();
    assert!(grad::conv2d(&whole(&g), &whole(&x), &whole(&w), None).is_err());
    assert!(grad::conv_transpose2d(&x, &g, &w, None).is_ok());
    assert!(grad::conv_transpose2d(&g, &x, &w, None).is_err());
}
