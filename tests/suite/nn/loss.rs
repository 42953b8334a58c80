//! Losses against sums of their terms in float64.

use super::*;
use crate::common::{floats, indices};
use flex::nn::Reduction;

const HOW: [Reduction; 3] = [Reduction::None, Reduction::Mean, Reduction::Sum];

/// Checks a loss against its terms, for every reduction and several strides.
fn check(
    a: &Tensor,
    b: &Tensor,
    loss: impl Fn(&Tensor, &Tensor, Reduction) -> Tensor,
    term: impl Fn(f64, f64) -> f64,
) {
    let want: Vec<f64> = floats(a)
        .iter()
        .zip(floats(b))
        .map(|(a, b)| term(*a, b))
        .collect();
    let turned = |t: &Tensor| {
        t.transpose(0, 1)
            .unwrap()
            .copy()
            .unwrap()
            .transpose(0, 1)
            .unwrap()
    };
    let sum: f64 = want.iter().sum();
    for (a, b) in [
        (a.clone(), b.clone()),
        (turned(a), b.clone()),
        (turned(a), turned(b)),
    ] {
        close(&loss(&a, &b, Reduction::None), &want, 2e-6);
        let size = want.iter().map(|w| w.abs()).sum::<f64>().max(1.0);
        let got = floats(&loss(&a, &b, Reduction::Sum))[0];
        assert!((got - sum).abs() <= 1e-6 * size, "{got} for {sum}");
        let got = floats(&loss(&a, &b, Reduction::Mean))[0] * want.len() as f64;
        assert!((got - sum).abs() <= 1e-6 * size, "{got} for {sum}");
    }
}

#[test]
fn elementwise_losses_match_their_terms() {
    // one block, several blocks, rows longer than a block
    for shape in [[3, 5], [300, 170], [2, 40_000]] {
        let (a, b) = (tensor(&shape, 1), tensor(&shape, 2));
        check(
            &a,
            &b,
            |a, b, r| nn::mse_loss(a, b, r).unwrap(),
            |a, b| (a - b).powi(2),
        );
        check(
            &a,
            &b,
            |a, b, r| nn::l1_loss(a, b, r).unwrap(),
            |a, b| (a - b).abs(),
        );
        let smooth = |a: f64, b: f64| match (a - b).abs() {
            d if d < 0.7 => d * d / 1.4,
            d => d - 0.35,
        };
        check(
            &a,
            &b,
            |a, b, r| nn::smooth_l1_loss(a, b, 0.7, r).unwrap(),
            smooth,
        );
        check(
            &a,
            &b,
            |a, b, r| nn::smooth_l1_loss(a, b, 0.0, r).unwrap(),
            |a, b| (a - b).abs(),
        );
        let huber = |a: f64, b: f64| 0.7 * smooth(a, b);
        check(
            &a,
            &b,
            |a, b, r| nn::huber_loss(a, b, 0.7, r).unwrap(),
            huber,
        );
        let poisson = |reduction| nn::PoissonNllLoss {
            reduction,
            ..Default::default()
        };
        check(
            &a,
            &b,
            |a, b, r| nn::poisson_nll_loss(a, b, poisson(r)).unwrap(),
            |a, b| a.exp() - b * a,
        );
    }
}

/// Distances that float32 holds, with a `beta` whose products with them it does not.
#[test]
fn smooth_l1_has_no_intermediate_overflow() {
    for (beta, d, want) in [
        (1e-36, 1e-12f32, 1e-12),
        (1e15, 1e30, 1e30),
        (1e20, 1e25, 9.99995e24),
        (1e20, 1e10, 0.5),
    ] {
        let (x, zero) = (Tensor::from([d]), Tensor::from([0.0f32]));
        let y = nn::smooth_l1_loss(&x, &zero, beta, Reduction::Sum).unwrap();
        let y = y.item::<f32>().unwrap();
        assert!((y / want - 1.0).abs() < 1e-6, "{beta} {d}: {y}");
    }
}

#[test]
fn binary_cross_entropy_is_accurate_near_0_and_1() {
    let small = (0..150).map(|i| 0.7f64.powi(i) * 0.9);
    let ends = [0.0, 1.0, 1e-30, 1e-40, 1e-45];
    let x: Vec<f32> = small
        .flat_map(|p| [p, 1.0 - p])
        .chain(ends)
        .map(|p| p as f32)
        .collect();
    for target in [0.0f32, 1.0] {
        let targets = vec![target; x.len()];
        let none = nn::BinaryCrossEntropy {
            reduction: Reduction::None,
            ..Default::default()
        };
        let y = nn::binary_cross_entropy(&Tensor::from(x.clone()), &Tensor::from(targets), none);
        for (x, y) in x.iter().zip(y.unwrap().to_vec::<f32>().unwrap()) {
            let p = f64::from(*x);
            let log = if target == 1.0 { p.ln() } else { (-p).ln_1p() };
            let want = -log.max(-100.0);
            assert!(
                (f64::from(y) - want).abs() <= 3e-7 * want,
                "{x} {target}: {y}"
            );
        }
    }
}

