//! Gradients of activations and of the cross entropy.

use super::*;
use nn::{CrossEntropy, Reduction};

#[test]
fn activations_match_differences() {
    // none at 0, where relu has a corner
    let x = Tensor::from_slice(&[-7.5f64, -2.0, -0.7, -1e-3, 1e-3, 0.3, 1.9, 6.0], [8]).unwrap();
    let x = flex::ops::concat(&[&x, &wide(&[25], 1)], 0).unwrap();
    let g = wide(&[33], 2);
    type Function = fn(&Tensor) -> flex::Result<Tensor>;
    type Gradient = fn(&Tensor, &Tensor) -> flex::Result<Tensor>;
    let of_operand: [(Function, Gradient); 4] = [
        (|x| nn::relu(x), grad::relu),
        (|x| nn::silu(x), grad::silu),
        (|x| nn::gelu(x), grad::gelu),
        (|x| nn::gelu_tanh(x), grad::gelu_tanh),
    ];
    for (f, gradient) in of_operand {
        let want = differences(&x, &g, |x| f(x).unwrap());
        agree(&gradient(&g, &x).unwrap(), &want);
    }
    let of_result: [(Function, Gradient); 3] = [
        (|x| nn::relu(x), grad::relu),
        (|x| nn::sigmoid(x), grad::sigmoid),
        (|x| flex::ops::tanh(x), grad::tanh),
    ];
    for (f, gradient) in of_result {
        let want = differences(&x, &g, |x| f(x).unwrap());
        agree(&gradient(&g, &f(&x).unwrap()).unwrap(), &want);
    }
}

#[test]
fn relu_passes_gradients_at_nan_and_blocks_non_finite_ones() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let x = Tensor::from_slice(&[-1.0, 0.0, -0.0, nan, inf, -inf], [6]).unwrap();
    let g = Tensor::from_slice(&[inf, nan, 3.0, 2.0, 5.0, nan], [6]).unwrap();
    let d = numbers(&grad::relu(&g, &x).unwrap());
    assert_eq!(d, [0.0, 0.0, 0.0, 2.0, 5.0, 0.0]);
    assert!(grad::relu(&g, &wide(&[5], 1)).is_err());
    assert!(grad::gelu(&g, &wide(&[1], 1)).is_err());
    let integers = tensor(&[3], 1).astype(DType::I64).unwrap();
    assert!(grad::sigmoid(&integers, &integers).is_err());
}

#[test]
fn cross_entropy_matches_differences() {
    let weight = Tensor::from_slice(&[0.5f64, 2.0, 0.0, 1.5], [4]).unwrap();
    let shapes: [(&[usize], &[usize]); 3] = [(&[5, 4], &[5]), (&[2, 4, 3], &[2, 3]), (&[4], &[])];
    for (shape, of_terms) in shapes {
        let x = wide(shape, 1);
        let terms: usize = of_terms.iter().product();
        // each class once, and an ignored target
        let classes: Vec<i64> = (0..terms).map(|k| [3, 2, -7, 0, 1][k % 5]).collect();
        let target = Tensor::from_slice(&classes, of_terms).unwrap();
        let probabilities = nn::softmax(&wide(shape, 2), -1).unwrap();
        for (weight, label_smoothing) in [
            (None, 0.0),
            (Some(&weight), 0.0),
            (Some(&weight), 0.3),
            (None, 1.0),
        ] {
            for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
                let options = CrossEntropy {
                    weight,
                    ignore_index: -7,
                    label_smoothing,
                    reduction,
                };
                for target in [&target, &probabilities] {
                    let f = |x: &Tensor| nn::cross_entropy(x, target, options).unwrap();
                    let g = wide(f(&x).shape(), 3);
                    let d = grad::cross_entropy(&g, &x, target, options).unwrap();
                    agree(&d, &differences(&x, &g, f));
                }
            }
        }
    }
}

/// Scores of ignored targets may be infinite, and targets out of range are refused.
#[test]
fn cross_entropy_skips_ignored_targets() {
    let x = Tensor::from_slice(&[f64::INFINITY, 1.0, 0.0, 0.0], [2, 2]).unwrap();
    let one = Tensor::from_slice(&[1.0f64], [0usize; 0]).unwrap();
    let target = |first: i64| Tensor::from_slice(&[first, 1], [2]).unwrap();
    let d = grad::cross_entropy(&one, &x, &target(-100), CrossEntropy::default()).unwrap();
    assert_eq!(numbers(&d), [0.0, 0.0, 0.5, -0.5]);
    for class in [2, -1] {
        assert!(grad::cross_entropy(&one, &x, &target(class), CrossEntropy::default()).is_err());
    }
    let terms = wide(&[2], 1);
    assert!(grad::cross_entropy(&terms, &x, &target(0), CrossEntropy::default()).is_err());
    let none = CrossEntropy {
        reduction: Reduction::None,
        ..Default::default()
    };
    assert!(grad::cross_entropy(&one, &x, &target(0), none).is_err());
    assert!(grad::cross_entropy(&target(0), &x, &target(0), none).is_err());
    let empty = wide(&[0, 2], 1);
    let no_target = Tensor::from_slice::<i64>(&[], [0]).unwrap();
    let d = grad::cross_entropy(&one, &empty, &no_target, CrossEntropy::default()).unwrap();
    assert_eq!(d.shape(), [0, 2]);
}
