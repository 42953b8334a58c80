//! Plans a graph: steps over whole tensors, each a program of as many operations as can be computed
//! in one pass over the elements.
//!
//! Elementwise operations of one shape are one program. It ends where a value is needed as a whole:
//! a reduction's result that is broadcast back, a value under another shape, an operand of a
//! function that runs as it is. A value that is needed again after that is stored, or recomputed if
//! that costs less than storing and reading it.

use super::costs::{CHEAP, LONGEST};
use super::emit::Emitter;
use super::graph::{Expr, Graph, Node, Value, Whole};
use super::segment::{Segment, segments};
use super::sink::sink;
use super::step::{Step, Then, missing};
use super::view::ViewOp;
use super::walk::{OP, Rounding, StoredValue, Walk};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::nest::MAX_OPERANDS;
use crate::layout::Shape;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A compiled graph, to be run on tensors.
///
/// ```
/// use flex::{DType, Tensor, stream::{Graph, Op, Rounding, Traffic}};
/// let mut g = Graph::new();
/// let x = g.input(&[1000], DType::F32);
/// let exp = g.apply(Op::Exp, &[x.into()])?;
/// let y = g.apply(Op::Sqrt, &[exp.into()])?;
/// let program = g.compile(&[y], Rounding::Once)?;
/// let mut traffic = Traffic::default();
/// let y = program.run_counted(vec![Tensor::zeros(1000, DType::F32)?], &mut traffic)?;
/// assert_eq!(y[0].to_vec::<f32>()?, [1.0; 1000]);
/// assert_eq!((traffic.kernels, traffic.moved()), (1, 8000)); // one pass reads and writes
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone)]
pub struct Program {
    pub(super) segments: Vec<Segment>,
    pub(super) slots: usize,
    /// Shapes and dtypes of the inputs, which have the first slots.
    pub(super) inputs: Vec<(Shape, DType)>,
    /// The slot of each output, and the dtype of the result.
    pub(super) outputs: Vec<(usize, DType)>,
    /// The graph's parameters, with their values in the graph.
    pub(super) numbers: Vec<Scalar>,
    /// The graph's views.
    pub(super) views: Vec<ViewOp>,
}

impl Program {
    /// The same program with other numbers for the graph's parameters: as many, and of the same
    /// kinds.
    ///
    /// Errors if they are not, or if a number is out of range for the dtype that it is used in.
    ///
    /// Example: [`Graph::number`].
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
        for walk in steps.flat_map(Step::walks_mut) {
            walk.set_numbers(numbers)?;
        }
        Ok(program)
    }
}

impl Graph {
    /// Compiles the program that computes these values. Errors if there is no memory for it.
    ///
    /// Example: [`Graph`].
    pub fn compile(&self, outputs: &[Value], rounding: Rounding) -> Result<Program> {
        self.compile_for(outputs, rounding, false)
    }
    /// The same, given whether the inputs, except operands of products, are row-major.
    #[doc(hidden)]
    pub fn compile_for(
        &self,
        outputs: &[Value],
        rounding: Rounding,
        row_major: bool,
    ) -> Result<Program> {
        if !self.has_views() {
            return Planner::new(self, outputs, rounding).plan(outputs);
        }
        let (graph, outputs) = sink(self, outputs, row_major)?;
        Planner::new(&graph, &outputs, rounding).plan(&outputs)
    }
}

