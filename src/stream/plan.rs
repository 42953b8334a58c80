//! Plans a graph: steps over whole tensors, each a program of as many operations as can be computed
//! in one pass over the elements.
//!
//! Elementwise operations of one shape are one program. It ends where a value is needed as a whole:
//! a reduction's result that is broadcast back, a value under another shape, an operand of a
//! function that runs as it is. A value that is needed again after that is stored, or recomputed if
//! that costs less than storing and reading it.
//!
//! Values that were computed in a wider dtype are stored in that, for other programs, except those
//! that a function or the caller sees.

use super::costs::CHEAP;
use super::emit::Emitter;
use super::graph::{Graph, Value};
use super::plan_step::{PlanStep, PostOpStep, missing};
use super::segment::{Segment, segments};
use super::sink::sink;
use super::step::Operation;
use super::view::ViewOp;
use super::walk::{OP, Rounding, StoredValue};
use crate::dtype::DType;
use crate::error::{Error, Result};
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
        for walk in steps.flat_map(PlanStep::walks_mut) {
            walk.set_numbers(numbers)?;
        }
        Ok(program)
    }
    /// Whether it runs functions as they are, which may fail for the elements that they get.
    #[doc(hidden)]
    pub fn may_fail(&self) -> bool {
        let steps = self.segments.iter().flat_map(|s| &s.steps);
        let is_function = |step: &PlanStep| {
            matches!(
                step,
                PlanStep::Call {
                    operation: Operation::Call { .. },
                    ..
                }
            )
        };
        steps.into_iter().any(is_function)
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
    /// Whether an output depends on each value, and whether such a value is computed from it.
    needed: Vec<bool>,
    read: Vec<bool>,
    /// Whether each elementwise value is to be stored.
    stored: Vec<bool>,
    /// Whether each value is stored in its own dtype, even if it was computed in a wider one: what
    /// functions read, and elementwise outputs.
    pub exact: Vec<bool>,
    /// Where each value is stored, once it is.
    pub slots: Vec<Option<StoredValue>>,
    count: usize,
    pub(super) steps: Vec<(PlanStep, Shape)>,
}

