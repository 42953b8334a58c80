//! The machine: runs an elementwise program tile by tile through slots in L1. A tile is a rectangle
//! of the two inner loops.
//!
//! For each rectangle, the machine locates each operand's elements (in place, a single value, or
//! packed into a slot), runs the instructions, and stores the outputs that were computed in a slot.
//! Rectangles have one of three shapes:
//!
//! - `Run`: part of one row of the inner loop, at most [`LONGEST`] elements.
//! - `Short`: the inner loop is short, so several whole rows are packed into one run.
//! - `Blocked`: an operand is transposed, so a block of rows and columns is packed from whole cache
//!   lines, and the instructions run row by row.
//!
//! Kernels see no aliasing: an output that lies on an input (an operation in place) is computed in
//! a slot and copied. So is an output with non-temporal stores.
//!
//! Slots are a block of the pool, or on the stack where they are small: a thread's stack may be 64
//! KiB. If the operands of a program of several instructions come from memory (24 MiB and more),
//! the next rectangle's are prefetched between the instructions, whose passes in L1 would leave
//! memory idle; for operands that are in a cache, prefetching cost up to a fifth.

use super::call::Call;
use super::nest::{MAX_OPERANDS, Nest, Odometer};
use super::pack;
use super::program::{Instr, MAX_SLOTS, Opcode, TileProgram};
use super::rect::Rect;
use crate::simd::{self, stream};
use crate::storage::Bytes;
use core::mem::MaybeUninit;

mod plan;

/// Bytes of scratch, at most: it stays in L1 beside the data that streams through.
const SCRATCH: usize = if cfg!(feature = "std") {
    56 << 10
} else {
    STACK
};
/// Bytes of scratch on the stack, which may be small. It is enough for small programs, and serves
/// all programs where there is no other memory.
const STACK: usize = if cfg!(feature = "std") {
    8 << 10
} else {
    2 << 10
};
/// Elements of a tile, at least, if the scratch has room for them.
pub(super) const TILE: usize = if cfg!(feature = "std") { 512 } else { 64 };
/// Elements of a tile, at most: longer ones than 2048 gained nothing.
const LONGEST: usize = if cfg!(feature = "std") { 2048 } else { 64 };
/// Bytes of a tile over all operands and buffers: most of an L1 cache of 32 KiB. So programs with
/// few operands have longer tiles, whose loads wait less often for memory.
const WORKING_SET: usize = 24 << 10;
/// Bytes of a transposed rectangle. Its rows should be long, since each begins on another page and
/// has partial cache lines at its ends.
const BLOCK: usize = if cfg!(feature = "std") {
    32 << 10
} else {
    STACK
};
/// Bytes of a cache line; a transposed rectangle is at least as high as one.
const LINE: usize = if cfg!(feature = "std") { 64 } else { 16 };
/// Rows up to this length are gathered into one run.
const SHORT: usize = 256;

#[repr(align(64))]
struct StackScratch([MaybeUninit<u8>; STACK]);

#[derive(Clone, Copy, PartialEq)]
enum Rectangle {
    Run,
    Short,
    Blocked,
}

/// Where an operand's elements of a rectangle lie.
#[derive(Clone, Copy, PartialEq)]
enum Placement {
    /// In memory, contiguous within a row.
    Direct,
    /// One value per row.
    Value,
    /// In a slot's buffer, row by row.
    Packed,
    /// In a slot's buffer, from which they are copied with non-temporal stores.
    Streamed,
}

/// What computes the elements of a tile.
#[derive(Clone, Copy)]
pub enum TileBody<'a> {
    /// The program's instructions.
    Code,
    /// A function, which takes all operands at once; the program has no instructions.
    Call(&'a dyn Call),
}

/// How a run treats caches.
#[derive(Clone, Copy, Default)]
pub struct CachePolicy {
    /// Outputs are written with non-temporal stores where they can be.
    pub streamed: bool,
    /// Operands come from memory rather than a cache, so it pays to prefetch them.
    pub prefetched: bool,
    /// The caller passes over the outputs of each rectangle, which stay in cache.
    pub reduced: bool,
}
/// Whether operands of `bytes` bytes an element come from memory rather than a cache.
pub fn from_memory(bytes: usize, elements: usize) -> bool {
    bytes.saturating_mul(elements) >= stream::LARGE
}

