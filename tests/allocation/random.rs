//! Random numbers, orders and choices.

use super::{FAILED, SIZES, alone, each_failure, numbers};
use flex::random::{Choice, default_rng};
use flex::{DType, ops};

#[test]
fn random_numbers_survive_failed_allocations() {
    let _alone = alone();
    for shape in SIZES {
        let n = shape[0] * shape[1];
        let x = &numbers(&shape, DType::F32);
        let p = &ops::full(n, 1.0 / n as f64, DType::F64).unwrap();
        let weighted = Choice {
            replace: false,
            p: Some(p),
        };
        macro_rules! fail {
            ($($call:ident($($arg:expr),*)),* $(,)?) => { $(
                FAILED.set(0);
                each_failure(stringify!($call), || default_rng(7).$call($($arg),*));
                assert!(FAILED.get() > 0, "{}: no allocation has failed", stringify!($call));
            )* };
        }
        fail!(
            random(shape, DType::F32),
            normal(x, 2.0, shape, DType::F16),
            gamma(x, 1.0, shape, DType::F64),
            beta(x, x, shape, DType::F32),
            poisson(x, shape),
            binomial(9, 0.5, shape),
            integers(0, 100, shape, DType::I8),
            permutation(n),
            permuted(x, 1),
            shuffled(x, 0),
            choice(n, n / 2, Choice::default()),
            choice(n, n / 2, weighted),
            multinomial(9, p, 2),
            dirichlet(p, 2, DType::F32),
            bytes(n),
        );
    }
}
