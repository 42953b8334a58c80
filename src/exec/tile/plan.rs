//! Plans a run: the shape of its rectangles, which operands are used in place, and how large a tile
//! fits the scratch.

use super::{
    BLOCK, CachePolicy, LINE, LONGEST, Machine, Placement, Rectangle, SCRATCH, SHORT, STACK, TILE,
    TileBody, WORKING_SET, mask,
};
use crate::exec::nest::{MAX_OPERANDS, Nest};
use crate::exec::program::{MAX_SLOTS, TileProgram};

impl<'a> Machine<'a> {
    /// A machine for the program's instructions.
    pub(in crate::exec) fn new(p: &'a TileProgram, x: &'a Nest, policy: CachePolicy) -> Self {
        Machine::with_body(p, TileBody::Code, x, policy)
    }
    pub(super) fn with_body(
        p: &'a TileProgram,
        body: TileBody<'a>,
        x: &'a Nest,
        policy: CachePolicy,
    ) -> Self {
        let k = x.operands;
        let (n0, n1) = (x.dims[0].n, x.dims.get(1).map_or(1, |d| d.n));
        let (s0, s1) = (
            x.dims[0].steps,
            x.dims.get(1).map_or([0; MAX_OPERANDS], |d| d.steps),
        );
        let size = |i: usize| x.sizes[i] as isize;
        let transposed = (0..k).any(|i| s0[i].abs() > size(i) && s1[i].abs() == size(i));
        let shape = if transposed && n0 >= 8 && n1 >= 8 {
            Rectangle::Blocked
        } else if n0 <= SHORT && n1 > 1 {
            Rectangle::Short
        } else {
            Rectangle::Run
        };
        let mut m = Machine {
            p,
            body,
            x,
            shape,
            s0,
            s1,
            n0,
            n1,
            value: 0,
            placements: [Placement::Direct; MAX_OPERANDS],
            direct: false,
            copies: false,
            ahead: false,
            buffer: [0; MAX_SLOTS],
            buffers: 0,
            tile: 0,
            unit: 0,
            cols: 0,
            rows: 0,
        };
        m.choose_values();
        for i in 0..k {
            m.placements[i] = if i < x.inputs {
                m.placement(i)
            } else {
                m.output_placement(i, policy.streamed)
            };
        }
        m.copies = p.copies
            && m.shape != Rectangle::Blocked
            && x.ptrs[0] != x.ptrs[1]
            && matches!(
                m.placements[..k],
                [Placement::Packed, Placement::Direct] | [Placement::Direct, Placement::Packed]
            );
        m.choose_buffers();
        m.lay_out(SCRATCH);
        let single = matches!(body, TileBody::Call(_)) || p.code.len() == 1;
        let passes = p.code.len() > 2 || policy.reduced && p.code.len() > 1;
        m.ahead = shape == Rectangle::Run && passes && policy.prefetched;
        m.direct = single && m.buffers == 0 && shape == Rectangle::Run && !m.ahead;
        m
    }
    /// A slot with one value per row stays a single value if every loop that reads it, or the
    /// function, has a form for that.
    fn choose_values(&mut self) {
        let (k, p) = (self.x.operands, self.p);
        let mut single = 0u64;
        for i in 0..self.x.inputs {
            if self.s0[i] == 0 && (self.s1[i] == 0 || self.shape != Rectangle::Short) {
                single |= 1 << i;
            }
        }
        for i in 0..p.constants.len() {
            single |= 1 << (k + i);
        }
        let mut value = match self.body {
            TileBody::Call(call) if !call.takes(single) => 0,
            _ => single,
        };
        loop {
            let before = value;
            for c in &p.code {
                if c.op.scalar_masks >> mask(c, value) & 1 == 0 {
                    for s in &c.src[..c.op.arity as usize] {
                        value &= !(1 << s);
                    }
                }
            }
            if value == before {
                break;
            }
        }
        self.value = value;
    }
    fn placement(&self, i: usize) -> Placement {
        let size = self.x.sizes[i] as isize;
        if self.value >> i & 1 == 1 {
            Placement::Value
        } else if self.s0[i] == size && (self.shape != Rectangle::Short || self.is_dense(i)) {
            Placement::Direct
        } else {
            Placement::Packed
        }
    }
    /// Whether rows of contiguous elements lie one after the other.
    fn is_dense(&self, operand: usize) -> bool {
        self.n1 == 1 || self.s1[operand] == self.s0[operand] * self.n0 as isize
    }
    fn output_placement(&self, o: usize, streamed: bool) -> Placement {
        let aliased = (0..self.x.inputs).any(|i| self.x.ptrs[i] == self.x.ptrs[o]);
        let dense = self.s0[o] == self.x.sizes[o] as isize;
        let whole = self.shape != Rectangle::Short || self.is_dense(o);
        // so that every tile begins on a cache line
        let lines = self.shape == Rectangle::Run
            && self.x.ptrs[o].addr().is_multiple_of(64)
            && self.x.dims[1..]
                .iter()
                .all(|d| d.steps[o].unsigned_abs().is_multiple_of(64));
        match dense && whole && !aliased {
            true if streamed && lines => Placement::Streamed,
            true => Placement::Direct,
            false => Placement::Packed,
        }
    }
    /// Assigns a buffer to every slot that needs one.
    fn choose_buffers(&mut self) {
        let (k, p, x) = (self.x.operands, self.p, self.x);
        for i in 0..k + p.constants.len() + p.temporaries {
            let needed = match i {
                i if i < k => matches!(self.placements[i], Placement::Packed | Placement::Streamed),
                i if i < k + p.constants.len() => self.value >> i & 1 == 0,
                _ => true,
            };
            if needed {
                self.buffer[i] = self.buffers as u8;
                self.buffers += 1;
            }
        }
        let constants = p.constants.iter().enumerate();
        let constants = constants.filter(|(i, _)| self.value >> (k + i) & 1 == 0);
        let constants = constants.map(|(_, c)| c.1 as usize);
        let widest = x.sizes[..k].iter().copied().chain(constants).max();
        self.unit = widest.unwrap_or(1).max(p.temporary_size);
    }
    /// Sizes the tile and its rectangles to fit so many bytes of scratch.
    pub(super) fn lay_out(&mut self, scratch: usize) {
        let (x, k) = (self.x, self.x.operands);
        let limit = if self.shape == Rectangle::Blocked {
            BLOCK.min(scratch) / self.unit
        } else {
            let passing = (0..k).filter(|i| self.placements[*i] != Placement::Value);
            let bytes = passing.map(|i| x.sizes[i]).sum::<usize>() + self.buffers * self.unit;
            // whole cache lines, since streamed tiles must begin on one
            (WORKING_SET / bytes.max(1) / 64 * 64).clamp(TILE, LONGEST)
        };
        let room = scratch / (self.buffers.max(1) * self.unit);
        self.tile = if room >= 64 { room / 64 * 64 } else { room }.min(limit);
        (self.cols, self.rows) = match self.shape {
            Rectangle::Blocked => {
                let narrowest = x.sizes[..k].iter().copied().min().unwrap_or(1);
                let line = (LINE / narrowest).max(LINE / 2);
                let cols = self.n0.min((self.tile / line).max(1));
                let rows = self.n1.min(self.tile / cols);
                (
                    cols,
                    if rows > line {
                        rows / line * line
                    } else {
                        rows
                    },
                )
            }
            Rectangle::Short if self.n0 <= self.tile => (self.n0, self.n1.min(self.tile / self.n0)),
            _ => (self.n0.min(self.tile), 1),
        };
        // no larger than a rectangle, in whole cache lines
        self.tile = self.tile.min((self.cols * self.rows).next_multiple_of(64));
    }
    /// Lays the tile out again for the scratch on the stack: smaller tiles give the same results.
    pub(super) fn shrink(&mut self) {
        for placement in self
            .placements
            .iter_mut()
            .filter(|p| **p == Placement::Streamed)
        {
            *placement = Placement::Packed; // so small a tile may end within a cache line
        }
        self.lay_out(STACK);
    }
}
