//! WebAssembly: the host provides `host.print` and calls `main`.

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    fn print(text: *const u8, len: usize);
}

pub fn write(text: &str) {
    // SAFETY: the host reads the bytes and keeps nothing.
    unsafe { print(text.as_ptr(), text.len()) }
}

pub fn fail() -> ! {
    core::arch::wasm32::unreachable()
}

#[unsafe(no_mangle)]
extern "C" fn main() {
    super::run()
}

struct OneThread;
critical_section::set_impl!(OneThread);
// SAFETY: there is one thread and no interrupt.
unsafe impl critical_section::Impl for OneThread {
    unsafe fn acquire() {}
    unsafe fn release(_: ()) {}
}