#[test]
fn losses_of_probabilities_match_their_terms() {
    let unit = |seed| flex::ops::sigmoid(tensor(&[70, 300], seed)).unwrap();
    let (p, t, x) = (unit(3), unit(4), tensor(&[70, 300], 5));
    let cross = |p: f64, t: f64| -(t * p.ln().max(-100.0) + (1.0 - t) * (-p).ln_1p().max(-100.0));
    let options = |reduction| nn::BinaryCrossEntropy {
        reduction,
        ..Default::default()
    };
    check(
        &p,
        &t,
        |a, b, r| nn::binary_cross_entropy(a, b, options(r)).unwrap(),
        cross,
    );
    let options = |reduction| nn::WithLogits {
        reduction,
        ..Default::default()
    };
    let soft = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let logits = |x: f64, t: f64| (1.0 - t) * soft(x) + t * soft(-x);
    check(
        &x,
        &t,
        |a, b, r| nn::binary_cross_entropy_with_logits(a, b, options(r)).unwrap(),
        logits,
    );
    let options = |reduction| nn::KlDiv {
        reduction,
        ..Default::default()
    };
    check(
        &x,
        &t,
        |a, b, r| nn::kl_div(a, b, options(r)).unwrap(),
        |x, t| t * (t.ln() - x),
    );

    let bad = Tensor::from([[0.5f32, 1.0], [1.5, 0.0]]);
    let error = nn::binary_cross_entropy(&bad, &bad, ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "binary_cross_entropy: x has 1.5 at row-major position 2; it must be a probability, from 0 to 1"
    );
    let (zero, minus) = (Tensor::from([0.0f32]), Tensor::from([-3.0f32]));
    let none = nn::KlDiv {
        reduction: Reduction::None,
        ..Default::default()
    };
    assert_eq!(
        nn::kl_div(&minus, &zero, none)
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [0.0]
    );
}

#[test]
fn losses_of_classes_match_their_terms() {
    // few and many places beside each other, few and many classes
    for (classes, rest) in [(5, 3), (5, 600), (80, 100)] {
        classes_match_their_terms(4, classes, rest);
    }
    let (x, t) = (tensor(&[2, 5, 3], 6), [[0i64, 4, 2], [-7, 1, 0]]);
    let error = nn::cross_entropy(&x, &Tensor::from(t), ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cross_entropy: class -7 out of range for 5 classes (target, row-major position 3)"
    );
    let none = Tensor::zeros([0, 5, 3], DType::F32).unwrap();
    let t = Tensor::zeros([0, 3], DType::I64).unwrap();
    let loss = nn::cross_entropy(&none, &t, ()).unwrap();
    assert!(loss.item::<f32>().unwrap().is_nan());
}
fn classes_match_their_terms(n: usize, classes: usize, rest: usize) {
    let x = tensor(&[n, classes, rest], 6);
    let w = flex::ops::add(tensor(&[classes], 7), 3.0).unwrap();
    let targets: Vec<i64> = (0..n * rest).map(|k| [0, 4, 2, -7, 1][k % 5]).collect();
    let t = Tensor::from_slice(&targets, [n, rest]).unwrap();
    let (values, factors) = (floats(&x), floats(&w));
    for smoothing in [0.0, 0.3] {
        let (mut terms, mut used) = (vec![], 0.0);
        for (k, i) in indices(&[n, rest]).into_iter().enumerate() {
            let row: Vec<f64> = (0..classes)
                .map(|c| values[(i[0] * classes + c) * rest + i[1]])
                .collect();
            let p = softmax(&row);
            let cost = |c: usize| -p[c].ln() * factors[c];
            terms.push(match targets[k] {
                -7 => 0.0,
                c => {
                    used += factors[c as usize];
                    let all: f64 = (0..classes).map(cost).sum();
                    (1.0 - smoothing) * cost(c as usize) + smoothing / classes as f64 * all
                }
            });
        }
        for reduction in HOW {
            let options = nn::CrossEntropy {
                weight: Some(&w),
                ignore_index: -7,
                label_smoothing: smoothing,
                reduction,
            };
            let sum: f64 = terms.iter().sum();
            let want = match reduction {
                Reduction::None => terms.clone(),
                Reduction::Sum => vec![sum],
                Reduction::Mean => vec![sum / used],
            };
            close(&nn::cross_entropy(&x, &t, options).unwrap(), &want, 2e-6);
            // channels last in memory
            let last = x
                .transpose(1, 2)
                .unwrap()
                .copy()
                .unwrap()
                .transpose(1, 2)
                .unwrap();
            close(&nn::cross_entropy(&last, &t, options).unwrap(), &want, 2e-6);
            if smoothing == 0.0 {
                let logs = nn::log_softmax(&x, 1).unwrap();
                let options = nn::NllLoss {
                    weight: Some(&w),
                    ignore_index: -7,
                    reduction,
                };
                close(&nn::nll_loss(&logs, &t, options).unwrap(), &want, 2e-6);
            }
        }
    }
}

