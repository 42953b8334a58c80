//! The machine against a walk index by index: several outputs of mixed sizes, constants,
//! temporaries, any layout.

mod fold;
mod lines;

use crate::common::Rng;
use flex::ElementBytes;
use flex::exec::nest::{LoopOperand, Nest};
use flex::exec::program::{Builder, MAX_CODE, Opcode, TileProgram};
use flex::exec::tile;
use flex::layout::Layout;
use flex::simd::{Isa, Loop, pick};
use std::vec;
use std::vec::Vec;

/// A layout of `shape`, permuted, flipped, stepped, offset, and if `repeat` broadcast; and the size
/// of a storage for it alone.
fn layout(rng: &mut Rng, shape: &[usize], repeat: bool) -> (Layout, usize) {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if rng.below(2) == 0 {
        order.reverse();
    }
    let (mut strides, mut offset) = (vec![0isize; shape.len()], rng.below(4));
    let mut step = 1 + rng.below(2) as isize;
    for k in order.into_iter().rev() {
        if repeat && rng.below(4) == 0 {
            continue;
        }
        strides[k] = step;
        if rng.below(4) == 0 {
            strides[k] = -step;
            offset += step as usize * shape[k].saturating_sub(1);
        }
        step *= shape[k] as isize + rng.below(2) as isize;
    }
    let room = offset + step.unsigned_abs() + 8;
    (Layout::new(shape, &strides, offset).unwrap(), room)
}

fn positions(l: &Layout) -> Vec<usize> {
    (0..l.len())
        .map(|n| {
            let (mut n, mut p) = (n, l.offset() as isize);
            for k in (0..l.rank()).rev() {
                p += (n % l.shape()[k]) as isize * l.strides()[k];
                n /= l.shape()[k];
            }
            p as usize
        })
        .collect()
}

fn operand<T>(storage: &mut [T], l: &Layout) -> LoopOperand {
    LoopOperand::new(
        storage.as_mut_ptr().wrapping_add(l.offset()) as *mut u8,
        size_of::<T>(),
        l.shape(),
        l.strides(),
        l.rank(),
    )
}

/// Loops that respect the scalar mask, element by element.
macro_rules! loops {
    ($($Name:ident |$a:ident: $A:ty, $b:ident: $B:ty| $e:expr => $Out:ty;)*) => { $(
        struct $Name;
        impl Loop for $Name {
            #[inline(always)]
            unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, b: *const u8, _: *const u8, n: usize, scalars: u32) {
                for i in 0..n {
                    let at = |k: u32| if scalars >> k & 1 == 1 { 0 } else { i };
                    // SAFETY: LOOP1: `n` elements each of the kernel's types, or one where the bit
                    // of `scalars` is set.
                    unsafe {
                        let ($a, $b) = (*(a as *const $A).add(at(0)), *(b as *const $B).add(at(1)));
                        *(d as *mut $Out).add(i) = $e;
                    }
                }
            }
        }
    )* };
}
loops! {
    Multiply |a: f32, b: f32| a * b => f32;
    Add |a: f32, b: f32| a + b => f32;
    Less |a: f32, b: f32| (a < b) as u8 => u8;
    Not |a: u8, _b: u8| 1 - a => u8;
}

fn op<L: Loop>(_: L, scalar_masks: u8) -> Opcode {
    Opcode {
        f: pick::<L>(),
        arity: 2,
        components: 1,
        scalar_masks,
        cost: 2,
    }
}

