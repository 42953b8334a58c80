//! Values at the limits: signed zeros, infinities, NaN, overflow, cancellation.

use super::*;

/// Narrow integers are added in types that hold blocks of them, whatever their values.
#[test]
fn extreme_narrow_integers_sum_exactly() {
    let n = 100_003;
    let ends = [
        (DType::Bool, 1i32),
        (DType::I8, -128),
        (DType::U8, 255),
        (DType::I16, -32768),
        (DType::U16, 65535),
    ];
    for (d, v) in ends.into_iter().filter(|(d, _)| d.is_available()) {
        for shape in [vec![n], vec![n, 3]] {
            let x = Tensor::from_slice(&[v], [1])
                .unwrap()
                .astype(d)
                .unwrap()
                .broadcast_to(&shape)
                .unwrap();
            for x in [x.copy().unwrap(), x] {
                let sums = values(&ops::sum(&x, 0).unwrap());
                assert!(
                    sums.into_iter()
                        .all(|s| s == Value::Int(v as i128 * n as i128)),
                    "{d}"
                );
                let counts = values(&ops::count_nonzero(&x, 0).unwrap());
                assert!(
                    counts.into_iter().all(|c| c == Value::Int(n as i128)),
                    "{d}"
                );
            }
        }
    }
}

#[test]
fn extremes_order_special_values() {
    for d in available().filter(|d| !d.is_complex()) {
        let all = special(d);
        for start in 0..all.len() {
            for step in [1, 3, 4] {
                let numbers: Vec<_> = (0..90)
                    .map(|i| all[(start + i * step) % all.len()])
                    .collect();
                let x = tensor(&numbers, &[90], d);
                let groups = groups(&x, &[0]);
                let nan = groups[0].iter().any(|v| v.float().is_nan());
                let max = groups[0]
                    .iter()
                    .map(|v| v.float())
                    .fold(f64::NEG_INFINITY, f64::max);
                let got = floats(&ops::max(&x, ()).unwrap())[0];
                assert!(
                    if nan { got.is_nan() } else { got == max },
                    "{d} {numbers:?}"
                );
                let at = ops::argmax(&x, ()).unwrap().item::<i64>().unwrap();
                let first = groups[0].iter().position(|v| {
                    if nan {
                        v.float().is_nan()
                    } else {
                        v.float() == max
                    }
                });
                // the ends of 64-bit ranges round to the same float: compare as integers there
                if d.is_integer() {
                    let max = groups[0].iter().map(|v| v.int()).max().unwrap();
                    assert_eq!(groups[0][at as usize].int(), max);
                    assert_eq!(
                        Some(at as usize),
                        groups[0].iter().position(|v| v.int() == max)
                    );
                } else {
                    assert_eq!(Some(at as usize), first, "{d}");
                }
            }
        }
    }
}

#[test]
fn signed_zeros_infinities_and_empty_tensors_reduce() {
    let f = |v: &[f32]| Tensor::from_slice(v, [v.len()]).unwrap();
    let sum = |v: &[f32]| ops::sum(&f(v), ()).unwrap().item::<f32>().unwrap();
    assert!(
        sum(&[-0.0, -0.0]).is_sign_negative()
            && sum(&[-0.0, 0.0]).is_sign_positive()
            && sum(&[]).is_sign_positive()
    );
    assert!(
        sum(&[f32::INFINITY, 1.0]) == f32::INFINITY
            && sum(&[f32::INFINITY, f32::NEG_INFINITY]).is_nan()
            && sum(&[f32::NAN, 1.0]).is_nan()
    );
    let empty = Tensor::zeros([2, 0, 3], DType::F32).unwrap();
    assert_eq!(
        ops::sum(&empty, 1).unwrap().to_vec::<f32>().unwrap(),
        [0.0; 6]
    );
    assert_eq!(
        ops::prod(&empty, 1).unwrap().to_vec::<f32>().unwrap(),
        [1.0; 6]
    );
    assert_eq!(
        ops::all(&empty, [1, 2]).unwrap().to_vec::<bool>().unwrap(),
        [true; 2]
    );
    assert_eq!(
        ops::any(&empty, ()).unwrap().to_vec::<bool>().unwrap(),
        [false]
    );
    assert!(
        floats(&ops::mean(&empty, 1).unwrap())
            .iter()
            .all(|x| x.is_nan())
    );
    assert!(
        floats(&ops::var(&empty, (), 0.0).unwrap())
            .iter()
            .all(|x| x.is_nan())
    );
    assert_eq!(ops::max(&empty, 0).unwrap().shape(), [0, 3]);
    for axes in [None, Some(&[1][..]), Some(&[0, 1])] {
        assert!(matches!(
            ops::max(&empty, axes),
            Err(Error::Shape { op: "max", .. })
        ));
    }
    assert!(matches!(
        ops::argmin(&empty, 1),
        Err(Error::Shape { op: "argmin", .. })
    ));
    assert!(matches!(ops::argmax(&empty, ()), Err(Error::Shape { .. })));
    // a variance around a large mean, and of too few elements
    let x = f(&(0..10_000)
        .map(|i| 30_000.0 + (i % 2) as f32)
        .collect::<Vec<_>>());
    assert!((ops::var(&x, (), 0.0).unwrap().item::<f32>().unwrap() - 0.25).abs() < 1e-6);
    assert!(
        ops::var(&f(&[1.0]), (), 1.0)
            .unwrap()
            .item::<f32>()
            .unwrap()
            .is_nan()
    );
    // the mean of integers is exact beyond their range
    let x = Tensor::from_slice(&[i64::MAX; 4], [4]).unwrap();
    assert_eq!(
        ops::mean(&x, ()).unwrap().item::<f32>().unwrap(),
        i64::MAX as f32
    );
}

