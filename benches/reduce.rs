//! Reductions over all elements and along axes.

mod common;
use common::{time, uniform};
use divan::Bencher;
use flex::{DType, ops};

const AXES: [Option<isize>; 3] = [None, Some(0), Some(1)];

fn main() {
    divan::main();
}

#[divan::bench(args = [16, 64 << 10, 1 << 20, 16 << 20])]
fn sum(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    time(bencher, || ops::sum(&x, ()));
}

#[divan::bench(args = [16, 64 << 10, 1 << 20, 16 << 20])]
fn ewise_sum(bencher: Bencher, n: usize) {
    let x = uniform(&[n], DType::F32);
    let sum = ops::reducer(0.0, |sum: f32, x: f32| sum + x, |a, b| a + b);
    time(bencher, || ops::reduce_axes_ewise(&x, (), sum));
}

#[divan::bench(args = [64 << 10, 1 << 20])]
fn ewise_dot(bencher: Bencher, n: usize) {
    let (x, y) = (uniform(&[n], DType::F32), uniform(&[n], DType::F32));
    let dot = ops::reducer(0.0, |sum: f32, x: f32, y: f32| sum + x * y, |a, b| a + b);
    time(bencher, || ops::reduce_axes_ewise((&x, &y), (), dot));
}

#[divan::bench(args = [64 << 10, 1 << 20])]
fn dot(bencher: Bencher, n: usize) {
    let (x, y) = (uniform(&[n], DType::F32), uniform(&[n], DType::F32));
    time(bencher, || ops::vecdot(&x, &y, -1));
}

#[divan::bench(args = [DType::F64, DType::BF16, DType::I32])]
fn sum_1m(bencher: Bencher, dtype: DType) {
    let x = uniform(&[1 << 20], dtype);
    time(bencher, || ops::sum(&x, ()));
}

#[divan::bench(args = AXES)]
fn sum_1024x1024(bencher: Bencher, axis: Option<isize>) {
    let x = uniform(&[1024, 1024], DType::F32);
    time(bencher, || ops::sum(&x, axis));
}

#[divan::bench(args = AXES)]
fn ewise_sum_1024x1024(bencher: Bencher, axis: Option<isize>) {
    let x = uniform(&[1024, 1024], DType::F32);
    let sum = ops::reducer(0.0, |sum: f32, x: f32| sum + x, |a, b| a + b);
    time(bencher, || ops::reduce_axes_ewise(&x, axis, sum));
}

#[divan::bench(args = AXES)]
fn var_1024x1024(bencher: Bencher, axis: Option<isize>) {
    let x = uniform(&[1024, 1024], DType::F32);
    time(bencher, || ops::var(&x, axis, 0.0));
}

#[divan::bench(args = AXES)]
fn argmax_1024x1024(bencher: Bencher, axis: Option<isize>) {
    let x = uniform(&[1024, 1024], DType::F32);
    time(bencher, || ops::argmax(&x, axis));
}
