//! Microkernels: a panel of B times a block of A, with the sums in registers.
//!
//! A microkernel is a row of `table`: a packed type ([`Packed`]), its lanes per vector and vectors
//! per tile on each instruction set, and its multiply-add (`fma`: vectors where LLVM doesn't find
//! them). `tile` is the K-loop of all of them; `tall` is another, for few rows and a B that comes
//! from memory. `vnni` and `bf16_pair` are rows whose multiply-add needs an instruction set of its
//! own; `amx` multiplies both by registers of tiles instead.

#[cfg(x86_dispatch)]
mod amx;
mod fma;
mod job;
mod packed;
mod pair;
#[macro_use]
mod table;
#[cfg(x86_bf16)]
mod bf16_pair;
mod tall;
mod tile;
#[cfg(x86_dispatch)]
mod vnni;

#[cfg(x86_bf16)]
pub use bf16_pair::Bf16Pair;
pub use job::{BlockA, HEIGHT, PanelJob, Prefetch, TALL_ROWS, TileEnd, micropanel};
pub use packed::{Packed, padded_width, panel_width, vectors, widest_panel};
pub use pair::Pair;
#[cfg(x86_dispatch)]
pub use vnni::Quad;

use crate::simd::{self, Isa, Kernel};

struct RunPanel<T>(PanelJob<T>);
impl<T: Packed> Kernel for RunPanel<T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: TILE1, promised to `run`, the only caller.
        unsafe {
            if const { T::TALL && !I::SMALL } && self.0.tall {
                T::tall::<I>(self.0)
            } else {
                T::panel::<I>(self.0)
            }
        }
    }
}

/// Runs a job on the chosen instruction set.
///
/// # Safety
/// TILE1.
#[inline(always)]
pub unsafe fn run<T: Packed>(job: PanelJob<T>) {
    simd::call(RunPanel(job))
}
