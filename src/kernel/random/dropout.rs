//! Elements kept or dropped by random words.

use crate::kernel::math::Real;

/// The rule of dropout: what becomes of elements kept and dropped.
#[derive(Clone, Copy, Debug)]
pub struct DropoutRule {
    /// How many of the 2^32 values of a word drop the element.
    pub limit: u64,
    /// The factor of kept elements.
    pub factor: f64,
    /// Added to kept elements.
    pub kept: f64,
    /// What becomes of dropped elements, NaN and infinity too.
    pub dropped: f64,
}

kernel! {
    /// Keeps or drops each element by the word beside it.
    pub fn kept<'a, F: Real>(rule: DropoutRule, words: &'a [u32], x: &'a [F], y: &'a mut [F]) -> () { |I|
        let DropoutRule { limit, factor, kept, dropped } = rule;
        let (factor, kept, dropped) = (F::from_f64(factor), F::from_f64(kept), F::from_f64(dropped));
        // the last word that drops, if any does
        let (some, last) = (limit > 0, limit.saturating_sub(1) as u32);
        for ((x, y), word) in x.iter().zip(y).zip(words) {
            let whole = *x * factor + kept;
            *y = if some & (*word <= last) { dropped } else { whole };
        }
    }
}
