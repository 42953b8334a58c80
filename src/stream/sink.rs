//! Sinks views through operations: an elementwise operation whose result is only viewed becomes one
//! on views of its operands. So the program that reads the view computes it, and elements outside
//! of views are never computed.
//!
//! A view is moved if
//! - only elementwise operations read it (others must see the strides that it has one by one, since
//!   strides decide bits),
//! - nobody else needs the value that is viewed, and each of its elements occurs at most once,
//! - results keep the layout that they have one by one. To know that, inputs must be row-major;
//!   values along one axis have the same layout in any case,
//! - its readers run along it in memory as along their other operands, and
//! - the value is computed from few others, since each of these is viewed then.
//!
//! Operations that follow a product run on its blocks, and are not moved. A reduction without
//! `keepdims` becomes one that keeps its axes, followed by a view that removes them: a view that
//! restores them cancels that one.

use super::costs::{FEW_VIEWS, LONGEST};
use super::graph::{Graph, Node, Operand, Value};
use super::plan_step::missing;
use super::step::{Operation, Step};
use super::view::ViewKind;
use super::walk::layout_of;
use crate::error::Result;
use crate::layout::{Layout, Shape};
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The graph with views moved before operations, and the outputs in that graph.
pub(super) fn sink(
    graph: &Graph,
    outputs: &[Value],
    row_major: bool,
) -> Result<(Graph, Vec<Value>)> {
    let mut s = Sinker::new(graph, outputs, row_major)?;
    for k in 0..graph.nodes.len() {
        if s.uses[k] > 0 || graph.nodes[k].is_input() {
            s.add(k)?;
        }
    }
    let outputs = outputs.iter().map(|x| s.at[x.at()]).collect();
    Ok((s.to, outputs))
}

struct Sinker<'a> {
    from: &'a Graph,
    to: Graph,
    row_major: bool,
    /// How many values or outputs need each value.
    uses: Vec<usize>,
    /// Whether each value is a view that only elementwise operations read.
    sinkable: Vec<bool>,
    /// Each value in the new graph.
    at: Vec<Value>,
    /// For values of the new graph: the layout if inputs are row-major, whether there is a single
    /// use, and whether the value is computed on blocks of a product.
    layouts: Vec<Layout>,
    free: Vec<bool>,
    follows: Vec<bool>,
    /// For elementwise values of the new graph: how many values would be viewed instead, and the
    /// length of the longest chain of operations on those.
    leaves: Vec<(usize, usize)>,
}