/// Runs the program over the nest.
///
/// # Safety
/// NEST1: every element that the nest addresses is readable (inputs) or writable (outputs) and
/// aligned, and stays so; inputs are initialised; each output is exactly one of the inputs (same
/// first element, same strides) or overlaps none; instructions are loops for the sizes of their
/// slots (LOOP1), and a function is made for the types of these operands (CALL1). Outputs that it
/// updates are initialised, and are no inputs.
pub unsafe fn run(p: &TileProgram, body: TileBody, x: &Nest, policy: CachePolicy) {
    let k = x.operands;
    let aliased = |o: usize| (0..x.inputs).any(|i| x.ptrs[i] == x.ptrs[o]);
    if let ([c], [dim], false) = (&p.code[..], &x.dims[..], policy.streamed) {
        let linear = (0..k).all(|i| dim.steps[i] == x.sizes[i] as isize);
        let scalars = c.src[..c.op.arity as usize]
            .iter()
            .rev()
            .fold(0, |mask, s| mask << 1 | (*s as usize >= k) as u32);
        if linear && c.op.scalar_masks >> scalars & 1 == 1 {
            // a program of one instruction has no temporaries: a source that is no operand is a
            // constant
            let sources = c.src.map(|s| match s as usize {
                s if s < k => (x.ptrs[s] as *const u8, x.sizes[s]),
                s => (p.constants[s - k].0.as_ptr(), 0),
            });
            let to = (x.ptrs[c.dst as usize], x.sizes[c.dst as usize]);
            // SAFETY: NEST1; each operand's step is its size, so it is one run of `total` elements,
            // and no output is an input, unless it is computed in pieces.
            return unsafe {
                match (x.inputs..k).any(aliased) {
                    false => {
                        let ([q0, q1, q2], n) = (sources.map(|(q, _)| q), x.total);
                        (c.op.f)(to.0, q0, q1, q2, n * c.op.components as usize, scalars)
                    }
                    true => in_place(c.op, sources, to, x.total, scalars),
                }
            };
        }
    }
    /// Fences the stores even if a caller's function panics: others may see what was written.
    struct FenceOnDrop;
    impl Drop for FenceOnDrop {
        fn drop(&mut self) {
            stream::finish()
        }
    }
    let _finish = policy.streamed.then_some(FenceOnDrop);
    if x.total > 0 {
        // SAFETY: NEST1, by the caller, is all that the machine requires.
        unsafe { Machine::with_body(p, body, x, policy).run() }
    }
}

/// Runs one instruction on `n` elements, some of whose operands are the result: in pieces, each of which
/// is computed in L1 and then copied. Operands are addresses, and bytes from an element to the next.
///
/// # Safety
/// LOOP1 for these operands, but that the result may be one of them.
unsafe fn in_place(
    op: Opcode,
    sources: [(*const u8, usize); 3],
    (to, size): (*mut u8, usize),
    n: usize,
    scalars: u32,
) {
    const PIECE: usize = if cfg!(feature = "std") { 4096 } else { 256 };
    #[repr(align(64))]
    struct Piece([MaybeUninit<u8>; PIECE]);
    let mut piece = Piece([const { MaybeUninit::uninit() }; PIECE]);
    let (buffer, most) = (piece.0.as_mut_ptr() as *mut u8, PIECE / size);
    for first in (0..n).step_by(most) {
        let n = most.min(n - first);
        let [q0, q1, q2] = sources.map(|(q, step)| q.wrapping_add(first * step));
        // SAFETY: LOOP1 for these elements; the buffer has room for them, and is no operand.
        unsafe {
            (op.f)(buffer, q0, q1, q2, n * op.components as usize, scalars);
            core::ptr::copy_nonoverlapping(buffer, to.add(first * size), n * size);
        }
    }
}

