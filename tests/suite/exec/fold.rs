//! Programs that end in accumulators, against a walk index by index.

use super::{Add, Multiply, layout, op, positions};
use crate::common::Rng;
use flex::ElementBytes;
use flex::exec::fold::{End, Fold, fold_computed};
use flex::exec::program::Builder;
use flex::exec::view::{View, ViewMut};
use flex::layout::Layout;
use std::vec;
use std::vec::Vec;

/// Sums of float32 in float64.
struct Total;
impl Fold for Total {
    type In = f32;
    type Acc = f64;
    type Out = f64;
    fn runs(&self, x: &[f32], n: usize, acc: &mut [f64]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = x[j * n..][..n].iter().map(|x| *x as f64).sum();
        }
    }
    fn rows(&self, x: &[f32], stride: usize, rows: usize, acc: &mut [f64]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = (0..rows).map(|r| x[r * stride + j] as f64).sum();
        }
    }
    fn join(&self, a: &mut [f64], b: &[f64]) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    }
    fn finish(&self, acc: &f64, _: usize) -> f64 {
        *acc
    }
}

/// The maximum of float32.
struct Largest;
impl Fold for Largest {
    type In = f32;
    type Acc = f32;
    type Out = f32;
    fn runs(&self, x: &[f32], n: usize, acc: &mut [f32]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = x[j * n..][..n]
                .iter()
                .copied()
                .fold(f32::NEG_INFINITY, f32::max);
        }
    }
    fn rows(&self, x: &[f32], stride: usize, rows: usize, acc: &mut [f32]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            let column = (0..rows).map(|r| x[r * stride + j]);
            *acc = column.fold(f32::NEG_INFINITY, f32::max);
        }
    }
    fn join(&self, a: &mut [f32], b: &[f32]) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = a.max(*b));
    }
    fn finish(&self, acc: &f32, _: usize) -> f32 {
        *acc
    }
}

#[test]
fn programs_end_in_accumulators() {
    let mut rng = Rng(3);
    let shapes: [&[usize]; 10] = [
        &[1],
        &[700],
        &[40, 33],
        &[130, 70],
        &[5, 1, 7],
        &[3, 170, 19],
        &[2, 3, 2, 3, 2, 3],
        &[0, 4],
        &[19_000],
        &[70, 610],
    ];
    for round in 0..if cfg!(miri) { 8 } else { 400 } {
        let shape = shapes[round % shapes.len()];
        // x * x + 2 * y, and x * y, by instructions that take single values or don't
        let masks = [1, 0b11, 0b1111][round / 8 % 3];
        let mut p = Builder::new("test");
        let (x, y) = (p.input(4).unwrap(), p.input(4).unwrap());
        let two = p.constant(ElementBytes::of(2.0f32), 4).unwrap();
        let square = p.compute(op(Multiply, masks), &[x, x], 4).unwrap();
        let double = p.compute(op(Multiply, masks), &[two, y], 4).unwrap();
        let sum = p.compute(op(Add, masks), &[square, double], 4).unwrap();
        let product = p.compute(op(Multiply, masks), &[x, y], 4).unwrap();
        let both = round % 2 == 0;
        p.output(sum).unwrap();
        if both {
            p.output(product).unwrap();
        }
        let program = p.finish().unwrap();

        let layouts = [(); 2].map(|_| layout(&mut rng, shape, true));
        let [a, b] = [0, 1]
            .map(|k| -> Vec<f32> { (0..layouts[k].1).map(|_| rng.below(100) as f32).collect() });
        let reduced: Vec<bool> = shape.iter().map(|_| rng.below(2) == 0).collect();
        let kept = (0..shape.len()).filter(|k| !reduced[*k]);
        let sizes: Vec<usize> = kept.map(|k| shape[k]).collect();
        let out = Layout::contiguous(&sizes).unwrap();
        let (mut total, mut sums) = (vec![0f64; out.len()], vec![-1f64; out.len()]);
        let mut largest = vec![f32::NEG_INFINITY; out.len()];
        let mut products = vec![-1f32; out.len()];
        let at = [0, 1].map(|k| positions(&layouts[k].0));
        for (n, (i, j)) in at[0].iter().zip(&at[1]).enumerate() {
            let (mut to, mut step, mut n) = (0, 1, n);
            for k in (0..shape.len()).rev() {
                if !reduced[k] {
                    to += n % shape[k] * step;
                    step *= shape[k];
                }
                n /= shape[k];
            }
            total[to] += (a[*i] * a[*i] + 2.0 * b[*j]) as f64;
            largest[to] = largest[to].max(a[*i] * b[*j]);
        }
        // SAFETY: VIEW1, VIEW2: layouts lie in their own storages.
        let (inputs, sum, product) = unsafe {
            let view =
                |v: &[f32], l| View::new(v.as_ptr().wrapping_add(Layout::offset(l)).cast(), 4, l);
            (
                [view(&a, &layouts[0].0), view(&b, &layouts[1].0)],
                ViewMut::new(sums.as_mut_ptr().cast(), 8, &out),
                ViewMut::new(products.as_mut_ptr().cast(), 4, &out),
            )
        };
        let mut ends = vec![End::new(&Total, sum), End::new(&Largest, product)];
        ends.truncate(1 + both as usize);
        let value = Layout::of_result(shape, inputs.iter().map(|x| x.layout())).unwrap();
        fold_computed(&program, &inputs, &value, |k| reduced[k], &mut ends).unwrap();
        let case = std::format!("round {round}, {shape:?}, {reduced:?}, {layouts:?}");
        assert_eq!(sums, total, "{case}");
        assert!(!both || products == largest, "{case}");
    }
}
