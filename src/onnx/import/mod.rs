//! From the messages of a file to a plan.
//!
//! A graph is read once, in the order of its nodes, which ONNX requires to be topological. Names
//! become slots; a node whose operands are all known is computed right away, so shapes that follow
//! from weights, and branches that they decide, are gone when a model runs. Functions of the model
//! are inlined. What nothing needs is left out at the end ([`finish`]).

mod attributes;
mod body;
mod common;
mod finish;
mod fold;
mod fuse;
mod scope;

use super::call::{Call, Node};
use super::plan::{self, Note, Operand, Plan, Step};
use super::proto;
use super::rows::{self, Row, Run};
use super::weights::Weights;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use scope::{Frame, Level};
use smallvec::SmallVec;

/// The name of the module in errors.
const OP: &str = "onnx.load";
/// In errors of a graph's names, which the node at fault is added to.
const GRAPH: &str = "graph";
/// The latest version of ONNX's operator set that the table of operators is made for.
const LATEST: i64 = 28;
/// The most nodes after functions are inlined: more are a mistake or an attack.
const MAX_NODES: usize = 1 << 20;
/// The deepest nesting of functions and bodies.
const MAX_NESTING: usize = 64;

/// An operator that there is no row for, by domain, name and version of the operator set.
type Missing<'a> = (&'a str, &'a str, i64);

pub struct Importer<'a, 'f, 'w> {
    weights: &'w mut Weights<'f>,
    functions: BTreeMap<(&'a str, &'a str, &'a str), &'a proto::Function<'a>>,
    levels: Vec<Level<'a>>,
    /// How often each occurs, and the first node.
    missing: BTreeMap<Missing<'a>, (usize, String)>,
    nodes: usize,
    operators: Operators,
    /// The initializers that calls may override, and their values once they are read.
    overridable: Vec<(&'a str, Option<Tensor>)>,
}

/// How often each operator occurs.
pub type Operators = BTreeMap<&'static str, usize>;

/// What a model is made of, but for what the file says of itself.
pub struct Imported {
    pub plan: Plan,
    pub operators: Operators,
    /// The values of the last inputs, those that calls may override.
    pub defaults: Vec<Tensor>,
}

/// The inputs that a call gives, and those that have a value in the file too.
pub fn inputs<'a>(
    graph: &'a proto::Graph<'a>,
) -> (Vec<&'a proto::ValueInfo<'a>>, Vec<&'a proto::ValueInfo<'a>>) {
    let known: BTreeSet<&str> = graph.initializer.iter().map(|t| t.name).collect();
    let inputs = graph.input.iter();
    inputs.partition(|input| !known.contains(input.name))
}

/// The domain of ONNX's own operators has two names.
fn plain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

impl<'a> Importer<'a, '_, '_> {
    /// The plan of a model with these inputs, the last of which are initializers. Errors if it holds an
    /// operator that no row knows: all of them are named.
    pub fn model(
        model: &'a proto::Model<'a>,
        weights: &mut Weights<'_>,
        inputs: impl Iterator<Item = &'a str>,
        overridable: &[&'a str],
    ) -> Result<Imported> {
        let Some(graph) = &model.graph else {
            return Err(weights.source.wrong("a model without a graph"));
        };
        let functions = model
            .functions
            .iter()
            .map(|f| ((plain(f.domain), f.name, f.overload), f));
        let mut importer = Importer {
            weights,
            functions: functions.collect(),
            levels: Vec::new(),
            missing: BTreeMap::new(),
            nodes: 0,
            operators: BTreeMap::new(),
            overridable: overridable.iter().map(|name| (*name, None)).collect(),
        };
        let opsets = Frame::opsets(&model.opset_import);
        if let Some(version) = opsets.get("").filter(|version| **version > LATEST) {
            let message = message!("operator set {version}: the latest that is known is {LATEST}");
            return Err(importer.weights.source.wrong(message));
        }
        importer.levels.push(Level::new(Frame::new(opsets)));
        let inputs: Vec<&str> = inputs.chain(overridable.iter().copied()).collect();
        importer.graph(graph, &inputs)?;
        importer.report()?;
        let Some(level) = importer.levels.pop() else {
            return Err(Error::value(OP, "no graph"));
        };
        let defaults = importer.overridable.into_iter();
        Ok(Imported {
            plan: finish::finish(level.plan),
            operators: importer.operators,
            defaults: defaults.filter_map(|(_, value)| value).collect(),
        })
    }
    fn report(&self) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let mut list = String::new();
        for ((domain, name, version), (count, first)) in &self.missing {
            let prefix = if domain.is_empty() {
                String::new()
            } else {
                format!("{domain}.")
            };
            let separator = if list.is_empty() { "" } else { "; " };
            let times = if *count == 1 {
                String::new()
            } else {
                format!(", {count} times")
            };
            list += &format!(
                "{separator}{prefix}{name} (operator set {version}{times}, first as {first})"
            );
        }
        Err(Error::value(OP, message!("no such operators: {list}")))
    }
    fn wrong(&self, message: impl Into<alloc::borrow::Cow<'static, str>>) -> Error {
        self.weights.source.wrong(message)
    }

