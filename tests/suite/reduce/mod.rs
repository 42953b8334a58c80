//! Every reduction x dtype x layout x set of axes.

mod numerics;
mod oracle;
mod search;

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
fn large_tensors_match_the_oracle() {
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
            &[40_003][..],
            &[100, 200],
            &[3, 9_000],
            &[9_000, 3],
            &[20, 30, 40],
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

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
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

#[test]
fn sums_use_the_requested_dtype() {
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
            for shape in [&[3, 5][..], &[130, 70], &[20, 3, 33], &[9_000]] {
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
            ops::nanvar(&z, (), 0.0),
            Err(Error::DType { op: "nanvar", .. })
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

/// Counts ones, and asserts that no other accumulator is joined.
struct Ones(usize);

impl Fold for Ones {
    type In = i32;
    type Acc = i64;
    type Out = i64;
    fn runs(&self, x: &[i32], n: usize, acc: &mut [i64]) {
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = x[j * n..][..n].iter().map(|x| *x as i64).sum();
        }
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
fn padding_accumulators_are_not_joined() {
    // groups of columns with a narrower last one, in one part (many groups) and in several
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