/// Against the sum over all alignments of the labels with the steps.
#[test]
fn ctc_loss_sums_over_all_alignments() {
    let (steps, classes) = (5, 3);
    let x = nn::log_softmax(&tensor(&[steps, 2, classes], 8), -1).unwrap();
    let p = floats(&x);
    let targets: [&[i64]; 2] = [&[1, 1], &[2]];
    let mut want = [0.0; 2];
    for b in 0..2 {
        for code in 0..classes.pow(steps as u32) {
            let path: Vec<usize> = (0..steps)
                .map(|t| code / classes.pow(t as u32) % classes)
                .collect();
            let mut labels: Vec<i64> = path.iter().map(|c| *c as i64).collect();
            labels.dedup();
            labels.retain(|c| *c != 0);
            if labels == targets[b] {
                let log: f64 = path
                    .iter()
                    .enumerate()
                    .map(|(t, c)| p[(t * 2 + b) * classes + c])
                    .sum();
                want[b] += log.exp();
            }
        }
    }
    let want = want.map(|p: f64| -p.ln());
    let t = Tensor::from([1i64, 1, 2]);
    let options = |reduction| nn::CtcLoss {
        reduction,
        ..Default::default()
    };
    let y = nn::ctc_loss(&x, &t, &[steps; 2], &[2, 1], options(Reduction::None)).unwrap();
    close(&y, &want, 1e-6);
    let y = nn::ctc_loss(&x, &t, &[steps; 2], &[2, 1], options(Reduction::Mean)).unwrap();
    close(&y, &[(want[0] / 2.0 + want[1]) / 2.0], 1e-6);
    // input shorter than the target
    let short = nn::ctc_loss(&x, &t, &[2, 1], &[2, 1], options(Reduction::Sum)).unwrap();
    assert_eq!(short.item::<f32>().unwrap(), f32::INFINITY);
    let zero = nn::CtcLoss {
        zero_infinity: true,
        ..options(Reduction::None)
    };
    let y = nn::ctc_loss(&x, &t, &[2, 1], &[2, 1], zero).unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap()[0], 0.0);
    let bad = Tensor::from([1i64, 3, 2]);
    let error = nn::ctc_loss(&x, &bad, &[steps; 2], &[2, 1], ()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("ctc_loss: targets has 3 at row-major position 1, which is the blank")
    );
}

/// By sums of probabilities, which float64 holds for a few steps.
#[test]
fn ctc_loss_of_any_number_of_labels() {
    let (steps, classes) = (40, 6);
    let x = nn::log_softmax(&tensor(&[steps, 1, classes], 12), -1).unwrap();
    let p: Vec<f64> = floats(&x).iter().map(|x| x.exp()).collect();
    for length in [0, 1, 2, 3, 4, 7, 8, 15, 16, 20] {
        let labels: Vec<i64> = (0..length).map(|k| [2, 5, 5, 1, 3][k % 5]).collect();
        let class = |s: usize| match s % 2 {
            0 => 4,
            _ => labels[s / 2] as usize,
        };
        let mut now = vec![0.0; 2 * length + 1];
        now[0] = 1.0;
        for (t, p) in p.chunks(classes).enumerate() {
            let before = now.clone();
            for s in 0..now.len() {
                let skips = s > 1 && s % 2 == 1 && class(s) != class(s - 2);
                let from = [Some(s), s.checked_sub(1), (skips.then(|| s - 2))];
                let sum: f64 = match t {
                    0 => f64::from(s < 2),
                    _ => from.into_iter().flatten().map(|s| before[s]).sum(),
                };
                now[s] = sum * p[class(s)];
            }
        }
        let want = -now[now.len().saturating_sub(2)..].iter().sum::<f64>().ln();
        let options = nn::CtcLoss {
            blank: 4,
            ..Default::default()
        };
        let t = Tensor::from_slice(&labels, [length]).unwrap();
        let y = nn::ctc_loss(&x, &t, &[steps], &[length], options).unwrap();
        close(&y, &[want / length.max(1) as f64], 1e-6);
    }
    // what is not a number stays so, wherever it is
    let mut values: Vec<f32> = x.to_vec().unwrap();
    values[20 * classes + 4] = f32::NAN;
    let x = Tensor::from_slice(&values, [steps, 1, classes]).unwrap();
    let options = nn::CtcLoss {
        blank: 4,
        ..Default::default()
    };
    let t = Tensor::from([2i64, 5]);
    let y = nn::ctc_loss(&x, &t, &[steps], &[2], options).unwrap();
    assert!(y.item::<f32>().unwrap().is_nan());
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::par::with_threads;
    let (a, b) = (tensor(&[700, 900], 9), tensor(&[700, 900], 10));
    let all = || {
        let mse = nn::mse_loss(&a, &b, Reduction::Mean).unwrap();
        let turned = a.transpose(0, 1).unwrap().copy().unwrap();
        let turned = nn::mse_loss(&turned.transpose(0, 1).unwrap(), &b, Reduction::Mean).unwrap();
        let kl = nn::kl_div(&a, &b, ()).unwrap();
        [mse, turned, kl].map(|t| t.item::<f32>().unwrap().to_bits())
    };
    let want = with_threads(1, all);
    assert!([2, 7].into_iter().all(|n| with_threads(n, all) == want));
}

