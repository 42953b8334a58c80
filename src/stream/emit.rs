//! Emits values of a graph as the instructions of one program.

use super::chain::{self, Merged};
use super::graph::{Graph, Operand, Parameter, Value};
use super::plan_step::missing;
use super::step::Operation;
use super::walk::{Dependencies, OP, Rounding, StoredValue, ValueSource, Walk, WalkNumber};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::{Row, chains, rows};
use crate::op::Op;
use crate::ops::program::{self, Builder, Var, operand_dtype, result_dtype};
use crate::scalar;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The cost of a product and a sum, in the units of the table of operations.
const PAIR: u8 = 8;

/// A program under construction.
pub(super) struct Emitter<'a> {
    graph: &'a Graph,
    rounding: Rounding,
    /// Where values are stored already, and which are stored in their own dtypes.
    slots: &'a [Option<StoredValue>],
    exact: &'a [bool],
    builder: Builder,
    inputs: SmallVec<[usize; 6]>,
    /// The variable of each value, in every dtype that was asked for; the first is its own.
    vars: Vec<(usize, Var)>,
    /// The source of each value: an input, or an entry of the order.
    sources: Vec<(usize, ValueSource)>,
    order: Dependencies,
    names: Vec<&'static str>,
    numbers: Vec<WalkNumber>,
}

