//! Elementwise programs and their builder. A program computes variables in order: inputs,
//! constants, and the results of instructions, some of which are outputs. What an instruction means
//! is known to its loop alone.

use super::nest::{LoopOperand, MAX_OPERANDS};
use crate::error::{Error, Result};
use crate::scalar::ElementBytes;
use crate::simd::LoopFn;
use core::mem::MaybeUninit;
use smallvec::SmallVec;

/// Slots of a program, at most.
pub const MAX_SLOTS: usize = 48;
/// Instructions of a program, at most.
pub const MAX_CODE: usize = 64;

/// What an instruction does, whatever its operands.
#[derive(Clone, Copy)]
pub struct Opcode {
    /// The loop.
    pub f: LoopFn,
    /// Number of operands, at most 3.
    pub arity: u8,
    /// Elements that the loop sees per element of the program: 2 for complex numbers treated as
    /// pairs.
    pub components: u8,
    /// Bit m: the loop takes scalar mask m (contract LOOP1).
    pub scalar_masks: u8,
    /// Operations per element, for [`Cost`](crate::par::Cost).
    pub cost: u8,
}

impl Opcode {
    /// A loop of one operand and one component; `scalar_masks` and `cost` are the fields of that
    /// name.
    #[inline]
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
    /// The operands; entries from `arity` on repeat the first.
    pub src: [u8; 3],
}

/// A program. Slots are numbered in this order: inputs, outputs, constants, temporaries.
#[derive(Clone)]
pub struct TileProgram {
    /// Bytes of an element of each input, then of each output.
    pub(super) sizes: SmallVec<[u8; 4]>,
    /// Number of inputs.
    pub(super) inputs: usize,
    /// Single values, and their sizes in bytes.
    pub(super) constants: SmallVec<[(ElementBytes, u8); 2]>,
    pub temporaries: usize,
    /// Bytes of an element of the widest temporary; at least 1.
    pub(super) temporary_size: usize,
    /// The instructions, in order; each output slot is written by one of them, before it is read.
    pub(super) code: SmallVec<[Instr; 3]>,
    /// Whether it copies its input, so that packing the input computes the output.
    pub(super) copies: bool,
}

