//! Elementwise programs, and how they are built. A program computes variables one after the other:
//! inputs, constants, and what instructions make of them; some are its outputs. What an instruction
//! means is its loop's business.

use super::nest::MAX_OPERANDS;
use crate::error::{Error, Result};
use crate::scalar::Value;
use crate::simd::LoopFn;
use smallvec::SmallVec;

/// Slots of one program.
pub const MAX_SLOTS: usize = 48;
/// Instructions of one program.
pub const MAX_CODE: usize = 64;

/// What an instruction does, whatever it does it to.
#[derive(Clone, Copy)]
pub struct Opcode {
    /// The loop.
    pub f: LoopFn,
    /// Number of operands, at most 3.
    pub arity: u8,
    /// Elements that the loop sees for one of ours: 2 for complex numbers treated as pairs.
    pub components: u8,
    /// Bit m: the loop takes scalar mask m (contract LOOP1).
    pub scalar_masks: u8,
    /// Operations an element, for [`Cost`](crate::par::Cost).
    pub cost: u8,
}

impl Opcode {
    /// A loop of one operand, whose elements are the program's; `scalar_masks` and `cost` as the
    /// fields of that name.
    pub fn unary(f: LoopFn, scalar_masks: u8, cost: u8) -> Opcode {
        Opcode {
            f,
            arity: 1,
            components: 1,
            scalar_masks,
            cost,
        }
    }
}

/// `dst = op(src[0], src[1], src[2])`.
#[derive(Clone, Copy)]
pub(super) struct Instr {
    pub op: Opcode,
    pub dst: u8,
    /// `arity` operands; the rest repeat the first.
    pub src: [u8; 3],
}

/// A program. Its slots are numbered: inputs, outputs, constants, temporaries.
#[derive(Clone)]
pub struct Program {
    /// Bytes of an element of each input, then of each output.
    pub(super) sizes: SmallVec<[u8; 4]>,
    /// How many of these are inputs.
    pub(super) inputs: usize,
    /// One value each, and its bytes.
    pub(super) constants: SmallVec<[(Value, u8); 2]>,
    pub(super) temporaries: usize,
    /// Bytes of an element of the widest temporary; at least 1.
    pub(super) temporary_size: usize,
    /// The instructions, in order; each output slot is written by one, before it is read.
    pub(super) code: SmallVec<[Instr; 3]>,
}

impl Program {
    /// The program of one instruction: its operands are the inputs, of elements of so many bytes.
    pub fn of(op: Opcode, inputs: &[usize], output: usize) -> Result<Program> {
        let mut b = Builder::new("program");
        let inputs: Result<SmallVec<[Var; 3]>> = inputs.iter().map(|size| b.input(*size)).collect();
        let y = b.compute(op, &inputs?, output)?;
        b.output(y)?;
        b.finish()
    }
    /// Operations an element.
    pub(super) fn flops(&self) -> usize {
        self.code.iter().map(|c| c.op.cost as usize).sum()
    }
}

/// A variable of a program that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(u8);

#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Input,
    Constant,
    Computed,
}

/// A program under construction. Temporaries share slots where one is read for the last time before
/// the other is written.
///
/// Errors, of `op`, are those of a program that is too large or no program: more operands,
/// instructions or slots than there may be, an output that no instruction computes.
pub struct Builder {
    op: &'static str,
    /// Where each variable comes from, and the bytes of its elements.
    vars: SmallVec<[(Origin, u8); 8]>,
    constants: SmallVec<[(Value, u8); 2]>,
    code: SmallVec<[Instr; 3]>,
    outputs: SmallVec<[Var; 2]>,
}