impl<'a> Planner<'a> {
    fn new(graph: &'a Graph, outputs: &[Value], rounding: Rounding) -> Planner<'a> {
        let n = graph.nodes.len();
        let mut p = Planner {
            graph,
            rounding,
            stage: alloc::vec![0; n],
            needed: alloc::vec![false; n],
            read: alloc::vec![false; n],
            stored: alloc::vec![false; n],
            exact: alloc::vec![false; n],
            slots: alloc::vec![None; n],
            count: graph.inputs,
            steps: Vec::new(),
        };
        for x in outputs {
            p.needed[x.at()] = true;
            p.stored[x.at()] = true;
            p.exact[x.at()] = graph.nodes[x.at()].is_elementwise();
        }
        for (k, node) in graph.nodes.iter().enumerate().rev() {
            if !p.needed[k] {
                continue;
            }
            for x in node.values() {
                (p.needed[x.at()], p.read[x.at()]) = (true, true);
                p.exact[x.at()] |= node.is_call() || node.is_view() && p.exact[k];
            }
        }
        p.find_stages();
        p.choose_stored();
        p
    }
    fn find_stages(&mut self) {
        let mut inputs = 0..;
        for (k, node) in self.graph.nodes.iter().enumerate() {
            if node.is_input() {
                let dtype = node.dtype;
                let slot = inputs.next();
                self.slots[k] = slot.map(|at| StoredValue { at, dtype });
            }
            let after = node.values().into_iter().map(|x| {
                let of = &self.graph.nodes[x.at()];
                let whole = match of.is_elementwise() {
                    true if node.is_reduction() => false,
                    true if node.is_elementwise() => of.shape != node.shape,
                    true => true,
                    false => !(of.is_input() || of.is_view()),
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
            for x in node.values() {
                if users[x.at()].last() != Some(&k) {
                    users[x.at()].push(k);
                }
            }
        }
        let mut again = alloc::vec![0u32; nodes.len()]; // the cost of recomputing a value
        for (k, node) in nodes.iter().enumerate() {
            if !node.is_elementwise() || !self.needed[k] {
                continue;
            }
            let own = match &node.step.operation {
                Operation::Apply { op, .. } => op.cost() as u32,
                _ => crate::kernel::convert::COST as u32,
            };
            let operands = node.values();
            let cost = operands
                .iter()
                .map(|x| again[x.at()])
                .fold(own, u32::saturating_add);
            let whole = |user: &usize| match &nodes[*user] {
                user if user.is_elementwise() => user.shape != node.shape,
                user => !user.is_reduction(),
            };
            let later = |user: &usize| self.stage[*user] > self.stage[k];
            let reductions = users[k].iter().filter(|u| nodes[**u].is_reduction());
            let walks = 1 + reductions.count();
            let several = users[k].len() > 1 && walks > 1;
            self.stored[k] |= users[k].iter().any(whole)
                || cost > CHEAP && (several || users[k].iter().any(later));
            again[k] = if self.stored[k] { 0 } else { cost };
        }
    }

    fn plan(mut self, outputs: &[Value]) -> Result<Program> {
        let nodes = &self.graph.nodes;
        let last = self.stage.iter().copied().max().unwrap_or(0);
        let mut stages: Vec<Vec<usize>> = alloc::vec![Vec::new(); last as usize + 1];
        for k in (0..nodes.len()).filter(|k| self.needed[*k]) {
            stages[self.stage[k] as usize].push(k);
        }
        for now in stages {
            for k in &now {
                if self.read[*k] {
                    self.view(*k)?;
                }
                let node = &nodes[*k];
                if node.is_call() {
                    let values = node.values();
                    let operands = values.iter().map(|x| self.slot(*x));
                    let step = PlanStep::Call {
                        operands: operands.collect::<Result<_>>()?,
                        operation: node.step.operation.clone(),
                        sources: node.sources.clone(),
                        dtype: node.dtype,
                        to: self.give_slot(*k, node.dtype),
                        then: None,
                    };
                    self.steps.push((step, node.shape.clone()));
                }
            }
            let stored = |k: &&usize| nodes[**k].is_elementwise() && self.stored[**k];
            let targets = now.iter().filter(stored);
            let mut targets: Vec<(usize, Option<usize>)> =
                targets.map(|k| (*k, self.product_of(*k))).collect();
            while let Some((first, product)) = targets.first().copied() {
                let shape = nodes[first].shape.clone();
                let alike = |x: &(usize, _)| nodes[x.0].shape == shape && x.1 == product;
                let group: Vec<usize> = targets.iter().filter(|x| alike(x)).map(|x| x.0).collect();
                targets.retain(|x| !alike(x));
                self.store(&group, &shape)?;
            }
            let reductions = now.into_iter().filter(|k| nodes[*k].is_reduction());
            let mut reductions: Vec<usize> = reductions.collect();
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
        let given = nodes.iter().filter(|n| n.is_input());
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
    /// Adds the step of a value that is a view, if it has none yet.
    fn view(&mut self, k: usize) -> Result<()> {
        let node = &self.graph.nodes[k];
        let Operation::View { view } = &node.step.operation else {
            return Ok(());
        };
        if self.slots[k].is_none() {
            let x = self.slots[node.operand().at()];
            let StoredValue { at: x, dtype } = x.ok_or_else(missing)?;
            let to = self.give_slot(k, dtype);
            let kind = view.clone();
            self.steps
                .push((PlanStep::View { x, kind, to }, node.shape.clone()));
        }
        Ok(())
    }
    /// The last product of its shape that an elementwise value is computed from.
    fn product_of(&self, k: usize) -> Option<usize> {
        let nodes = &self.graph.nodes;
        let computed = self.emitter().needed(&[k]);
        let read = computed.iter().flat_map(|k| nodes[*k].values());
        let is_product = |x: &usize| nodes[*x].is_product() && nodes[*x].shape == nodes[k].shape;
        read.map(Value::at).filter(is_product).max()
    }
    /// Attaches a store that reads a product to the product's step, if everything else it reads is
    /// there by then.
    fn follow(&mut self) {
        let mut steps: Vec<(PlanStep, Shape)> = Vec::with_capacity(self.steps.len());
        // the step that writes each slot
        let mut writer: Vec<Option<usize>> = alloc::vec![None; self.count];
        for (step, shape) in core::mem::take(&mut self.steps) {
            let last = step.reads().iter().filter_map(|slot| writer[*slot]).max();
            let at = last.filter(|k| takes_over(&steps[*k], &step, &shape));
            for slot in step.writes() {
                writer[*slot] = at.or(Some(steps.len()));
            }
            let Some(at) = at else {
                steps.push((step, shape));
                continue;
            };
            if let (
                PlanStep::Store { walk, to },
                PlanStep::Call {
                    operands,
                    to: product,
                    then,
                    ..
                },
            ) = (step, &mut steps[at].0)
            {
                *then = Some(Box::new(PostOpStep::new(*walk, to, *product, operands)));
            }
        }
        self.steps = steps;
    }
    pub(super) fn emitter(&self) -> Emitter<'_> {
        Emitter::new(self.graph, self.rounding, &self.slots, &self.exact)
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
}

/// Whether a step is a product that a store of this shape may follow.
fn takes_over(product: &(PlanStep, Shape), step: &PlanStep, shape: &Shape) -> bool {
    let is_product = matches!(
        product.0,
        PlanStep::Call {
            operation: Operation::Product { .. },
            then: None,
            ..
        }
    );
    is_product && matches!(step, PlanStep::Store { .. }) && product.1 == *shape
}