/// The plan of a run: what is constant over its rectangles.
pub(super) struct Machine<'a> {
    p: &'a TileProgram,
    body: TileBody<'a>,
    x: &'a Nest,
    shape: Rectangle,
    /// Steps of the two inner loops.
    s0: [isize; MAX_OPERANDS],
    s1: [isize; MAX_OPERANDS],
    n0: usize,
    n1: usize,
    /// Bit i: slot i is passed to the loops as a single value.
    value: u64,
    placements: [Placement; MAX_OPERANDS],
    /// The body is a single instruction or function whose operands need no buffers, so that it
    /// takes whole rows at once.
    direct: bool,
    /// The program copies, and one of its operands is to be packed: so the input is packed into the
    /// output, or unpacked from where it is.
    copies: bool,
    /// The next rectangle's operands are prefetched between the instructions: passes over
    /// temporaries in L1 would leave memory idle.
    ahead: bool,
    /// The buffer of each slot.
    buffer: [u8; MAX_SLOTS],
    /// Number of buffers, elements of each, and bytes of an element there.
    buffers: usize,
    tile: usize,
    unit: usize,
    cols: usize,
    rows: usize,
}

impl Machine<'_> {
    /// # Safety
    /// NEST1.
    unsafe fn run(mut self) {
        let mut stack = StackScratch([const { MaybeUninit::uninit() }; STACK]);
        let needed = self.scratch();
        let too_much = SCRATCH > STACK && needed > STACK;
        let mut heap = if too_much {
            Bytes::new(needed).ok()
        } else {
            None
        };
        let base = heap.as_mut().and_then(Bytes::get_mut).unwrap_or_else(|| {
            if too_much {
                self.shrink();
            }
            stack.0.as_mut_ptr() as *mut u8
        });
        // SAFETY: NEST1, by the caller; memory that is fresh and known to nobody else (STORAGE3),
        // or this frame's, aligned to a cache line, with room for all buffers.
        unsafe {
            let mut state = self.state(base);
            self.all(&mut state);
        }
    }
    /// Runs all loops, from the state's pointers on.
    ///
    /// # Safety
    /// NEST1 for operands that begin there; `state` was made by this machine.
    pub(super) unsafe fn all(&self, state: &mut TileState) {
        let mut outer = Odometer::new(self.x, 2);
        loop {
            // SAFETY: by the caller.
            unsafe { self.block(state, self.n0, self.n1) };
            if !outer.advance(&mut state.ptrs) {
                return;
            }
        }
    }
    /// Bytes of all buffers.
    pub(super) fn scratch(&self) -> usize {
        self.buffers * self.tile * self.unit
    }
    /// The state of the first rectangle: operands at their first elements, constants in their
    /// buffers.
    ///
    /// # Safety
    /// `base` is valid for reads and writes of all buffers while the state is used, and nobody else
    /// uses it.
    pub(super) unsafe fn state(&self, base: *mut u8) -> TileState {
        let mut state = TileState {
            base,
            slots: [core::ptr::null_mut(); MAX_SLOTS],
            packed: [None; MAX_OPERANDS],
            ptrs: self.x.ptrs,
        };
        let (p, k) = (self.p, self.x.operands);
        for i in k..k + p.constants.len() + p.temporaries {
            state.slots[i] = self.slot_buffer(&state, i);
        }
        for (i, (value, size)) in p.constants.iter().enumerate() {
            if self.value >> (k + i) & 1 == 1 {
                state.slots[k + i] = value.as_ptr() as *mut u8;
            } else {
                let one = Rect {
                    ptr: value.as_ptr(),
                    rows: 1,
                    cols: self.tile,
                    row_step: 0,
                    col_step: 0,
                };
                // SAFETY: a constant is one readable element; the buffer holds a tile of it.
                unsafe { pack::pack(state.slots[k + i], one, *size as usize) };
            }
        }
        state
    }
    /// Runs `n1` rows of `n0` columns of the two inner loops, from the state's pointers on.
    ///
    /// # Safety
    /// NEST1 for that block; `state` was made by this machine.
    pub(super) unsafe fn block(&self, state: &mut TileState, n0: usize, n1: usize) {
        if self.direct {
            // rows that follow each other in memory are one run
            let step = |o: usize| self.s0[o] * n0 as isize;
            let adjacent = (0..self.x.operands).all(|o| self.s1[o] == step(o));
            let (n0, n1) = if adjacent { (n0 * n1, 1) } else { (n0, n1) };
            let first = |s: usize| match s < self.x.operands {
                true => (state.ptrs[s], self.s1[s]),
                false => (state.slots[s], 0),
            };
            if let (TileBody::Code, [c]) = (self.body, &self.p.code[..]) {
                let (n, scalars) = (n0 * c.op.components as usize, mask(c, self.value));
                let (mut d, mut q) = (first(c.dst as usize), c.src.map(|s| first(s as usize)));
                for _ in 0..n1 {
                    // SAFETY: LOOP1: rows of operands, by NEST1, none both read and written.
                    unsafe { (c.op.f)(d.0, q[0].0, q[1].0, q[2].0, n, scalars) };
                    for (p, step) in core::iter::once(&mut d).chain(&mut q) {
                        *p = p.wrapping_offset(*step);
                    }
                }
                return;
            }
            for j in 0..n1 {
                let at = |s: usize| {
                    let (first, step) = first(s);
                    first.wrapping_offset(step * j as isize)
                };
                // SAFETY: rows of operands, by NEST1; none is both read and written, except by a
                // function that updates it.
                unsafe { self.compute(n0, at, |_| ()) };
            }
            return;
        }
        for j in (0..n1).step_by(self.rows) {
            for i in (0..n0).step_by(self.cols) {
                let (cols, rows) = (self.cols.min(n0 - i), self.rows.min(n1 - j));
                // SAFETY: NEST1; the rectangle lies inside the two inner loops.
                unsafe { self.rectangle(state, i, j, cols, rows) };
            }
        }
    }
    /// # Safety
    /// NEST1; the rectangle of `cols` x `rows` at column `i`, row `j` lies within the two inner
    /// loops.
    unsafe fn rectangle(&self, st: &mut TileState, i: usize, j: usize, cols: usize, rows: usize) {
        let (x, k) = (self.x, self.x.operands);
        let rect = |st: &TileState, o: usize| Rect {
            ptr: st.ptrs[o].wrapping_offset(self.s1[o] * j as isize + self.s0[o] * i as isize),
            rows,
            cols,
            row_step: self.s1[o],
            col_step: self.s0[o],
        };
        if self.copies {
            let (from, to) = (rect(st, 0), rect(st, 1));
            // SAFETY: NEST1 gives PACK1 and PACK2, for operands that don't overlap; the elements of
            // a rectangle of the one that is not packed are contiguous.
            return unsafe {
                match self.placements[0] {
                    Placement::Packed => pack::pack(to.ptr as *mut u8, from, x.sizes[0]),
                    _ => pack::unpack(from.ptr, to, x.sizes[0]),
                }
            };
        }
        for o in 0..x.inputs {
            let mut r = rect(st, o);
            match self.placements[o] {
                Placement::Packed => {
                    let buffer = self.slot_buffer(st, o);
                    // a repeated value fills the whole tile, so that it is packed once for many
                    // rectangles
                    if r.col_step == 0 && (r.row_step == 0 || rows == 1) {
                        r = Rect {
                            rows: 1,
                            cols: self.tile,
                            ..r
                        };
                    }
                    // operands repeated along the outer loops are still there
                    if st.packed[o] != Some((r.ptr, r.rows, r.cols)) {
                        // SAFETY: NEST1 gives PACK1; the buffer holds a tile.
                        unsafe { pack::pack(buffer, r, x.sizes[o]) };
                        st.packed[o] = Some((r.ptr, r.rows, r.cols));
                    }
                    st.slots[o] = buffer;
                }
                _ => st.slots[o] = r.ptr as *mut u8,
            }
        }
        let updates = self.updates();
        for o in x.inputs..k {
            st.slots[o] = if self.placements[o] == Placement::Direct {
                rect(st, o).ptr as *mut u8
            } else {
                self.slot_buffer(st, o)
            };
            if updates && self.placements[o] == Placement::Packed {
                // SAFETY: PACK1: outputs that are updated are initialised (NEST1); the buffer holds
                // a tile.
                unsafe { pack::pack(st.slots[o], rect(st, o), x.sizes[o]) };
            }
        }
        let by_row = self.shape == Rectangle::Blocked && rows > 1;
        let (runs, len) = if by_row {
            (rows, cols)
        } else {
            (1, rows * cols)
        };
        for y in 0..runs {
            let at = |s: usize| st.slots[s].wrapping_offset(self.row_offset(s, y, cols));
            let before = |i: usize| {
                if self.ahead {
                    self.prefetch(st, cols, i);
                }
            };
            // SAFETY: by their placements, slots hold the rectangle's elements of each operand;
            // buffers are distinct, and an output is in place only if it is no input (NEST1).
            unsafe { self.compute(len, at, before) };
        }
        for o in x.inputs..k {
            // SAFETY: NEST1 gives PACK2; the slot was written by its instruction. A streamed
            // rectangle is one row, which begins on a cache line.
            unsafe {
                match self.placements[o] {
                    Placement::Packed => pack::unpack(st.slots[o], rect(st, o), x.sizes[o]),
                    Placement::Streamed => {
                        stream::copy(st.slots[o], rect(st, o).ptr as *mut u8, cols * x.sizes[o])
                    }
                    _ => {}
                }
            }
        }
    }
    /// Prefetches instruction `i`'s share of the operands' next `n` elements, which follow those of
    /// this rectangle: into L2, since L1 is full of this one.
    fn prefetch(&self, st: &TileState, n: usize, i: usize) {
        let parts = self.p.code.len();
        for o in (0..self.x.operands).filter(|o| self.placements[*o] == Placement::Direct) {
            let bytes = n * self.x.sizes[o];
            let share = i * bytes / parts..(i + 1) * bytes / parts;
            let next = st.slots[o].wrapping_add(bytes + share.start);
            simd::prefetch_run::<{ simd::L2 }, _>(next, share.len());
        }
    }
    /// Computes `n` elements of the slots; slot `s` begins at `at(s)`. `before` is called before
    /// each instruction.
    ///
    /// # Safety
    /// LOOP1 for each instruction, or CALL1.
    #[inline(always)]
    unsafe fn compute(&self, n: usize, at: impl Fn(usize) -> *mut u8, before: impl Fn(usize)) {
        if let TileBody::Call(call) = self.body {
            let mut slots = [core::ptr::null_mut(); MAX_OPERANDS];
            let slots = &mut slots[..self.x.operands];
            for (k, slot) in slots.iter_mut().enumerate() {
                *slot = at(k);
            }
            // SAFETY: CALL1, by the caller.
            return unsafe { call.run(slots, n, self.value) };
        }
        for (i, c) in self.p.code.iter().enumerate() {
            before(i);
            let [q0, q1, q2] = c.src.map(|s| at(s as usize));
            let (d, n) = (at(c.dst as usize), n * c.op.components as usize);
            // SAFETY: LOOP1, by the caller.
            unsafe { (c.op.f)(d, q0, q1, q2, n, mask(c, self.value)) };
        }
    }
    /// Whether outputs are read too.
    fn updates(&self) -> bool {
        matches!(self.body, TileBody::Call(call) if call.updates())
    }
    /// Bytes from the start of a slot to its row `y`.
    fn row_offset(&self, slot: usize, y: usize, cols: usize) -> isize {
        let (x, k) = (self.x, self.x.operands);
        let y = y as isize;
        if y == 0 {
            return 0;
        }
        if slot >= k {
            let constants = k + self.p.constants.len();
            return if slot < constants {
                0
            } else {
                y * (cols * self.unit) as isize
            };
        }
        match self.placements[slot] {
            Placement::Packed if self.s0[slot] == 0 && self.s1[slot] == 0 => 0,
            Placement::Packed | Placement::Streamed => y * (cols * x.sizes[slot]) as isize,
            Placement::Direct | Placement::Value => y * self.s1[slot],
        }
    }
    fn slot_buffer(&self, st: &TileState, o: usize) -> *mut u8 {
        st.base
            .wrapping_add(self.buffer[o] as usize * self.tile * self.unit)
    }
}

/// The state that changes from rectangle to rectangle.
pub(super) struct TileState {
    /// The scratch memory.
    base: *mut u8,
    slots: [*mut u8; MAX_SLOTS],
    /// What an input's buffer holds: first element, rows, columns.
    packed: [Option<(*const u8, usize, usize)>; MAX_OPERANDS],
    /// First element of each operand at the current iteration of the outer loops.
    pub ptrs: [*mut u8; MAX_OPERANDS],
}

/// The instruction's operands that are single values, a bit each.
#[inline(always)]
fn mask(c: &Instr, value: u64) -> u32 {
    (0..c.op.arity as usize).fold(0, |m, j| m | ((value >> c.src[j] & 1) as u32) << j)
}
