//! The set of this CPU, detected once.

use super::{Level, Limit, x86};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Invariant ISA1: holds a level that the CPU has, `AMX` if that is the last one and the process
/// may use AMX, or `UNKNOWN`.
static CHOSEN: AtomicU8 = AtomicU8::new(UNKNOWN);
const AMX: u8 = Level::Avx512 as u8 + 1;
const UNKNOWN: u8 = u8::MAX;

#[inline(always)]
pub fn level() -> Level {
    match CHOSEN.load(Relaxed) {
        0 => Level::Base,
        1 => Level::Avx2,
        2 | AMX => Level::Avx512,
        _ => detect().0,
    }
}
#[inline(always)]
pub fn has_amx() -> bool {
    match CHOSEN.load(Relaxed) {
        UNKNOWN => detect().1,
        chosen => chosen == AMX,
    }
}
#[cold]
fn detect() -> Limit {
    let asked = super::requested()
        .and_then(Result::ok)
        .unwrap_or(Limit(Level::Avx512, true));
    let Limit(level, amx) = asked.min(Limit(best(), true));
    let amx = amx && level == Level::Avx512 && x86::amx::permitted();
    CHOSEN.store(if amx { AMX } else { level as u8 }, Relaxed);
    Limit(level, amx)
}
/// The best set that is compiled and that the CPU has.
pub fn best() -> Level {
    use std::arch::is_x86_feature_detected as has;
    let v3 = has!("avx2")
        && has!("fma")
        && has!("f16c")
        && has!("bmi1")
        && has!("bmi2")
        && has!("lzcnt")
        && has!("popcnt")
        && has!("movbe");
    let v4 = cfg!(x86_avx512)
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512cd");
    match (v3, v4) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        _ => Level::Base,
    }
}
