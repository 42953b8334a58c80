//! What a graph becomes: steps over whole tensors, each a program of as many operations as can be
//! computed in one walk over the elements.
//!
//! Elementwise operations of one shape are one program. It ends where a value is needed whole: by a
//! reduction's result that is broadcast back, by another shape, by a function that runs as it is.
//! A value that is needed again after that is stored, or computed again where that costs less than
//! to store and read it.

use super::emit::Emitter;
use super::fold::Kind;
use super::graph::{Function, Graph, Value, What};
use super::step::missing;
use super::walk::{OP, Rounding, Slot, Walk};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::nest::MAX_OPERANDS;
use crate::layout::Shape;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Operations (as [`Op::cost`](crate::op::Op::cost) counts them) up to which a value is computed again
/// rather than stored.
const CHEAP: u32 = 12;
/// Instructions of a program, at most: so that there is room for conversions.
const LONGEST: usize = 40;

/// A part of a plan that runs by itself.
#[derive(Clone)]
pub(super) enum Step {
    /// Stores each output of a walk in a slot.
    Store {
        walk: Box<Walk>,
        to: SmallVec<[usize; 2]>,
    },
    /// Reduces the elements of a slot, or what a walk computes.
    Reduce {
        kind: Kind,
        from: Elements,
        dtype: DType,
        reduced: SmallVec<[bool; 6]>,
        keepdims: bool,
        to: usize,
    },
    /// Calls a function of tensors.
    Call {
        name: &'static str,
        f: Function,
        operands: SmallVec<[usize; 3]>,
        to: usize,
    },
}

#[derive(Clone)]
pub(super) enum Elements {
    Stored(usize),
    Computed(Box<Walk>),
}

impl Step {
    /// The slots it reads.
    pub fn reads(&self) -> &[usize] {
        match self {
            Step::Store { walk, .. } => &walk.inputs,
            Step::Reduce {
                from: Elements::Computed(walk),
                ..
            } => &walk.inputs,
            Step::Reduce {
                from: Elements::Stored(slot),
                ..
            } => core::slice::from_ref(slot),
            Step::Call { operands, .. } => operands,
        }
    }
    /// The walk in it.
    pub fn walk(&self) -> Option<&Walk> {
        match self {
            Step::Store { walk, .. } => Some(walk),
            Step::Reduce {
                from: Elements::Computed(walk),
                ..
            } => Some(walk),
            _ => None,
        }
    }
    fn walk_mut(&mut self) -> Option<&mut Walk> {
        match self {
            Step::Store { walk, .. } => Some(walk),
            Step::Reduce {
                from: Elements::Computed(walk),
                ..
            } => Some(walk),
            _ => None,
        }
    }
    /// The slots it writes.
    pub fn writes(&self) -> &[usize] {
        match self {
            Step::Store { to, .. } => to,
            Step::Reduce { to, .. } | Step::Call { to, .. } => core::slice::from_ref(to),
        }
    }
    /// How many axes at the front can be cut into blocks, for elements of this rank.
    fn leading(&self, rank: usize) -> usize {
        match self {
            Step::Store { .. } => rank,
            Step::Reduce {
                reduced, keepdims, ..
            } => {
                let all = reduced.iter().take_while(|r| !**r).count();
                if *keepdims { all } else { 0 }
            }
            Step::Call { .. } => 0,
        }
    }
}

/// Steps that share their outer loops: they run block by block of these, where that keeps what one
/// leaves to the next in a cache.
#[derive(Clone)]
pub(super) struct Segment {
    pub steps: Vec<Step>,
    /// How many axes at the front may be cut; none where the steps run one after the other.
    pub leading: usize,
    /// Slots that are written and read here alone.
    pub inner: SmallVec<[usize; 4]>,
    /// Slots that nobody reads after it.
    pub dead: SmallVec<[usize; 4]>,
}

/// A compiled graph: what `run` does with tensors.
#[derive(Clone)]
pub struct Program {
    pub(super) segments: Vec<Segment>,
    pub(super) slots: usize,
    /// Shape and dtype of the inputs, which are the first slots.
    pub(super) inputs: Vec<(Shape, DType)>,
    /// The slot of each output, and the dtype that it is to have.
    pub(super) outputs: Vec<(usize, DType)>,
    /// Its parameters, as they were in the graph.
    pub(super) numbers: Vec<Scalar>,
}

