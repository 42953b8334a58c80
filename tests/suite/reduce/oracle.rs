//! The oracle of every reduction, by sums of single elements in float64 and 128-bit integers.

use crate::common::*;
use flex::{Axes, DType, Tensor, ops};

pub fn available() -> impl Iterator<Item = DType> {
    DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.is_storage())
}

/// The elements that each output is made of, in row-major order; outputs in row-major order.
pub fn groups(x: &Tensor, reduced: &[usize]) -> Vec<Vec<Value>> {
    let kept: Vec<usize> = (0..x.rank()).filter(|k| !reduced.contains(k)).collect();
    let outputs = kept.iter().map(|k| x.shape()[*k]).product();
    let mut out = vec![Vec::new(); outputs];
    for (index, v) in indices(x.shape()).iter().zip(values(x)) {
        out[kept.iter().fold(0, |at, k| at * x.shape()[*k] + index[*k])].push(v);
    }
    out
}

fn re_im(v: Value) -> (f64, f64) {
    if let Value::Complex(a, b) = v {
        (a, b)
    } else {
        (v.float(), 0.0)
    }
}

/// Half the machine epsilon of a dtype; 0 for exact ones.
pub fn half_unit(d: DType) -> f64 {
    if d.is_float() || d.is_complex() {
        epsilon(d) / 2.0
    } else {
        0.0
    }
}

/// Asserts that each output is within `tolerance(group)` of what is expected, in both parts.
pub fn expect(
    what: &str,
    got: &Tensor,
    groups: &[Vec<Value>],
    want: impl Fn(&[Value]) -> (f64, f64),
    tolerance: impl Fn(&[Value]) -> f64,
) {
    let got = values(got);
    assert_eq!(got.len(), groups.len(), "{what}");
    for (i, (got, group)) in got.into_iter().zip(groups).enumerate() {
        let (got, want, tolerance) = (re_im(got), want(group), tolerance(group));
        for (g, w) in [(got.0, want.0), (got.1, want.1)] {
            let fine = g == w
                || g.is_nan() && w.is_nan()
                || (g - w).abs() <= tolerance + half_unit(DType::F64) * w.abs();
            assert!(
                fine,
                "{what} [{i}] of {}: {g:e}, not {w:e} (tolerance {tolerance:e})",
                group.len()
            );
        }
    }
}

/// 64-bit integers wrap: their value as the dtype shows it.
fn wrapped(x: i128, signed: bool) -> Value {
    Value::Int(if signed {
        x as i64 as i128
    } else {
        x as u64 as i128
    })
}

pub fn magnitude(g: &[Value]) -> f64 {
    g.iter()
        .map(|v| re_im(*v))
        .map(|(a, b)| a.abs() + b.abs())
        .sum()
}

