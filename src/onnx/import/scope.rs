//! Names: of a graph and those around it, and of functions that are being inlined.

use super::super::plan::{Operand, Plan};
use super::super::proto;
use super::{Importer, plain, unknown};
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The names of a graph, of a branch that is inlined, or of a function.
pub(super) struct Frame<'a> {
    pub names: BTreeMap<&'a str, Operand>,
    /// The version of each domain's operator set.
    pub opsets: BTreeMap<&'a str, i64>,
    /// The attributes that a function is called with.
    pub attributes: BTreeMap<&'a str, &'a proto::Attribute<'a>>,
    /// Whether the names of the frame below count too.
    pub open: bool,
}

/// A graph that is being read.
pub(super) struct Level<'a> {
    pub frames: Vec<Frame<'a>>,
    pub plan: Plan,
    /// Values of the graph around it, which become further inputs.
    pub captured: Vec<Operand>,
    /// The slots of those inputs.
    pub captures: Vec<u32>,
}

impl<'a> Frame<'a> {
    pub fn new(opsets: BTreeMap<&'a str, i64>) -> Frame<'a> {
        Frame {
            names: BTreeMap::new(),
            opsets,
            attributes: BTreeMap::new(),
            open: false,
        }
    }
    pub fn opsets(list: &[proto::OperatorSet<'a>]) -> BTreeMap<&'a str, i64> {
        list.iter()
            .map(|set| (plain(set.domain), set.version))
            .collect()
    }
    /// The version of a domain; files often leave out onnxruntime's.
    pub fn version(&self, domain: &str) -> Option<i64> {
        let given = self.opsets.get(domain).copied();
        if domain.is_empty() {
            given
        } else {
            given.or(Some(1))
        }
    }
}

impl<'a> Level<'a> {
    pub fn new(frame: Frame<'a>) -> Level<'a> {
        Level {
            frames: alloc::vec![frame],
            plan: Plan::default(),
            captured: Vec::new(),
            captures: Vec::new(),
        }
    }
    pub fn frame(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }
    pub fn plan_slot(&mut self) -> u32 {
        self.plan.slots += 1;
        self.plan.slots as u32 - 1
    }
    pub fn constant(&mut self, value: Tensor) -> Result<Operand> {
        fallible::push(&mut self.plan.constants, value)?;
        Ok(Operand::Constant(self.plan.constants.len() as u32 - 1))
    }
}

impl<'a> Importer<'a, '_, '_> {
    /// Errors if the name is taken.
    pub(super) fn define(&mut self, name: &'a str, operand: Operand) -> Result<()> {
        match self.top().frame().names.insert(name, operand) {
            None => Ok(()),
            Some(_) => Err(Error::value(
                super::GRAPH,
                message!("two values are called {}", Excerpt(&name)),
            )),
        }
    }
    /// The value of a name, in the graph on top.
    pub(super) fn resolve(&mut self, name: &'a str) -> Result<Operand> {
        if name.is_empty() {
            return Ok(Operand::Absent);
        }
        let last = self.levels.len() - 1;
        self.resolve_in(last, name)?.ok_or_else(|| unknown(name))
    }
    fn resolve_in(&mut self, at: usize, name: &'a str) -> Result<Option<Operand>> {
        let level = &self.levels[at];
        for (i, frame) in level.frames.iter().enumerate().rev() {
            if let Some(operand) = frame.names.get(name) {
                return Ok(Some(*operand));
            }
            if i > 0 && !frame.open {
                return Ok(None);
            }
        }
        if at == 0 {
            return Ok(None);
        }
        let Some(outer) = self.resolve_in(at - 1, name)? else {
            return Ok(None);
        };
        let known = match outer {
            Operand::Constant(c) => self.levels[at - 1].plan.constants.get(c as usize).cloned(),
            _ => None,
        };
        let level = &mut self.levels[at];
        let operand = match known {
            Some(value) => level.constant(value)?,
            None => {
                let slot = level.plan_slot();
                fallible::push(&mut level.captured, outer)?;
                fallible::push(&mut level.captures, slot)?;
                Operand::Slot(slot)
            }
        };
        level.frames[0].names.insert(name, operand);
        Ok(Some(operand))
    }
}
