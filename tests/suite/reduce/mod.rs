//! Every reduction x dtype x layout x set of axes.

mod oracle;

use crate::common::*;
use flex::exec::fold::{Fold, fold};
use flex::{Axes, DType, Error, Tensor, ops};
use oracle::{available, check, expect, groups, half_unit, magnitude, subsets};

#[test]
fn every_dtype_and_length() {
    let mut rng = Rng(1);
    for d in available() {
        for n in (0..=130).chain([255, 1000, 1023, 1025]) {
            for (name, x) in layouts(&random(&mut rng, &[n], d)) {
                check(name, &x, &[0]);
            }
        }
    }
}

#[test]
fn every_layout_and_set_of_axes() {
    let mut rng = Rng(2);
    for d in available() {
        for shape in [
            &[][..],
            &[3, 5],
            &[40, 33],
            &[2, 70],
            &[70, 2],
            &[3, 4, 5],
            &[9, 1, 40],
            &[2, 3, 4, 5],
            &[33, 3, 10],
            &[1, 1],
            &[0, 3],
            &[3, 0, 2],
        ] {
            let x = random(&mut rng, shape, d);
            let mut views = if shape.is_empty() {
                vec![("contiguous", x.clone())]
            } else {
                layouts(&x)
            };
            if shape.len() == 3 {
                views.push(("permuted", x.permute([1, 2, 0]).unwrap()));
                views.push((
                    "broadcast",
                    x.narrow(1, 0, x.shape()[1].min(1))
                        .unwrap()
                        .broadcast_to([4, x.shape()[0], x.shape()[1], x.shape()[2]])
                        .unwrap(),
                ));
            }
            for (name, x) in views {
                for axes in subsets(x.rank()) {
                    check(name, &x, &axes);
                }
            }
        }
    }
}

#[test]
fn big_ones() {
    let mut rng = Rng(3);
    for d in [
        DType::F32,
        DType::I32,
        DType::BF16,
        DType::Complex64,
        DType::U8,
    ]
    .into_iter()
    .filter(|d| d.is_available())
    {
        for shape in [
            &[100_003][..],
            &[200, 300],
            &[3, 20_000],
            &[20_000, 3],
            &[40, 30, 50],
        ] {
            let x = random(&mut rng, shape, d);
            for axes in subsets(shape.len()) {
                check("contiguous", &x, &axes);
                let reversed: Vec<isize> = (0..shape.len() as isize).rev().collect();
                check("reversed", &x.permute(&reversed).unwrap(), &axes);
            }
        }
    }
}