#[test]
fn logsumexp_does_not_overflow() {
    let log_sum = |v: &[f32]| {
        ops::logsumexp(&Tensor::from_slice(v, [v.len()]).unwrap(), ())
            .unwrap()
            .item::<f32>()
            .unwrap()
    };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    assert_eq!(log_sum(&[-inf, -inf]), -inf);
    assert_eq!(log_sum(&[inf, 1.0, -inf]), inf);
    assert!(log_sum(&[inf, nan]).is_nan() && log_sum(&[nan, -inf]).is_nan());
    assert_eq!(log_sum(&[-3e38, 3e38]), 3e38);
    // tiles of minus infinity, tiles far below the largest
    let mut x = vec![-inf; 100_000];
    assert_eq!(log_sum(&x), -inf);
    x[70_000] = -2000.0;
    assert_eq!(log_sum(&x), -2000.0);
    x[3] = 500.0;
    assert_eq!(log_sum(&x), 500.0);
}

/// The variance by two passes in float64, of columns of a row-major matrix.
fn variance_of_columns(x: &[f64], width: usize) -> Vec<f64> {
    let column = |j: usize| x.iter().skip(j).step_by(width);
    let n = (x.len() / width) as f64;
    (0..width)
        .map(|j| (column(j).sum::<f64>() / n, j))
        .map(|(m, j)| column(j).map(|v| (v - m) * (v - m)).sum::<f64>() / n)
        .collect()
}

#[test]
fn variance_does_not_cancel() {
    let mut rng = Rng(7);
    for rows in [37, 64, 4096, 10_000] {
        for width in [8, 33, 64] {
            let constants: Vec<f32> = (0..width)
                .map(|j| {
                    if j == 0 {
                        0.1
                    } else {
                        rng.short() * 10f32.powi(j as i32 % 9 - 4)
                    }
                })
                .collect();
            let constant = Tensor::from_slice(&constants, [1, width])
                .unwrap()
                .broadcast_to([rows, width])
                .unwrap()
                .copy()
                .unwrap();
            let std = ops::std(&constant, 0, 0.0)
                .unwrap()
                .to_vec::<f32>()
                .unwrap();
            for (s, c) in std.iter().zip(&constants) {
                assert!(*s <= c * 1e-9, "{rows} rows of {c}: {s}");
            }
            // each element a few units in the last place away
            let nearly: Vec<f32> = (0..rows * width)
                .map(|i| {
                    f32::from_bits(constants[i % width].to_bits() + (rng.short() * 4.0) as u32)
                })
                .collect();
            let want =
                variance_of_columns(&nearly.iter().map(|x| *x as f64).collect::<Vec<_>>(), width);
            let got =
                ops::var(&Tensor::from_slice(&nearly, [rows, width]).unwrap(), 0, 0.0).unwrap();
            for (g, w) in got.to_vec::<f32>().unwrap().into_iter().zip(want) {
                assert!((g as f64 - w).abs() <= 1e-5 * w, "{rows}: {g}, not {w}");
            }
        }
    }
    #[cfg(feature = "half")]
    for dtype in [DType::F16, DType::BF16] {
        let x = ops::full([4096, 40], 0.1, dtype).unwrap();
        let std = ops::std(&x, 0, 0.0).unwrap().astype(DType::F32).unwrap();
        assert!(
            std.to_vec::<f32>().unwrap().iter().all(|s| *s == 0.0),
            "{dtype}"
        );
    }
}

#[test]
fn logsumexp_of_many_rows_is_accurate() {
    // neither the largest nor a power of two: rounded at each addition
    let mut values = vec![0.0f32; 4096 * 8];
    values[8..].fill(-1.1);
    let x = Tensor::from_slice(&values, [4096, 8]).unwrap();
    let want = (1.0 + 4095.0 * (-1.1f32 as f64).exp()).ln();
    for got in ops::logsumexp(&x, 0).unwrap().to_vec::<f32>().unwrap() {
        assert!((got as f64 - want).abs() < 2e-6, "{got}, not {want}");
    }
}

