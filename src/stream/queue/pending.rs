//! The queue of a stream: operations that are not computed yet.

use super::super::plan::Program;
use super::super::step::{Operation, Step};
use super::super::traffic::{Traffic, bytes};
use super::super::view::ViewKind;
use super::super::walk::{OP, Rounding};
use super::plans::{Needed, PlanPlace, PlanTree, Plans};
use super::relative::{Fixed, OperandRef, Referents, RelativeShape, RelativeStep, Replay};
use super::{LONGEST, Shared, Stats};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::ops::program::operand_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Bytes of operands that nobody else holds, above which a queue is computed.
const HELD: usize = 256 << 20;

/// Queued operations, and their operands.
#[derive(Default)]
pub(super) struct Queue {
    /// How often it was emptied. Values belong to one such turn.
    pub turn: u64,
    steps: Vec<RelativeStep>,
    /// The handles to the steps' values; inputs have none.
    handles: Vec<Weak<Shared>>,
    inputs: Vec<(u16, Tensor)>,
    held: usize,
    of: Referents,
    /// The graph of the first steps, once one was not in the tree.
    replay: Option<Replay>,
    place: Option<PlanPlace>,
    pub stats: Stats,
}

/// A state of the queue to return to.
pub(super) struct Mark {
    steps: usize,
    inputs: usize,
    held: usize,
    sizes: usize,
    numbers: usize,
    views: usize,
    place: Option<PlanPlace>,
}

impl Queue {
    /// Whether it should be computed before more is queued.
    pub fn is_full(&self) -> bool {
        self.steps.len() + 4 > LONGEST || self.held > HELD && self.unshared() > HELD
    }
    fn unshared(&self) -> usize {
        let alone = self.inputs.iter().filter(|x| !x.1.storage().is_shared());
        alone.map(|x| bytes(&x.1)).sum()
    }
    pub fn mark(&self) -> Mark {
        Mark {
            steps: self.steps.len(),
            inputs: self.inputs.len(),
            held: self.held,
            sizes: self.of.sizes.len(),
            numbers: self.of.numbers.len(),
            views: self.of.views.len(),
            place: self.place,
        }
    }
    /// Returns to an earlier state, after an operation that failed.
    pub fn reset(&mut self, to: Mark) {
        self.steps.truncate(to.steps);
        self.handles.truncate(to.steps);
        self.inputs.truncate(to.inputs);
        self.of.sizes.truncate(to.sizes);
        self.of.numbers.truncate(to.numbers);
        self.of.views.truncate(to.views);
        (self.held, self.place) = (to.held, to.place);
        // the graph may have numbers and views of that operation
        self.replay = None;
    }

