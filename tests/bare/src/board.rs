//! A Cortex-M board: text and the exit status go to the debugger, here QEMU. Shared with
//! examples/embedded; each program defines `run` and `report`.
use cortex_m as _; // its critical sections
use cortex_m_semihosting::{debug, hio};

pub fn write(text: &str) {
    if let Ok(mut out) = hio::hstdout() {
        let _ = out.write_all(text.as_bytes());
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
    super::report(Memory::measure());
    loop {
        debug::exit(debug::EXIT_SUCCESS)
    }
}

#[cortex_m_rt::exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    write("hard fault\n");
    fail()
}

/// Bytes in use.
pub struct Memory {
    /// Code, constants and the initial values of static variables.
    pub flash: usize,
    /// Static variables, the heap among them.
    pub data: usize,
    /// RAM left for the stack, and the part of it where the start code's paint has been
    /// overwritten.
    pub room: usize,
    pub stack: usize,
}
impl Memory {
    fn measure() -> Memory {
        unsafe extern "C" {
            static __sidata: u32;
            static __sdata: u32;
            static __edata: u32;
            static _stack_start: u32;
            static _stack_end: u32;
        }
        const PAINT: u32 = 0xcccc_cccc;
        let (bottom, top) = (&raw const _stack_end, &raw const _stack_start);
        let room = top as usize - bottom as usize;
        // SAFETY: the words between the linker's two symbols are RAM; any bits are a valid u32.
        let untouched = 4 * (0..room / 4).take_while(|k| unsafe { bottom.add(*k).read_volatile() } == PAINT).count();
        let (start, end) = (&raw const __sdata as usize, &raw const __edata as usize);
        assert!(untouched >= 64, "the stack reached the heap");
        Memory { flash: &raw const __sidata as usize + end - start, data: bottom as usize - start, room, stack: room - untouched }
    }
}
