//! Random tensors.

use crate::common::*;
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{Backend, Distribution, FloatDType};
use flex_burn::Flex;
use std::sync::Mutex;

/// There is one generator: tests that seed it take turns.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_seed_gives_the_same_numbers() {
    let _turn = TURN.lock();
    for of in [Distribution::Default, Distribution::Normal(1.0, 2.0)] {
        let draw = || {
            Flex::seed(&DEVICE, 7);
            let first = array(Flex::float_random(
                shape(&[50]),
                of,
                &DEVICE,
                FloatDType::F32,
            ));
            (
                first,
                array(Flex::int_random(shape(&[50]), of, &DEVICE, INTS[0])),
            )
        };
        assert_eq!(draw(), draw());
        let next = array(Flex::float_random(
            shape(&[50]),
            of,
            &DEVICE,
            FloatDType::F32,
        ));
        assert_ne!(draw().0, next);
    }
}

#[test]
fn moments() {
    let n = 100_000;
    let check = |values: &[f64], mean: f64, variance: f64| {
        let got = values.iter().sum::<f64>() / n as f64;
        let spread = values.iter().map(|x| (x - got).powi(2)).sum::<f64>() / n as f64;
        // five standard errors, and what 16-bit floats round
        assert!(
            (got - mean).abs() < 5.0 * (variance / n as f64).sqrt() + 0.004 * mean.abs(),
            "{got}, not {mean}"
        );
        assert!(
            (spread / variance - 1.0).abs() < 0.05,
            "{spread}, not {variance}"
        );
    };
    let _turn = TURN.lock();
    Flex::seed(&DEVICE, 1);
    for dtype in FLOATS {
        let draw = |of| array(Flex::float_random(shape(&[n]), of, &DEVICE, dtype)).values;
        let unit = draw(Distribution::Default);
        assert!(unit.iter().all(|x| (0.0..=1.0).contains(x)));
        check(&unit, 0.5, 1.0 / 12.0);
        let wide = draw(Distribution::Uniform(-2.0, 4.0));
        assert!(wide.iter().all(|x| (-2.0..=4.0).contains(x)));
        check(&wide, 1.0, 3.0);
        check(&draw(Distribution::Normal(3.0, 2.0)), 3.0, 4.0);
        let trials = draw(Distribution::Bernoulli(0.25));
        assert!(trials.iter().all(|x| *x == 0.0 || *x == 1.0));
        check(&trials, 0.25, 0.1875);
    }
    for dtype in INTS {
        let draw = |of| array(Flex::int_random(shape(&[n]), of, &DEVICE, dtype)).values;
        let dice = draw(Distribution::Uniform(1.0, 7.0));
        assert!(
            dice.iter()
                .all(|x| x.fract() == 0.0 && (1.0..7.0).contains(x))
        );
        check(&dice, 3.5, 35.0 / 12.0);
        let any = draw(Distribution::Default);
        let (low, high) = any
            .iter()
            .fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        let bits = Flex::int_zeros(shape(&[1]), &DEVICE, dtype)
            .tensor()
            .dtype()
            .size()
            * 8;
        assert!(
            high - low > 0.99 * (bits as f64).exp2(),
            "{dtype:?}: {low} to {high}"
        );
        check(&draw(Distribution::Bernoulli(0.75)), 0.75, 0.1875);
        if is_signed(dtype) {
            let normal = draw(Distribution::Normal(0.0, 10.0));
            assert!(normal.iter().all(|x| x.fract() == 0.0) && normal.iter().any(|x| *x < -10.0));
        }
    }
}
