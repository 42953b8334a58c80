//! Patterns of steps as text, and where a plan has them.
//!
//! ```text
//! Div(x, Sqrt(v))        a step: its operator and operands. Operands of `Add` and `Mul` have any
//!                        order, and more than two of them any grouping
//! x                      any value, the same wherever the name occurs
//! $w                     a value that is known        #n   a number that is known
//! %s                     a number that is known or follows from sizes alone
//! 0.5                    this number, within a thousandth
//! ?b                     any value; or none, for operands at the end
//! d=Sub(x, y)            a value and its name
//! [Pow(x, 2) | Mul(x, x)]   one of these
//! ReduceMean(x, ..)      further operands, which are known
//! &Mul(x, y)             a step whose result others may need too: it stays for them
//! *(x)                   a step of any operator
//! ```

use super::super::super::call::{self, Value};
use super::super::super::plan::{Operand, Plan, Step};
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use smallvec::SmallVec;

pub(super) enum Pattern<'p> {
    Value(&'p str),
    Known(&'p str),
    Number(&'p str),
    Size(&'p str),
    Maybe(&'p str),
    Is(f64),
    Named(&'p str, Box<Pattern<'p>>),
    Shared(Box<Pattern<'p>>),
    Either(Vec<Pattern<'p>>),
    Step {
        op: &'p str,
        operands: Vec<Pattern<'p>>,
        /// Whether known operands may follow.
        more: bool,
    },
}

/// The pattern of a text; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Pattern<'_>> {
    let mut rest = text;
    let pattern = pattern(&mut rest)?;
    rest.is_empty().then_some(pattern)
}

/// Whether the text goes on with this one, which is then consumed, with what space follows.
fn consume(rest: &mut &str, token: &str) -> bool {
    let after = rest.strip_prefix(token);
    if let Some(after) = after {
        *rest = after.trim_start();
    }
    after.is_some()
}
fn word<'p>(rest: &mut &'p str) -> Option<&'p str> {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '-'));
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after.trim_start();
    (!word.is_empty()).then_some(word)
}
fn pattern<'p>(rest: &mut &'p str) -> Option<Pattern<'p>> {
    if consume(rest, "[") {
        let mut all = vec![pattern(rest)?];
        while consume(rest, "|") {
            all.push(pattern(rest)?);
        }
        return consume(rest, "]").then_some(Pattern::Either(all));
    }
    let marks: [(&str, fn(&'p str) -> Pattern<'p>); 4] = [
        ("$", Pattern::Known),
        ("#", Pattern::Number),
        ("%", Pattern::Size),
        ("?", Pattern::Maybe),
    ];
    for (mark, of) in marks {
        if consume(rest, mark) {
            return word(rest).map(of);
        }
    }
    if consume(rest, "&") {
        return pattern(rest).map(|p| Pattern::Shared(Box::new(p)));
    }
    let name = if consume(rest, "*") { "*" } else { word(rest)? };
    if let Ok(number) = name.parse() {
        return Some(Pattern::Is(number));
    }
    if consume(rest, "=") {
        return Some(Pattern::Named(name, Box::new(pattern(rest)?)));
    }
    if !consume(rest, "(") {
        return Some(Pattern::Value(name));
    }
    let (mut operands, mut more) = (Vec::new(), false);
    loop {
        if consume(rest, "..") {
            more = true;
        } else {
            operands.push(pattern(rest)?);
        }
        if !consume(rest, ",") {
            break;
        }
    }
    consume(rest, ")").then_some(Pattern::Step {
        op: name,
        operands,
        more,
    })
}

impl Pattern<'_> {
    /// Whether a step of this operator may be the last one.
    pub(super) fn ends_with(&self, with: &str) -> bool {
        match self {
            Pattern::Named(_, inner) => inner.ends_with(with),
            Pattern::Either(all) => all.iter().any(|p| p.ends_with(with)),
            Pattern::Step { op, .. } => *op == "*" || *op == with,
            _ => false,
        }
    }
}

/// Who computes and reads the slots of a plan.
pub(super) struct Tables {
    pub maker: Vec<Option<usize>>,
    pub uses: Vec<usize>,
}

/// A part of a plan that has a pattern.
#[derive(Clone)]
pub(super) struct Found<'p> {
    pub plan: &'p Plan,
    tables: &'p Tables,
    values: SmallVec<[(&'p str, Operand); 8]>,
    /// The steps, from the last one.
    pub steps: SmallVec<[usize; 16]>,
    /// Those whose results others may read.
    loose: SmallVec<[usize; 2]>,
}

impl<'p> Found<'p> {
    /// All ways in which the pattern ends with this step.
    pub(super) fn all(
        plan: &'p Plan,
        tables: &'p Tables,
        pattern: &Pattern<'p>,
        last: usize,
    ) -> Vec<Found<'p>> {
        let [Some(slot)] = plan.steps[last].outputs[..] else {
            return Vec::new();
        };
        let nothing = Found {
            plan,
            tables,
            values: SmallVec::new(),
            steps: SmallVec::new(),
            loose: SmallVec::new(),
        };
        nothing.with(pattern, Operand::Slot(slot))
    }
    /// The steps before the last one whose results others read too; `None` if there is one that may
    /// not be.
    pub(super) fn shared(&self) -> Option<SmallVec<[usize; 2]>> {
        let has_other_uses = |at: &&usize| {
            self.plan.steps[**at].outputs.iter().flatten().any(|slot| {
                let of = |step: &usize| {
                    let inputs = self.plan.steps[*step].inputs.iter();
                    inputs.filter(|i| **i == Operand::Slot(*slot)).count()
                };
                self.steps.iter().map(of).sum::<usize>() != self.tables.uses[*slot as usize]
            })
        };
        let before = self.steps.get(1..).unwrap_or_default();
        let shared: SmallVec<[usize; 2]> = before.iter().filter(has_other_uses).copied().collect();
        shared
            .iter()
            .all(|at| self.loose.contains(at))
            .then_some(shared)
    }
    pub(super) fn operand(&self, name: &str) -> Option<Operand> {
        let found = self.values.iter().find(|(n, _)| *n == name);
        found.map(|(_, operand)| *operand)
    }
    /// The step that computes a value.
    pub(super) fn step(&self, name: &str) -> Option<&'p Step> {
        self.maker(self.operand(name)?).map(|(_, step)| step)
    }
    /// The operator of the step that computes a value, which may have other results.
    pub(super) fn made_by(&self, name: &str) -> Option<&'p str> {
        let Operand::Slot(slot) = self.operand(name)? else {
            return None;
        };
        let at = (*self.tables.maker.get(slot as usize)?)?;
        Some(self.plan.steps[at].op)
    }
    /// A value that is known.
    pub(super) fn known(&self, name: &str) -> Option<&'p Tensor> {
        self.constant(self.operand(name)?)
    }
    pub(super) fn constant(&self, operand: Operand) -> Option<&'p Tensor> {
        known(self.plan, operand)
    }
    /// An attribute of the step that computes a value.
    pub(super) fn attribute(&self, name: &str, attribute: &str) -> Option<&'p Value> {
        self::attribute(self.step(name)?, attribute)
    }
    /// The same, if it is an integer.
    pub(super) fn int(&self, name: &str, attribute: &str) -> Option<i64> {
        match self.attribute(name, attribute)? {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }
    /// A number that is known.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        number(self.plan, self.operand(name)?)
    }

    /// The step that computes a value, or has computed it when the model was loaded.
    pub(super) fn maker(&self, operand: Operand) -> Option<(Option<usize>, &'p Step)> {
        let slot = match operand {
            Operand::Slot(slot) => slot,
            Operand::Constant(at) => {
                let origins = &self.plan.origins;
                let found = origins.binary_search_by_key(&at, |(at, _)| *at).ok()?;
                return Some((None, &origins[found].1));
            }
            _ => return None,
        };
        let at = (*self.tables.maker.get(slot as usize)?)?;
        let step = &self.plan.steps[at];
        (step.outputs.first() == Some(&Some(slot))).then_some((Some(at), step))
    }
    /// With a name for a value; `None` if the name has another.
    fn named(mut self, name: &'p str, operand: Operand) -> Option<Found<'p>> {
        match self.operand(name) {
            Some(before) => (before == operand).then_some(self),
            None => {
                self.values.push((name, operand));
                Some(self)
            }
        }
    }
    fn with(self, pattern: &Pattern<'p>, operand: Operand) -> Vec<Found<'p>> {
        let when = |fits: bool, found: Found<'p>, name: &'p str| {
            let found = if fits {
                found.named(name, operand)
            } else {
                None
            };
            found.into_iter().collect()
        };
        match pattern {
            Pattern::Value(name) => when(operand != Operand::Absent, self, name),
            Pattern::Maybe(name) => when(true, self, name),
            Pattern::Known(name) => when(known(self.plan, operand).is_some(), self, name),
            Pattern::Number(name) => when(number(self.plan, operand).is_some(), self, name),
            Pattern::Size(name) => when(self.is_size(operand, 8), self, name),
            Pattern::Is(want) => match number(self.plan, operand) {
                Some(n) if (n - want).abs() <= 1e-3 * want.abs() => vec![self],
                _ => Vec::new(),
            },
            Pattern::Named(name, inner) => match self.named(name, operand) {
                Some(found) => found.with(inner, operand),
                None => Vec::new(),
            },
            Pattern::Shared(inner) => {
                let mut found = self;
                if let Some((Some(at), _)) = found.maker(operand) {
                    found.loose.push(at);
                }
                found.with(inner, operand)
            }
            Pattern::Either(all) => {
                let each = |p| self.clone().with(p, operand);
                all.iter().flat_map(each).collect()
            }
            Pattern::Step { op, operands, more } => {
                let refs: SmallVec<[&Pattern<'p>; 4]> = operands.iter().collect();
                self.with_step(op, &refs, *more, operand)
            }
        }
    }
    fn with_step(
        mut self,
        op: &'p str,
        operands: &[&Pattern<'p>],
        more: bool,
        operand: Operand,
    ) -> Vec<Found<'p>> {
        let Some((at, step)) = self.maker(operand).filter(|s| op == "*" || s.1.op == op) else {
            return Vec::new();
        };
        if let Some(at) = at.filter(|at| !self.steps.contains(at)) {
            self.steps.push(at);
        }
        if let ("Add" | "Mul", [a, b]) = (op, &step.inputs[..]) {
            return self.with_sum(op, operands, [*a, *b]);
        }
        let rest = step.inputs.iter().skip(operands.len());
        if !rest.clone().all(|i| more && known(self.plan, *i).is_some()) {
            return Vec::new();
        }
        let mut all = vec![self];
        for (i, pattern) in operands.iter().enumerate() {
            let operand = step.inputs.get(i).copied().unwrap_or(Operand::Absent);
            let each = |found: Found<'p>| found.with(pattern, operand);
            all = all.into_iter().flat_map(each).collect();
        }
        all
    }
    /// The operands of a step that commutes, in any order; of more than two, the others are those of
    /// a step of the same operator.
    fn with_sum(self, op: &'p str, terms: &[&Pattern<'p>], [a, b]: [Operand; 2]) -> Vec<Found<'p>> {
        let mut all = Vec::new();
        // of two terms, the second is the other
        let first = if terms.len() == 2 { 1 } else { terms.len() };
        for i in 0..first {
            let mut others: SmallVec<[&Pattern<'p>; 4]> = terms.iter().copied().collect();
            let term = others.remove(i);
            for (one, other) in [(a, b), (b, a)] {
                for found in self.clone().with(term, one) {
                    match &others[..] {
                        [] => {}
                        [last] => all.extend(found.with(last, other)),
                        _ => all.extend(found.with_step(op, &others, false, other)),
                    }
                }
            }
        }
        all
    }
    /// Whether this is a number, and known or computed from sizes and known numbers.
    fn is_size(&self, operand: Operand, depth: usize) -> bool {
        if known(self.plan, operand).is_some_and(|t| t.len() == 1) {
            return true;
        }
        let Some((_, step)) = self.maker(operand).filter(|_| depth > 0) else {
            return false;
        };
        let from_shape = || {
            let of = step.inputs.first().and_then(|i| self.maker(*i));
            of.is_some_and(|(_, step)| step.op == "Shape")
        };
        match step.op {
            "Gather" | "Slice" => from_shape(),
            "Cast" | "Squeeze" | "Unsqueeze" | "Reshape" | "CastLike" => step
                .inputs
                .first()
                .is_some_and(|i| self.is_size(*i, depth - 1)),
            "Sqrt" | "Div" | "Mul" | "Reciprocal" | "Pow" => {
                step.inputs.iter().all(|i| self.is_size(*i, depth - 1))
            }
            _ => false,
        }
    }
}

/// An attribute of a step whose operator is noted.
pub(super) fn attribute<'p>(step: &'p Step, name: &str) -> Option<&'p Value> {
    let attributes = &step.note.as_ref()?.attributes;
    let found = attributes.iter().find(|(n, _)| *n == name);
    found.map(|(_, value)| value)
}
fn known(plan: &Plan, operand: Operand) -> Option<&Tensor> {
    match operand {
        Operand::Constant(at) => plan.constants.get(at as usize),
        _ => None,
    }
}
/// The number that a value without dimensions, or with one of size 1, is known to be.
fn number(plan: &Plan, operand: Operand) -> Option<f64> {
    let t = known(plan, operand).filter(|t| t.len() == 1 && t.rank() <= 1)?;
    let real = t.dtype().is_float() || t.dtype().is_integer();
    let floats = if real {
        call::floats(t).ok()?
    } else {
        Vec::new()
    };
    floats.first().copied()
}