    /// Reads a graph into the level on top: its constants, inputs, nodes and outputs.
    fn graph(&mut self, graph: &'a proto::Graph<'a>, inputs: &[&'a str]) -> Result<()> {
        if !graph.sparse_initializer.is_empty() {
            return Err(self.wrong("sparse initializers are not supported"));
        }
        for name in inputs {
            let slot = self.top().plan_slot();
            self.top().plan.inputs.push(slot);
            self.define(name, Operand::Slot(slot))?;
        }
        for t in &graph.initializer {
            let value = self.weights.tensor(t)?;
            let outermost = self.levels.len() == 1 && self.top().frames.len() == 1;
            if outermost
                && let Some((_, default)) = self
                    .overridable
                    .iter_mut()
                    .find(|(name, _)| *name == t.name)
            {
                *default = Some(value);
                continue;
            }
            let constant = self.top().constant(value)?;
            self.define(t.name, constant)?;
        }
        for node in &graph.node {
            self.node(node)?;
        }
        for output in &graph.output {
            let operand = self.resolve(output.name)?;
            self.top().plan.outputs.push(operand);
        }
        Ok(())
    }
    fn top(&mut self) -> &mut Level<'a> {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn node(&mut self, node: &'a proto::Node<'a>) -> Result<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.wrong(message!("more than {MAX_NODES} nodes")));
        }
        let domain = plain(node.domain);
        if let Some(function) = self
            .functions
            .get(&(domain, node.op_type, node.overload))
            .copied()
        {
            return self.function(node, function);
        }
        let version = self.top().frame().version(domain);
        let row = version.and_then(|version| rows::find(domain, node.op_type, version));
        let Some(row) = row else {
            let label = format!("{:?}", label(node));
            let found = self
                .missing
                .entry((domain, node.op_type, version.unwrap_or(0)));
            found.or_insert((0, label)).0 += 1;
            // the import goes on, to find the others
            for name in node.output.iter().filter(|name| !name.is_empty()) {
                let slot = self.top().plan_slot();
                self.define(name, Operand::Slot(slot))?;
            }
            return Ok(());
        };
        *self.operators.entry(row.name).or_default() += 1;
        self.call(node, row).map_err(|e| match e {
            e @ Error::File { .. } => e,
            e @ (Error::Memory { .. } | Error::Node { .. }) => {
                plan::explain(e, row.name, label(node))
            }
            // of a node of a body
            e @ Error::Value { op: OP, .. } => e,
            e => Error::value(OP, message!("node {:?} ({}): {e}", label(node), row.name)),
        })
    }

    fn call(&mut self, node: &'a proto::Node<'a>, row: &'static Row) -> Result<()> {
        let (least, most) = row.inputs;
        let count = node.input.len();
        let present = |i: usize| node.input.get(i).is_some_and(|name| !name.is_empty());
        let optional = matches!(row.run, Run::Control);
        if !optional
            && (!(0..least as usize).all(present) || (most != u8::MAX && count > most as usize))
        {
            let message = message!(
                "{count} inputs: it takes {least} to {most}, of which the first {least} are needed"
            );
            return Err(Error::value(row.name, message));
        }
        let mut inputs: SmallVec<[Operand; 4]> = SmallVec::new();
        for name in &node.input {
            inputs.push(self.resolve(name)?);
        }
        while inputs.last() == Some(&Operand::Absent) {
            inputs.pop();
        }
        let attributes = self.attributes(node, row)?;
        if optional {
            return self.control(node, row, inputs, attributes);
        }
        let level = self.top();
        let constant = |operand: &Operand| match operand {
            Operand::Constant(at) => level.plan.constants.get(*at as usize),
            _ => None,
        };
        let mut made = Node {
            op: row.name,
            attributes,
            constants: inputs.iter().map(constant).collect(),
            wanted: node.output.iter().map(|name| !name.is_empty()).collect(),
        };
        let call = match row.run {
            Run::Elementwise(op) => Call::Elementwise(op),
            Run::Function(f) => Call::Function(f),
            Run::Make(make) => make(&made)?,
            Run::Control => return Err(Error::value(row.name, "no call")),
        };
        let attributes = core::mem::take(&mut made.attributes);
        drop(made);
        let note = Box::new(Note { row, attributes });
        self.push(node, row.name, call, inputs, Some(note))
    }

    /// Adds a step, or computes it if all operands are known.
    fn push(
        &mut self,
        node: &'a proto::Node<'a>,
        op: &'static str,
        call: Call,
        inputs: SmallVec<[Operand; 4]>,
        note: Option<Box<Note>>,
    ) -> Result<()> {
        // a call that gives too few fails when the model runs
        let values = self.folded(op, &call, &inputs);
        if let Some(values) = values.filter(|v| v.len() >= node.output.len()) {
            let mut first = None;
            for (name, value) in node.output.iter().zip(values) {
                if !name.is_empty() {
                    let constant = self.top().constant(value)?;
                    first = first.or(Some(constant));
                    self.define(name, constant)?;
                }
            }
            if let (Some(Operand::Constant(at)), true) = (first, fuse::ORIGINS.contains(&op)) {
                let step = Step {
                    call,
                    op,
                    inputs,
                    note,
                    ..Step::nothing()
                };
                fallible::push(&mut self.top().plan.origins, (at, step))?;
            }
            return Ok(());
        }
        let mut outputs = SmallVec::new();
        for name in &node.output {
            if name.is_empty() {
                outputs.push(None);
                continue;
            }
            let slot = self.top().plan_slot();
            self.define(name, Operand::Slot(slot))?;
            outputs.push(Some(slot));
        }
        let step = Step {
            call,
            op,
            name: label(node).into(),
            inputs,
            outputs,
            frees: SmallVec::new(),
            note,
        };
        fallible::push(&mut self.top().plan.steps, step)
    }
    /// Inlines a function.
    fn function(
        &mut self,
        node: &'a proto::Node<'a>,
        function: &'a proto::Function<'a>,
    ) -> Result<()> {
        if self.top().frames.len() > MAX_NESTING {
            return Err(self.wrong(message!(
                "functions are nested more than {MAX_NESTING} deep"
            )));
        }
        let mut frame = Frame::new(Frame::opsets(&function.opset_import));
        for (i, name) in function.input.iter().enumerate() {
            let operand = match node.input.get(i) {
                Some(outer) => self.resolve(outer)?,
                None => Operand::Absent,
            };
            frame.names.insert(name, operand);
        }
        // attributes of the call, and defaults, of the function's parameters
        let outer = self.top().frame().attributes.clone();
        for attribute in function.defaults.iter().chain(&node.attribute) {
            let value = match attribute.reference {
                "" => Some(attribute),
                name => outer.get(name).copied(),
            };
            if let Some(value) = value {
                frame.attributes.insert(attribute.name, value);
            }
        }
        self.top().frames.push(frame);
        for inner in &function.node {
            self.node(inner)?;
        }
        let results: Vec<Operand> = function
            .output
            .iter()
            .map(|name| self.resolve(name))
            .collect::<Result<_>>()?;
        self.top().frames.pop();
        for (name, result) in node.output.iter().zip(results) {
            if !name.is_empty() {
                self.define(name, result)?;
            }
        }
        Ok(())
    }
}

/// What a node is called in errors: exporters often leave out its name.
fn label<'a>(node: &proto::Node<'a>) -> &'a str {
    match node.name {
        "" => node.output.first().copied().unwrap_or_default(),
        name => name,
    }
}

/// An error of a name that the file has no value for.
fn unknown(name: &str) -> Error {
    let message = message!(
        "the value {} is used before a node computes it, or by itself",
        Excerpt(&name)
    );
    Error::value(GRAPH, message)
}
