//! Runs the checks with a heap of its own and says what they took. A check that fails panics, and
//! the panic ends the program.
#![no_std]
#![no_main]

extern crate alloc;

#[cfg(target_arch = "arm")]
#[path = "board.rs"]
mod host;
#[cfg(target_arch = "wasm32")]
#[path = "wasm.rs"]
mod host;

mod checks;

use core::fmt::{self, Write};
use embedded_alloc::LlffHeap;

struct Host;
impl fmt::Write for Host {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        host::write(text);
        Ok(())
    }
}

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();
const HEAP_BYTES: usize = kib(env!("HEAP_KIB")) << 10;

const fn kib(text: &str) -> usize {
    let (digits, mut k, mut n) = (text.as_bytes(), 0, 0);
    while k < digits.len() {
        n = 10 * n + (digits[k] - b'0') as usize;
        k += 1;
    }
    n
}

/// Every check, each of which gives back what it allocates.
fn run() {
    #[repr(align(16))]
    struct Memory(#[allow(dead_code, reason = "only its address is used")] [u8; HEAP_BYTES]);
    static mut MEMORY: Memory = Memory([0; HEAP_BYTES]);
    // SAFETY: called once, before any allocation, and nothing else uses the memory.
    unsafe { HEAP.init(&raw mut MEMORY as usize, HEAP_BYTES) }
    for (name, check) in checks::ALL.iter().copied().flatten() {
        check().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(HEAP.used(), 0, "{name}: bytes that were not given back");
        writeln!(Host, "  {name}").unwrap();
    }
    writeln!(Host, "all passed with a heap of {HEAP_BYTES} bytes").unwrap();
}

#[cfg(target_arch = "arm")]
fn report(memory: host::Memory) {
    let host::Memory { flash, data, room, stack } = memory;
    writeln!(Host, "flash {flash} bytes, static variables with the heap {data} bytes, stack {stack} of {room} bytes").unwrap();
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let _ = writeln!(Host, "{info}");
    host::fail()
}
