//! What nothing needs is left out, and each operand is marked that is needed for the last time.

use super::super::call::{Call, number};
use super::super::plan::{Operand, Plan};
use crate::op::Rule;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn finish(mut plan: Plan) -> Plan {
    super::common::merge(&mut plan);
    needed(&mut plan);
    super::fuse::fuse(&mut plan);
    ordered(plan)
}

/// Leaves out what no output needs.
fn needed(plan: &mut Plan) {
    // from the outputs back: whether a slot is needed
    let mut needed = vec![false; plan.slots];
    mark(&plan.outputs, &mut needed);
    let mut steps = Vec::new();
    while let Some(mut step) = plan.steps.pop() {
        let wanted = |slot: &Option<u32>| slot.is_some_and(|slot| needed[slot as usize]);
        if !step.outputs.iter().any(wanted) {
            continue;
        }
        for slot in &mut step.outputs {
            if !wanted(slot) {
                *slot = None;
            }
        }
        mark(&step.inputs, &mut needed);
        steps.push(step);
    }
    steps.reverse();
    plan.steps = steps;
}

/// The plan as it runs.
pub(super) fn ordered(mut plan: Plan) -> Plan {
    needed(&mut plan);
    plan.steps.iter_mut().for_each(|step| step.note = None);
    plan.origins = Vec::new();
    // from the end again: the first time that a slot is seen is the last that it is needed
    let mut seen = vec![false; plan.slots];
    for at in (0..plan.outputs.len()).rev() {
        if let Operand::Slot(slot) = plan.outputs[at]
            && !core::mem::replace(&mut seen[slot as usize], true)
        {
            plan.outputs[at] = Operand::Last(slot);
        }
    }
    for step in plan.steps.iter_mut().rev() {
        for at in 0..step.inputs.len() {
            let Operand::Slot(slot) = step.inputs[at] else {
                continue;
            };
            let twice = step
                .inputs
                .iter()
                .filter(|i| **i == Operand::Slot(slot))
                .count()
                > 1;
            if core::mem::replace(&mut seen[slot as usize], true) {
                continue;
            }
            match twice {
                true => step.frees.push(slot),
                false => step.inputs[at] = Operand::Last(slot),
            }
        }
    }
    numbers(&mut plan);
    drop_constants(&mut plan);
    plan
}

fn mark(operands: &[Operand], needed: &mut [bool]) {
    for operand in operands {
        if let Operand::Slot(slot) = operand {
            needed[*slot as usize] = true;
        }
    }
}

/// Constants without dimensions become numbers where elementwise operations read them, beside a
/// tensor, which has their dtype.
fn numbers(plan: &mut Plan) {
    for step in &mut plan.steps {
        let Call::Elementwise(op) = step.call else {
            continue;
        };
        let first = usize::from(op.rule() == Rule::Select);
        let is_tensor = |o: &Operand| matches!(o, Operand::Slot(_) | Operand::Last(_));
        if !step.inputs.iter().skip(first).any(is_tensor) {
            continue;
        }
        for operand in step.inputs.iter_mut().skip(first) {
            let Operand::Constant(at) = *operand else {
                continue;
            };
            let t = &plan.constants[at as usize];
            let real = !t.dtype().is_complex() && !t.dtype().is_storage();
            if t.rank() == 0
                && real
                && let Ok(n) = number(t)
            {
                plan.numbers.push(n);
                *operand = Operand::Number(plan.numbers.len() as u32 - 1);
            }
        }
    }
}

/// Constants that only folded nodes read take memory no longer.
fn drop_constants(plan: &mut Plan) {
    let mut to: Vec<Option<u32>> = vec![None; plan.constants.len()];
    let mut kept = Vec::new();
    let operands = plan
        .steps
        .iter_mut()
        .flat_map(|step| step.inputs.iter_mut());
    for operand in operands.chain(&mut plan.outputs) {
        let Operand::Constant(at) = operand else {
            continue;
        };
        let place = to[*at as usize].get_or_insert_with(|| {
            kept.push(core::mem::take(&mut plan.constants[*at as usize]));
            kept.len() as u32 - 1
        });
        *at = *place;
    }
    plan.constants = kept;
}