impl<'a> Sinker<'a> {
    fn new(graph: &'a Graph, outputs: &[Value], row_major: bool) -> Result<Sinker<'a>> {
        let n = graph.nodes.len();
        let laid = layouts(graph)?;
        let (mut uses, mut sinkable) = (alloc::vec![0; n], alloc::vec![true; n]);
        for x in outputs {
            // counts as two uses, so that no output is moved
            (uses[x.at()], sinkable[x.at()]) = (2, false);
        }
        for (k, node) in graph.nodes.iter().enumerate().rev() {
            if uses[k] == 0 {
                continue;
            }
            sinkable[k] &= node.is_view();
            let reads = match node.is_elementwise() {
                true => agree(graph, k, &laid),
                false => sinkable[k],
            };
            let operands = node.values();
            for (j, x) in operands.iter().enumerate() {
                uses[x.at()] += !operands[..j].contains(x) as usize;
                sinkable[x.at()] &= reads;
            }
        }
        let to = Graph {
            inputs: graph.inputs,
            numbers: graph.numbers.clone(),
            views: graph.views.clone(),
            nodes: Vec::with_capacity(n),
            ..Graph::default()
        };
        Ok(Sinker {
            from: graph,
            to,
            row_major,
            uses,
            sinkable,
            at: alloc::vec![Value(0); n],
            layouts: Vec::new(),
            free: Vec::new(),
            follows: Vec::new(),
            leaves: Vec::new(),
        })
    }
    /// Adds value `k` of the old graph.
    fn add(&mut self, k: usize) -> Result<()> {
        let node = &self.from.nodes[k];
        let free = self.uses[k] == 1;
        let mut own = node.clone();
        for x in &mut own.step.operands {
            if let Operand::Value(x) = x {
                *x = self.at[x.at()];
            }
        }
        match &mut own.step.operation {
            Operation::View { view } => {
                let x = own.step.operands[0].value().ok_or_else(missing)?;
                self.at[k] = match view {
                    ViewKind::Given(view) if self.sinkable[k] => self.sink(x, *view)?,
                    view => self.view(x, view.clone(), &node.shape)?,
                };
                self.free[self.at[k].at()] &= free;
                return Ok(());
            }
            Operation::Reduce {
                reduced,
                keepdims: keepdims @ false,
                ..
            } => {
                *keepdims = true;
                let gone = reduced.clone();
                own.shape = kept(self.to.shape(own.operand()), &gone);
                let layout = Layout::contiguous(&own.shape)?;
                let y = self.push(own, layout, true);
                self.at[k] = self.view(y, ViewKind::Squeeze(gone), &node.shape)?;
                self.free[self.at[k].at()] &= free;
                return Ok(());
            }
            _ => (),
        }
        if own.is_call() && !own.step.operation.takes_any_strides() {
            let contiguous = |x: &Value| self.layouts[x.at()].is_contiguous();
            self.row_major &= own.values().iter().all(contiguous);
        }
        let layout = self.layout_of(&own)?;
        self.at[k] = self.push(own, layout, free);
        Ok(())
    }
    /// The layout of a value that is no view.
    fn layout_of(&self, node: &Node) -> Result<Layout> {
        match node.is_elementwise() {
            true => elementwise(node, &self.layouts),
            false => Layout::contiguous(&node.shape),
        }
    }
    fn push(&mut self, node: Node, layout: Layout, free: bool) -> Value {
        let values = node.values();
        let follows = node.is_elementwise()
            && values.iter().any(|x| {
                let of = &self.to.nodes[x.at()];
                of.shape == node.shape && (of.is_product() || self.follows[x.at()])
            });
        let leaves = |x: &Value| match self.to.nodes[x.at()].is_elementwise() {
            true if self.free[x.at()] => self.leaves[x.at()],
            _ => (1, 0),
        };
        let leaves = values.iter().map(leaves);
        let leaves = leaves.fold((0, 1), |(n, depth), (m, d)| (n + m, depth.max(1 + d)));
        let y = self.to.push_node(node);
        match y.at() == self.layouts.len() {
            true => {
                self.layouts.push(layout);
                self.free.push(free);
                self.follows.push(follows);
                self.leaves.push(leaves);
            }
            false => self.free[y.at()] = false, // an earlier value needed it
        }
        y
    }
    /// A view of a value as it is. If it restores the axes that a reduction has removed, the
    /// reduction that keeps them.
    fn view(&mut self, x: Value, view: ViewKind, shape: &Shape) -> Result<Value> {
        let of = &self.to.nodes[x.at()];
        if let (
            ViewKind::Given(at),
            Operation::View {
                view: ViewKind::Squeeze(_),
            },
        ) = (&view, &of.step.operation)
            && self.to.shape(of.operand()) == &shape[..]
            && self.to.views[*at].form().is_in_order(shape)
        {
            return Ok(of.operand());
        }
        let layout = match &view {
            ViewKind::Given(at) => self.to.views[*at].layout(&self.layouts[x.at()])?,
            ViewKind::New(_) | ViewKind::Squeeze(_) => None,
        };
        let layout = layout.map_or_else(|| Layout::contiguous(shape), Ok)?;
        let dtype = of.dtype;
        let node = Node {
            step: Step {
                operation: Operation::View { view },
                operands: SmallVec::from_slice(&[x.into()]),
            },
            sources: None,
            shape: shape.clone(),
            dtype,
            computed: dtype,
        };
        Ok(self.push(node, layout, true))
    }
    /// The view of a value, moved before the operation that computes it if possible.
    fn sink(&mut self, x: Value, at: usize) -> Result<Value> {
        let view = &self.to.views[at];
        let (form, shape) = (view.form(), view.shape());
        let mut node = self.to.nodes[x.at()].clone();
        let layout = view.layout(&self.layouts[x.at()])?;
        let one = |n: &&usize| **n != 1;
        let moves = node.is_elementwise()
            && self.free[x.at()]
            && !self.follows[x.at()]
            && self.leaves[x.at()].0 <= FEW_VIEWS
            && self.leaves[x.at()].1 <= LONGEST
            && form.is_once(&shape)
            && (self.row_major || node.shape.iter().filter(one).count() < 2);
        let Some(layout) = layout.filter(|_| moves) else {
            return self.view(x, ViewKind::Given(at), &shape);
        };
        for x in &mut node.step.operands {
            if let Operand::Value(x) = x {
                *x = self.before(*x, at, &node.shape)?;
            }
        }
        node.shape = shape;
        let own = self.layout_of(&node)?;
        if !are_ordered_alike(&own, &layout) {
            return self.view(x, ViewKind::Given(at), &node.shape);
        }
        Ok(self.push(node, own, true))
    }
    /// The view of an operand of a value of shape `whole`.
    fn before(&mut self, x: Value, at: usize, whole: &Shape) -> Result<Value> {
        match self.to.shape(x) {
            [] if !whole.is_empty() => Ok(x), // broadcasts to any shape
            shape if shape == &whole[..] => self.sink(x, at),
            _ => {
                let shape = self.to.views[at].shape();
                self.view(x, ViewKind::Given(at), &shape)
            }
        }
    }
}

/// The layout of each value of a graph if its inputs are row-major.
fn layouts(graph: &Graph) -> Result<Vec<Layout>> {
    let mut all: Vec<Layout> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let layout = match &node.step.operation {
            Operation::View {
                view: ViewKind::Given(at),
            } => graph.views[*at].layout(&all[node.operand().at()])?,
            _ if node.is_elementwise() => Some(elementwise(node, &all)?),
            _ => None,
        };
        all.push(layout.map_or_else(|| Layout::contiguous(&node.shape), Ok)?);
    }
    Ok(all)
}
/// The layout of an elementwise value, from those of all values before it.
fn elementwise(node: &Node, all: &[Layout]) -> Result<Layout> {
    let values = node.values();
    let of: SmallVec<[&Layout; 3]> = values.iter().map(|x| &all[x.at()]).collect();
    layout_of(&node.shape, &of, node.step.operation.is_in_place())
}
/// Whether memory has the axes of all operands of an elementwise value in the same order. Otherwise
/// a walk along one operand would run across another, and touch a cache line for each element.
fn agree(graph: &Graph, k: usize, laid: &[Layout]) -> bool {
    let node = &graph.nodes[k];
    let operands = node.values();
    let mut whole = operands
        .iter()
        .map(|x| &laid[x.at()])
        .filter(|x| x.shape() == &node.shape[..]);
    let first = whole.next();
    whole.all(|x| first.is_none_or(|first| are_ordered_alike(first, x)))
}
/// The shape of a reduction that keeps its axes.
fn kept(shape: &[usize], reduced: &[bool]) -> Shape {
    let sizes = shape.iter().zip(reduced);
    sizes.map(|(n, gone)| if *gone { 1 } else { *n }).collect()
}
/// Whether memory has the axes of both in the same order.
fn are_ordered_alike(a: &Layout, b: &Layout) -> bool {
    let axes: SmallVec<[usize; 6]> = (0..a.rank()).filter(|k| a.shape()[*k] != 1).collect();
    axes.iter().all(|j| {
        let order = |x: &Layout, k: usize| {
            let [s, t] = [*j, k].map(|k| x.strides()[k].unsigned_abs());
            s.cmp(&t)
        };
        axes.iter().all(|k| order(a, *k) == order(b, *k))
    })
}