#[test]
fn programs_of_several_outputs_over_any_layout() {
    let mut rng = Rng(1);
    let shapes: [&[usize]; 12] = [
        &[],
        &[1],
        &[9],
        &[700],
        &[3, 5],
        &[40, 33],
        &[130, 70],
        &[2, 300],
        &[5, 1, 7],
        &[3, 17, 19],
        &[2, 3, 2, 3, 2, 3],
        &[0, 4],
    ];
    for round in 0..if cfg!(miri) { 8 } else { 400 } {
        let shape = shapes[round % shapes.len()];
        let (la, na) = layout(&mut rng, shape, true);
        let (lb, nb) = layout(&mut rng, shape, true);
        let (lx, nx) = layout(&mut rng, shape, false);
        let (ly, ny) = layout(&mut rng, shape, false);
        let mut a: Vec<f32> = (0..na).map(|_| rng.below(100) as f32).collect();
        let mut b: Vec<f32> = (0..nb).map(|_| rng.below(100) as f32).collect();
        let (mut x, mut y) = (vec![-1f32; nx], vec![7u8; ny]);
        // x = a * 2 + b, y = !(a < b)
        let masks = [1, 0b11, 0b111, 0b1111][round / 3 % 4];
        let mut p = Builder::new("test");
        let (u, v) = (p.input(4).unwrap(), p.input(4).unwrap());
        let two = p.constant(ElementBytes::of(2.0f32), 4).unwrap();
        let double = p.compute(op(Multiply, masks), &[u, two], 4).unwrap();
        let sum = p.compute(op(Add, masks), &[double, v], 4).unwrap();
        let less = p.compute(op(Less, masks), &[u, v], 1).unwrap();
        let not = p.compute(op(Not, 1), &[less, less], 1).unwrap();
        p.output(sum).unwrap();
        p.output(not).unwrap();
        let program = p.finish().unwrap();
        let (oa, ob, ox, oy) = (
            operand(&mut a, &la),
            operand(&mut b, &lb),
            operand(&mut x, &lx),
            operand(&mut y, &ly),
        );
        // SAFETY: NEST1: layouts lie in their own storages; outputs don't repeat.
        unsafe { flex::exec::run(&program, shape, &[oa, ob], &[ox, oy]) };
        let (pa, pb, px, py) = (
            positions(&la),
            positions(&lb),
            positions(&lx),
            positions(&ly),
        );
        for i in 0..la.len() {
            let (u, v) = (a[pa[i]], b[pb[i]]);
            assert_eq!(
                x[px[i]],
                u * 2.0 + v,
                "round {round}, {shape:?} {la:?} {lb:?} {lx:?}"
            );
            assert_eq!(
                y[py[i]],
                (u >= v) as u8,
                "round {round}, {shape:?} {la:?} {lb:?} {ly:?}"
            );
        }
        // nothing else is written
        px.iter().for_each(|p| x[*p] = -1.0);
        py.iter().for_each(|p| y[*p] = 7);
        assert!(x.iter().all(|v| *v == -1.0) && y.iter().all(|v| *v == 7));
    }
}

#[test]
fn an_output_may_lie_on_an_input() {
    let mut rng = Rng(2);
    for shape in [&[5][..], &[1000], &[40, 50], &[3, 4, 5]] {
        let (la, na) = layout(&mut rng, shape, false);
        let (lb, nb) = layout(&mut rng, shape, true);
        let mut a: Vec<f32> = (0..na).map(|_| rng.below(100) as f32).collect();
        let mut b: Vec<f32> = (0..nb).map(|_| rng.below(100) as f32).collect();
        let before = a.clone();
        let program = TileProgram::of(op(Add, 0b111), &[4, 4], 4);
        let (oa, ob) = (operand(&mut a, &la), operand(&mut b, &lb));
        // SAFETY: NEST1: the output is the first input exactly.
        unsafe { flex::exec::run(&program, shape, &[oa.clone(), ob], &[oa]) };
        for (p, q) in positions(&la).into_iter().zip(positions(&lb)) {
            assert_eq!(a[p], before[p] + b[q], "{shape:?}");
        }
    }
}