impl<'a> Emitter<'a> {
    pub fn new(
        graph: &'a Graph,
        rounding: Rounding,
        slots: &'a [Option<StoredValue>],
        exact: &'a [bool],
    ) -> Emitter<'a> {
        Emitter {
            graph,
            rounding,
            slots,
            exact,
            builder: Builder::new(OP),
            inputs: SmallVec::new(),
            vars: Vec::new(),
            sources: Vec::new(),
            order: Dependencies::default(),
            names: Vec::new(),
            numbers: Vec::new(),
        }
    }
    /// The values that a program of `targets` computes, operands first.
    pub fn needed(&self, targets: &[usize]) -> Vec<usize> {
        let (mut found, mut next) = (BTreeSet::new(), targets.to_vec());
        while let Some(k) = next.pop() {
            if self.slots[k].is_none() && found.insert(k) {
                let operands = self.graph.nodes[k].values();
                next.extend(operands.into_iter().map(Value::at));
            }
        }
        found.into_iter().collect()
    }
    /// The program whose outputs are these values. Errors if it takes more than `longest`
    /// operations.
    pub fn walk(mut self, targets: &[usize], longest: usize) -> Result<Walk> {
        let all = self.needed(targets);
        if all.len() > longest {
            return Err(Error::value(OP, message!("more than {longest} operations")));
        }
        let merged = chain::merge(self.graph, &all, targets, |k| self.rounds_to(k));
        for (k, merged) in all.iter().zip(&merged) {
            let var = match merged {
                Merged::Within => None,
                Merged::Alone => Some(self.compute(*k)?),
                Merged::Apply(op, operands) => Some(self.apply(*k, *op, operands)?),
                Merged::MultiplyAdd(operands) => Some(self.multiply_add(*k, operands)?),
                Merged::Horner {
                    first,
                    x,
                    coefficients,
                } => Some(self.horner(*k, first, *x, coefficients)?),
            };
            self.note(*k, var)?;
        }
        let mut outputs: SmallVec<[DType; 2]> = SmallVec::new();
        let mut taken: SmallVec<[Var; 4]> = SmallVec::new();
        for k in targets {
            let mut y = match self.exact[*k] {
                true => self.var_as(*k, self.graph.nodes[*k].dtype)?,
                false => self.var(*k)?,
            };
            if taken.contains(&y) || !self.is_computed(y) {
                // an output must be computed by an instruction of its own
                let row = &rows::Positive::ROW;
                let kernel =
                    (row.lookup)(y.dtype).ok_or_else(|| Error::unsupported(OP, y.dtype))?;
                y = self.builder.apply(row, &kernel, y.dtype, &[y.into()])?;
            }
            taken.push(y);
            outputs.push(y.dtype);
            self.builder.output(y)?;
            if let Some((_, source)) = self.sources.iter().find(|s| s.0 == *k) {
                self.order.outputs.push(*source);
            }
        }
        if self.names.is_empty() {
            self.names.push("astype"); // what is stored already, in another dtype
        }
        Ok(Walk {
            code: self.builder.finish()?,
            inputs: self.inputs,
            outputs,
            order: self.order,
            names: self.names,
            numbers: self.numbers,
        })
    }
    fn is_computed(&self, y: Var) -> bool {
        let same = |x: &&(usize, Var)| x.1 == y;
        let value = self.vars.iter().find(same);
        value.is_some_and(|x| self.slots[x.0].is_none_or(|slot| slot.dtype != y.dtype))
    }
    /// The variable of a value: computed already, or read from its slot.
    fn var(&mut self, k: usize) -> Result<Var> {
        if let Some((_, var)) = self.vars.iter().find(|x| x.0 == k) {
            return Ok(*var);
        }
        let slot = self.slots[k].ok_or_else(missing)?;
        let var = self.builder.input(slot.dtype)?;
        self.vars.push((k, var));
        self.sources
            .push((k, ValueSource::Input(self.inputs.len())));
        self.inputs.push(slot.at);
        Ok(var)
    }
    /// The same in another dtype.
    fn var_as(&mut self, k: usize, dtype: DType) -> Result<Var> {
        let own = self.var(k)?;
        let found = self.vars.iter().find(|x| x.0 == k && x.1.dtype == dtype);
        if let Some((_, var)) = found {
            return Ok(*var);
        }
        let var = self.builder.convert(own, dtype)?;
        self.vars.push((k, var));
        Ok(var)
    }
    /// A constant for a parameter of the graph.
    fn number(&mut self, p: &Parameter, kept: DType) -> Result<program::Operand> {
        let value = p.form.value(p.number, kept)?;
        let (operand, constant) = self.builder.constant(value, kept.size())?;
        self.numbers.push(WalkNumber {
            constant,
            lane: 0,
            at: p.at,
            form: p.form,
            kept,
        });
        Ok(operand)
    }
    /// The dtype that an operation is computed in.
    fn computed_in(&self, row: &'static Row, dtype: DType) -> DType {
        let wide = dtype.wide();
        // the neighbours of a 16-bit float are not those of a float32
        let once = self.rounding == Rounding::Once && row.op != Op::Nextafter;
        match (row.lookup)(wide) {
            Some(_) if once => wide,
            _ => dtype,
        }
    }
    /// The same for a value, if its kernel computes in nothing wider.
    fn rounds_to(&self, k: usize) -> Option<DType> {
        let node = &self.graph.nodes[k];
        let Operation::Apply { op, .. } = node.step.operation else {
            return None;
        };
        let row = op.row();
        let dtype = self.computed_in(row, node.computed);
        (row.lookup)(dtype).filter(|kernel| !kernel.wide)?;
        Some(dtype)
    }
    /// An operand of an operation that is computed in `kept`.
    fn operand(&mut self, x: &Operand, kept: DType) -> Result<program::Operand> {
        Ok(match x {
            Operand::Value(x) => self.var_as(x.at(), kept)?.into(),
            Operand::Number(s) => program::Operand::Number(*s),
            Operand::Parameter(p) => self.number(p, kept)?,
        })
    }
    fn compute(&mut self, k: usize) -> Result<Var> {
        let node = &self.graph.nodes[k];
        match node.step.operation {
            Operation::Convert { dtype } => {
                let x = self.var(node.operand().at())?;
                self.builder.convert(x, dtype)
            }
            Operation::Apply { op, .. } => self.apply(k, op, &node.step.operands),
            _ => Err(missing()),
        }
    }
    /// Value `k` as the result of this operation.
    fn apply(&mut self, k: usize, op: Op, operands: &[Operand]) -> Result<Var> {
        let row = op.row();
        let dtype = self.computed_in(row, self.graph.nodes[k].computed);
        let kernel = (row.lookup)(dtype).ok_or_else(|| Error::unsupported(OP, dtype))?;
        let mut given: SmallVec<[program::Operand; 3]> = SmallVec::new();
        for (j, x) in operands.iter().enumerate() {
            let seen = operand_dtype(row.op.rule(), j, dtype);
            let kept = match seen == dtype && kernel.wide {
                true => DType::F32,
                false => seen,
            };
            given.push(self.operand(x, kept)?);
        }
        let y = self.builder.apply(row, &kernel, dtype, &given)?;
        debug_assert!(y.dtype == result_dtype(row.op.rule(), dtype));
        Ok(y)
    }
    fn multiply_add(&mut self, k: usize, [a, b, c]: &[Operand; 3]) -> Result<Var> {
        let dtype = self.rounds_to(k).ok_or_else(missing)?;
        let f = chains::multiply_add(dtype).ok_or_else(missing)?;
        let a = self.operand(a, dtype)?;
        let b = self.operand(b, dtype)?;
        let c = self.operand(c, dtype)?;
        self.builder.chain(f, PAIR, dtype, [a, b, c])
    }
    fn horner(&mut self, k: usize, first: &Operand, x: Value, c: &[Operand]) -> Result<Var> {
        let dtype = self.rounds_to(k).ok_or_else(missing)?;
        let f = chains::horner(dtype, c.len()).ok_or_else(missing)?;
        let first = self.operand(first, dtype)?;
        let x = self.var_as(x.at(), dtype)?;
        let cost = PAIR.saturating_mul(c.len() as u8);
        let mut all = scalar::ElementBytes::of(0u8);
        let mut later: SmallVec<[(usize, &Parameter); 4]> = SmallVec::new();
        for (lane, c) in c.iter().enumerate() {
            let value = match c {
                Operand::Value(_) => return Err(missing()),
                Operand::Number(s) => s.value(dtype, OP)?,
                Operand::Parameter(p) => {
                    later.push((lane, p));
                    p.form.value(p.number, dtype)?
                }
            };
            all.set_lane(lane, &value, dtype.size());
        }
        let (c, constant) = self
            .builder
            .constant(all, size_of::<scalar::ElementBytes>())?;
        for (lane, p) in later {
            self.numbers.push(WalkNumber {
                constant,
                lane,
                at: p.at,
                form: p.form,
                kept: dtype,
            });
        }
        self.builder.chain(f, cost, dtype, [first, x.into(), c])
    }
    /// Records a value, its variable if it has one, and the sources of its operands.
    fn note(&mut self, k: usize, var: Option<Var>) -> Result<()> {
        let node = &self.graph.nodes[k];
        self.names.push(node.step.operation.name());
        if let Some(var) = var {
            self.vars.push((k, var));
        }
        let operands = node.values();
        for x in &operands {
            if self.slots[x.at()].is_some() {
                self.var(x.at())?; // a source, even if a later instruction reads it
            }
        }
        let at = |x: &Value| self.sources.iter().find(|s| s.0 == x.at()).map(|s| s.1);
        let operands = operands.iter().filter_map(at).collect();
        self.order
            .values
            .push((operands, node.step.operation.is_in_place()));
        let value = ValueSource::Value(self.order.values.len() - 1);
        self.sources.push((k, value));
        Ok(())
    }
}