/// Rows that are reduced side by side don't affect each other, whatever they hold.
#[test]
fn short_rows_do_not_affect_each_other() {
    let m = 37;
    for d in [DType::F32, DType::F64] {
        if !d.is_available() {
            continue;
        }
        let mut rng = Rng(5);
        for n in (1..=70).chain([95, 96, 97, 127, 128, 129, 191, 192, 193, 256]) {
            let mut rows: Vec<Vec<f64>> = (0..m)
                .map(|_| (0..n).map(|_| (rng.unit() - 0.5) as f32 as f64).collect())
                .collect();
            rows[3][n - 1] = f64::NAN;
            rows[4][0] = f64::NAN;
            rows[5].fill(-0.0);
            rows[6].fill(f64::NEG_INFINITY);
            rows[7][n / 2] = f64::INFINITY;
            let x = Tensor::from_slice(
                &rows.concat().iter().map(|v| *v as f32).collect::<Vec<_>>(),
                [m, n],
            );
            let x = x.unwrap().astype(d).unwrap();
            for which in 0..4 {
                let of = |x: &Tensor| {
                    let y = match which {
                        0 => ops::sum(x, 1),
                        1 => ops::mean(x, 1),
                        2 => ops::max(x, 1),
                        _ => ops::min(x, 1),
                    };
                    floats(&y.unwrap())
                };
                let all = of(&x);
                let others = of(&x.narrow(0, 1, m - 1).unwrap());
                for (k, row) in rows.iter().enumerate() {
                    let moved = k.checked_sub(1).map_or(all[k], |k| others[k]);
                    let sum: f64 = row.iter().sum();
                    let size: f64 = row.iter().map(|v| v.abs()).sum();
                    let (want, error) = match which {
                        0 => (sum, 1e-6 * size),
                        1 => (sum / n as f64, 1e-6 * size / n as f64),
                        _ if sum.is_nan() => (f64::NAN, 0.0),
                        2 => (row.iter().copied().fold(f64::NEG_INFINITY, f64::max), 0.0),
                        _ => (row.iter().copied().fold(f64::INFINITY, f64::min), 0.0),
                    };
                    let what = format!(
                        "{d}, reduction {which} of row {k}, {n} elements: {} for {want}",
                        all[k]
                    );
                    assert_eq!(all[k].to_bits(), moved.to_bits(), "{what}");
                    assert_eq!(all[k].is_nan(), want.is_nan(), "{what}");
                    assert!(
                        want.is_nan() || all[k] == want || (all[k] - want).abs() <= error,
                        "{what}"
                    );
                    assert!(k != 5 || all[k].is_sign_negative(), "{what}");
                }
            }
        }
    }
}

/// Long runs are reduced tile by tile, several tiles by one call, and whole rows by few calls: none is
/// left out or read twice.
#[test]
fn runs_of_many_tiles_reduce() {
    const TILE: usize = 8192; // of float32, in 32 KiB
    let lengths = [TILE, 2 * TILE, 5 * TILE + 1, 9 * TILE - 1, 40 * TILE + 7];
    let shapes = lengths.map(|n| vec![n]).into_iter();
    let rows = [
        [3, 9 * TILE + 5],
        [130, 8000],
        [600, 1000],
        [64, 9 * TILE - 1],
    ];
    for shape in shapes.chain(rows.map(Vec::from)) {
        let n = *shape.last().unwrap();
        let rows = shape.iter().product::<usize>() / n;
        // small integers, whose sums are exact, and one larger than all others
        let mut x: Vec<f32> = (0..rows * n).map(|k| (k % 7) as f32 - 3.0).collect();
        let at = |row: usize| (row * 31 + n - 1 - row % 2) % n;
        for row in 0..rows {
            x[row * n + at(row)] = 9.0;
        }
        let sums: Vec<f32> = x.chunks(n).map(|row| row.iter().sum()).collect();
        let squares = x
            .chunks(n)
            .map(|row| row.iter().map(|x| x * x).sum::<f32>());
        let variances: Vec<f32> = squares
            .zip(&sums)
            .map(|(squares, sum)| squares / n as f32 - (sum / n as f32).powi(2))
            .collect();
        // with a gap after each row, too
        let gaps: Vec<f32> = x
            .chunks(n)
            .flat_map(|row| [row, &[99.0]].concat())
            .collect();
        let gaps = Tensor::from_slice(&gaps, [rows, n + 1]).unwrap();
        let views = [
            Tensor::from_slice(&x, &shape).unwrap(),
            gaps.narrow(1, 0, n).unwrap(),
        ];
        for t in views {
            let of = |y: flex::Result<Tensor>| y.unwrap().to_vec::<f32>().unwrap();
            assert_eq!(of(ops::sum(&t, -1)), sums, "{shape:?}");
            assert_eq!(of(ops::max(&t, -1)), vec![9.0; rows], "{shape:?}");
            for (got, want) in of(ops::var(&t, -1, 0.0)).iter().zip(&variances) {
                assert!((got - want).abs() < 1e-4 * want, "{shape:?}: {got} {want}");
            }
        }
    }
}