pub fn check(name: &str, x: &Tensor, axes: &[usize]) {
    let d = x.dtype();
    let groups = groups(x, axes);
    let signed_axes: Vec<isize> = axes.iter().map(|k| *k as isize).collect();
    let a = Some(&signed_axes[..]);
    let what = |op: &str| format!("{op} {d} {name} {:?} over {axes:?}", x.shape());
    let n = groups.first().map_or(0, |g| g.len());
    let inexact = d.is_float() || d.is_complex();
    // of the accumulator: 16-bit floats are summed in float32
    let unit = half_unit(if d.is_float() { d.wide() } else { d });
    let out_unit = half_unit(d.inexact());
    // lanes and trees: the longest chain of additions
    let depth = 20.0 + (n as f64).min(150.0);

    let sum = ops::sum(x, a).unwrap();
    let prod = ops::prod(x, Axes::from(a).keepdims()).unwrap();
    let kept: Vec<usize> = (0..x.rank())
        .map(|k| if axes.contains(&k) { 1 } else { x.shape()[k] })
        .collect();
    assert_eq!(prod.shape(), kept, "{}", what("prod"));
    if inexact {
        let add = |g: &[Value]| {
            g.iter()
                .map(|v| re_im(*v))
                .fold((0.0, 0.0), |s, v| (s.0 + v.0, s.1 + v.1))
        };
        let tolerance = |g: &[Value]| depth * unit * magnitude(g) + out_unit * magnitude(g);
        expect(&what("sum"), &sum, &groups, add, tolerance);
        expect(
            &what("mean"),
            &ops::mean(x, a).unwrap(),
            &groups,
            |g| {
                (
                    add(g).0 / n as f64,
                    if d.is_complex() {
                        add(g).1 / n as f64
                    } else {
                        0.0
                    },
                )
            },
            |g| tolerance(g) / n as f64 + tolerance(&[]),
        );
        let times = |g: &[Value]| {
            g.iter()
                .map(|v| re_im(*v))
                .fold((1.0, 0.0), |p: (f64, f64), v| {
                    (p.0 * v.0 - p.1 * v.1, p.0 * v.1 + p.1 * v.0)
                })
        };
        let size = |g: &[Value]| {
            g.iter()
                .map(|v| re_im(*v))
                .map(|(a, b)| a.hypot(b))
                .product::<f64>()
        };
        let largest = match d.real() {
            DType::F16 => 65504.0,
            DType::F64 => f64::MAX,
            _ => f32::MAX as f64,
        };
        // not checked if the product overflows or underflows in some order of multiplication
        let fits = |g: &Vec<Value>| {
            g.iter()
                .map(|v| re_im(*v))
                .map(|(a, b)| a.hypot(b).max(1.0))
                .product::<f64>()
                < largest
                && size(g) > 1e-4
        };
        if groups.iter().all(fits) {
            expect(&what("prod"), &prod, &groups, times, |g| {
                (4.0 * g.len() as f64 * unit + out_unit) * size(g)
            });
        }
    } else {
        let signed = sum.dtype() == DType::I64;
        assert_eq!(
            sum.dtype(),
            if d.is_integer() && !d.is_signed() && DType::U64.is_available() {
                DType::U64
            } else {
                DType::I64
            }
        );
        let sums: Vec<Value> = groups
            .iter()
            .map(|g| wrapped(g.iter().map(|v| v.int()).sum(), signed))
            .collect();
        assert_eq!(values(&sum), sums, "{}", what("sum"));
        let product = |g: &Vec<Value>| {
            g.iter()
                .fold(1i128, |p, v| p.wrapping_mul(v.int()) as i64 as i128)
        };
        assert_eq!(
            values(&prod),
            groups
                .iter()
                .map(|g| wrapped(product(g), signed))
                .collect::<Vec<_>>(),
            "{}",
            what("prod")
        );
        let mean = |g: &[Value]| {
            (
                g.iter().map(|v| v.int()).sum::<i128>() as f64 / g.len() as f64,
                0.0,
            )
        };
        expect(
            &what("mean"),
            &ops::mean(x, a).unwrap(),
            &groups,
            mean,
            |g| epsilon(DType::F32) * mean(g).0.abs() + 1e-6 * magnitude(g) / n as f64,
        );
    }

    let truth = |v: &Value| re_im(*v) != (0.0, 0.0);
    let bools = |f: fn(&[bool]) -> bool| {
        groups
            .iter()
            .map(|g| Value::Bool(f(&g.iter().map(truth).collect::<Vec<_>>())))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        values(&ops::any(x, a).unwrap()),
        bools(|t| t.iter().any(|t| *t)),
        "{}",
        what("any")
    );
    assert_eq!(
        values(&ops::all(x, a).unwrap()),
        bools(|t| t.iter().all(|t| *t)),
        "{}",
        what("all")
    );
    let counts: Vec<Value> = groups
        .iter()
        .map(|g| Value::Int(g.iter().filter(|v| truth(v)).count() as i128))
        .collect();
    assert_eq!(
        values(&ops::count_nonzero(x, a).unwrap()),
        counts,
        "{}",
        what("count_nonzero")
    );

    if d.is_complex() {
        return;
    }
    let mean = |g: &[Value]| g.iter().map(|v| v.float()).sum::<f64>() / g.len() as f64;
    let variance = |g: &[Value]| {
        let mean = mean(g);
        g.iter().map(|v| (v.float() - mean).powi(2)).sum::<f64>() / g.len() as f64
    };
    let near = |g: &[Value]| {
        (depth * unit + epsilon(d.inexact())) * variance(g) + (depth * unit * mean(g)).powi(2)
    };
    expect(
        &what("var"),
        &ops::var(x, a, 0.0).unwrap(),
        &groups,
        |g| (variance(g), 0.0),
        near,
    );
    let log_sum = |g: &[Value]| {
        let max = g
            .iter()
            .map(|v| v.float())
            .fold(f64::NEG_INFINITY, f64::max);
        (
            max + g.iter().map(|v| (v.float() - max).exp()).sum::<f64>().ln(),
            0.0,
        )
    };
    let got = ops::logsumexp(x, a).unwrap();
    if n > 0 {
        expect(&what("logsumexp"), &got, &groups, log_sum, |g| {
            depth * unit.max(1e-8) + epsilon(d.inexact()) * log_sum(g).0.abs()
        });
    } else {
        assert!(floats(&got).iter().all(|v| *v == f64::NEG_INFINITY));
    }
    if n > 1 {
        let sample = |g: &[Value]| (variance(g) * n as f64 / (n as f64 - 1.0)).sqrt();
        let near =
            |g: &[Value]| 2.0 * near(g).sqrt().min(near(g) / sample(g)) + out_unit * sample(g);
        expect(
            &what("std"),
            &ops::std(x, a, 1.0).unwrap(),
            &groups,
            |g| (sample(g), 0.0),
            near,
        );
    }
    if n > 0 {
        let best = |better: fn(f64, f64) -> bool| -> (Vec<Value>, Vec<i128>) {
            let first = |g: &Vec<Value>| {
                (1..g.len()).fold(0, |b, i| if better(key(g[i]), key(g[b])) { i } else { b })
            };
            groups
                .iter()
                .map(|g| (g[first(g)], first(g) as i128))
                .unzip()
        };
        let (largest, largest_at) = best(|a, b| a > b || a.is_nan() && !b.is_nan());
        let (smallest, smallest_at) = best(|a, b| a < b || a.is_nan() && !b.is_nan());
        same(&what("max"), &ops::max(x, a).unwrap(), &largest);
        same(&what("min"), &ops::min(x, a).unwrap(), &smallest);
        let axis = match axes {
            [k] => Some(*k as isize),
            _ if axes.len() == x.rank() => None,
            _ => return,
        };
        let ints = |t: &Tensor| values(t).into_iter().map(|v| v.int()).collect::<Vec<_>>();
        assert_eq!(
            ints(&ops::argmax(x, axis).unwrap()),
            largest_at,
            "{}",
            what("argmax")
        );
        assert_eq!(
            ints(&ops::argmin(x, Axes::from(axis).keepdims()).unwrap()),
            smallest_at,
            "{}",
            what("argmin")
        );
        let (v, i) = ops::max_with_indices(x, axis).unwrap();
        same(&what("max_with_indices"), &v, &largest);
        assert_eq!(ints(&i), largest_at);
        let (v, i) = ops::min_with_indices(x, Axes::from(axis).keepdims()).unwrap();
        same(&what("min_with_indices"), &v, &smallest);
        assert_eq!(ints(&i), smallest_at);
        assert_eq!(i.shape(), kept);
    }
}

/// Exact for what is compared here: 64-bit integers of the tests are small or at the ends of the
/// range.
fn key(v: Value) -> f64 {
    v.float()
}
fn same(what: &str, got: &Tensor, want: &[Value]) {
    for (i, (g, w)) in values(got).into_iter().zip(want).enumerate() {
        assert!(
            g == *w || g.float().is_nan() && w.float().is_nan(),
            "{what} [{i}]: {g:?}, not {w:?}"
        );
    }
}

/// All subsets of the axes.
pub fn subsets(rank: usize) -> Vec<Vec<usize>> {
    (0..1 << rank)
        .map(|m| (0..rank).filter(|k| m >> k & 1 == 1).collect())
        .collect()
}
