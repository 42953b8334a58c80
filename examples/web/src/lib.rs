//! flex for a web page: float32 tensors, and a classifier of handwritten digits whose weights are
//! part of the module.
#![no_std]

extern crate alloc;

#[path = "../../embedded/src/convolutional.rs"]
mod convolutional;
mod digits;
#[allow(dead_code, reason = "used on boards")]
#[path = "../../embedded/src/model.rs"]
mod model;
mod tensor;
#[allow(dead_code, reason = "used on boards")]
#[path = "../../embedded/src/weights.rs"]
mod weights;

use alloc::string::ToString;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Throws a panic as a JavaScript exception.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    wasm_bindgen::throw_str(&info.to_string())
}
