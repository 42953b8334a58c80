//! What nothing needs is left out, and each operand is marked that is needed for the last time.

use super::super::plan::{Operand, Plan};
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn finish(mut plan: Plan) -> Plan {
    super::fuse::fuse(&mut plan);
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
