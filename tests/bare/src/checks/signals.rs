//! Fourier transforms of slices: by tables computed at compile time, and by plans.

use super::{Checks, assert_close, series};
use alloc::vec;
use flex::Result;
use flex::fft::{ComplexTable, RealPlan, RealTable};

pub const ALL: Checks = &[
    ("transforms by static tables", tables),
    ("transforms of other lengths by plans", plans),
];

/// Elements `ks` of the spectrum of real numbers, by the definition.
fn spectrum(x: &[f32], ks: core::ops::RangeInclusive<usize>) -> impl Iterator<Item = f64> + '_ {
    let n = x.len();
    ks.flat_map(move |k| {
        let mut sums = [0.0; 2];
        for (j, x) in x.iter().enumerate() {
            let angle = -2.0 * core::f64::consts::PI * (j * k % n) as f64 / n as f64;
            sums[0] += *x as f64 * libm::cos(angle);
            sums[1] += *x as f64 * libm::sin(angle);
        }
        sums
    })
}

fn tables() -> Result<()> {
    static REAL: RealTable<256> = RealTable::new();
    let x = series(256, 5);
    let (mut y, mut back, mut work) = ([0.0; 258], [0.0; 256], [0.0; 256]);
    REAL.forward(&x, &mut y, &mut work)?;
    assert_close(&y, spectrum(&x, 0..=128), 2e-5);
    REAL.inverse(&y, &mut back, &mut work)?;
    assert_close(&back, x.iter().map(|x| *x as f64), 1e-6);
    assert!(REAL.forward(&x[1..], &mut y, &mut work).is_err());

    static COMPLEX: ComplexTable<30> = ComplexTable::new();
    let (mut y, mut back, mut work) = ([0.0; 60], [0.0; 60], [0.0; 60]);
    let mut pairs = [0.0; 60];
    (0..30).for_each(|k| pairs[2 * k] = x[k]);
    COMPLEX.forward(&pairs, &mut y, &mut work)?;
    assert_close(&y, spectrum(&x[..30], 0..=29), 1e-5);
    COMPLEX.inverse(&y, &mut back, &mut work)?;
    assert_close(&back, pairs.iter().map(|x| *x as f64), 1e-6);
    Ok(())
}

fn plans() -> Result<()> {
    // the four-step algorithm, an odd length, and Bluestein's algorithm
    for n in [60, 45, 34] {
        let x = series(n, 6);
        let plan = RealPlan::<f32>::new(n)?;
        let (mut y, mut back) = (vec![0.0; 2 * (n / 2 + 1)], vec![0.0; n]);
        plan.forward(&x, &mut y)?;
        assert_close(&y, spectrum(&x, 0..=n / 2), 1e-5);
        plan.inverse(&y, &mut back)?;
        assert_close(&back, x.iter().map(|x| *x as f64), 1e-6);
    }
    Ok(())
}