#[test]
fn streamed_outputs_hold_the_same() {
    // rows that begin on a cache line and others, lengths around those of lines and tiles
    let shapes: [&[usize]; 15] = [
        &[1],
        &[15],
        &[16],
        &[17],
        &[511],
        &[512],
        &[513],
        &[1151],
        &[1152],
        &[1153],
        &[2000],
        &[3, 528],
        &[3, 530],
        &[2, 3, 1024],
        &[40, 20],
    ];
    let shapes = &shapes[..if cfg!(miri) { 4 } else { shapes.len() }];
    for (shape, shift) in shapes.iter().flat_map(|s| [(s, 0), (s, 1)]) {
        let n: usize = shape.iter().product();
        let (mut a, mut b): (Vec<f32>, Vec<f32>) = (
            (0..n).map(|k| k as f32).collect(),
            (0..n).map(|k| (k % 7) as f32).collect(),
        );
        let (mut x, mut y) = (vec![-1f32; n + 32], vec![7u8; n + 128]);
        let (from_x, from_y) = (
            x.as_ptr().align_offset(64) + shift,
            y.as_ptr().align_offset(64) + shift,
        );
        let whole = |offset| {
            Layout::new(shape, Layout::contiguous(shape).unwrap().strides(), offset).unwrap()
        };
        let policy = tile::CachePolicy {
            streamed: true,
            prefetched: true,
            reduced: false,
        };
        let mut p = Builder::new("test");
        let (u, v) = (p.input(4).unwrap(), p.input(4).unwrap());
        let sum = p.compute(op(Add, 0b111), &[u, v], 4).unwrap();
        let less = p.compute(op(Less, 0b111), &[u, v], 1).unwrap();
        p.output(sum).unwrap();
        p.output(less).unwrap();
        let program = p.finish().unwrap();
        let inputs = [operand(&mut a, &whole(0)), operand(&mut b, &whole(0))];
        let outputs = [
            operand(&mut x, &whole(from_x)),
            operand(&mut y, &whole(from_y)),
        ];
        // SAFETY: NEST1: layouts lie in their own storages.
        unsafe {
            tile::run(
                &program,
                tile::TileBody::Code,
                &Nest::new(shape, &inputs, &outputs),
                policy,
            )
        };
        for k in 0..n {
            assert_eq!(
                (x[from_x + k], y[from_y + k]),
                (a[k] + b[k], (a[k] < b[k]) as u8),
                "{shape:?}, {shift}, {k}"
            );
        }
        assert!(
            x[..from_x]
                .iter()
                .chain(&x[from_x + n..])
                .all(|v| *v == -1.0),
            "{shape:?}, {shift}"
        );
        assert!(
            y[..from_y].iter().chain(&y[from_y + n..]).all(|v| *v == 7),
            "{shape:?}, {shift}"
        );
        // in place
        let program = TileProgram::of(op(Add, 0b111), &[4, 4], 4);
        let before = a.clone();
        let target = operand(&mut a, &whole(0));
        // SAFETY: NEST1: the output is the first input exactly.
        unsafe {
            tile::run(
                &program,
                tile::TileBody::Code,
                &Nest::new(
                    shape,
                    &[target.clone(), operand(&mut b, &whole(0))],
                    &[target],
                ),
                policy,
            )
        };
        assert!(
            (0..n).all(|k| a[k] == before[k] + b[k]),
            "{shape:?}, in place"
        );
    }
}

#[test]
fn temporaries_share_slots_and_limits_are_errors() {
    // a chain of sums: each is dead once the next is computed
    let mut p = Builder::new("test");
    let x = p.input(4).unwrap();
    let mut sum = p.compute(op(Add, 1), &[x, x], 4).unwrap();
    for _ in 1..MAX_CODE {
        sum = p.compute(op(Add, 1), &[sum, x], 4).unwrap();
    }
    let none = p.compute(op(Add, 1), &[sum, x], 4);
    assert!(none.unwrap_err().to_string().contains("64 instructions"));
    p.output(sum).unwrap();
    assert!(p.output(sum).is_err() && p.output(x).is_err());
    let program = p.finish().unwrap();
    assert_eq!(program.temporaries, 2);
    let n = 1000;
    let (mut a, mut y) = (vec![1f32; n], vec![0f32; n]);
    let l = Layout::contiguous(&[n]).unwrap();
    let (from, to) = (operand(&mut a, &l), operand(&mut y, &l));
    // SAFETY: NEST1: two vectors of `n` elements.
    unsafe { flex::exec::run(&program, &[n], &[from], &[to]) };
    assert!(y.iter().all(|v| *v == MAX_CODE as f32 + 1.0));

    // more constants than slots, more inputs than operands
    let mut p = Builder::new("test");
    assert!((0..49).any(|_| p.constant(ElementBytes::of(1.0f32), 4).is_err()));
    assert!((0..13).any(|_| p.input(4).is_err()));
}