#[test]
fn what_is_multiplied_by_zero_counts_as_zero() {
    let inf = f32::INFINITY;
    // logits, by their definition: log(1 + exp(-16)) is 1.1253517e-7
    let x = Tensor::from([-16.0f32, -12.0, inf, -inf, inf, -inf, 16.0]);
    let t = Tensor::from([0.0f32, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    let none = nn::WithLogits {
        reduction: Reduction::None,
        ..Default::default()
    };
    let want = [
        1.125_351_7e-7f32,
        6.144_193_5e-6,
        0.0,
        0.0,
        inf,
        inf,
        1.125_351_7e-7,
    ];
    let same = |y: Tensor, want: &[f32]| {
        let y = y.to_vec::<f32>().unwrap();
        let close = |(y, w): (&f32, &f32)| y == w || (y - w).abs() <= 4e-7 * w.abs();
        assert!(y.iter().zip(want).all(close), "{y:?}, not {want:?}");
    };
    same(
        nn::binary_cross_entropy_with_logits(&x, &t, none).unwrap(),
        &want,
    );
    let twice = Tensor::from([2.0f32]);
    let weighted = nn::WithLogits {
        pos_weight: Some(&twice),
        weight: Some(&twice),
        ..none
    };
    let want = [
        2.250_703_4e-7f32,
        1.228_838_7e-5,
        0.0,
        0.0,
        inf,
        inf,
        4.501_407e-7,
    ];
    same(
        nn::binary_cross_entropy_with_logits(&x, &t, weighted).unwrap(),
        &want,
    );

    // terms of classes that are impossible and not wanted
    let none = nn::KlDiv {
        reduction: Reduction::None,
        ..Default::default()
    };
    let (x, t) = (
        Tensor::from([0.0f32, -inf, -inf]),
        Tensor::from([1.0f32, 0.0, 0.5]),
    );
    same(nn::kl_div(&x, &t, none).unwrap(), &[0.0, 0.0, inf]);
    let logs = nn::KlDiv {
        log_target: true,
        ..none
    };
    let t = Tensor::from([0.0f32, -inf, -0.5]);
    same(nn::kl_div(&x, &t, logs).unwrap(), &[0.0, 0.0, inf]);
    let (x, t) = (
        Tensor::from([[0.0f32, -inf]]),
        Tensor::from([[1.0f32, 0.0]]),
    );
    let y = nn::cross_entropy(&x, &t, ()).unwrap();
    assert_eq!(y.item::<f32>().unwrap(), 0.0);

    let none = nn::PoissonNllLoss {
        reduction: Reduction::None,
        ..Default::default()
    };
    let (x, t) = (
        Tensor::from([-inf, inf, -inf]),
        Tensor::from([0.0f32, 2.0, 1.0]),
    );
    same(
        nn::poisson_nll_loss(&x, &t, none).unwrap(),
        &[0.0, inf, inf],
    );
    let rates = nn::PoissonNllLoss {
        log_input: false,
        eps: 0.0,
        ..none
    };
    let x = Tensor::from([0.0f32, inf, 0.0]);
    same(
        nn::poisson_nll_loss(&x, &t, rates).unwrap(),
        &[0.0, inf, inf],
    );

    // a square of 1e40 on the way to 1e10 / 2
    let none = nn::GaussianNllLoss {
        reduction: Reduction::None,
        ..Default::default()
    };
    let (x, t, var) = (
        Tensor::from([1e20f32]),
        Tensor::from([0.0f32]),
        Tensor::from([1e30f32]),
    );
    let y = nn::gaussian_nll_loss(&x, &t, &var, none).unwrap();
    same(y, &[5e9 + 34.5]);
}
