//! Values of a graph as instructions of one program.

use super::graph::{Graph, Operand, Parameter, What};
use super::step::missing;
use super::walk::{Number, OP, Order, Rounding, Slot, Source, Walk};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::op::Op;
use crate::ops::program::{self, Builder, Var, operand_dtype, result_dtype};
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A program under construction.
pub(super) struct Emitter<'a> {
    graph: &'a Graph,
    rounding: Rounding,
    /// Where values are stored already.
    slots: &'a [Option<Slot>],
    builder: Builder,
    inputs: SmallVec<[usize; 6]>,
    /// The variable of a value, in each dtype that was asked for; the first is its own.
    vars: Vec<(usize, Var)>,
    /// Which entry of the order each value is, and which input.
    sources: Vec<(usize, Source)>,
    order: Order,
    names: Vec<&'static str>,
    numbers: Vec<Number>,
}

impl<'a> Emitter<'a> {
    pub fn new(graph: &'a Graph, rounding: Rounding, slots: &'a [Option<Slot>]) -> Emitter<'a> {
        Emitter {
            graph,
            rounding,
            slots,
            builder: Builder::new(OP),
            inputs: SmallVec::new(),
            vars: Vec::new(),
            sources: Vec::new(),
            order: Order::default(),
            names: Vec::new(),
            numbers: Vec::new(),
        }
    }
    /// The values that a program of `target` computes, operands first.
    pub fn needed(&self, target: usize) -> Vec<usize> {
        let (graph, slots) = (self.graph, self.slots);
        let mut wanted = alloc::vec![false; target + 1];
        wanted[target] = true;
        for k in (0..=target).rev() {
            if wanted[k] && slots[k].is_none() {
                let operands = graph.nodes[k].what.operands();
                operands.iter().for_each(|x| wanted[x.at()] = true);
            }
        }
        let computed = |k: &usize| wanted[*k] && slots[*k].is_none();
        (0..=target).filter(computed).collect()
    }
    /// The program whose outputs are these values, of `longest` operations at most.
    pub fn walk(mut self, targets: &[usize], longest: usize) -> Result<Walk> {
        let mut all: Vec<usize> = targets.iter().flat_map(|k| self.needed(*k)).collect();
        all.sort_unstable();
        all.dedup();
        if all.len() > longest {
            return Err(Error::value(OP, message!("more than {longest} operations")));
        }
        for k in all {
            self.compute(k)?;
        }
        let mut outputs: SmallVec<[DType; 2]> = SmallVec::new();
        let mut taken: SmallVec<[Var; 4]> = SmallVec::new();
        for k in targets {
            let mut y = self.var(*k)?;
            if taken.contains(&y) || !self.is_computed(y) {
                // an output is what an instruction of its own computes
                let row = &rows::Positive::ROW;
                let kernel =
                    (row.lookup)(y.dtype).ok_or_else(|| Error::unsupported(OP, y.dtype))?;
                y = self.builder.apply(row, &kernel, y.dtype, &[y.into()])?;
            }
            taken.push(y);
            outputs.push(y.dtype);
            self.builder.output(y)?;
            if let Some((_, Source::Value(at))) = self.sources.iter().find(|s| s.0 == *k) {
                self.order.outputs.push(*at);
            }
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
        let own = |x: &&(usize, Var)| x.1 == y;
        let value = self.vars.iter().find(own).map(|x| x.0);
        value.is_none_or(|k| self.slots[k].is_none()) && value.is_some()
    }
    /// The variable of a value, which is computed already or read from its slot.
    fn var(&mut self, k: usize) -> Result<Var> {
        if let Some((_, var)) = self.vars.iter().find(|x| x.0 == k) {
            return Ok(*var);
        }
        let slot = self.slots[k].ok_or_else(missing)?;
        let var = self.builder.input(slot.dtype)?;
        self.vars.push((k, var));
        self.sources.push((k, Source::Input(self.inputs.len())));
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
    /// The constant that is a number of the graph's.
    fn number(&mut self, p: &Parameter, seen: DType, kept: DType) -> Result<program::Operand> {
        let value = program::number(p.number, seen, kept, OP)?;
        let (operand, constant) = self.builder.constant(value, kept)?;
        self.numbers.push(Number {
            constant,
            at: p.at,
            seen,
            kept,
        });
        Ok(operand)
    }
    fn compute(&mut self, k: usize) -> Result<()> {
        let node = &self.graph.nodes[k];
        let var = match &node.what {
            What::Convert(x) => {
                self.names.push("astype");
                let x = self.var(x.at())?;
                self.builder.convert(x, node.dtype)?
            }
            What::Apply {
                row,
                dtype,
                operands,
            } => {
                self.names.push(row.op.name());
                let wide = dtype.wide();
                // the neighbours of a 16-bit float are not those of a float32
                let once = self.rounding == Rounding::Once && row.op != Op::Nextafter;
                let dtype = match (row.lookup)(wide) {
                    Some(_) if once => wide,
                    _ => *dtype,
                };
                let kernel = (row.lookup)(dtype).ok_or_else(|| Error::unsupported(OP, dtype))?;
                let mut given: SmallVec<[program::Operand; 3]> = SmallVec::new();
                for (j, x) in operands.iter().enumerate() {
                    let seen = operand_dtype(row.op.rule(), j, dtype);
                    let kept = match seen == dtype && kernel.wide {
                        true => DType::F32,
                        false => seen,
                    };
                    given.push(match x {
                        Operand::Value(x) => self.var_as(x.at(), kept)?.into(),
                        Operand::Number(s) => program::Operand::Number(*s),
                        Operand::Parameter(p) => self.number(p, seen, kept)?,
                    });
                }
                let y = self.builder.apply(row, &kernel, dtype, &given)?;
                debug_assert!(y.dtype == result_dtype(row.op.rule(), dtype));
                y
            }
            _ => return Err(missing()),
        };
        self.vars.push((k, var));
        let operands = node.what.operands();
        let at = |x: &super::graph::Value| self.sources.iter().find(|s| s.0 == x.at()).map(|s| s.1);
        self.order
            .values
            .push(operands.iter().filter_map(at).collect());
        self.sources
            .push((k, Source::Value(self.order.values.len() - 1)));
        Ok(())
    }
}