impl Program {
    /// The same program with other numbers in the place of the graph's parameters: as many, and of the
    /// same kinds.
    ///
    /// Errors where a number is out of range for the dtype that it is used in.
    pub fn with_numbers(&self, numbers: &[Scalar]) -> Result<Program> {
        let kinds = numbers.iter().map(|s| s.class());
        if !kinds.eq(self.numbers.iter().map(|s| s.class())) {
            let message = message!(
                "{} numbers for {} parameters",
                numbers.len(),
                self.numbers.len()
            );
            return Err(Error::value(OP, message));
        }
        let mut program = self.clone();
        program.numbers.copy_from_slice(numbers);
        let steps = program.segments.iter_mut().flat_map(|s| &mut s.steps);
        for walk in steps.filter_map(Step::walk_mut) {
            walk.set_numbers(numbers)?;
        }
        Ok(program)
    }
}

impl Graph {
    /// The program that computes these values.
    pub fn compile(&self, outputs: &[Value], rounding: Rounding) -> Result<Program> {
        Planner::new(self, outputs, rounding).plan(outputs)
    }
}

pub(super) struct Planner<'a> {
    pub graph: &'a Graph,
    pub rounding: Rounding,
    /// The stage in which a value is computed: one that needs another whole comes after it.
    stage: Vec<u32>,
    /// Whether an output depends on it.
    needed: Vec<bool>,
    /// Whether it is to be stored, if it is elementwise.
    stored: Vec<bool>,
    /// Where it is stored, once it is.
    pub slots: Vec<Option<Slot>>,
    count: usize,
    steps: Vec<(Step, Shape)>,
}

