//! The order of contractions and its costs, as text.

use super::expression::{Expression, Labels, Set, set};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// An order of contractions; its text describes them, as that of `numpy.einsum_path` does.
///
/// Example: [`einsum_path`](super::einsum_path).
pub struct EinsumPath {
    expression: Expression,
    steps: Vec<Vec<usize>>,
}

/// A contraction.
struct Step {
    operands: Vec<Labels>,
    result: Labels,
}

impl EinsumPath {
    pub(super) fn new(expression: Expression, mut steps: Vec<Vec<usize>>) -> EinsumPath {
        if steps.is_empty() {
            steps = vec![vec![0]];
        }
        EinsumPath { expression, steps }
    }
    /// The positions of the operands that each step contracts: they are removed, and the result is
    /// appended.
    pub fn steps(&self) -> &[Vec<usize>] {
        &self.steps
    }
    /// All at once.
    fn whole(&self) -> Step {
        Step {
            operands: self.expression.operands.clone(),
            result: (0..self.expression.rank as u8).collect(),
        }
    }
    /// Calls `each` with each step, and the operands that are left after it.
    fn replay(&self, mut each: impl FnMut(&Step, &[Labels]) -> fmt::Result) -> fmt::Result {
        let mut terms = self.expression.operands.clone();
        for step in &self.steps {
            let taken: Vec<Labels> = step.iter().rev().map(|at| terms.remove(*at)).collect();
            let left = terms
                .iter()
                .fold(self.expression.output(), |all, t| all | set(t));
            let kept = all(&taken) & left;
            let step = Step {
                operands: taken,
                result: (0..Set::BITS as u8)
                    .filter(|l| kept >> l & 1 == 1)
                    .collect(),
            };
            terms.push(step.result.clone());
            each(&step, &terms)?;
        }
        Ok(())
    }
    fn write(&self, operands: &[Labels], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, labels) in operands.iter().enumerate() {
            if k > 0 {
                f.write_str(",")?;
            }
            self.expression.write(labels, f)?;
        }
        Ok(())
    }
    fn write_step(&self, step: &Step, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&step.operands, f)?;
        f.write_str("->")?;
        self.expression.write(&step.result, f)
    }
}

fn all(operands: &[Labels]) -> Set {
    operands.iter().fold(0, |all, labels| all | set(labels))
}

impl Step {
    /// The number of labels.
    fn scaling(&self) -> u32 {
        all(&self.operands).count_ones()
    }
    /// Multiplications, and additions where labels are summed over, for each index.
    fn flops(&self, expression: &Expression) -> f64 {
        let labels = all(&self.operands);
        let summed = labels != set(&self.result);
        let each = self.operands.len() - 1 + usize::from(summed);
        each.max(1) as f64 * expression.size(labels)
    }
}

impl fmt::Debug for EinsumPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EinsumPath").field(&self.steps).finish()
    }
}

impl fmt::Display for EinsumPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expression, whole) = (&self.expression, self.whole());
        let (mut flops, mut largest, mut scaling) = (0.0, 0f64, 0);
        self.replay(|step, _| {
            flops += step.flops(expression);
            largest = largest.max(expression.size(set(&step.result)));
            scaling = scaling.max(step.scaling());
            Ok(())
        })?;
        f.write_str("  Complete contraction:  ")?;
        self.write_step(&whole, f)?;
        writeln!(f, "\n         Naive scaling:  {}", whole.scaling())?;
        writeln!(f, "     Optimized scaling:  {scaling}")?;
        let naive = whole.flops(expression);
        writeln!(f, "      Naive FLOP count:  {naive:.3e}")?;
        writeln!(f, "  Optimized FLOP count:  {flops:.3e}")?;
        writeln!(f, "  Largest intermediate:  {largest:.3e} elements")?;
        self.replay(|step, left| {
            write!(f, "{:4}  ", step.scaling())?;
            self.write_step(step, f)?;
            f.write_str("  remaining ")?;
            self.write(left, f)?;
            f.write_str("\n")
        })
    }
}