    /// The value of a tensor: an input, which is added unless it is there.
    pub fn input(&mut self, plans: &Plans, x: &Tensor) -> Result<u16> {
        let same = |y: &&(u16, Tensor)| {
            y.1.as_ptr() == x.as_ptr() && y.1.layout() == x.layout() && y.1.dtype() == x.dtype()
        };
        if let Some(found) = self.inputs.iter().find(same) {
            return Ok(found.0);
        }
        let at = self.new_input(plans, x.shape(), x.dtype())?;
        self.held += bytes(x);
        self.inputs.push((at, x.clone()));
        Ok(at)
    }
    /// Adds an input of this shape and dtype.
    pub fn new_input(&mut self, plans: &Plans, shape: &[usize], dtype: DType) -> Result<u16> {
        let step = RelativeStep::input(dtype, self.of.sizes.dims(shape));
        self.push(&mut plans.lock(), step)
    }
    /// A number as an operand of an operation.
    pub fn number(&mut self, operation: &Operation, s: Scalar) -> OperandRef {
        if !operation.keeps_numbers() {
            return OperandRef::Fixed(Box::new(Fixed(s)));
        }
        let numbers = &mut self.of.numbers;
        let k = numbers.iter().position(|x| x.is(&s));
        let k = k.unwrap_or_else(|| {
            numbers.push(s);
            numbers.len() - 1
        });
        OperandRef::Number(k as u16, s.class())
    }
    /// Adds an operation, and returns the number, dtype and shape of its value; `shape` is the one
    /// that it has, unless that follows from those of the operands. Errors are those of the
    /// operation.
    pub fn operation(
        &mut self,
        plans: &Plans,
        mut operation: Operation,
        operands: SmallVec<[OperandRef; 3]>,
        shape: Option<&[usize]>,
    ) -> Result<(u16, DType, Shape)> {
        let mut form = None;
        if let Operation::View { view } = &mut operation
            && let ViewKind::New(new) = view
        {
            let views = &mut self.of.views;
            let at = views.iter().position(|v| *v == **new);
            let at = at.unwrap_or_else(|| {
                views.push((**new).clone());
                views.len() - 1
            });
            form = Some(Box::new(new.form()));
            *view = ViewKind::Given(at);
        }
        let step = RelativeStep {
            step: Step {
                operation,
                operands,
            },
            dims: shape.map_or_else(RelativeShape::new, |shape| self.of.sizes.dims(shape)),
            form,
        };
        let mut tree = plans.lock();
        let at = self.push(&mut tree, step)?;
        let place = self.place.unwrap_or_else(|| tree.root());
        let node = tree.node(place);
        Ok((at, node.dtype, self.of.sizes.shape(&node.dims)))
    }
    fn push(&mut self, tree: &mut PlanTree, step: RelativeStep) -> Result<u16> {
        self.steps.push(step);
        self.handles.push(Weak::new());
        let place = self.find_place(tree)?;
        let next = self.advance(tree, place, self.steps.len() - 1)?;
        self.place = Some(next);
        Ok(self.steps.len() as u16 - 1)
    }
    /// The place of all steps but the last.
    fn find_place(&mut self, tree: &mut PlanTree) -> Result<PlanPlace> {
        if let Some(place) = self.place.filter(|p| tree.has(*p)) {
            return Ok(place);
        }
        let mut place = tree.root();
        for k in 0..self.steps.len() - 1 {
            place = self.advance(tree, place, k)?;
        }
        Ok(place)
    }
    /// The place that step `k` leads to. The graph checks the step if it is new there.
    fn advance(&mut self, tree: &mut PlanTree, from: PlanPlace, k: usize) -> Result<PlanPlace> {
        if let Some(place) = tree.next(from, &self.steps[k]) {
            let Step {
                operation,
                operands,
            } = &self.steps[k].step;
            let Operation::Apply { op, .. } = operation else {
                return Ok(place);
            };
            // everything is known except whether numbers are in range
            let computed = tree.node(place).computed;
            for (j, x) in operands.iter().enumerate() {
                if let OperandRef::Number(n, _) = x {
                    let seen = operand_dtype(op.rule(), j, computed);
                    self.of.numbers[*n as usize].value(seen, op.name())?;
                }
            }
            return Ok(place);
        }
        let replay = self.replay.get_or_insert_default();
        replay.add(&self.steps[..=k], &self.of)?;
        let graph = &replay.graph;
        let value = replay.values[k];
        let dims = self.of.sizes.dims(graph.shape(value));
        let (computed, result) = (graph.computed_in(value), (graph.dtype(value), dims));
        Ok(tree.insert(from, self.steps[k].clone(), computed, result))
    }
    /// Adds a plan for values of the queue, to be compiled when it is first used.
    pub fn add_plan(&self, plans: &Plans, needed: Needed) {
        let mut tree = plans.lock();
        if let Some(place) = self.place.filter(|p| tree.has(*p)) {
            tree.plan(place, needed, &self.of);
            tree.trim();
        }
    }
    /// Registers the handle to the value of a step.
    pub fn hand_out(&mut self, at: u16, to: &Arc<Shared>) {
        self.handles[at as usize] = Arc::downgrade(to);
    }

