//! Threads: the cost of a fork-join, and whether two threads are ever slower than one. Prints its
//! own tables: latencies have tails, and the sweep alternates two settings.
//!
//! `cargo bench --bench threads [-- join | sweep [OPERATION ..] [LOG2 OF THE FIRST LENGTH, OF THE
//! LAST]]`

mod common;
use common::uniform;
use flex::par::{Cost, chunks};
use flex::{DType, Result, Tensor, ops, with_threads};
use std::hint::black_box;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    match asked.split_first() {
        None => {
            join();
            sweep(&[]);
        }
        Some((mode, rest)) => match mode.as_str() {
            "burn" => loop {
                black_box(0);
            },
            "join" => join(),
            _ => sweep(rest),
        },
    }
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {}
}
/// Latencies of `n` fork-joins of two pieces that take `work` each, with a pause in between.
fn joins(n: usize, work: Duration, pause: Duration) -> Vec<Duration> {
    // the declared cost is worth two threads, but not waking one
    let cost = Cost {
        bytes: 0,
        flops: 64 * (work.as_nanos() as usize).max(2600),
    };
    (0..n)
        .map(|_| {
            if pause > Duration::ZERO {
                std::thread::sleep(pause);
            }
            let start = Instant::now();
            chunks(2, cost, |_| {
                if work > Duration::ZERO {
                    spin(work)
                }
            });
            start.elapsed()
        })
        .collect()
}
fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize].as_nanos() as f64 / 1e3;
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}
struct Burner(Child);
impl Burner {
    fn start() -> Burner {
        let me = std::env::current_exe().unwrap();
        let burner = Burner(Command::new(me).arg("burn").spawn().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        burner
    }
}
impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn join() {
    let us = Duration::from_micros;
    println!("| fork-join of two, us | p50 | p90 | p99 | most |\n|---|---:|---:|---:|---:|");
    with_threads(2, || {
        chunks(
            2,
            Cost {
                bytes: 1 << 30,
                flops: 0,
            },
            |_| spin(us(200)),
        ); // wakes the worker
        report("empty, worker warm", joins(20_000, us(0), us(0)));
        report("2 x 5 us, worker warm", joins(5_000, us(5), us(0)));
        report("2 x 50 us, worker warm", joins(1_000, us(50), us(0)));
        report("2 x 5 us, worker parked", joins(500, us(5), us(1000)));
        report("2 x 200 us, worker parked", joins(200, us(200), us(1000)));
        let _burner = Burner::start();
        report("2 x 5 us, with a busy process", joins(20_000, us(5), us(0)));
        report(
            "2 x 200 us, with a busy process",
            joins(2_000, us(200), us(0)),
        );
    });
}

type Run = fn(&[Tensor]) -> Result<Tensor>;
fn operations() -> Vec<(&'static str, DType, Run)> {
    use DType::*;
    vec![
        ("add", F32, |x| ops::add(&x[0], &x[1])),
        ("multiply by 2", F32, |x| ops::multiply(&x[0], 2.0)),
        ("exp", F32, |x| ops::exp(&x[0])),
        ("sum", F32, |x| ops::sum(&x[0], ())),
        ("greater", F32, |x| ops::greater(&x[0], &x[1])),
        ("to float64", F32, |x| x[0].astype(F64)),
        ("exp float64", F64, |x| ops::exp(&x[0])),
        ("add bfloat16", BF16, |x| ops::add(&x[0], &x[1])),
        ("pow", F32, |x| ops::pow(&x[0], &x[1])),
        ("softmax", F32, |x| flex::nn::softmax(&x[0], -1)),
        ("cumulative_sum", F32, |x| ops::cumulative_sum(&x[0], ())),
        ("argmax", F32, |x| ops::argmax(&x[0], ())),
        ("sort", F32, |x| ops::sort(&x[0], -1)),
    ]
}
/// The median time of a call on 1 and on 2 threads, in turn.
fn one_and_two(x: &[Tensor], run: Run) -> [Duration; 2] {
    let call = || drop(black_box(run(black_box(x)).unwrap()));
    let start = Instant::now();
    call();
    let reps = (Duration::from_micros(2000).as_nanos() / start.elapsed().as_nanos().max(1))
        .clamp(1, 4000) as u32;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..11 {
        for (k, times) in times.iter_mut().enumerate() {
            with_threads(k + 1, || {
                (0..reps.div_ceil(4)).for_each(|_| call());
                let start = Instant::now();
                (0..reps).for_each(|_| call());
                times.push(start.elapsed() / reps);
            });
        }
    }
    times.map(|mut t| {
        t.sort();
        t[t.len() / 3] // a low quantile: other processes disturb two threads more than one
    })
}
fn sweep(asked: &[String]) {
    let lengths: Vec<usize> = asked.iter().filter_map(|a| a.parse().ok()).collect();
    let names = || asked.iter().filter(|a| a.parse::<usize>().is_err());
    let operations: Vec<_> = operations()
        .into_iter()
        .filter(|o| names().count() == 0 || names().any(|a| a == o.0))
        .collect();
    println!(
        "\n| time on 1 thread, us (gain by a second) | {} |",
        operations
            .iter()
            .map(|o| o.0)
            .collect::<Vec<_>>()
            .join(" | ")
    );
    println!("|---|{}", "---:|".repeat(operations.len()));
    for log in lengths.first().map_or(8, |n| *n)..=lengths.last().map_or(24, |n| *n) {
        let n = 1usize << log;
        let time = |(name, dtype, run): &(&str, DType, Run)| {
            if *name == "sort" && log > 20 {
                return String::from("-");
            }
            let x = [uniform(&[n], *dtype), uniform(&[n], *dtype)];
            let [one, two] = one_and_two(&x, *run).map(|t| t.as_nanos() as f64);
            format!("{:.1} ({:.2})", one / 1e3, one / two)
        };
        println!(
            "| 2^{log} | {} |",
            operations.iter().map(time).collect::<Vec<_>>().join(" | ")
        );
    }
}
