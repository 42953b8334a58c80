//! Programs as text.

use super::plan::Program;
use super::plan_step::{PlanStep, StepElements};
use super::walk::Walk;
use alloc::vec::Vec;
use core::fmt;

/// A line for each step: what it reads, computes and stores. Inputs are `x0`, `x1`, .., computed
/// values are `v0`, `v1`, ..
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            if segment.leading > 0 {
                writeln!(f, "by blocks:")?;
            }
            for step in &segment.steps {
                if segment.leading > 0 {
                    f.write_str("  ")?;
                }
                self.step(f, step)?;
                f.write_str("\n")?;
            }
        }
        f.write_str("returns ")?;
        self.names(f, self.outputs.iter().map(|o| o.0))
    }
}

impl Program {
    fn names(&self, f: &mut fmt::Formatter<'_>, slots: impl Iterator<Item = usize>) -> fmt::Result {
        for (k, slot) in slots.enumerate() {
            f.write_str(if k > 0 { ", " } else { "" })?;
            match slot.checked_sub(self.inputs.len()) {
                None => write!(f, "x{slot}")?,
                Some(v) => write!(f, "v{v}")?,
            }
        }
        Ok(())
    }
    fn walk(&self, f: &mut fmt::Formatter<'_>, walk: &Walk) -> fmt::Result {
        self.names(f, walk.inputs.iter().copied())?;
        write!(f, ": {}", walk.names.join(", "))
    }
    fn step(&self, f: &mut fmt::Formatter<'_>, step: &PlanStep) -> fmt::Result {
        match step {
            PlanStep::Store { walk, to } => {
                f.write_str("store ")?;
                self.names(f, to.iter().copied())?;
                f.write_str(" of ")?;
                self.walk(f, walk)
            }
            PlanStep::Reduce {
                folds,
                joint,
                reduced,
                to,
                ..
            } => {
                let axes: Vec<usize> = (0..reduced.len()).filter(|k| reduced[*k]).collect();
                for (k, (x, slot)) in folds.iter().zip(to).enumerate() {
                    f.write_str(match (k, joint) {
                        (0, _) => "",
                        (_, Some(_)) => "; with it ",
                        (_, None) => "; ",
                    })?;
                    f.write_str("reduce ")?;
                    self.names(f, core::iter::once(*slot))?;
                    f.write_str(" of ")?;
                    match &x.from {
                        StepElements::Stored(slot) => self.names(f, core::iter::once(*slot))?,
                        StepElements::Computed(walk) => self.walk(f, walk)?,
                    }
                    if x.squared {
                        f.write_str(match x.from {
                            StepElements::Stored(_) => ": square",
                            StepElements::Computed(_) => ", square",
                        })?;
                    }
                    write!(f, "; {} over {axes:?}", x.kind.name())?;
                }
                Ok(())
            }
            PlanStep::View { x, to, .. } => {
                f.write_str("view ")?;
                self.names(f, core::iter::once(*to))?;
                f.write_str(" of ")?;
                self.names(f, core::iter::once(*x))
            }
            PlanStep::Call {
                operation,
                operands,
                to,
                then,
                ..
            } => {
                f.write_str("call ")?;
                self.names(f, core::iter::once(*to))?;
                f.write_str(" of ")?;
                self.names(f, operands.iter().copied())?;
                write!(f, ": {}", operation.name())?;
                if let Some(then) = then {
                    f.write_str(", then store ")?;
                    self.names(f, then.to.iter().copied())?;
                    f.write_str(" of ")?;
                    self.walk(f, &then.walk)?;
                }
                Ok(())
            }
        }
    }
}