impl TileProgram {
    /// Panics unless operands are as many as the program's, and of their sizes.
    pub(super) fn expect(&self, inputs: &[LoopOperand], outputs: &[LoopOperand]) {
        let given = inputs.iter().chain(outputs).map(|o| o.size);
        let sizes = self.sizes.iter().map(|size| *size as usize);
        assert!(
            inputs.len() == self.inputs && given.eq(sizes),
            "operands are those of the program"
        );
    }
    /// A program of one instruction whose operands are the inputs, of these sizes in bytes.
    #[inline]
    pub fn of(op: Opcode, inputs: &[usize], output: usize) -> TileProgram {
        assert!(inputs.len() == op.arity as usize && (1..=3).contains(&inputs.len()));
        let (n, mut code) = (inputs.len() as u8, SmallVec::new());
        code.push(Instr {
            op,
            dst: n,
            src: [0, 1, 2].map(|k| if k < n { k } else { 0 }),
        });
        let mut sizes = SmallVec::new();
        inputs.iter().for_each(|size| sizes.push(*size as u8));
        sizes.push(output as u8);
        TileProgram {
            sizes,
            inputs: inputs.len(),
            constants: SmallVec::new(),
            temporaries: 0,
            temporary_size: 1,
            code,
            copies: false,
        }
    }
    /// A program that copies elements of `size` bytes.
    pub fn copy(op: Opcode, size: usize) -> TileProgram {
        TileProgram {
            copies: true,
            ..TileProgram::of(op, &[size], size)
        }
    }
    /// A program without instructions, for a caller's function: operands of these sizes in bytes,
    /// the first `inputs` of them inputs.
    pub(super) fn of_operands(sizes: impl Iterator<Item = usize>, inputs: usize) -> TileProgram {
        TileProgram {
            sizes: sizes.map(|size| size as u8).collect(),
            inputs,
            constants: SmallVec::new(),
            temporaries: 0,
            temporary_size: 1,
            code: SmallVec::new(),
            copies: false,
        }
    }
    /// If the program is a single instruction on its one input, and the result of `n` elements fits
    /// the buffer, computes that result from the contiguous elements at `x`. `None`, and nothing
    /// done, otherwise.
    ///
    /// # Safety
    /// LOOP1 for these elements; the buffer is aligned for any type.
    pub(super) unsafe fn run_small(
        &self,
        x: *const u8,
        n: usize,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Option<*const u8> {
        let ([c], [_, size]) = (&self.code[..], &self.sizes[..]) else {
            return None;
        };
        let (op, y) = (c.op, buffer.as_mut_ptr() as *mut u8);
        if c.src != [0; 3] || op.scalar_masks & 1 == 0 || n > buffer.len() / *size as usize {
            return None;
        }
        // SAFETY: LOOP1, by the caller; the buffer has room for the result, and doesn't overlap
        // `x`.
        unsafe { (op.f)(y, x, x, x, n * op.components as usize, 0) };
        Some(y)
    }
    /// Replaces lane `lane`, of `size` bytes, of constant `k`.
    #[cfg(feature = "stream")]
    pub fn set_constant(&mut self, k: usize, lane: usize, value: ElementBytes, size: usize) {
        self.constants[k].0.set_lane(lane, &value, size);
    }
    /// Operations per element.
    pub fn flops(&self) -> usize {
        self.code.iter().map(|c| c.op.cost as usize).sum()
    }
}

/// A variable of a program under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(u8);

/// Where a variable comes from: an input or a constant, by number, or an instruction, by the slot
/// of its result once slots are assigned.
#[derive(Clone, Copy)]
enum VarOrigin {
    Input(u8),
    Constant(u8),
    Computed(u8),
}

/// A program under construction. Temporaries share a slot if one is read for the last time before
/// the other is written.
///
/// Errors are attributed to the operation `op`. They are those of a program with too many operands,
/// instructions or slots, or with an output that no instruction computes.
pub struct Builder {
    op: &'static str,
    /// The origin of each variable, and the size of its elements in bytes.
    vars: SmallVec<[(VarOrigin, u8); 8]>,
    outputs: SmallVec<[Var; 2]>,
    /// The program so far, with variables in place of slots.
    program: TileProgram,
}

impl Builder {
    /// An empty program, for the operation of this name.
    #[inline]
    pub fn new(op: &'static str) -> Builder {
        Builder {
            op,
            vars: SmallVec::new(),
            outputs: SmallVec::new(),
            program: TileProgram {
                sizes: SmallVec::new(),
                inputs: 0,
                constants: SmallVec::new(),
                temporaries: 0,
                temporary_size: 1,
                code: SmallVec::new(),
                copies: false,
            },
        }
    }
    /// Adds an input, with elements of `size` bytes.
    #[inline]
    pub fn input(&mut self, size: usize) -> Result<Var> {
        let p = &mut self.program;
        if p.inputs == MAX_OPERANDS {
            return Err(too_large(self.op, "operands", MAX_OPERANDS));
        }
        p.sizes.insert(p.inputs, size as u8); // outputs follow
        p.inputs += 1;
        let input = VarOrigin::Input(p.inputs as u8 - 1);
        Ok(self.var(input, size))
    }
    /// Number of constants.
    #[cfg(feature = "stream")]
    pub fn constants(&self) -> usize {
        self.program.constants.len()
    }
    /// Adds a constant of `size` bytes.
    #[inline]
    pub fn constant(&mut self, value: ElementBytes, size: usize) -> Result<Var> {
        let constants = &mut self.program.constants;
        if constants.len() == MAX_SLOTS {
            return Err(too_large(self.op, "slots", MAX_SLOTS));
        }
        constants.push((value, size as u8));
        let constant = VarOrigin::Constant(constants.len() as u8 - 1);
        Ok(self.var(constant, size))
    }
    /// Adds an instruction whose result has elements of `size` bytes.
    #[inline]
    pub fn compute(&mut self, op: Opcode, src: &[Var], size: usize) -> Result<Var> {
        if self.program.code.len() == MAX_CODE {
            return Err(too_large(self.op, "instructions", MAX_CODE));
        }
        assert!(src.len() == op.arity as usize && (1..=3).contains(&src.len()));
        let dst = self.var(VarOrigin::Computed(0), size);
        let src = [0, 1, 2].map(|k| src.get(k).unwrap_or(&src[0]).0);
        self.program.code.push(Instr {
            op,
            dst: dst.0,
            src,
        });
        Ok(dst)
    }
    /// Adds an output, which must be the result of an instruction.
    #[inline]
    pub fn output(&mut self, x: Var) -> Result<()> {
        let (origin, size) = self.vars[x.0 as usize];
        if !matches!(origin, VarOrigin::Computed(_)) || self.outputs.contains(&x) {
            return Err(Error::value(
                self.op,
                "each output of a program is computed by an instruction of its own",
            ));
        }
        if self.outputs.len() == MAX_OPERANDS {
            return Err(too_large(self.op, "operands", MAX_OPERANDS));
        }
        self.outputs.push(x);
        self.program.sizes.push(size);
        Ok(())
    }
    /// Assigns slots to the variables.
    #[inline]
    pub fn finish(mut self) -> Result<TileProgram> {
        let (vars, outputs, p) = (&mut self.vars, &self.outputs, &mut self.program);
        let operands = p.inputs + outputs.len();
        if operands > MAX_OPERANDS {
            return Err(too_large(self.op, "operands", MAX_OPERANDS));
        }
        let first = operands + p.constants.len();
        let mut free = 0u64; // a bit for each dead temporary
        const { assert!(MAX_CODE <= 64) };
        for at in 0..p.code.len() {
            let Instr { dst, src, .. } = p.code[at];
            let slot = match outputs.iter().position(|v| v.0 == dst) {
                Some(k) => p.inputs + k,
                None => {
                    p.temporary_size = p.temporary_size.max(vars[dst as usize].1 as usize);
                    if free == 0 {
                        free = 1 << p.temporaries;
                        p.temporaries += 1;
                    }
                    let k = free.trailing_zeros() as usize;
                    free &= free - 1;
                    first + k
                }
            };
            vars[dst as usize].0 = VarOrigin::Computed(slot as u8);
            let slot = |v: u8| match vars[v as usize].0 {
                VarOrigin::Input(k) | VarOrigin::Computed(k) => k,
                VarOrigin::Constant(k) => operands as u8 + k,
            };
            // only now that the result has a slot, which must not be an operand's (LOOP1)
            for v in [src[0], src[1], src[2], dst] {
                let read = || p.code[at + 1..].iter().any(|c| c.src.contains(&v));
                if slot(v) as usize >= first && !read() {
                    free |= 1 << (slot(v) as usize - first);
                }
            }
            (p.code[at].dst, p.code[at].src) = (slot(dst), src.map(slot));
        }
        if first + p.temporaries > MAX_SLOTS {
            return Err(too_large(self.op, "slots", MAX_SLOTS));
        }
        Ok(self.program)
    }

    #[inline]
    fn var(&mut self, origin: VarOrigin, size: usize) -> Var {
        debug_assert!((1..=16).contains(&size));
        self.vars.push((origin, size as u8));
        Var(self.vars.len() as u8 - 1)
    }
}

#[cold]
fn too_large(op: &'static str, what: &str, most: usize) -> Error {
    Error::value(
        op,
        message!("a program has at most {most} {what}: compute it in parts"),
    )
}