    /// Computes the values that are still referenced, and empties the queue. An error is that of
    /// the values which can't be computed.
    pub fn run(&mut self, plans: &Plans) -> Result<()> {
        let handles = self.handles.iter().enumerate();
        let alive: Vec<(usize, Arc<Shared>)> = handles
            .filter_map(|(k, x)| Some((k, x.upgrade()?)))
            .collect();
        let mut result = Ok(());
        if !alive.is_empty() {
            let row_major = self.is_row_major();
            let inputs: Vec<Tensor> = self.inputs.drain(..).map(|x| x.1).collect();
            // an input that others hold is never overwritten: keeping it changes nothing
            let is_held = |x: &Tensor| x.storage().is_shared() || !x.storage().is_owned();
            let kept = inputs.iter().all(is_held).then(|| inputs.clone());
            match self.compute(plans, &alive, row_major, inputs) {
                Ok(values) => {
                    for ((_, shared), value) in alive.iter().zip(values) {
                        shared.set(Ok(value));
                    }
                }
                // all together they may need more memory than each of them
                Err(e) => {
                    for (k, shared) in &alive {
                        let value = match &kept {
                            Some(inputs) => self.compute_one(*k, row_major, inputs.clone()),
                            None => Err(e.clone()),
                        };
                        if let (Ok(()), Err(e)) = (&result, &value) {
                            result = Err(e.clone());
                        }
                        shared.set(value);
                    }
                }
            }
        }
        self.clear();
        result
    }
    /// Begins the next turn. The lists keep their memory, of a few KiB at most.
    fn clear(&mut self) {
        self.turn += 1;
        self.steps.clear();
        self.handles.clear();
        self.inputs.clear();
        self.of.sizes.truncate(0);
        self.of.numbers.clear();
        self.of.views.clear();
        (self.held, self.replay, self.place) = (0, None, None);
    }
    /// Whether an operand lies in the storage of `x`.
    #[cfg(feature = "bindings")]
    pub fn holds(&self, x: &Tensor) -> bool {
        self.inputs.iter().any(|y| y.1.shares_storage(x))
    }
    /// Whether a value is known to be row-major.
    #[cfg(feature = "bindings")]
    pub fn has_row_major(&self, x: u16) -> bool {
        let mut known: Vec<bool> = Vec::with_capacity(x as usize + 1);
        for (k, step) in self.steps[..=x as usize].iter().enumerate() {
            let all = step.values().all(|y| known[y as usize]);
            let own = match &step.step.operation {
                Operation::Input { .. } => {
                    let mut inputs = self.inputs.iter();
                    inputs.any(|y| y.0 as usize == k && y.1.is_contiguous())
                }
                Operation::View {
                    view: ViewKind::Given(at),
                } => all && self.of.views[*at].is_row_major(),
                operation => operation.is_row_major(all),
            };
            known.push(own);
        }
        known[x as usize]
    }
    /// Whether there are views, and operands are row-major. Operands that only products and linear
    /// layers read may have any strides, since the layout of their results doesn't depend on them.
    fn is_row_major(&self) -> bool {
        let reads = |x: u16| {
            let mut steps = self.steps.iter();
            steps.any(|s| !s.step.operation.takes_any_strides() && s.values().any(|y| y == x))
        };
        let mut scattered = self.inputs.iter().filter(|x| !x.1.is_contiguous());
        !self.of.views.is_empty() && !scattered.any(|x| reads(x.0))
    }
    fn compute(
        &mut self,
        plans: &Plans,
        alive: &[(usize, Arc<Shared>)],
        row_major: bool,
        inputs: Vec<Tensor>,
    ) -> Result<Vec<Tensor>> {
        let mut needed = Needed::default();
        for (k, _) in alive {
            needed[k / 64] |= 1 << (k % 64);
        }
        let (place, found) = {
            let mut tree = plans.lock();
            let place = match self.place.filter(|p| tree.has(*p)) {
                Some(place) => place,
                None => {
                    let before = self.find_place(&mut tree)?;
                    self.advance(&mut tree, before, self.steps.len() - 1)?
                }
            };
            (place, tree.program(place, &needed, row_major))
        };
        let program = match found {
            Some(program) => program,
            None => {
                let program = Arc::new(self.compile(alive.iter().map(|x| x.0), row_major)?);
                let mut tree = plans.lock();
                if tree.has(place) {
                    let programs = &mut tree.plan(place, needed, &self.of).programs;
                    programs[row_major as usize] = Some(program.clone());
                    tree.trim();
                }
                program
            }
        };
        self.run_program(&program, inputs)
    }
    /// Computes a single value.
    fn compute_one(&mut self, k: usize, row_major: bool, inputs: Vec<Tensor>) -> Result<Tensor> {
        let program = self.compile(core::iter::once(k), row_major)?;
        let value = self.run_program(&program, inputs)?.pop();
        value.ok_or_else(|| Error::value(OP, "a plan without a result"))
    }
    fn compile(&mut self, values: impl Iterator<Item = usize>, row_major: bool) -> Result<Program> {
        let replay = self.replay.get_or_insert_default();
        replay.add(&self.steps, &self.of)?;
        let outputs: Vec<_> = values.map(|k| replay.values[k]).collect();
        let graph = &replay.graph;
        graph.compile_for(&outputs, Rounding::Each, row_major)
    }
    fn run_program(&mut self, program: &Program, inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let mut traffic = Traffic::default();
        let same = program
            .numbers
            .iter()
            .zip(&self.of.numbers)
            .all(|(a, b)| a.is(b));
        let values = match same {
            true => program.run_with(inputs, &self.of.views, &mut traffic)?,
            false => {
                let missing = || Error::value(OP, "a number of the plan is missing");
                let numbers = self.of.numbers.get(..program.numbers.len());
                let program = program.with_numbers(numbers.ok_or_else(missing)?)?;
                program.run_with(inputs, &self.of.views, &mut traffic)?
            }
        };
        self.stats.run += traffic;
        Ok(values)
    }
}
