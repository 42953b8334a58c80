//! Calls whose operands are known when a model is loaded.

use super::super::call::{Call, Inputs, Outputs};
use super::super::plan::Operand;
use super::Importer;
use crate::ops::Arg;
use crate::tensor::Tensor;
use smallvec::SmallVec;

impl Importer<'_, '_, '_> {
    /// The results of a call whose operands are all known, unless they may be much larger, or are
    /// others in each run. A call that fails does so again when the model runs.
    pub(super) fn folded(&mut self, op: &str, call: &Call, inputs: &[Operand]) -> Option<Outputs> {
        /// Operators whose results may be much larger than their operands.
        const GROW: &[&str] = &[
            "ConstantOfShape",
            "Expand",
            "Range",
            "Tile",
            "Pad",
            "OneHot",
            "EyeLike",
            "Resize",
            "Upsample",
            "CenterCropPad",
            "Loop",
            "Scan",
            "If",
            "Einsum",
        ];
        /// Larger results of operators that don't shrink them.
        const MOST: usize = 1 << 16;
        if inputs.is_empty() || is_random(op) || GROW.contains(&op) {
            return None;
        }
        let plan = &self.top().plan;
        let values = inputs.iter().map(|operand| match operand {
            Operand::Constant(at) => plan.constants.get(*at as usize).map(|t| Some(Arg::Ref(t))),
            Operand::Absent => Some(None),
            _ => None,
        });
        let values: Option<SmallVec<_>> = values.collect();
        let values: SmallVec<[Option<Arg>; 4]> = values?;
        let bytes = |t: &Tensor| t.len().saturating_mul(t.dtype().size());
        let read: usize = values
            .iter()
            .flatten()
            .map(|v| match v {
                Arg::Ref(t) => bytes(t),
                _ => 0,
            })
            .sum();
        let results = call.run(&mut Inputs(values), &mut None).ok()?;
        let made: usize = results.iter().map(bytes).sum();
        (made <= MOST.max(read.saturating_mul(4))).then_some(results)
    }
}

/// Whether the results are others in each run.
pub(super) fn is_random(op: &str) -> bool {
    op.starts_with("Random") || matches!(op, "Bernoulli" | "Multinomial" | "Dropout")
}
