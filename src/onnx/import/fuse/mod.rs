//! Patterns of steps that one call computes, such as the attention that exporters write as products
//! and a softmax.
//!
//! A row of a table has a pattern ([`pattern`]) and makes the call. Rows are tried in their order,
//! each on all steps, so that later ones find the calls of earlier ones. A pattern is replaced only
//! if nothing else needs what is computed inside it. Shapes and dtypes are known only when a model
//! runs: a call that depends on them may decline or fail then, and the steps that it replaces, which
//! it keeps, run instead.

mod activation;
mod attention;
mod layer;
mod norm;
mod pattern;
#[cfg(feature = "quant")]
mod quantized;
mod rotary;

use super::super::call::{Call, Control, Inputs, Node, Outputs, Watch};
use super::super::plan::{Note, Operand, Plan, Step};
use super::finish;
use crate::error::{Error, Result};
use crate::fallible;
use crate::op::Op;
use crate::ops::Arg;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use pattern::{Found, Pattern, Tables};
use smallvec::{SmallVec, smallvec};

/// A pattern, and what computes it.
struct Row {
    pattern: &'static str,
    make: Make,
}
#[derive(Clone, Copy)]
enum Make {
    /// An operation on `x`, with the operator's name.
    Elementwise(&'static str, Op),
    /// `None` if some detail that the pattern leaves open doesn't fit.
    By(fn(&Found) -> Result<Option<Made>>),
}
const fn by(pattern: &'static str, make: fn(&Found) -> Result<Option<Made>>) -> Row {
    Row {
        pattern,
        make: Make::By(make),
    }
}

const TABLES: &[&[Row]] = &[
    activation::ROWS,
    norm::ROWS,
    rotary::ROWS,
    attention::ROWS,
    #[cfg(feature = "quant")]
    quantized::ROWS,
    layer::ROWS,
];

/// Operators that patterns see of weights which they have computed when the model was loaded.
pub(super) const ORIGINS: &[&str] = &["DequantizeLinear", "Cast", "Mul", "Transpose"];

/// A call that knows of shapes and dtypes only when it runs: `None` if it isn't for these.
type Fast = dyn for<'a> Fn(&Inputs<'a>) -> Result<Option<Tensor>> + Send + Sync;

/// The step in place of others.
struct Made {
    op: &'static str,
    inputs: SmallVec<[Input; 4]>,
    run: Suits,
    /// For further rows.
    note: Option<Box<Note>>,
}
enum Input {
    Of(Operand),
    New(Tensor),
}
enum Suits {
    Always(Call),
    /// Where this one fits, the replaced steps otherwise.
    Where(Box<Fast>),
}

impl Made {
    /// A call for these values, of any shapes and dtypes.
    fn always(op: &'static str, inputs: &[Operand], call: Call) -> Made {
        Made {
            op,
            inputs: inputs.iter().map(|i| Input::Of(*i)).collect(),
            run: Suits::Always(call),
            note: None,
        }
    }
    /// A call for these values, where their shapes and dtypes fit.
    fn suited(
        op: &'static str,
        inputs: &[Operand],
        f: impl for<'a> Fn(&Inputs<'a>) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Made {
        Made {
            op,
            inputs: inputs.iter().map(|i| Input::Of(*i)).collect(),
            run: Suits::Where(Box::new(f)),
            note: None,
        }
    }
}

/// A node of a step's operator and attributes.
fn node<'a>(step: &Step) -> Option<Node<'a>> {
    let note = step.note.as_ref()?;
    Some(Node {
        op: note.row.name,
        attributes: note.attributes.clone(),
        constants: SmallVec::new(),
        wanted: smallvec![true],
    })
}

/// Replaces patterns. Steps that others replace keep no outputs, so that they are left out. Without
/// memory for it, the plan stays as it is.
pub(super) fn fuse(plan: &mut Plan) {
    if plan.steps.len() < 2 {
        return;
    }
    let mut tables = Tables {
        maker: vec![None; plan.slots],
        uses: vec![0; plan.slots],
    };
    for (at, step) in plan.steps.iter().enumerate() {
        for slot in step.outputs.iter().flatten() {
            tables.maker[*slot as usize] = Some(at);
        }
    }
    let read = plan.steps.iter().flat_map(|step| &step.inputs);
    for operand in read.chain(&plan.outputs) {
        if let Operand::Slot(slot) = operand {
            tables.uses[*slot as usize] += 1;
        }
    }
    for row in TABLES.iter().flat_map(|table| table.iter()) {
        let Some(pattern) = pattern::parse(row.pattern) else {
            debug_assert!(false, "no pattern: {}", row.pattern);
            continue;
        };
        for at in 0..plan.steps.len() {
            if pattern.ends_with(plan.steps[at].op)
                && let Some((made, steps)) = found(plan, &tables, row, &pattern, at)
                && replace(plan, &mut tables, at, steps, made).is_err()
            {
                return;
            }
        }
    }
}

