//! flex-burn beside burn-flex and burn-ndarray: the same calls of Burn's backend traits, in turn.
//!
//! `make bench-burn` builds this, runs it for each number of threads, and makes a page of the rows that it prints:
//! `family,row,mode,threads,backend,value`, with microseconds or, in the mode `memory`, bytes.
//!
//! ```sh
//! flex-burn-benches time 1 [part of a family or row]
//! ```

#![allow(deprecated, reason = "burn-ndarray is, and still what programs run on")]

mod clock;
mod data;
mod memory;
mod rows;

use burn_backend::Backend;
use burn_backend::tensor::FloatTensor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is measured: a call, whose result is dropped, as in a program.
type Call = Box<dyn FnMut()>;

fn call<T>(mut f: impl FnMut() -> T + 'static) -> Call {
    Box::new(move || drop(std::hint::black_box(f())))
}

/// The backends, in the order of [`Row::make`].
const BACKENDS: [&str; 3] = ["flex-burn", "burn-flex", "burn-ndarray"];

/// The same call on each backend.
struct Row {
    family: &'static str,
    name: &'static str,
    make: [fn() -> Call; 3],
}

/// A backend, with its transform, which Burn's traits lack.
trait Measured: Backend {
    /// Real and imaginary parts of the transform of a real tensor along an axis.
    fn rfft(x: FloatTensor<Self>, dim: usize) -> (FloatTensor<Self>, FloatTensor<Self>);
}
impl Measured for flex_burn::Flex {
    fn rfft(x: FloatTensor<Self>, dim: usize) -> (FloatTensor<Self>, FloatTensor<Self>) {
        flex_burn::ops::fft::rfft_f32(x, dim, None)
    }
}
impl Measured for flex_burn::Fusion<flex_burn::Flex> {
    fn rfft(_: FloatTensor<Self>, _: usize) -> (FloatTensor<Self>, FloatTensor<Self>) {
        panic!("burn-fusion has no transform")
    }
}
impl Measured for burn_flex::Flex {
    fn rfft(x: FloatTensor<Self>, dim: usize) -> (FloatTensor<Self>, FloatTensor<Self>) {
        burn_flex::ops::fft::rfft_f32(x, dim, None)
    }
}
impl Measured for burn_ndarray::NdArray {
    fn rfft(_: FloatTensor<Self>, _: usize) -> (FloatTensor<Self>, FloatTensor<Self>) {
        panic!("burn-ndarray has no transform")
    }
}

/// The call on a backend, unless the backend lacks it, which it says by a panic.
fn working(make: fn() -> Call) -> Option<Call> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut call = make();
        call();
        call
    }))
    .ok()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |k: usize| arguments.get(k).map_or("", String::as_str);
    let (mode, threads, part) = (argument(0), argument(1), argument(2));
    if !["time", "memory"].contains(&mode) {
        eprintln!("usage: flex-burn-benches time|memory THREADS [PART OF A NAME]");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|_| {})); // what a backend lacks is an empty field
    for row in rows::all() {
        if !format!("{} {}", row.family, row.name).contains(part) {
            continue;
        }
        let calls = row.make.into_iter().map(working).collect();
        // fusion runs on a thread of Burn's, whose time the clock of the process shows late
        let clock = match threads {
            "1" if row.family != "fusion" => clock::processor,
            _ => clock::wall,
        };
        let values = match mode {
            "time" => clock::times(calls, clock),
            _ => memory::peaks(calls),
        };
        for (backend, value) in BACKENDS.iter().zip(values) {
            let value = value.map_or(String::new(), |value| format!("{value:.3}"));
            println!(
                "\"{}\",\"{}\",{mode},{threads},{backend},{value}",
                row.family, row.name
            );
        }
    }
}