/// Narrow integers are added in types that hold blocks of them, whatever their values.
#[test]
fn sums_of_the_widest_narrow_integers() {
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

/// What decides is found wherever it stands.
#[test]
fn one_that_decides() {
    let n = 70_000;
    for d in available() {
        for at in [0, 63, 64, 255, 256, 4095, 4096, 32_767, 32_768, n - 1] {
            let x = Tensor::from_slice(&(0..n).map(|k| (k == at) as i32).collect::<Vec<_>>(), [n])
                .unwrap();
            let none = ops::equal(&x, 0).unwrap().astype(d).unwrap();
            let x = x.astype(d).unwrap();
            assert_eq!(
                values(&ops::any(&x, ()).unwrap()),
                [Value::Bool(true)],
                "{d} {at}"
            );
            assert_eq!(
                values(&ops::all(&none, ()).unwrap()),
                [Value::Bool(false)],
                "{d} {at}"
            );
            assert_eq!(
                values(&ops::count_nonzero(&x, ()).unwrap()),
                [Value::Int(1)],
                "{d} {at}"
            );
        }
        let zeros = Tensor::zeros([n], d).unwrap();
        assert_eq!(values(&ops::any(&zeros, ()).unwrap()), [Value::Bool(false)]);
        assert_eq!(
            values(&ops::all(&ops::ones([n], d).unwrap(), ()).unwrap()),
            [Value::Bool(true)]
        );
    }
}

#[test]
fn special_values_of_order() {
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
fn zeros_infinities_and_nothing() {
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
    // a variance around a large mean, and of too few
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
    // the mean of integers is exact beyond their own range
    let x = Tensor::from_slice(&[i64::MAX; 4], [4]).unwrap();
    assert_eq!(
        ops::mean(&x, ()).unwrap().item::<f32>().unwrap(),
        i64::MAX as f32
    );
}

#[test]
fn exponentials_of_any_size() {
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

#[cfg(feature = "std")]
#[test]
fn threads_change_no_bit() {
    let mut rng = Rng(5);
    for shape in [
        &[300_001][..],
        &[3, 90_000],
        &[90_000, 3],
        &[300, 900],
        &[40, 50, 60],
    ] {
        let x = random(&mut rng, shape, DType::F32);
        let reversed: Vec<isize> = (0..shape.len() as isize).rev().collect();
        for x in [
            x.clone(),
            x.permute(&reversed).unwrap(),
            x.slice_axis(-1, None, None, 2).unwrap(),
        ] {
            for axes in subsets(shape.len()) {
                let axes: Vec<isize> = axes.into_iter().map(|k| k as isize).collect();
                let run = || {
                    let a = Some(&axes[..]);
                    let all = [
                        ops::sum(&x, a),
                        ops::prod(&x, a),
                        ops::var(&x, a, 1.0),
                        ops::logsumexp(&x, a),
                    ];
                    all.map(|t| {
                        t.unwrap()
                            .bitcast(DType::I32)
                            .unwrap()
                            .to_vec::<i32>()
                            .unwrap()
                    })
                };
                let one = flex::with_threads(1, run);
                for threads in [2, 3, 8] {
                    assert!(
                        flex::with_threads(threads, run) == one,
                        "{shape:?} over {axes:?} with {threads} threads"
                    );
                }
            }
            let at = || ops::argmax(&x, ()).unwrap().item::<i64>().unwrap();
            assert_eq!(flex::with_threads(1, at), flex::with_threads(4, at));
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn the_first_extreme_of_long_rows() {
    // rows of several blocks, whose extremes and NaN stand at, before and behind the blocks' ends
    let n = 2500;
    let places = [
        0,
        1,
        63,
        64,
        1000,
        1023,
        1024,
        1025,
        2047,
        2048,
        2300,
        n - 1,
    ];
    let mut rows: Vec<(Vec<f32>, usize)> = vec![
        (vec![f32::NEG_INFINITY; n], 0),
        (vec![f32::INFINITY; n], 0),
        (vec![-0.0; n], 0),
    ];
    let mut rng = Rng(3);
    for at in places {
        let mut row: Vec<f32> = (0..n).map(|_| rng.unit() as f32).collect();
        row[at] = 2.0;
        row[n - 1] = 2.0; // once more at the end
        rows.push((row.clone(), at));
        // a NaN comes before the largest, wherever it is, and the first of them before others
        for nan in places {
            let mut row = row.clone();
            row[nan] = f32::NAN;
            row[n - 1] = f32::NAN;
            rows.push((row, nan));
        }
    }
    let (values, expected): (Vec<Vec<f32>>, Vec<usize>) = rows.into_iter().unzip();
    let expected: Vec<i64> = expected.into_iter().map(|at| at as i64).collect();
    let x = Tensor::from_slice(&values.concat(), [values.len(), n]).unwrap();
    let negated = ops::negative(&x).unwrap();
    for threads in [1, 3] {
        flex::with_threads(threads, || {
            assert_eq!(
                ops::argmax(&x, 1).unwrap().to_vec::<i64>().unwrap(),
                expected
            );
            assert_eq!(
                ops::argmin(&negated, Axes::from(1).keepdims())
                    .unwrap()
                    .to_vec::<i64>()
                    .unwrap(),
                expected
            );
            let columns = x.transpose(0, 1).unwrap();
            assert_eq!(
                ops::max_with_indices(&columns, 0)
                    .unwrap()
                    .1
                    .to_vec::<i64>()
                    .unwrap(),
                expected
            );
        });
    }
}

#[test]
fn dtypes_asked_for() {
    let x = Tensor::from_slice(&[100i8, 100, 100], [3]).unwrap();
    assert_eq!(
        ops::sum_as(&x, (), DType::I8)
            .unwrap()
            .item::<i8>()
            .unwrap(),
        44
    );
    assert_eq!(
        ops::sum_as(&x, (), DType::F32)
            .unwrap()
            .item::<f32>()
            .unwrap(),
        300.0
    );
    let y = Tensor::from_slice(&[1.5f32, 1.5], [2]).unwrap();
    assert_eq!(
        ops::sum_as(&y, (), DType::I32)
            .unwrap()
            .item::<i32>()
            .unwrap(),
        2
    );
    #[cfg(feature = "complex")]
    {
        let z = ops::ones([2], DType::Complex64).unwrap();
        assert!(matches!(
            ops::sum_as(&z, (), DType::F32),
            Err(Error::DType { .. })
        ));
    }
    // elements are converted one by one before they are reduced, whatever the layout
    let mut rng = Rng(9);
    for from in available().filter(|d| !d.is_complex()) {
        for to in available().filter(|d| d.is_float() && *d != from) {
            for shape in [&[3, 5][..], &[500, 70], &[40, 3, 65], &[40_000]] {
                for (name, x) in layouts(&random(&mut rng, shape, from)) {
                    let small = ops::remainder(x.astype(DType::F32).unwrap(), 2.0).unwrap();
                    let x = ops::where_(ops::isfinite(&small).unwrap(), &small, 1.0)
                        .unwrap()
                        .astype(from)
                        .unwrap();
                    for axes in subsets(shape.len()) {
                        let a: Vec<isize> = axes.iter().map(|k| *k as isize).collect();
                        let got = ops::sum_as(&x, &a, to).unwrap();
                        assert_eq!(got.dtype(), to);
                        let groups = groups(&x.astype(to).unwrap(), &axes);
                        let unit = half_unit(to.wide());
                        let sum = |g: &[Value]| (g.iter().map(|v| v.float()).sum::<f64>(), 0.0);
                        expect(
                            &format!("sum {from} as {to} {name} {shape:?} over {axes:?}"),
                            &got,
                            &groups,
                            sum,
                            |g| {
                                (20.0 + g.len().min(150) as f64) * unit * magnitude(g)
                                    + half_unit(to) * magnitude(g)
                            },
                        );
                    }
                }
            }
        }
    }
    assert!(matches!(
        ops::sum_as(&y, (), DType::Bool),
        Err(Error::DType { op: "sum", .. })
    ));
    if DType::F64.is_available() {
        let big = Tensor::from_slice(&[16_777_216.0f32, 1.0], [2]).unwrap();
        assert_eq!(
            floats(&ops::sum_as(&big, (), DType::F64).unwrap()),
            [16_777_217.0]
        );
    }
    if DType::Complex64.is_available() {
        let z = Tensor::zeros([2], DType::Complex64).unwrap();
        assert!(matches!(
            ops::max(&z, ()),
            Err(Error::DType { op: "max", .. })
        ));
        assert!(matches!(
            ops::argmin(&z, ()),
            Err(Error::DType { op: "argmin", .. })
        ));
        assert!(matches!(
            ops::var(&z, (), 0.0),
            Err(Error::DType { op: "var", .. })
        ));
    }
    assert!(matches!(
        ops::sum(&x, 1),
        Err(Error::Axis {
            op: "sum",
            axis: 1,
            ..
        })
    ));
    assert!(matches!(
        ops::sum(&x, [0, -1]),
        Err(Error::Axis { repeated: true, .. })
    ));
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
fn variances_of_nearly_constant_columns() {
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
fn exponentials_of_many_rows_add_up() {
    // neither the largest nor a power of two: rounded at each addition
    let mut values = vec![0.0f32; 4096 * 8];
    values[8..].fill(-1.1);
    let x = Tensor::from_slice(&values, [4096, 8]).unwrap();
    let want = (1.0 + 4095.0 * (-1.1f32 as f64).exp()).ln();
    for got in ops::logsumexp(&x, 0).unwrap().to_vec::<f32>().unwrap() {
        assert!((got as f64 - want).abs() < 2e-6, "{got}, not {want}");
    }
}

/// Counts ones; accumulators of anything else take no part.
struct Ones(usize);
impl Fold for Ones {
    type In = i32;
    type Acc = i64;
    type Out = i64;
    fn run(&self, x: &[i32]) -> i64 {
        x.iter().map(|x| *x as i64).sum()
    }
    fn rows(&self, x: &[i32], stride: usize, rows: usize, acc: &mut [i64]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = (0..rows).map(|r| x[r * stride + j] as i64).sum();
        }
    }
    fn join(&self, a: &mut [i64], b: &[i64]) {
        for (a, b) in a.iter_mut().zip(b) {
            assert!(
                *a > 0 && *b > 0 && a.saturating_add(*b) <= self.0 as i64,
                "{a} and {b} of {}",
                self.0
            );
            *a += b;
        }
    }
    fn finish(&self, acc: &i64, _: usize) -> i64 {
        *acc
    }
}

#[test]
fn accumulators_of_no_column_are_not_joined() {
    // groups of columns of which the last is narrower, in one part (many groups) and in several
    for (rows, width) in [(5000, 513), (5000, 700), (300, 64 * 512 + 1)] {
        let x = ops::ones([rows, width], DType::I32).unwrap();
        let mut out = Tensor::empty([1, width], DType::I64).unwrap();
        fold(
            &Ones(rows),
            x.elements(),
            |k| k == 0,
            out.elements_mut().unwrap(),
        )
        .unwrap();
        assert!(
            out.to_vec::<i64>()
                .unwrap()
                .iter()
                .all(|n| *n == rows as i64)
        );
    }
}

#[test]
fn extremes_of_nothing() {
    let x = Tensor::zeros([0, 0, 3], DType::F32).unwrap();
    assert_eq!(ops::max(&x, 1).unwrap().shape(), [0, 3]);
    assert_eq!(
        ops::min(&x, Axes::from(0).keepdims()).unwrap().shape(),
        [1, 0, 3]
    );
    assert_eq!(ops::argmax(&x, 1).unwrap().shape(), [0, 3]);
    assert!(matches!(
        ops::max(&x, [0, 1]),
        Err(Error::Shape { op: "max", .. })
    ));
    assert!(matches!(
        ops::max(&x, ()),
        Err(Error::Shape { op: "max", .. })
    ));
    assert!(matches!(
        ops::argmin(&x, ()),
        Err(Error::Shape { op: "argmin", .. })
    ));
}

#[test]
fn one_axis_or_all_are_searched() {
    let x = Tensor::zeros([2, 129], DType::F32).unwrap();
    assert_eq!(ops::argmax(&x, 0).unwrap().dtype(), DType::I64);
    assert!(matches!(
        ops::argmax(&x, [0, 1]),
        Err(Error::Value { op: "argmax", .. })
    ));
    assert!(matches!(
        ops::min_with_indices(&x, [0, 1]),
        Err(Error::Value {
            op: "min_with_indices",
            ..
        })
    ));
}

#[test]
#[cfg(target_pointer_width = "64")] // 32 bits address no more than there may be
fn searches_beyond_all_memory_are_errors() {
    let x = Tensor::zeros([1], DType::F32)
        .unwrap()
        .broadcast_to([1 << 58])
        .unwrap();
    assert!(matches!(ops::argmax(&x, 0), Err(Error::Memory { .. })));
    assert!(matches!(ops::topk(&x, 1, 0), Err(Error::Memory { .. })));
    assert!(matches!(
        ops::topk(&x, 1 << 55, 0),
        Err(Error::Memory { .. })
    ));
    let q = x.expand_dims([0]).unwrap();
    let v = Tensor::zeros([1, 1], DType::F32).unwrap();
    let attention = flex::nn::scaled_dot_product_attention(&q, &q, &v, Default::default());
    assert!(matches!(attention, Err(Error::Memory { .. })));
}
