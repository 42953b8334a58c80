//! Makes plans: chooses the factors of a length and computes the tables.

use super::factors::{Radices, columns, fills, next_fast_len, radices};
use super::plan::{Chirp, FftPlan, Matrix, Passes, PlanForm, Purpose};
use super::run::in_place;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::fft::Float;
use crate::kernel::fft::columns::{RUN, lanes};
use crate::kernel::fft::real::pairs;
use crate::kernel::fft::roots::root;
use crate::kernel::fft::stage::Stage;
use crate::par;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The longest transform whose twiddle factors between the directions of a matrix have a full
/// table. Beyond it each is the product of two factors from short tables, which costs less than
/// reading a long one.
const WHOLE_TABLE: usize = 1 << 14;

/// Appends a complex number.
fn put<T: Float>(table: &mut Vec<T>, (re, im): (f64, f64)) {
    table.push(T::from_f64(re));
    table.push(T::from_f64(im));
}

/// Lets long work be given up now and then, before row `k` of a table.
fn pause(k: usize) {
    if k.is_multiple_of(1 << 16) {
        par::checkpoint()
    }
}

impl<T: Float> Passes<T> {
    fn new(rows: usize, found: &Radices) -> Result<Passes<T>> {
        let mut stages = fallible::with_capacity(found.len())?;
        let mut groups = rows;
        let mut len = 0;
        for radix in found.iter() {
            groups /= radix;
            stages.push(Stage {
                radix,
                groups,
                factors: 2 * len,
            });
            len += (groups - 1) * (radix - 1);
        }
        let mut factors = fallible::with_capacity(2 * len)?;
        for stage in &stages {
            for p in 1..stage.groups {
                for k in 1..stage.radix {
                    let n = stage.radix * stage.groups;
                    put(&mut factors, root((p * k) as u64, n as u64));
                }
            }
        }
        Ok(Passes {
            rows,
            stages,
            factors,
        })
    }
}

impl<T: Float> Matrix<T> {
    fn new(columns: usize, rows: usize, lanes: usize) -> Result<Matrix<T>> {
        let (Some(along), Some(across)) = (radices(rows), radices(columns)) else {
            unreachable!("a divisor has only prime factors of its multiple")
        };
        let n = columns * rows;
        let blocks = columns.div_ceil(lanes);
        let (step, fine) = if n <= WHOLE_TABLE { (1, 0) } else { (RUN, RUN) };
        // for each block of columns, the factors of `len` rows, `step` apart
        let table = |len: usize, step: usize| -> Result<Vec<T>> {
            let mut table = fallible::with_capacity(2 * lanes * blocks * len)?;
            for block in 0..blocks {
                for row in 0..len {
                    let mut factors = [(0.0, 0.0); 16];
                    for (l, factor) in factors[..lanes].iter_mut().enumerate() {
                        let turn = (block * lanes + l) as u64 * (row * step) as u64;
                        *factor = root(turn % n as u64, n as u64);
                    }
                    table.extend(factors[..lanes].iter().map(|w| T::from_f64(w.0)));
                    table.extend(factors[..lanes].iter().map(|w| T::from_f64(w.1)));
                }
            }
            Ok(table)
        };
        Ok(Matrix {
            first: Passes::new(rows, &along)?,
            second: Passes::new(columns, &across)?,
            coarse: table(rows.div_ceil(step), step)?,
            fine: table(fine, 1)?,
        })
    }
}

impl<T: Float> FftPlan<T> {
    /// The plan for `n >= 1` complex numbers, or for twice as many real ones if `purpose` says so.
    ///
    /// Errors if there is no memory for the tables.
    pub fn new(n: usize, purpose: Purpose) -> Result<FftPlan<T>> {
        let too_long = || Error::memory::<T>(n);
        if n as u64 > 1 << 40 || n > usize::MAX >> 9 {
            return Err(too_long());
        }
        let lanes = lanes::<T>();
        let form = match radices(n) {
            #[cfg(feature = "complex")]
            Some(found) if matches!(purpose, Purpose::Columns | Purpose::RealColumns) => {
                PlanForm::Column(Passes::new(n, &found)?)
            }
            Some(found) => match columns(n, lanes) {
                a if !fills(n, a, lanes) => PlanForm::Chirp(Box::new(Chirp::new(n)?)),
                1 => PlanForm::Column(Passes::new(n, &found)?),
                a => PlanForm::Matrix(Matrix::new(a, n / a, lanes)?),
            },
            None => PlanForm::Chirp(Box::new(Chirp::new(n)?)),
        };
        let mut turns = Vec::new();
        if purpose.is_real() {
            let len = pairs(n) + 1;
            turns = fallible::filled(T::ZERO, 2 * len)?;
            let (real, imaginary) = turns.split_at_mut(len);
            for (k, (re, im)) in real.iter_mut().zip(imaginary).enumerate() {
                pause(k);
                let (cosine, sine) = root(k as u64, 2 * n as u64);
                // -i (c + i s) = s - i c
                (*re, *im) = (T::from_f64(sine), T::from_f64(-cosine));
            }
        }
        Ok(FftPlan { n, form, turns })
    }
}

impl<T: Float> Chirp<T> {
    fn new(n: usize) -> Result<Chirp<T>> {
        let m = next_fast_len(2 * n - 1);
        let inner = FftPlan::new(m, Purpose::Complex)?;
        let mut chirp = fallible::with_capacity(2 * n)?;
        let square = |k: usize| ((k as u128 * k as u128) % (2 * n as u128)) as u64;
        let mut spectrum = fallible::filled(T::ZERO, 2 * m)?;
        let scale = 1.0 / m as f64;
        for k in 0..n {
            pause(k);
            let (re, im) = root(square(k), 2 * n as u64);
            put(&mut chirp, (re, im));
            for at in [k, (m - k) % m] {
                spectrum[2 * at] = T::from_f64(re * scale);
                spectrum[2 * at + 1] = T::from_f64(-im * scale);
            }
        }
        in_place(&inner, &mut spectrum)?;
        Ok(Chirp {
            inner,
            chirp,
            spectrum,
        })
    }
}
