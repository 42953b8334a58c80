//! Views before operations: an elementwise operation whose result is only viewed is one on views of
//! its operands. So the program that reads the view computes it, and what no view has is never computed.
//!
//! A view is moved where
//! - only elementwise operations read it (whoever else gets it as it is one by one: strides decide bits),
//! - nobody needs what it is of, and each element once at most, and
//! - the results lie as they do one by one. So it is to be known how inputs lie: row by row. What lies along
//!   one axis lies alike in any case,
//! - whoever reads it goes along it in memory as along its other operands, and
//! - it is of few values, for each of which there is a view then.
//!
//! What follows a product is computed on blocks of it and is not moved. A reduction keeps its axes, and a
//! view takes them away: with the view that puts them back, both fall away.

use super::costs::{FEW_VIEWS, LONGEST};
use super::graph::{Graph, Operand, Value, What, Whole};
use super::view::By;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Shape};
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The graph with views before what is computed, and the values that these are there.
pub(super) fn sink(
    graph: &Graph,
    outputs: &[Value],
    row_major: bool,
) -> Result<(Graph, Vec<Value>)> {
    let mut s = Sinker::new(graph, outputs, row_major)?;
    for k in 0..graph.nodes.len() {
        if s.uses[k] > 0 || matches!(graph.nodes[k].what, What::Input(_)) {
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
    /// How many values, or outputs, need a value.
    uses: Vec<usize>,
    /// Whether it is a view that elementwise operations alone read.
    within: Vec<bool>,
    /// Where values are in the new graph.
    at: Vec<Value>,
    /// Of the values there: how they lie if inputs are row-major, whether nobody but the one who asks needs it,
    /// and whether it is computed on blocks of a product.
    lies: Vec<Layout>,
    free: Vec<bool>,
    follows: Vec<bool>,
    /// How many values would be viewed in the place of an elementwise one, and how many operations would be on views,
    /// one on the other.
    leaves: Vec<(usize, usize)>,
}

impl<'a> Sinker<'a> {
    fn new(graph: &'a Graph, outputs: &[Value], row_major: bool) -> Result<Sinker<'a>> {
        let n = graph.nodes.len();
        let laid = layouts(graph)?;
        let (mut uses, mut within) = (alloc::vec![0; n], alloc::vec![true; n]);
        for x in outputs {
            // as if two needed it: nothing that is moved
            (uses[x.at()], within[x.at()]) = (2, false);
        }
        for (k, node) in graph.nodes.iter().enumerate().rev() {
            if uses[k] == 0 {
                continue;
            }
            let is_view = matches!(node.what, What::View { .. });
            within[k] &= is_view;
            let reads = match node.what.is_elementwise() {
                true => agree(graph, k, &laid),
                false => within[k],
            };
            let operands = node.what.operands();
            for (j, x) in operands.iter().enumerate() {
                uses[x.at()] += !operands[..j].contains(x) as usize;
                within[x.at()] &= reads;
            }
        }
        let to = Graph {
            inputs: graph.inputs,
            numbers: graph.numbers.clone(),
            views: graph.views.clone(),
            nodes: Vec::with_capacity(n),
        };
        Ok(Sinker {
            from: graph,
            to,
            row_major,
            uses,
            within,
            at: alloc::vec![Value(0); n],
            lies: Vec::new(),
            free: Vec::new(),
            follows: Vec::new(),
            leaves: Vec::new(),
        })
    }
    /// Adds value `k` of the graph.
    fn add(&mut self, k: usize) -> Result<()> {
        let node = &self.from.nodes[k];
        let at = |x: &Value| self.at[x.at()];
        let operand = |x: &Operand| match x {
            Operand::Value(x) => Operand::Value(self.at[x.at()]),
            number => *number,
        };
        let free = self.uses[k] == 1;
        let what = match &node.what {
            What::View { x, by } => {
                let x = at(x);
                self.at[k] = match by {
                    By::Given(view) if self.within[k] => self.sink(x, *view)?,
                    by => self.view(x, by.clone(), &node.shape)?,
                };
                self.free[self.at[k].at()] &= free;
                return Ok(());
            }
            What::Reduce {
                kind,
                x,
                reduced,
                keepdims: false,
            } => {
                let x = at(x);
                let shape = kept(self.to.shape(x), reduced);
                let lies = Layout::contiguous(&shape)?;
                let what = What::Reduce {
                    kind: *kind,
                    x,
                    reduced: reduced.clone(),
                    keepdims: true,
                };
                let y = self.push(what, shape, node.dtype, lies, true);
                self.at[k] = self.view(y, By::Squeeze(reduced.clone()), &node.shape)?;
                self.free[self.at[k].at()] &= free;
                return Ok(());
            }
            What::Input(_) => node.what.clone(),
            What::Apply {
                row,
                dtype,
                operands,
            } => What::Apply {
                row,
                dtype: *dtype,
                operands: operands.iter().map(operand).collect(),
            },
            What::Convert(x) => What::Convert(at(x)),
            What::Reduce {
                kind,
                x,
                reduced,
                keepdims,
            } => What::Reduce {
                kind: *kind,
                x: at(x),
                reduced: reduced.clone(),
                keepdims: *keepdims,
            },
            What::Call { name, f, operands } => What::Call {
                name,
                f: f.clone(),
                operands: operands.iter().map(at).collect(),
            },
        };
        // a convolution's result may lie as the image does
        if let What::Call { operands, .. } = &what
            && !matches!(
                what,
                What::Call {
                    name: "matmul" | "linear",
                    ..
                }
            )
        {
            let lies = |x: &Value| self.lies[x.at()].is_contiguous();
            self.row_major &= operands.iter().all(lies);
        }
        let lies = self.lies_of(&what, &node.shape)?;
        self.at[k] = self.push(what, node.shape.clone(), node.dtype, lies, free);
        Ok(())
    }
    /// How a value would lie that is no view.
    fn lies_of(&self, what: &What, shape: &Shape) -> Result<Layout> {
        match what.is_elementwise() {
            true => {
                let operands = what.operands();
                Layout::of_result(shape, operands.iter().map(|x| &self.lies[x.at()]))
            }
            false => Layout::contiguous(shape),
        }
    }
    fn push(&mut self, what: What, shape: Shape, dtype: DType, lies: Layout, free: bool) -> Value {
        let follows = what.is_elementwise()
            && what.operands().iter().any(|x| {
                let of = &self.to.nodes[x.at()];
                let is_product = matches!(
                    of.what,
                    What::Call {
                        f: Whole::Product(_),
                        ..
                    }
                );
                of.shape == shape && (is_product || self.follows[x.at()])
            });
        let operands = what.operands();
        let leaves = |x: &Value| match self.to.nodes[x.at()].what.is_elementwise() {
            true if self.free[x.at()] => self.leaves[x.at()],
            _ => (1, 0),
        };
        let leaves = operands.iter().map(leaves);
        let leaves = leaves.fold((0, 1), |(n, depth), (m, d)| (n + m, depth.max(1 + d)));
        let y = self.to.push(what, shape, dtype);
        match y.at() == self.lies.len() {
            true => {
                self.lies.push(lies);
                self.free.push(free);
                self.follows.push(follows);
                self.leaves.push(leaves);
            }
            false => self.free[y.at()] = false, // somebody needed it before
        }
        y
    }
    /// A view of a value as it is; where that is a reduction without the axes that the view puts back, the
    /// reduction.
    fn view(&mut self, x: Value, by: By, shape: &Shape) -> Result<Value> {
        if let (
            By::Given(at),
            What::View {
                x: whole,
                by: By::Squeeze(_),
            },
        ) = (&by, &self.to.nodes[x.at()].what)
            && self.to.shape(*whole) == &shape[..]
        {
            let view = &self.to.views[*at];
            if view.form().is_in_order(shape) {
                return Ok(*whole);
            }
        }
        let lies = match &by {
            By::Given(at) => self.to.views[*at].layout(&self.lies[x.at()])?,
            By::Squeeze(_) => None,
        };
        let lies = lies.map_or_else(|| Layout::contiguous(shape), Ok)?;
        let dtype = self.to.dtype(x);
        Ok(self.push(What::View { x, by }, shape.clone(), dtype, lies, true))
    }
    /// That view of a value, before the operation that computes it where that can be.
    fn sink(&mut self, x: Value, at: usize) -> Result<Value> {
        let view = &self.to.views[at];
        let (form, shape) = (view.form(), view.shape());
        let node = self.to.nodes[x.at()].clone();
        let lies = view.layout(&self.lies[x.at()])?;
        let one = |n: &&usize| **n != 1;
        let moves = node.what.is_elementwise()
            && self.free[x.at()]
            && !self.follows[x.at()]
            && self.leaves[x.at()].0 <= FEW_VIEWS
            && self.leaves[x.at()].1 <= LONGEST
            && form.is_once(&shape)
            && (self.row_major || node.shape.iter().filter(one).count() < 2);
        let Some(lies) = lies.filter(|_| moves) else {
            return self.view(x, By::Given(at), &shape);
        };
        let what = match &node.what {
            What::Apply {
                row,
                dtype,
                operands,
            } => {
                let mut moved: SmallVec<[Operand; 3]> = SmallVec::new();
                for x in operands {
                    moved.push(match x {
                        Operand::Value(x) => self.before(*x, at, &node.shape)?.into(),
                        number => *number,
                    });
                }
                What::Apply {
                    row,
                    dtype: *dtype,
                    operands: moved,
                }
            }
            What::Convert(x) => What::Convert(self.before(*x, at, &node.shape)?),
            _ => node.what.clone(),
        };
        let own = self.lies_of(&what, &shape)?;
        if !are_ordered_alike(&own, &lies) {
            return self.view(x, By::Given(at), &shape);
        }
        Ok(self.push(what, shape, node.dtype, own, true))
    }
    /// The view of an operand of a value of this shape.
    fn before(&mut self, x: Value, at: usize, whole: &Shape) -> Result<Value> {
        match self.to.shape(x) {
            [] if !whole.is_empty() => Ok(x), // it is repeated in any shape
            shape if shape == &whole[..] => self.sink(x, at),
            _ => {
                let shape = self.to.views[at].shape();
                self.view(x, By::Given(at), &shape)
            }
        }
    }
}

/// How each value of a graph lies if its inputs are row-major.
fn layouts(graph: &Graph) -> Result<Vec<Layout>> {
    let mut all: Vec<Layout> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let layout = match &node.what {
            What::View {
                x,
                by: By::Given(at),
            } => graph.views[*at].layout(&all[x.at()])?,
            what if what.is_elementwise() => {
                let operands = what.operands();
                let of = operands.iter().map(|x| &all[x.at()]);
                Some(Layout::of_result(&node.shape, of)?)
            }
            _ => None,
        };
        all.push(layout.map_or_else(|| Layout::contiguous(&node.shape), Ok)?);
    }
    Ok(all)
}
/// Whether memory has the axes of all operands of an elementwise value in one order: a walk along that of one would
/// be across that of another, each element in a cache line of its own.
fn agree(graph: &Graph, k: usize, laid: &[Layout]) -> bool {
    let node = &graph.nodes[k];
    let operands = node.what.operands();
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
/// Whether memory has the axes in the same order.
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
