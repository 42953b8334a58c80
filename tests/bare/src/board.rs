//! A Cortex-M board: text and the exit status go to the debugger, which QEMU is.
use core::fmt;
use cortex_m as _; // its critical sections
use cortex_m_semihosting::{debug, hprint, hprintln};

pub struct Host;
impl fmt::Write for Host {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        hprint!("{}", text);
        Ok(())
    }
}

pub fn fail() -> ! {
    loop {
        debug::exit(debug::EXIT_FAILURE)
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    super::run();
    let (flash, stack, untouched) = memory();
    hprintln!("flash {} bytes, stack {} of {} bytes", flash, stack - untouched, stack);
    assert!(untouched >= 64, "the stack reached the heap");
    loop {
        debug::exit(debug::EXIT_SUCCESS)
    }
}

#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    hprintln!("hard fault: {:?}", frame);
    fail()
}

/// Bytes of flash in use, bytes of stack, and how many of those still have the paint that the start code left.
fn memory() -> (usize, usize, usize) {
    unsafe extern "C" {
        static __sidata: u32;
        static __sdata: u32;
        static __edata: u32;
        static _stack_start: u32;
        static _stack_end: u32;
    }
    const PAINT: u32 = 0xcccc_cccc;
    let (bottom, top) = (&raw const _stack_end, &raw const _stack_start);
    let words = (top as usize - bottom as usize) / 4;
    // SAFETY: the words between the linker's two symbols are RAM, and are read as what they are.
    let untouched = (0..words).take_while(|k| unsafe { bottom.add(*k).read_volatile() } == PAINT).count();
    let data = &raw const __edata as usize - &raw const __sdata as usize;
    (&raw const __sidata as usize + data, 4 * words, 4 * untouched)
}
