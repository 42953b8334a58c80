//! Times: minima of rounds in which the backends take turns, so that what else the machine does meets all of them.

use crate::Call;
use std::time::{Duration, Instant};

/// At least this long is a round of a backend.
const ROUND: f64 = 2e-3;
const ROUNDS: usize = 9;
/// Rounds end early when a row has taken as long as this.
const ENOUGH: Duration = Duration::from_millis(1500);

/// Seconds of the process on all processors: what one thread needs, whoever else uses the machine.
pub fn processor() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists, and the pointer is to a value of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Seconds since some moment.
pub fn wall() -> f64 {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Microseconds of each call.
pub fn times(mut calls: Vec<Option<Call>>, clock: fn() -> f64) -> Vec<Option<f64>> {
    let round = |call: &mut Call, n: usize| {
        let start = clock();
        for _ in 0..n {
            call();
        }
        (clock() - start) / n as f64
    };
    // caches fill, and one call's time says how many a round takes
    let counts: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            let Some(call) = call else { return 0 };
            round(call, 1);
            let one = round(call, 1).min(round(call, 3));
            (ROUND / one.max(1e-9)).ceil().min(1e5) as usize
        })
        .collect();
    let mut best = vec![f64::INFINITY; calls.len()];
    let start = Instant::now();
    for done in 0..ROUNDS {
        if done >= 3 && start.elapsed() > ENOUGH {
            break;
        }
        for ((call, n), best) in calls.iter_mut().zip(&counts).zip(&mut best) {
            if let Some(call) = call {
                *best = best.min(round(call, *n));
            }
        }
    }
    let micros = |(call, best): (&Option<Call>, f64)| call.as_ref().map(|_| 1e6 * best);
    calls.iter().zip(best).map(micros).collect()
}
