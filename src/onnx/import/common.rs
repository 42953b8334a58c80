//! Common subexpressions: what two nodes compute alike is computed once.

use super::super::call::Value;
use super::super::plan::{Note, Operand, Plan};
use super::fold::is_random;
use crate::dtype::DType;
use crate::fallible;
use crate::tensor::Tensor;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Larger constants are compared by no one.
const FEW: usize = 64;

pub(super) fn merge(plan: &mut Plan) {
    let constants = same_constants(plan);
    let mut to: Vec<Operand> = (0..plan.slots as u32).map(Operand::Slot).collect();
    let mut known: BTreeMap<(&str, SmallVec<[Operand; 4]>), Vec<usize>> = BTreeMap::new();
    for at in 0..plan.steps.len() {
        for operand in &mut plan.steps[at].inputs {
            *operand = renamed(*operand, &to, &constants);
        }
        let step = &plan.steps[at];
        let Some(note) = step.note.as_ref().filter(|_| !is_random(step.op)) else {
            continue;
        };
        let like = known.entry((step.op, step.inputs.clone())).or_default();
        let gives = |first: &usize| {
            let outputs = &plan.steps[*first].outputs;
            let all = step.outputs.iter().enumerate();
            all.fold(true, |all, (i, o)| {
                all && (o.is_none() || outputs.get(i).is_some_and(Option::is_some))
            })
        };
        let first = like.iter().copied().find(|first| {
            let other = plan.steps[*first].note.as_ref();
            other.is_some_and(|other| same(note, other)) && gives(first)
        });
        let Some(first) = first else {
            like.push(at);
            continue;
        };
        let pairs = step.outputs.iter().zip(&plan.steps[first].outputs);
        for (own, other) in pairs {
            if let (Some(own), Some(other)) = (own, other) {
                to[*own as usize] = Operand::Slot(*other);
            }
        }
        plan.steps[at].outputs.clear();
    }
    for operand in &mut plan.outputs {
        *operand = renamed(*operand, &to, &constants);
    }
}

fn renamed(operand: Operand, slots: &[Operand], constants: &[u32]) -> Operand {
    match operand {
        Operand::Slot(slot) => slots[slot as usize],
        Operand::Constant(at) => Operand::Constant(constants[at as usize]),
        other => other,
    }
}

/// For each constant the first one with the same elements, if these are few.
fn same_constants(plan: &Plan) -> Vec<u32> {
    type Key = (u8, SmallVec<[usize; 6]>, Vec<u8>);
    let mut known: BTreeMap<Key, u32> = BTreeMap::new();
    let key = |t: &Tensor| -> Option<Key> {
        if t.len() > FEW {
            return None;
        }
        let dtype = DType::ALL.iter().position(|d| *d == t.dtype())?;
        let whole = t.contiguous().ok()?;
        let bytes = fallible::copy(whole.as_bytes()).ok()?;
        Some((dtype as u8, t.shape().iter().copied().collect(), bytes))
    };
    let of = |(at, t): (usize, &Tensor)| match key(t) {
        Some(key) => *known.entry(key).or_insert(at as u32),
        None => at as u32,
    };
    plan.constants.iter().enumerate().map(of).collect()
}

fn same(a: &Note, b: &Note) -> bool {
    let pairs = || a.attributes.iter().zip(&b.attributes);
    core::ptr::eq(a.row, b.row)
        && a.attributes.len() == b.attributes.len()
        && pairs().all(|(a, b)| a.0 == b.0 && equal(&a.1, &b.1))
}
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Ints(a), Value::Ints(b)) => a == b,
        (Value::Floats(a), Value::Floats(b)) => {
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            bits(a) == bits(b)
        }
        (Value::Texts(a), Value::Texts(b)) => a == b,
        _ => false,
    }
}