impl Builder {
    /// No program yet, for the operation of this name.
    pub fn new(op: &'static str) -> Builder {
        Builder {
            op,
            vars: SmallVec::new(),
            constants: SmallVec::new(),
            code: SmallVec::new(),
            outputs: SmallVec::new(),
        }
    }
    /// The next input, of elements of `size` bytes.
    pub fn input(&mut self, size: usize) -> Result<Var> {
        self.var(Origin::Input, size)
    }
    /// One value of `size` bytes for all elements.
    pub fn constant(&mut self, value: Value, size: usize) -> Result<Var> {
        self.constants.push((value, size as u8));
        self.var(Origin::Constant, size)
    }
    /// What an instruction computes, elements of `size` bytes.
    pub fn compute(&mut self, op: Opcode, src: &[Var], size: usize) -> Result<Var> {
        if self.code.len() == MAX_CODE {
            return Err(too_large(self.op, "instructions", MAX_CODE));
        }
        assert!(src.len() == op.arity as usize && (1..=3).contains(&src.len()));
        let dst = self.var(Origin::Computed, size)?;
        let src = [0, 1, 2].map(|k| src.get(k).unwrap_or(&src[0]).0);
        self.code.push(Instr {
            op,
            dst: dst.0,
            src,
        });
        Ok(dst)
    }
    /// The next output, which an instruction computes.
    pub fn output(&mut self, x: Var) -> Result<()> {
        if self.vars[x.0 as usize].0 != Origin::Computed || self.outputs.contains(&x) {
            return Err(Error::value(
                self.op,
                "each output of a program is computed by an instruction of its own",
            ));
        }
        self.outputs.push(x);
        Ok(())
    }
    /// Gives each variable its slot.
    pub fn finish(self) -> Result<Program> {
        let Builder {
            op,
            vars,
            constants,
            mut code,
            outputs,
        } = self;
        let vars = &vars[..];
        let of = |origin| (0..vars.len()).filter(move |v| vars[*v].0 == origin);
        let inputs = of(Origin::Input).count();
        let operands = inputs + outputs.len();
        if operands > MAX_OPERANDS {
            return Err(too_large(op, "operands", MAX_OPERANDS));
        }
        const NOWHERE: u8 = u8::MAX;
        let mut slots: SmallVec<[u8; 8]> = SmallVec::from_elem(NOWHERE, vars.len());
        for (k, v) in of(Origin::Input).enumerate() {
            slots[v] = k as u8;
        }
        for (k, v) in outputs.iter().enumerate() {
            slots[v.0 as usize] = (inputs + k) as u8;
        }
        for (k, v) in of(Origin::Constant).enumerate() {
            slots[v] = (operands + k) as u8;
        }
        let first = operands + constants.len();
        let (mut temporaries, mut temporary_size) = (0, 1);
        let mut free: SmallVec<[u8; 8]> = SmallVec::new();
        for at in 0..code.len() {
            let Instr { dst, src, .. } = code[at];
            if slots[dst as usize] == NOWHERE {
                temporary_size = temporary_size.max(vars[dst as usize].1 as usize);
                slots[dst as usize] = free.pop().unwrap_or_else(|| {
                    temporaries += 1;
                    (first + temporaries - 1) as u8
                });
            }
            // after the result has its slot, for it must not lie on an operand (LOOP1)
            for v in [src[0], src[1], src[2], dst] {
                let slot = slots[v as usize];
                let read = || code[at + 1..].iter().any(|c| c.src.contains(&v));
                if slot as usize >= first && !free.contains(&slot) && !read() {
                    free.push(slot);
                }
            }
        }
        if first + temporaries > MAX_SLOTS {
            return Err(too_large(op, "slots", MAX_SLOTS));
        }
        let outputs = outputs.iter().map(|v| v.0 as usize);
        let operands = of(Origin::Input).chain(outputs);
        let sizes = operands.map(|v| vars[v].1).collect();
        let slot = |v: u8| slots[v as usize];
        for c in &mut code {
            (c.dst, c.src) = (slot(c.dst), c.src.map(slot));
        }
        Ok(Program {
            sizes,
            inputs,
            constants,
            temporaries,
            temporary_size,
            code,
        })
    }

    fn var(&mut self, origin: Origin, size: usize) -> Result<Var> {
        debug_assert!((1..=16).contains(&size));
        if self.vars.len() == MAX_CODE + MAX_SLOTS {
            return Err(too_large(self.op, "variables", MAX_CODE + MAX_SLOTS));
        }
        self.vars.push((origin, size as u8));
        Ok(Var(self.vars.len() as u8 - 1))
    }
}

#[cold]
fn too_large(op: &'static str, what: &str, most: usize) -> Error {
    Error::value(
        op,
        message!("a program has at most {most} {what}: compute it in parts"),
    )
}
