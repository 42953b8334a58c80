//! Products of 8-bit integers.

use super::*;
use flex::Result;
use flex::kernel::gemm::{operand, packing};

/// Full-range bytes: nothing saturates, and nothing is lost between signed and unsigned.
fn check_bytes<A, B, C>(seed: u64, run: fn(Mat<A>, Mat<B>, MatMut<C>, bool) -> Result<()>)
where
    A: MatElement + Into<i64>,
    B: MatElement + Into<i64>,
    C: MatElement + Into<i64>,
{
    let mut random = Rng(seed);
    for round in 0..60 {
        let (m, n, k) = match round % 6 {
            0 => (
                random.between(1, 4),
                random.between(1, 300),
                random.between(1, 300),
            ),
            1 => (
                random.between(1, 9),
                random.between(1, 90),
                random.between(1000, 2300),
            ),
            2 => (
                random.between(1, 20),
                random.between(500, 700),
                random.between(0, 20),
            ),
            3 => (
                random.between(1, 40),
                64 * random.between(1, 3),
                4 * random.between(1, 90),
            ),
            _ => (
                random.between(1, 70),
                random.between(1, 140),
                random.between(1, 70),
            ),
        };
        // Random bytes, or all 0x80, the least signed one, or all 0xff, the greatest unsigned one.
        let mut bytes = |len: usize| -> Vec<u8> {
            let whole = random.next() >> 20;
            (0..len.max(1))
                .map(|_| {
                    [random.next() as u8, random.next() as u8, 0x80, 0xff][(whole % 4) as usize]
                })
                .collect()
        };
        let (a, b) = (bytes(m * k * 2), bytes(n * k * 2));
        let (la, lb) = (random.between(0, 3), random.between(0, 3));
        let strides = |rows: usize, cols: usize, layout| match layout {
            0 => (0, cols as isize, 1),
            1 => (0, 1, rows as isize),
            2 => (0, 2 * cols as isize, 2),
            _ => ((rows * cols).saturating_sub(1), -(cols as isize), -1),
        };
        let ((a0, ars, acs), (b0, brs, bcs)) = (strides(m, k, la), strides(k, n, lb));
        // SAFETY: MAT1 by `strides`; 8-bit integers are any bytes.
        let (a, b) = unsafe {
            (
                Mat::new(a.as_ptr().add(a0) as *const A, m, k, ars, acs),
                Mat::new(b.as_ptr().add(b0) as *const B, k, n, brs, bcs),
            )
        };
        let accumulate = round % 4 == 1;
        let mut c = vec![C::default(); m * n];
        run(a, b, MatMut::from_slice(&mut c, m, n), false).unwrap();
        if accumulate {
            run(a, b, MatMut::from_slice(&mut c, m, n), true).unwrap();
        }
        for i in 0..m {
            for j in 0..n {
                // SAFETY: `i < m`, `p < k` and `j < n`, the sizes of the matrices.
                let sum: i64 = (0..k)
                    .map(|p| unsafe {
                        Into::<i64>::into(a.get(i, p)) * Into::<i64>::into(b.get(p, j))
                    })
                    .sum();
                let sum = if accumulate { 2 * sum } else { sum };
                let shift = 64 - 8 * size_of::<C>();
                let (got, want) = (Into::<i64>::into(c[i * n + j]) << shift, sum << shift);
                assert_eq!(got, want, "{m}x{k}x{n} layouts {la} {lb} [{i}, {j}]");
            }
        }
    }
}

#[test]
fn bytes_are_exact() {
    macro_rules! pairs {
        ($($A:ty, $B:ty, $C:ty;)*) => { $(
            check_bytes::<$A, $B, $C>(11, |a, b, c, accumulate| product(a, b, c, accumulate, Epilogue::NONE));
            check_bytes::<$A, $B, $C>(12, |a, b, mut c, accumulate| {
                let (left, right) = operand::bytes::<packing::Extend, $A, $B>();
                macrokernel(&left.rows(a), &right.columns(b), None, &mut c, accumulate, Epilogue::NONE)
            });
            check_bytes::<$A, $B, $C>(13, |a, b, mut c, accumulate| {
                let (blocks, n) = (blocks::<$A, $B>(b.rows()), b.cols());
                let mut lanes = vec![u32::MAX; Panels::<u32>::len(blocks, n)];
                pack::<$A, $B>(b, &mut lanes);
                Algorithm::Blocked.product(a, b, Some(Panels::of(blocks, n, &lanes)), &mut c, accumulate, Epilogue::NONE)
            });
        )* };
    }
    pairs! { i8, i8, i32; u8, i8, i32; i8, u8, i32; u8, u8, i32; i8, i8, i8; u8, u8, u8; }
}
