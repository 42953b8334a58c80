//! Segments: steps that share their outer loops.

use super::plan_step::PlanStep;
use crate::dtype::DType;
use crate::layout::Shape;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Steps that share their outer loops. They run block by block if that keeps what a step leaves to
/// the next in a cache.
#[derive(Clone)]
pub(super) struct Segment {
    pub steps: Vec<PlanStep>,
    /// Number of leading axes that may be cut; 0 if the steps run one after the other.
    pub leading: usize,
    /// Slots that are written and read only here.
    pub inner: SmallVec<[usize; 4]>,
    /// Other slots that nobody reads afterwards.
    pub dead: SmallVec<[usize; 4]>,
}

impl PlanStep {
    /// Number of leading axes that can be cut into blocks, for elements of this rank.
    fn leading(&self, rank: usize) -> usize {
        match self {
            PlanStep::Store { .. } => rank,
            PlanStep::Reduce { reduced, .. } => reduced.iter().take_while(|r| !**r).count(),
            PlanStep::Call { .. } | PlanStep::View { .. } => 0,
        }
    }
}

/// Whether the step reads a result of this segment that lacks the reduced axes: the axes of such a
/// result are not those of the elements.
fn reads_fewer_axes(step: &PlanStep, segment: &Segment) -> bool {
    let fewer = |s: &&PlanStep| {
        matches!(
            s,
            PlanStep::Reduce {
                keepdims: false,
                ..
            }
        )
    };
    let mut written = segment.steps.iter().filter(fewer).flat_map(|s| s.writes());
    written.any(|slot| step.reads().contains(slot))
}

/// Groups consecutive steps whose elements share their outer loops.
pub(super) fn segments(
    steps: Vec<(PlanStep, Shape)>,
    inputs: usize,
    outputs: &[(usize, DType)],
) -> Vec<Segment> {
    let mut segments: Vec<(Segment, Shape)> = Vec::new();
    for (step, shape) in steps {
        let leading = step.leading(shape.len());
        if let Some((segment, of)) = segments.last_mut() {
            let shared = leading.min(segment.leading);
            let alike = of.len() == shape.len() && of[..shared] == shape[..shared];
            if shared > 0 && alike && !reads_fewer_axes(&step, segment) {
                segment.leading = shared;
                segment.steps.push(step);
                continue;
            }
        }
        let segment = Segment {
            steps: alloc::vec![step],
            leading,
            inner: SmallVec::new(),
            dead: SmallVec::new(),
        };
        segments.push((segment, shape));
    }
    let mut segments: Vec<Segment> = segments.into_iter().map(|s| s.0).collect();
    // the last segment that reads each slot; outputs are read after all
    let mut last_read: BTreeMap<usize, usize> = BTreeMap::new();
    for (k, segment) in segments.iter().enumerate() {
        let reads = segment.steps.iter().flat_map(PlanStep::reads);
        last_read.extend(reads.map(|slot| (*slot, k)));
    }
    last_read.extend(outputs.iter().map(|o| (o.0, usize::MAX)));
    for (k, segment) in segments.iter_mut().enumerate() {
        let later = |slot: usize| last_read.get(&slot).is_some_and(|last| *last > k);
        let written = |slot: usize| segment.steps.iter().any(|s| s.writes().contains(&slot));
        let mut seen: SmallVec<[usize; 8]> = SmallVec::new();
        for slot in segment
            .steps
            .iter()
            .flat_map(|s| s.reads().iter().chain(s.writes()))
        {
            if !seen.contains(slot) {
                seen.push(*slot);
            }
        }
        let inner = |slot: &usize| *slot >= inputs && !later(*slot) && written(*slot);
        let dead = |slot: &usize| !later(*slot) && !inner(slot);
        let (inner, dead) = (
            seen.iter().copied().filter(inner).collect(),
            seen.iter().copied().filter(dead).collect(),
        );
        (segment.inner, segment.dead) = (inner, dead);
        if segment.steps.len() == 1 {
            segment.leading = 0; // there is no next step to leave anything to
        }
    }
    segments
}