pub(super) struct Planner<'a> {
    pub graph: &'a Graph,
    pub rounding: Rounding,
    /// The stage of each value. A value that needs another as a whole is in a later stage.
    stage: Vec<u32>,
    /// Whether an output depends on each value.
    needed: Vec<bool>,
    /// Whether each elementwise value is to be stored.
    stored: Vec<bool>,
    /// Where each value is stored, once it is.
    pub slots: Vec<Option<StoredValue>>,
    count: usize,
    pub(super) steps: Vec<(Step, Shape)>,
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
            .filter(|k| !graph.nodes[*k].expr.operands().is_empty())
        {
            if p.needed[k] {
                graph.nodes[k]
                    .expr
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
            if let Expr::Input(slot) = node.expr {
                let dtype = node.dtype;
                self.slots[k] = Some(StoredValue { at: slot, dtype });
            }
            let after = node.expr.operands().into_iter().map(|x| {
                let of = &self.graph.nodes[x.at()];
                let whole = match (&of.expr, &node.expr) {
                    (Expr::Input(_) | Expr::View { .. }, _) => false,
                    (Expr::Apply { .. } | Expr::Convert(_), Expr::Reduce { .. }) => false,
                    (
                        Expr::Apply { .. } | Expr::Convert(_),
                        Expr::Apply { .. } | Expr::Convert(_),
                    ) => of.shape != node.shape,
                    _ => true,
                };
                self.stage[x.at()] + whole as u32
            });
            self.stage[k] = after.max().unwrap_or(0);
        }
    }
    /// An elementwise value is stored if it is an output, if it is needed as a whole, or if it is
    /// expensive and needed in a later stage or by several walks.
    fn choose_stored(&mut self) {
        let nodes = &self.graph.nodes;
        let mut users: Vec<SmallVec<[usize; 4]>> = alloc::vec![SmallVec::new(); nodes.len()];
        for (k, node) in nodes.iter().enumerate().filter(|(k, _)| self.needed[*k]) {
            for x in node.expr.operands() {
                if !users[x.at()].contains(&k) {
                    users[x.at()].push(k);
                }
            }
        }
        let mut again = alloc::vec![0u32; nodes.len()]; // the cost of recomputing a value
        for (k, node) in nodes.iter().enumerate() {
            if !node.expr.is_elementwise() || !self.needed[k] {
                continue;
            }
            let own = match &node.expr {
                Expr::Apply { row, .. } => row.op.cost() as u32,
                _ => crate::kernel::convert::COST as u32,
            };
            let operands = node.expr.operands();
            let cost = operands
                .iter()
                .map(|x| again[x.at()])
                .fold(own, u32::saturating_add);
            let whole = |user: &usize| match &nodes[*user].expr {
                Expr::Call { .. } | Expr::View { .. } => true,
                Expr::Reduce { .. } => false,
                _ => nodes[*user].shape != node.shape,
            };
            let later = |user: &usize| self.stage[*user] > self.stage[k];
            let walks = 1 + users[k]
                .iter()
                .filter(|u| matches!(nodes[**u].expr, Expr::Reduce { .. }))
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
                if self.is_read(*k) {
                    self.view(*k)?;
                }
                if let Expr::Call { name, f, operands } = &nodes[*k].expr {
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
                        then: None,
                    };
                    self.steps.push((step, nodes[*k].shape.clone()));
                }
            }
            let stored = |k: &&usize| nodes[**k].expr.is_elementwise() && self.stored[**k];
            let mut targets: Vec<usize> = now.iter().filter(stored).copied().collect();
            while let Some(first) = targets.first() {
                let shape = nodes[*first].shape.clone();
                let product = self.product_of(*first);
                let alike = |k: &usize| nodes[*k].shape == shape && self.product_of(*k) == product;
                let group: Vec<usize> = targets.iter().copied().filter(alike).collect();
                targets.retain(|k| !alike(k));
                self.store(&group, &shape)?;
            }
            let is_reduction = |k: &usize| matches!(nodes[*k].expr, Expr::Reduce { .. });
            let mut reductions: Vec<usize> = now.into_iter().filter(is_reduction).collect();
            while !reductions.is_empty() {
                let alike = self.alike(&reductions);
                reductions.retain(|k| !alike.contains(k));
                self.reduce(&alike)?;
            }
        }
        for k in (0..nodes.len())
            .filter(|k| self.needed[*k])
            .collect::<Vec<_>>()
        {
            self.view(k)?; // last, so that views nobody reads split no segment
        }
        self.follow();
        let outputs = outputs
            .iter()
            .map(|x| Ok((self.slot(*x)?, nodes[x.at()].dtype)))
            .collect::<Result<Vec<_>>>()?;
        let given = nodes.iter().filter(|n| matches!(n.expr, Expr::Input(_)));
        let inputs: Vec<_> = given.map(|n| (n.shape.clone(), n.dtype)).collect();
        Ok(Program {
            segments: segments(self.steps, inputs.len(), &outputs),
            slots: self.count,
            inputs,
            outputs,
            numbers: self.graph.numbers.clone(),
            views: self.graph.views.clone(),
        })
    }
    /// Whether a value that is needed is computed from `k`.
    fn is_read(&self, k: usize) -> bool {
        let reads = |(j, node): (usize, &Node)| {
            self.needed[j] && node.expr.operands().iter().any(|x| x.at() == k)
        };
        self.graph.nodes.iter().enumerate().any(reads)
    }
    /// Adds the step of a value that is a view, if it has none yet.
    fn view(&mut self, k: usize) -> Result<()> {
        let node = &self.graph.nodes[k];
        let Expr::View { x, kind } = &node.expr else {
            return Ok(());
        };
        if self.slots[k].is_none() {
            let x = self.slot(*x)?;
            let to = self.give_slot(k, node.dtype);
            let kind = kind.clone();
            self.steps
                .push((Step::View { x, kind, to }, node.shape.clone()));
        }
        Ok(())
    }
    /// The last product of its shape that an elementwise value is computed from.
    fn product_of(&self, k: usize) -> Option<usize> {
        let nodes = &self.graph.nodes;
        let computed = Emitter::new(self.graph, self.rounding, &self.slots).needed(k);
        let read = computed.iter().flat_map(|k| nodes[*k].expr.operands());
        let is_product = |x: &usize| {
            let f = match &nodes[*x].expr {
                Expr::Call { f, .. } => Some(f),
                _ => None,
            };
            matches!(f, Some(Whole::Product(_))) && nodes[*x].shape == nodes[k].shape
        };
        read.map(Value::at).filter(is_product).max()
    }
    /// Attaches a store that reads a product to the product's step, if everything else it reads is
    /// there by then.
    fn follow(&mut self) {
        let mut steps: Vec<(Step, Shape)> = Vec::with_capacity(self.steps.len());
        for (step, shape) in core::mem::take(&mut self.steps) {
            let written = |slot: &usize| {
                let writes = |s: &(Step, Shape)| s.0.writes().contains(slot);
                steps.iter().position(writes)
            };
            let last = step.reads().iter().filter_map(written).max();
            match (step, last.map(|k| &mut steps[k])) {
                (
                    Step::Store { walk, to },
                    Some((
                        Step::Call {
                            f: Whole::Product(_),
                            operands,
                            to: product,
                            then: then @ None,
                            ..
                        },
                        of,
                    )),
                ) if *of == shape => {
                    *then = Some(Box::new(Then::new(*walk, to, *product, operands)));
                }
                (step, _) => steps.push((step, shape)),
            }
        }
        self.steps = steps;
    }
    pub(super) fn slot(&self, x: Value) -> Result<usize> {
        self.slots[x.at()].map(|slot| slot.at).ok_or_else(missing)
    }
    pub(super) fn give_slot(&mut self, k: usize, dtype: DType) -> usize {
        let at = self.count;
        self.slots[k] = Some(StoredValue { at, dtype });
        self.count += 1;
        at
    }

    /// Adds steps that store these values, all of one shape, in the order of the graph.
    pub(super) fn store(&mut self, targets: &[usize], shape: &Shape) -> Result<()> {
        let mut targets = targets;
        while let Some(first) = targets.first() {
            // as many at once as fit a program
            let fits = |n: usize| self.walk(&targets[..n]);
            let mut n = targets.len().min(MAX_OPERANDS - 2);
            let mut walk = fits(n);
            while walk.is_err() && n > 1 {
                n /= 2;
                walk = fits(n);
            }
            let (walk, done) = match walk {
                Ok(walk) => (walk, targets[..n].to_vec()),
                // if even a single value is too much for one program, part of what it needs is
                // stored first
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
    pub(super) fn walk(&self, targets: &[usize]) -> Result<Walk> {
        Emitter::new(self.graph, self.rounding, &self.slots).walk(targets, LONGEST)
    }
    /// Values to store first if the program of `target` is too long: of the prefixes of its
    /// operations that fit a program, the one after which the fewest values are live.
    fn cut(&self, target: usize) -> Option<Vec<usize>> {
        let all = Emitter::new(self.graph, self.rounding, &self.slots).needed(target);
        let mut best: Option<(usize, usize, Vec<usize>)> = None;
        for n in (1..all.len()).take(LONGEST) {
            let (before, after) = all.split_at(n);
            let is_read = |k: &&usize| {
                let reads = |a: &usize| {
                    self.graph.nodes[*a]
                        .expr
                        .operands()
                        .contains(&Value(**k as u32))
                };
                after.iter().any(reads)
            };
            let live: Vec<usize> = before.iter().filter(is_read).copied().collect();
            let better = best.as_ref().is_none_or(|(fewest, at, _)| {
                // a prefix that is longer by eight operations is worth one more live value
                live.len() * 8 + *at <= *fewest * 8 + n
            });
            if better && self.walk(&live).is_ok() {
                best = Some((live.len(), n, live));
            }
        }
        best.map(|(_, _, live)| live)
    }
}
