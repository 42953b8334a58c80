//! The known plans, by the operations that they compute. They form a tree, in which each operation
//! of a queue is an edge to the next node. If there is one, the operation was seen there before,
//! and its result's shape and dtype are known.

use super::super::plan::Program;
use super::relative::{Referents, RelativeShape, RelativeStep};
use crate::dtype::DType;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most operations and plans of a tree. One that exceeds it starts over.
const CAPACITY: usize = 1 << 16;

/// The values of a queue that are needed, a bit each.
pub(super) type Needed = [u64; super::LONGEST / 64];

/// Programs for sequences of operations, shared by any number of streams.
///
/// ```
/// use flex::{Tensor, stream::{Op, Plans, Stream}};
/// use std::sync::Arc;
/// let plans = Arc::new(Plans::default());
/// let stream = Stream::with_plans(plans.clone());
/// let x = Tensor::from([1.0f32, 4.0]);
/// let y = stream.apply(Op::Sqrt, &[(&x).into()])?;
/// assert_eq!(y.get()?.to_vec::<f32>()?, [1.0, 2.0]);
/// assert_eq!(plans.len(), 1);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct Plans(Mutex<PlanTree>);

/// A node of the tree; no longer valid once the tree has started over.
#[derive(Clone, Copy, Default)]
pub(super) struct PlanPlace {
    node: u32,
    age: u64,
}

pub(super) struct PlanTree {
    nodes: Vec<PlanNode>,
    /// How often it started over.
    age: u64,
    plans: usize,
    /// Whether there is a plan that was not saved.
    pub changed: bool,
}

pub(super) struct PlanNode {
    step: RelativeStep,
    /// The dtype that an operation is computed in.
    pub computed: DType,
    pub dtype: DType,
    pub dims: RelativeShape,
    parent: u32,
    children: SmallVec<[u32; 2]>,
    plans: Vec<Plan>,
}

/// The plan of the values that are needed after the last operation of a queue.
pub(super) struct Plan {
    pub needed: Needed,
    /// The programs, once they are compiled: the general one, and the one for views of row-major
    /// operands.
    pub programs: [Option<Arc<Program>>; 2],
    /// What the first queue referred to.
    pub first: Referents,
}

impl Default for Plans {
    fn default() -> Plans {
        let tree = PlanTree {
            nodes: alloc::vec![PlanNode::root()],
            age: 0,
            plans: 0,
            changed: false,
        };
        Plans(Mutex::new(tree))
    }
}

impl Plans {
    /// Number of plans.
    ///
    /// Example: [`Plans::save`].
    pub fn len(&self) -> usize {
        self.lock().plans
    }
    /// Whether there are no plans.
    ///
    /// Example: [`Plans::save`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether there is a plan that was neither saved nor loaded.
    ///
    /// Example: [`Plans::save`].
    pub fn is_changed(&self) -> bool {
        self.lock().changed
    }
    pub(super) fn lock(&self) -> MutexGuard<'_, PlanTree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlanNode {
    fn root() -> PlanNode {
        PlanNode {
            step: RelativeStep::input(DType::Bool, RelativeShape::new()),
            computed: DType::Bool,
            dtype: DType::Bool,
            dims: RelativeShape::new(),
            parent: 0,
            children: SmallVec::new(),
            plans: Vec::new(),
        }
    }
}

impl PlanTree {
    /// The node where all queues begin.
    pub fn root(&self) -> PlanPlace {
        PlanPlace {
            node: 0,
            age: self.age,
        }
    }
    /// Whether the place is still valid.
    pub fn has(&self, place: PlanPlace) -> bool {
        place.age == self.age
    }
    pub fn node(&self, place: PlanPlace) -> &PlanNode {
        &self.nodes[place.node as usize]
    }
    /// The node that the operation leads to, if it was seen there before.
    pub fn next(&self, from: PlanPlace, step: &RelativeStep) -> Option<PlanPlace> {
        let children = self.node(from).children.iter();
        let found = children
            .copied()
            .find(|k| self.nodes[*k as usize].step == *step);
        found.map(|node| PlanPlace {
            node,
            age: self.age,
        })
    }
    /// Adds an operation after those that led to `from`.
    pub fn insert(
        &mut self,
        from: PlanPlace,
        step: RelativeStep,
        computed: DType,
        (dtype, dims): (DType, RelativeShape),
    ) -> PlanPlace {
        let node = self.nodes.len() as u32;
        self.nodes.push(PlanNode {
            step,
            computed,
            dtype,
            dims,
            parent: from.node,
            children: SmallVec::new(),
            plans: Vec::new(),
        });
        // the latest operation is the likeliest to come again
        self.nodes[from.node as usize].children.insert(0, node);
        PlanPlace {
            node,
            age: self.age,
        }
    }
    /// The program for these values, if there is a plan and it is compiled.
    pub fn program(
        &self,
        place: PlanPlace,
        needed: &Needed,
        row_major: bool,
    ) -> Option<Arc<Program>> {
        let mut plans = self.node(place).plans.iter();
        let plan = plans.find(|p| p.needed == *needed)?;
        plan.programs[row_major as usize].clone()
    }
    /// The plan for these values, which is added unless it is there.
    pub fn plan(&mut self, place: PlanPlace, needed: Needed, of: &Referents) -> &mut Plan {
        let plans = &mut self.nodes[place.node as usize].plans;
        let found = plans.iter().position(|p| p.needed == needed);
        let at = found.unwrap_or(plans.len());
        if found.is_none() {
            plans.push(Plan {
                needed,
                programs: [None, None],
                first: of.clone(),
            });
            self.plans += 1;
            self.changed = true;
        }
        &mut plans[at]
    }
    /// Starts over if the tree is too large.
    pub fn trim(&mut self) {
        if self.nodes.len() + self.plans > CAPACITY {
            self.nodes = alloc::vec![PlanNode::root()];
            self.age += 1;
            self.plans = 0;
        }
    }
    /// The plans, and the operations that lead to each.
    pub fn paths(&self) -> impl Iterator<Item = (Vec<&RelativeStep>, &Plan)> {
        let plans = self
            .nodes
            .iter()
            .flat_map(|x| x.plans.iter().map(move |p| (x, p)));
        plans.map(|(mut at, plan)| {
            let mut path = Vec::new();
            while !core::ptr::eq(at, &self.nodes[0]) {
                path.push(&at.step);
                at = &self.nodes[at.parent as usize];
            }
            path.reverse();
            (path, plan)
        })
    }
}
