//! Every element type, algorithm and layout against a naive product in integers or `f64`.

mod eight_bits;
mod post_op;
mod rounding;
mod sources;

use crate::common::Rng;
use flex::kernel::gemm::blocking;
use flex::kernel::gemm::microkernel::{HEIGHT, micropanel};
use flex::kernel::gemm::*;

/// An element with an exact counterpart: small integers for all types, so that each float product
/// below 2^24 is exact as well.
trait Number: MatElement {
    fn make(x: i64) -> Self;
    /// Whether this is the oracle's sum in this type.
    fn is(self, sum: i64) -> bool;
}
macro_rules! numbers {
    ($($(#[$cfg:meta])* $T:ty, |$x:ident| $make:expr, |$y:ident, $sum:ident| $is:expr;)*) => { $(
        $(#[$cfg])* impl Number for $T { fn make($x: i64) -> Self { $make } fn is(self, $sum: i64) -> bool { let $y = self; $is } }
    )* };
}
numbers! {
    f32, |x| (x % 9) as f32, |y, sum| y as f64 == sum as f64;
    #[cfg(feature = "f64")] f64, |x| (x % 9) as f64, |y, sum| y == sum as f64;
    #[cfg(feature = "half")] flex::dtype::f16, |x| flex::dtype::f16::from_f64((x % 9) as f64), |y, sum| y == flex::dtype::f16::from_f64(sum as f64);
    #[cfg(feature = "half")] flex::dtype::bf16, |x| flex::dtype::bf16::from_f64((x % 9) as f64), |y, sum| y == flex::dtype::bf16::from_f64(sum as f64);
    i8, |x| (x % 9) as i8, |y, sum| y == sum as i8;
    u8, |x| (x % 9) as u8, |y, sum| y == sum as u8;
    i32, |x| (x % 9) as i32, |y, sum| y == sum as i32;
    i64, |x| x % 9, |y, sum| y == sum;
    #[cfg(feature = "complex")] flex::dtype::Complex64, |x| ((x % 9) as f32).into(), |y, sum| y == (sum as f32).into();
}

/// A view of `rows x cols` in a buffer: contiguous, transposed, flipped, stepped, broadcast,
/// padded.
fn view<T: Number>(
    random: &mut Rng,
    rows: usize,
    cols: usize,
    layout: usize,
) -> (Vec<T>, usize, isize, isize) {
    let (r, c) = (rows as isize, cols as isize);
    let (len, offset, rs, cs) = match layout {
        0 => (rows * cols, 0, c, 1),
        1 => (rows * cols, 0, 1, r),
        2 => (rows * cols, rows.saturating_sub(1) * cols, -c, 1),
        3 => (rows * cols * 6, 0, 3 * c, 2),
        4 => (rows * cols, cols.saturating_sub(1), c, -1),
        5 => (cols, 0, 0, 1),
        6 => (rows, 0, 1, 0),
        7 => (rows * cols, rows.saturating_sub(1), -1, r),
        _ => (rows * (cols + 5), 0, c + 5, 1),
    };
    let values = (0..len.max(1))
        .map(|_| T::make(random.below(9) as i64 - 4))
        .collect();
    (values, offset, rs, cs)
}

fn check<T: Number>(name: &str) {
    let mut random = Rng(1);
    // The integers that a matrix holds.
    let integers = |m: Mat<T>| -> Vec<i64> {
        // SAFETY: every `i` asked for is below `rows * cols`.
        let at = |i| unsafe { m.get(i / m.cols(), i % m.cols()) };
        (0..m.rows() * m.cols())
            .map(|i| (-8..=8).find(|v| at(i).is(*v)).unwrap())
            .collect()
    };
    for round in 0..160 {
        let (m, n, k) = match round % 8 {
            0 => (
                random.between(1, 4),
                random.between(1, 300),
                random.between(1, 300),
            ),
            1 => (random.between(1, 300), 1, random.between(1, 300)),
            2 => (
                random.between(20, 70),
                random.between(60, 200),
                random.between(1, 40),
            ),
            3 => (
                random.between(1, 20),
                random.between(1, 20),
                random.between(0, 3),
            ),
            4 => (
                random.between(1, 5),
                random.between(1, 70),
                random.between(1000, 2300),
            ),
            5 if round < 30 => (
                random.between(150, 210),
                random.between(150, 180),
                random.between(160, 200),
            ),
            _ => (
                random.between(1, 70),
                random.between(1, 300),
                random.between(1, 70),
            ),
        };
        let (la, lb) = (random.between(0, 8), random.between(0, 8));
        let (a, a0, ars, acs) = view::<T>(&mut random, m, k, la);
        let (b, b0, brs, bcs) = view::<T>(&mut random, k, n, lb);
        // SAFETY: MAT1: `view` made the vectors as long as the strides reach.
        let (a, b) = unsafe {
            (
                Mat::new(&a[a0.min(a.len() - 1)], m, k, ars, acs),
                Mat::new(&b[b0.min(b.len() - 1)], k, n, brs, bcs),
            )
        };
        let (accumulate, padding) = (round % 3 == 0, round % 5);
        let ld = n + padding;
        let mut c: Vec<T> = (0..m * ld).map(|i| T::make(i as i64 % 5)).collect();
        let before = c.clone();
        // SAFETY: MAT2: `m` rows of `n <= ld` in a vector of `m * ld`.
        let out = unsafe { MatMut::new(c.as_mut_ptr(), m, n, ld as isize) };
        let bias: Vec<T> = (0..n).map(|j| T::make(j as i64 % 7)).collect();
        let row_bias: Vec<T> = (0..m).map(|i| T::make(i as i64 % 3)).collect();
        let residual: Vec<T> = (0..m * n).map(|i| T::make(i as i64 % 8)).collect();
        let residual = Mat::from_slice(&residual, m, n);
        let list = [
            EpilogueOp::Bias(&bias),
            EpilogueOp::Scale(T::make(2).widen()),
            EpilogueOp::RowBias(&row_bias),
            EpilogueOp::Add(residual),
        ];
        let epilogue = if round % 2 == 0 {
            Epilogue::NONE
        } else {
            Epilogue::new(&list, m, n)
        };
        product(a, b, out, accumulate, epilogue).unwrap();
        let (a, b) = (integers(a), integers(b));
        for i in 0..m {
            for j in 0..n {
                let mut sum: i64 = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
                if accumulate {
                    sum += (i * ld + j) as i64 % 5;
                }
                if round % 2 == 1 {
                    sum = (sum + j as i64 % 7) * 2 + i as i64 % 3 + (i * n + j) as i64 % 8;
                }
                assert!(
                    c[i * ld + j].is(sum),
                    "{name} {m}x{k}x{n} layouts {la} {lb} [{i}, {j}]: {sum}"
                );
            }
            assert!(
                (n..ld).all(|j| before[i * ld + j].is((i * ld + j) as i64 % 5)
                    && c[i * ld + j].is((i * ld + j) as i64 % 5)),
                "outside C"
            );
        }
    }
}

macro_rules! each {
    ($($(#[$cfg:meta])* $name:ident $T:ty;)*) => { $( $(#[$cfg])* #[test] fn $name() { check::<$T>(stringify!($T)) } )* };
}
each! {
    float32 f32;
    #[cfg(feature = "f64")] float64 f64;
    #[cfg(feature = "half")] float16 flex::dtype::f16;
    #[cfg(feature = "half")] bfloat16 flex::dtype::bf16;
    int8 i8;
    uint8 u8;
    int32 i32;
    int64 i64;
    #[cfg(feature = "complex")] complex64 flex::dtype::Complex64;
}

/// Sums of more steps than microkernels take at a time, of as many rows as are worth a block.
fn check_long_sums<T: Number>() {
    let (m, n) = (37, 75);
    for k in [1030, 2111] {
        let mut random = Rng(k as u64);
        let mut integers =
            |len: usize| -> Vec<i64> { (0..len).map(|_| random.below(3) as i64).collect() };
        let (x, y) = (integers(m * k), integers(k * n));
        let make = |v: &[i64]| -> Vec<T> { v.iter().map(|i| T::make(*i)).collect() };
        let b = make(&y);
        let columns: Vec<i64> = (0..k * m).map(|i| x[i % m * k + i / m]).collect();
        // both begin at an odd element
        let by_rows = make(&[&[0], &x[..]].concat());
        let by_columns = make(&[&[0], &columns[..]].concat());
        for a in [
            Mat::from_slice(&by_rows[1..], m, k),
            Mat::from_slice(&by_columns[1..], k, m).t(),
        ] {
            let mut c = vec![T::make(0); m * n];
            let out = MatMut::from_slice(&mut c, m, n);
            product(a, Mat::from_slice(&b, k, n), out, false, Epilogue::NONE).unwrap();
            for (i, c) in c.iter().enumerate() {
                let sum = (0..k).map(|p| x[i / n * k + p] * y[p * n + i % n]).sum();
                assert!(c.is(sum), "{k} {i}: {sum}");
            }
        }
    }
}
#[test]
fn long_sums_are_exact() {
    check_long_sums::<f32>();
    check_long_sums::<i8>();
    check_long_sums::<i32>();
    #[cfg(feature = "half")]
    check_long_sums::<flex::dtype::bf16>();
}

#[test]
fn a_grid_covers_c_once() {
    for (m, n, k) in [
        (1, 1, 1),
        (1, 50_000, 700),
        (1000, 1, 64),
        (1024, 1024, 1024),
        (513, 4097, 20),
        (3, 70, 0),
        (5000, 5, 5),
    ] {
        // SAFETY: MAT1: one element at all indices.
        let (a, b) = unsafe { (Mat::new(&1.0f32, m, k, 0, 0), Mat::new(&1.0f32, k, n, 0, 0)) };
        for algorithm in [
            Algorithm::GemvRows,
            Algorithm::GemvColumns,
            Algorithm::Blocked,
        ] {
            for (packed, batch, threads) in [
                (false, 1, 1),
                (true, 1, 2),
                (false, 3, 2),
                (false, 1, 7),
                (true, 2, 64),
            ] {
                let grid = Grid::new(algorithm, &a, &b, (packed, false), batch, threads);
                let mut seen = vec![0u8; m * n];
                for block in 0..grid.len() {
                    let (rows, cols) = grid.block(block);
                    rows.for_each(|i| cols.clone().for_each(|j| seen[i * n + j] += 1));
                }
                assert!(
                    seen.iter().all(|x| *x == 1),
                    "{m} {n} {k} {algorithm:?} {threads}"
                );
            }
        }
    }
}

#[test]
fn panels_packed_before_change_no_bit() {
    let mut random = Rng(3);
    let few = (2..=12).map(|m| (m, 150 + 9 * m, 70 * m));
    for (m, n, k) in few.chain([
        (1, 1, 1),
        (5, 17, 40),
        (9, 64, 1030),
        (13, 64, 1030),
        (200, 130, 300),
        (3, 300, 2100),
        (250, 190, 64),
    ]) {
        let mut values = |len: usize| (0..len).map(|_| random.short() - 0.5).collect::<Vec<_>>();
        let (a, b, bias) = (values(m * k), values(k * n), values(n));
        let list = [EpilogueOp::Bias(&bias)];
        let a = Mat::from_slice(&a, m, k);
        for b in [Mat::from_slice(&b, k, n), Mat::from_slice(&b, n, k).t()] {
            let mut lanes = vec![f32::NAN; Panels::<f32>::len(blocks::<f32, f32>(k), n)];
            let packed = Panels::pack(&Strided::columns(b), 0..n, &mut lanes);
            let run = |packed, rows: usize| {
                let mut c = vec![0.0; m * n];
                let whole = MatMut::from_slice(&mut c, m, n);
                for i in (0..m).step_by(rows) {
                    let rows = i..m.min(i + rows);
                    // SAFETY: parts are used one after the other.
                    let mut part = unsafe { whole.part(rows.clone(), 0..n) };
                    let epilogue = Epilogue::new(&list, m, n).at(i, 0);
                    Algorithm::Blocked
                        .product(a.block(rows, 0..k), b, packed, &mut part, false, epilogue)
                        .unwrap();
                }
                c.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let want = run(None, m);
            assert!(
                run(Some(packed), m) == want
                    && run(None, 7) == want
                    && run(Some(packed), 50) == want,
                "{m} {n} {k}"
            );
        }
    }
}

#[test]
fn micropanels_of_a_block_are_those_of_its_parts() {
    for rows in 1..=<f32 as Packed>::BLOCKING.m {
        let micropanels =
            |rows: usize| (0..rows.div_ceil(HEIGHT)).map(move |i| micropanel(rows, i));
        let step = blocking::equal_parts(rows, blocking::EPILOGUE_ROWS, HEIGHT);
        let parts = (0..rows)
            .step_by(step)
            .flat_map(|i| micropanels(step.min(rows - i)).map(move |s| i + s.start..i + s.end));
        assert!(micropanels(rows).eq(parts), "{rows}");
        let mut end = 0;
        for part in micropanels(rows) {
            assert!(
                part.start == end && (1..=HEIGHT).contains(&part.len()),
                "{rows} {part:?}"
            );
            end = part.end;
        }
        assert_eq!(end, rows);
    }
}

#[test]
fn columns_pages_apart_change_no_bit() {
    fn run<T: Number>(name: &str) {
        const APART: usize = 4100;
        let (n, mut random) = (70, Rng(5));
        for (m, k) in [(1, 3), (13, 1), (50, 70), (147, 33), (200, 9)] {
            let mut values = |len: usize| {
                (0..len)
                    .map(|_| T::make(random.below(9) as i64 - 4))
                    .collect::<Vec<_>>()
            };
            let (strided, b) = (values(k * APART), values(k * n));
            // SAFETY: MAT1: the first `m` of each `APART` elements.
            let a = unsafe { Mat::new(strided.as_ptr(), m, k, 1, APART as isize) };
            let contiguous: Vec<T> = (0..m * k).map(|i| strided[i % k * APART + i / k]).collect();
            let list: [EpilogueOp<T>; 0] = [];
            let run = |a: Mat<T>| {
                let (b, mut c) = (Mat::from_slice(&b, k, n), vec![T::default(); m * n]);
                Algorithm::Blocked
                    .product(
                        a,
                        b,
                        None,
                        &mut MatMut::from_slice(&mut c, m, n),
                        false,
                        Epilogue::new(&list, m, n),
                    )
                    .unwrap();
                c
            };
            let (strided, contiguous) = (run(a), run(Mat::from_slice(&contiguous, m, k)));
            // SAFETY: all bytes of a slice of numbers, which have no padding.
            let bytes = |c: &[T]| unsafe {
                core::slice::from_raw_parts(c.as_ptr() as *const u8, size_of_val(c)).to_vec()
            };
            assert!(bytes(&strided) == bytes(&contiguous), "{name} {m} {k}");
        }
    }
    run::<f32>("f32");
    run::<i8>("i8");
    run::<i64>("i64");
    #[cfg(feature = "half")]
    run::<flex::dtype::bf16>("bf16");
}

#[test]
fn scratch_beyond_all_memory_is_an_error() {
    for len in [usize::MAX, usize::MAX / 4 + 1, usize::MAX / 4] {
        assert!(
            matches!(Scratch::<f32>::new(len), Err(flex::Error::Memory { .. })),
            "{len}"
        );
    }
}