impl<'a> Planner<'a> {
    fn new(graph: &'a Graph, outputs: &[Value], rounding: Rounding) -> Planner<'a> {
        let n = graph.nodes.len();
        let mut p = Planner {
            graph,
            rounding,
            stage: alloc::vec![0; n],
            needed: alloc::vec![false; n],
            stored: alloc::vec![false; n],
            slots: alloc::vec![None; n],
            count: graph.inputs,
            steps: Vec::new(),
        };
        for x in outputs {
            p.needed[x.at()] = true;
            p.stored[x.at()] = true;
        }
        for k in (0..n)
            .rev()
            .filter(|k| !graph.nodes[*k].what.operands().is_empty())
        {
            if p.needed[k] {
                graph.nodes[k]
                    .what
                    .operands()
                    .iter()
                    .for_each(|x| p.needed[x.at()] = true);
            }
        }
        p.find_stages();
        p.choose_stored();
        p
    }
    fn find_stages(&mut self) {
        for (k, node) in self.graph.nodes.iter().enumerate() {
            if let What::Input(slot) = node.what {
                let dtype = node.dtype;
                self.slots[k] = Some(Slot { at: slot, dtype });
            }
            let after = node.what.operands().into_iter().map(|x| {
                let of = &self.graph.nodes[x.at()];
                let whole = match (&of.what, &node.what) {
                    (What::Input(_), _) => false,
                    (What::Apply { .. } | What::Convert(_), What::Reduce { .. }) => false,
                    (
                        What::Apply { .. } | What::Convert(_),
                        What::Apply { .. } | What::Convert(_),
                    ) => of.shape != node.shape,
                    _ => true,
                };
                self.stage[x.at()] + whole as u32
            });
            self.stage[k] = after.max().unwrap_or(0);
        }
    }
    /// An elementwise value is stored where it is an output, or needed whole, or dear and needed in a
    /// later stage.
    fn choose_stored(&mut self) {
        let nodes = &self.graph.nodes;
        let mut users: Vec<SmallVec<[usize; 4]>> = alloc::vec![SmallVec::new(); nodes.len()];
        for (k, node) in nodes.iter().enumerate().filter(|(k, _)| self.needed[*k]) {
            for x in node.what.operands() {
                if !users[x.at()].contains(&k) {
                    users[x.at()].push(k);
                }
            }
        }
        let mut again = alloc::vec![0u32; nodes.len()]; // what it costs to compute a value again
        for (k, node) in nodes.iter().enumerate() {
            if !node.what.is_elementwise() || !self.needed[k] {
                continue;
            }
            let own = match &node.what {
                What::Apply { row, .. } => row.op.cost() as u32,
                _ => crate::kernel::convert::COST as u32,
            };
            let operands = node.what.operands();
            let cost = operands
                .iter()
                .map(|x| again[x.at()])
                .fold(own, u32::saturating_add);
            let whole = |user: &usize| match &nodes[*user].what {
                What::Call { .. } => true,
                What::Reduce { .. } => false,
                _ => nodes[*user].shape != node.shape,
            };
            let later = |user: &usize| self.stage[*user] > self.stage[k];
            let walks = 1 + users[k]
                .iter()
                .filter(|u| matches!(nodes[**u].what, What::Reduce { .. }))
                .count();
            let several = users[k].len() > 1 && walks > 1;
            self.stored[k] |= users[k].iter().any(whole)
                || cost > CHEAP && (several || users[k].iter().any(later));
            again[k] = if self.stored[k] { 0 } else { cost };
        }
    }

    fn plan(mut self, outputs: &[Value]) -> Result<Program> {
        let nodes = &self.graph.nodes;
        let last = self.stage.iter().copied().max().unwrap_or(0);
        for stage in 0..=last {
            let here = |k: &usize| self.needed[*k] && self.stage[*k] == stage;
            let now: Vec<usize> = (0..nodes.len()).filter(here).collect();
            for k in &now {
                if let What::Call { name, f, operands } = &nodes[*k].what {
                    let operands = operands
                        .iter()
                        .map(|x| self.slot(*x))
                        .collect::<Result<_>>()?;
                    let to = self.give_slot(*k, nodes[*k].dtype);
                    let step = Step::Call {
                        name,
                        f: f.clone(),
                        operands,
                        to,
                    };
                    self.steps.push((step, nodes[*k].shape.clone()));
                }
            }
            let stored = |k: &&usize| nodes[**k].what.is_elementwise() && self.stored[**k];
            let mut targets: Vec<usize> = now.iter().filter(stored).copied().collect();
            while let Some(first) = targets.first() {
                let shape = nodes[*first].shape.clone();
                let alike = |k: &usize| nodes[*k].shape == shape;
                let group: Vec<usize> = targets.iter().copied().filter(alike).collect();
                targets.retain(|k| !alike(k));
                self.store(&group, &shape)?;
            }
            for k in now {
                self.reduce(k)?;
            }
        }
        let outputs = outputs
            .iter()
            .map(|x| Ok((self.slot(*x)?, nodes[x.at()].dtype)))
            .collect::<Result<Vec<_>>>()?;
        let given = nodes.iter().filter(|n| matches!(n.what, What::Input(_)));
        let inputs: Vec<_> = given.map(|n| (n.shape.clone(), n.dtype)).collect();
        Ok(Program {
            segments: segments(self.steps, inputs.len(), &outputs),
            slots: self.count,
            inputs,
            outputs,
            numbers: self.graph.numbers.clone(),
        })
    }
    fn slot(&self, x: Value) -> Result<usize> {
        self.slots[x.at()].map(|slot| slot.at).ok_or_else(missing)
    }
    fn give_slot(&mut self, k: usize, dtype: DType) -> usize {
        let at = self.count;
        self.slots[k] = Some(Slot { at, dtype });
        self.count += 1;
        at
    }

    /// Steps that store these values, all of one shape, in the order of the graph.
    fn store(&mut self, targets: &[usize], shape: &Shape) -> Result<()> {
        let mut targets = targets;
        while let Some(first) = targets.first() {
            // as many at once as a program takes
            let fits = |n: usize| self.walk(&targets[..n]);
            let mut n = targets.len().min(MAX_OPERANDS - 2);
            let mut walk = fits(n);
            while walk.is_err() && n > 1 {
                n /= 2;
                walk = fits(n);
            }
            let (walk, done) = match walk {
                Ok(walk) => (walk, targets[..n].to_vec()),
                // too long for one: a part of what it needs is stored before
                Err(e) => {
                    let part = self.cut(*first).ok_or(e)?;
                    (self.walk(&part)?, part)
                }
            };
            let dtypes = walk.outputs.clone();
            let mut to = SmallVec::new();
            for (k, dtype) in done.iter().zip(dtypes) {
                to.push(self.give_slot(*k, dtype));
            }
            self.steps.push((
                Step::Store {
                    walk: Box::new(walk),
                    to,
                },
                shape.clone(),
            ));
            let done = |k: &usize| self.slots[*k].is_some();
            let left = targets
                .iter()
                .position(|k| !done(k))
                .unwrap_or(targets.len());
            targets = &targets[left..];
        }
        Ok(())
    }
    /// The step that computes a reduction, if the value is one.
    fn reduce(&mut self, k: usize) -> Result<()> {
        let node = &self.graph.nodes[k];
        let What::Reduce {
            kind,
            x,
            ref reduced,
            keepdims,
        } = node.what
        else {
            return Ok(());
        };
        let (kind, reduced, shape) = (
            kind,
            reduced.clone(),
            self.graph.nodes[x.at()].shape.clone(),
        );
        let (from, dtype) = loop {
            if let Some(slot) = self.slots[x.at()] {
                break (Elements::Stored(slot.at), slot.dtype);
            }
            match self.walk(&[x.at()]) {
                // a reduction's loops have an operand more, what is reduced
                Ok(walk) if walk.inputs.len() + 2 <= MAX_OPERANDS => {
                    let dtype = walk.outputs[0];
                    break (Elements::Computed(Box::new(walk)), dtype);
                }
                _ => self.store(&[x.at()], &shape)?,
            }
        };
        let to = self.give_slot(k, kind.dtype(dtype)?);
        let step = Step::Reduce {
            kind,
            from,
            dtype,
            reduced,
            keepdims,
            to,
        };
        self.steps.push((step, shape));
        Ok(())
    }
    fn walk(&self, targets: &[usize]) -> Result<Walk> {
        Emitter::new(self.graph, self.rounding, &self.slots).walk(targets, LONGEST)
    }
    /// Values to store first, where the program of `target` is too long: of the prefixes of its
    /// operations that fit a program, the one after which fewest values are needed again.
    fn cut(&self, target: usize) -> Option<Vec<usize>> {
        let all = Emitter::new(self.graph, self.rounding, &self.slots).needed(target);
        let mut best: Option<(usize, usize, Vec<usize>)> = None;
        for n in (1..all.len()).take(LONGEST) {
            let (before, after) = all.split_at(n);
            let is_read = |k: &&usize| {
                let reads = |a: &usize| {
                    self.graph.nodes[*a]
                        .what
                        .operands()
                        .contains(&Value(**k as u32))
                };
                after.iter().any(reads)
            };
            let live: Vec<usize> = before.iter().filter(is_read).copied().collect();
            let better = best.as_ref().is_none_or(|(fewest, at, _)| {
                // a longer prefix is worth one value more for each eight operations
                live.len() * 8 + *at <= *fewest * 8 + n
            });
            if better && self.walk(&live).is_ok() {
                best = Some((live.len(), n, live));
            }
        }
        best.map(|(_, _, live)| live)
    }
}

/// Steps whose elements share their outer loops, together.
fn segments(steps: Vec<(Step, Shape)>, inputs: usize, outputs: &[(usize, DType)]) -> Vec<Segment> {
    let mut segments: Vec<(Segment, Shape)> = Vec::new();
    for (step, shape) in steps {
        let leading = step.leading(shape.len());
        if let Some((segment, of)) = segments.last_mut() {
            let shared = leading.min(segment.leading);
            if shared > 0 && of.len() == shape.len() && of[..shared] == shape[..shared] {
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
    let is_output = |slot: usize| outputs.iter().any(|o| o.0 == slot);
    for k in 0..segments.len() {
        let (here, after) = segments.split_at_mut(k + 1);
        let segment = &mut here[k];
        let later = |slot: usize| {
            let reads = |s: &Step| s.reads().contains(&slot);
            is_output(slot) || after.iter().any(|s| s.steps.iter().any(reads))
        };
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
            segment.leading = 0; // nothing is left to a next one
        }
    }
    segments
}