/// What computes the pattern that ends with this step, and the steps of that.
fn found(
    plan: &Plan,
    tables: &Tables,
    row: &Row,
    pattern: &Pattern<'static>,
    at: usize,
) -> Option<(Made, Vec<usize>)> {
    for found in Found::all(plan, tables, pattern, at) {
        let Some(shared) = found.shared() else {
            continue;
        };
        let made = match row.make {
            Make::By(make) => make(&found).ok().flatten(),
            Make::Elementwise(name, op) => found
                .operand("x")
                .map(|x| Made::always(name, &[x], Call::Elementwise(op))),
        };
        if let Some(made) = made
            && (shared.is_empty() || matches!(made.run, Suits::Always(_)))
        {
            let own = found.steps.iter().filter(|at| !shared.contains(at));
            return Some((made, own.copied().collect()));
        }
    }
    None
}

fn replace(
    plan: &mut Plan,
    tables: &mut Tables,
    last: usize,
    mut steps: Vec<usize>,
    made: Made,
) -> Result<()> {
    steps.sort_unstable();
    let mut inputs = SmallVec::new();
    for input in made.inputs {
        inputs.push(match input {
            Input::Of(operand) => operand,
            Input::New(t) => {
                fallible::push(&mut plan.constants, t)?;
                Operand::Constant(plan.constants.len() as u32 - 1)
            }
        });
    }
    let outputs = plan.steps[last].outputs.clone();
    // errors name the node whose operator stays, or else the last
    let same = steps.iter().find(|at| plan.steps[**at].op == made.op);
    let name = plan.steps[*same.unwrap_or(&last)].name.clone();
    for step in &steps {
        for operand in &plan.steps[*step].inputs {
            if let Operand::Slot(slot) = operand {
                tables.uses[*slot as usize] -= 1;
            }
        }
    }
    let call = match made.run {
        Suits::Always(call) => {
            for step in &steps {
                plan.steps[*step].outputs.clear();
                plan.steps[*step].inputs.clear();
            }
            call
        }
        Suits::Where(fast) => {
            let plain = apart(plan, &steps, outputs[0], &mut inputs)?;
            Call::Control(Box::new(Fused { fast, plain }))
        }
    };
    for operand in &inputs {
        if let Operand::Slot(slot) = operand {
            tables.uses[*slot as usize] += 1;
        }
    }
    plan.steps[last] = Step {
        call,
        op: made.op,
        name,
        inputs,
        outputs,
        frees: SmallVec::new(),
        note: made.note,
    };
    Ok(())
}

/// The replaced steps as a plan of their own, and which operands of the step in their place are its
/// inputs. What they read besides becomes further operands.
fn apart(
    plan: &mut Plan,
    steps: &[usize],
    result: Option<u32>,
    operands: &mut SmallVec<[Operand; 4]>,
) -> Result<(Plan, Vec<usize>)> {
    let (mut own, mut inputs) = (Plan::default(), Vec::new());
    // the slots of the new plan by those of the old one
    let mut slots: Vec<(u32, u32)> = Vec::new();
    for at in steps {
        let mut step = core::mem::replace(&mut plan.steps[*at], Step::nothing());
        for operand in &mut step.inputs {
            *operand = match *operand {
                Operand::Constant(at) => {
                    let value = plan.constants[at as usize].clone();
                    fallible::push(&mut own.constants, value)?;
                    Operand::Constant(own.constants.len() as u32 - 1)
                }
                Operand::Slot(slot) => {
                    let known = slots.iter().find(|(old, _)| *old == slot);
                    Operand::Slot(match known {
                        Some((_, new)) => *new,
                        None => {
                            let outer = Operand::Slot(slot);
                            let place = operands.iter().position(|o| *o == outer);
                            inputs.push(place.unwrap_or(operands.len()));
                            if place.is_none() {
                                operands.push(outer);
                            }
                            own.inputs.push(own.slots as u32);
                            add(&mut own, &mut slots, slot)
                        }
                    })
                }
                other => other,
            };
        }
        for slot in step.outputs.iter_mut().flatten() {
            *slot = add(&mut own, &mut slots, *slot);
        }
        fallible::push(&mut own.steps, step)?;
    }
    let result = slots.iter().find(|(old, _)| Some(*old) == result);
    own.outputs
        .push(result.map_or(Operand::Absent, |(_, new)| Operand::Slot(*new)));
    Ok((finish::ordered(own), inputs))
}
fn add(own: &mut Plan, slots: &mut Vec<(u32, u32)>, slot: u32) -> u32 {
    let new = own.slots as u32;
    own.slots += 1;
    slots.push((slot, new));
    new
}

/// A call that may decline, and the steps that it replaces, with the operands that they read.
struct Fused {
    fast: Box<Fast>,
    plain: (Plan, Vec<usize>),
}
impl Control for Fused {
    fn run(&self, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs> {
        match (self.fast)(x) {
            Ok(Some(y)) => return Ok(SmallVec::from_buf([y])),
            Err(e @ Error::Memory { .. }) => return Err(e),
            // an error is the plain steps' to give, which says what is wrong with which node
            Ok(None) | Err(_) => {}
        }
        let (plan, places) = &self.plain;
        let inputs = places
            .iter()
            .map(|i| match x.0.get_mut(*i).and_then(Option::take) {
                Some(Arg::Own(t)) => t,
                Some(Arg::Ref(t)) => t.clone(),
                _ => Tensor::default(),
            });
        plan.run(inputs, watch).map(SmallVec::from_vec)
    }
}
