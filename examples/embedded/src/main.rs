//! Classifies the held-out digits, which the debugger reads from the host, compares the
//! probabilities with the desktop's, and reports the memory used.
#![no_std]
#![no_main]

extern crate alloc;

#[path = "../../../tests/bare/src/board.rs"]
mod board;
#[cfg(feature = "burn")]
mod burn;
#[cfg(all(feature = "convolutional", not(feature = "burn")))]
mod convolutional;
#[cfg(not(any(feature = "convolutional", feature = "quantized")))]
mod linear;
mod model;
#[cfg(feature = "quantized")]
mod quantized;
mod weights;

use board::{fail, write};
use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use cortex_m_semihosting::{nr, syscall};
use embedded_alloc::LlffHeap;
use model::{Record, most_likely};

#[cfg(feature = "burn")]
use burn::Classifier;
#[cfg(all(feature = "convolutional", not(feature = "burn")))]
use convolutional::Classifier;
#[cfg(not(any(feature = "convolutional", feature = "quantized")))]
use linear::Classifier;
#[cfg(feature = "quantized")]
use quantized::Classifier;

/// The flash that the program may use, its heap, the held-out digits, and the percentage that must
/// be recognised.
struct Budget {
    flash: usize,
    heap: usize,
    digits: &'static str,
    right: usize,
}
/// The budget of each network; build.rs passes the same limits to the linker.
const BUDGET: Budget = if cfg!(feature = "convolutional") {
    Budget {
        flash: if cfg!(feature = "burn") { 4 << 20 } else { 160 << 10 },
        heap: if cfg!(feature = "burn") { 16 << 10 } else { 6 << 10 },
        digits: concat!(env!("CARGO_MANIFEST_DIR"), "/convolutional.bin\0"),
        right: 98,
    }
} else {
    Budget {
        flash: 128 << 10,
        // quantised inputs and packed weights need more
        heap: if cfg!(feature = "quantized") { 6 << 10 } else { 2 << 10 },
        digits: concat!(env!("CARGO_MANIFEST_DIR"), "/held_out.bin\0"),
        right: 95,
    }
};
const HEAP_BYTES: usize = BUDGET.heap;
const RAM_BYTES: usize = if cfg!(feature = "burn") { 128 << 10 } else { 16 << 10 };
const DIGITS: usize = 297;

/// A heap that records its peak.
struct Heap {
    free: LlffHeap,
    peak: AtomicUsize,
}
// SAFETY: the allocator's own methods.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let p = unsafe { self.free.alloc(layout) };
        self.peak.store(self.peak.load(Relaxed).max(self.free.used()), Relaxed);
        p
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { self.free.dealloc(p, layout) }
    }
}
#[global_allocator]
static HEAP: Heap = Heap { free: LlffHeap::empty(), peak: AtomicUsize::new(0) };

fn run() {
    #[repr(align(16))]
    struct Memory(#[allow(dead_code, reason = "only its address is used")] [u8; HEAP_BYTES]);
    static mut MEMORY: Memory = Memory([0; HEAP_BYTES]);
    // SAFETY: called once, before any allocation, and nothing else uses the memory.
    unsafe { HEAP.free.init(&raw mut MEMORY as usize, HEAP_BYTES) }

    let Ok(layers) = weights::layers() else { stop("the weights can't be read") };
    check(weights::are_in_place(&layers), "weights were copied");
    let Ok(mut classifier) = Classifier::new(layers) else { stop("no memory for results") };
    let mut file = HeldOut::open();
    let (mut digits, mut right, mut same) = (0, 0, 0);
    while let Some(record) = file.next() {
        let Ok(probabilities) = classifier.probabilities(&record.pixels) else { stop("an operation failed") };
        check(cfg!(feature = "quantized") || record.agrees(probabilities), "other probabilities than on a desktop");
        same += record.is_predicted(probabilities) as usize;
        right += (most_likely(probabilities) == record.digit) as usize;
        digits += 1;
    }
    check(100 * same >= 99 * digits, "other digits than by float32");
    check(digits == DIGITS && 100 * right >= BUDGET.right * digits, "too few digits are recognised");
    report_numbers(&[("", right), (" of ", digits), (" held-out digits are recognised\n", 0)]);
}

fn report(memory: board::Memory) {
    let heap = HEAP.peak.load(Relaxed);
    let ram = memory.data - HEAP_BYTES + heap + memory.stack;
    report_numbers(&[
        ("flash ", memory.flash),
        (" bytes, RAM ", ram),
        (" bytes: heap ", heap),
        (", stack ", memory.stack),
        (" of ", memory.room),
        (", static variables ", memory.data - HEAP_BYTES),
        ("\n", 0),
    ]);
    check(memory.flash <= BUDGET.flash && ram <= RAM_BYTES, "over the budget");
}

/// The host's file of digits, outside the program's memory.
struct HeldOut(usize);
impl HeldOut {
    fn open() -> HeldOut {
        const PATH: &str = BUDGET.digits;
        // SAFETY: the host reads the path.
        let file = unsafe { syscall!(OPEN, PATH.as_ptr(), nr::open::R_BINARY, PATH.len() - 1) };
        check(file as isize != -1, "no held-out digits");
        HeldOut(file)
    }
    /// None at the end of the file.
    fn next(&mut self) -> Option<Record> {
        let mut bytes = [0; Record::BYTES];
        // SAFETY: the host writes at most `bytes.len()` bytes there.
        let missing = unsafe { syscall!(READ, self.0, bytes.as_mut_ptr(), bytes.len()) };
        (missing == 0).then(|| Record::parse(&bytes))
    }
}

/// Writes each text, followed by its number unless that is zero.
fn report_numbers(parts: &[(&str, usize)]) {
    for (text, mut number) in parts.iter().copied() {
        write(text);
        let (mut digits, mut at) = ([0; 10], 10);
        while number > 0 {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        write(core::str::from_utf8(&digits[at..]).unwrap_or_default());
    }
}

fn check(holds: bool, otherwise: &str) {
    if !holds {
        stop(otherwise);
    }
}
fn stop(why: &str) -> ! {
    write(why);
    write("\n");
    fail()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    stop("a panic")
}
