//! Reductions by a user's own functions.

#[cfg(feature = "std")]
use super::bits;
use super::{SHAPES, spread, views};
use crate::common::{Rng, indices, layouts, random};
use flex::ops::{Reducer, reduce_axes_ewise, reduce_ewise, reducer};
use flex::{Axes, DType, Tensor};

#[test]
fn reductions_take_every_element_once() {
    let mut rng = Rng(4);
    for shapes in SHAPES {
        let (x, y) = (
            random(&mut rng, shapes[0], DType::F32),
            random(&mut rng, shapes[1], DType::I64),
        );
        let shape = flex::layout::broadcast("test", &[shapes[0], shapes[1]]).unwrap();
        // sums of integers are exact in any order
        let mix = |x: f32, y: i64| (x.to_bits() as i64 >> 7).wrapping_mul(y + 100);
        let step = |(sum, least, n): (i64, f32, u8), x: f32, y: i64| {
            (sum.wrapping_add(mix(x, y)), least.min(x), n.wrapping_add(1))
        };
        let join = |a: (i64, f32, u8), b: (i64, f32, u8)| {
            (a.0.wrapping_add(b.0), a.1.min(b.1), a.2.wrapping_add(b.2))
        };
        let each = reducer((0, f32::INFINITY, 0), step, join)
            .post(|(sum, least, n), all| (sum, least, n == all as u8));
        let (xs, ys) = (spread::<f32>(&x, &shape), spread::<i64>(&y, &shape));
        for (a, x) in views(&x) {
            for (b, y) in views(&y) {
                let name = format!("{shapes:?}: {a}, {b}");
                let all = (0..1usize << shape.len()).map(|set| -> Vec<isize> {
                    (0..shape.len())
                        .filter(|k| set >> k & 1 == 1)
                        .map(|k| k as isize)
                        .collect()
                });
                for axes in all {
                    let kept: Vec<usize> = (0..shape.len())
                        .filter(|k| !axes.contains(&(*k as isize)))
                        .collect();
                    let sizes: Vec<usize> = kept.iter().map(|k| shape[*k]).collect();
                    let mut want = vec![(0i64, f32::INFINITY, 0u8); sizes.iter().product()];
                    for (i, (x, y)) in indices(&shape).iter().zip(xs.iter().zip(&ys)) {
                        let at = kept.iter().fold(0, |at, k| at * shape[*k] + i[*k]);
                        want[at] = step(want[at], *x, *y);
                    }
                    let (sum, least, counted) =
                        reduce_axes_ewise((&x, &y), &axes[..], each).unwrap();
                    assert_eq!(sum.shape(), sizes, "{name}, {axes:?}");
                    assert!(
                        sum.iter::<i64>().unwrap().eq(want.iter().map(|w| w.0)),
                        "{name}, {axes:?}"
                    );
                    assert!(
                        least.iter::<f32>().unwrap().eq(want.iter().map(|w| w.1)),
                        "{name}, {axes:?}"
                    );
                    assert!(
                        counted.iter::<bool>().unwrap().all(|x| x),
                        "{name}, {axes:?}"
                    );
                    if kept.is_empty() {
                        let (sum, least, counted) = reduce_ewise((&x, &y), each).unwrap();
                        assert_eq!(
                            (sum, least, counted),
                            (want[0].0, want[0].1, true),
                            "{name}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn long_reductions_are_accurate_and_do_not_depend_on_threads() {
    let mut rng = Rng(5);
    for (shape, axes) in [
        (&[200_000][..], &[0][..]),
        (&[400, 700], &[0]),
        (&[400, 700], &[1]),
        (&[3, 50_000], &[1]),
        (&[50_000, 3], &[0]),
        (&[40, 60, 50], &[0, 2]),
        (&[40, 60, 50], &[1]),
    ] {
        let (x, y) = (
            random(&mut rng, shape, DType::F32),
            random(&mut rng, shape, DType::F32),
        );
        let (xs, ys) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
        let kept: Vec<usize> = (0..shape.len())
            .filter(|k| !axes.contains(&(*k as isize)))
            .collect();
        let mut want = vec![0f64; kept.iter().map(|k| shape[*k]).product()];
        for (i, (x, y)) in indices(shape).iter().zip(xs.iter().zip(&ys)) {
            let at = kept.iter().fold(0, |at, k| at * shape[*k] + i[*k]);
            want[at] += *x as f64 * *y as f64;
        }
        let dot = reducer(0.0, |sum: f32, x: f32, y: f32| sum + x * y, |a, b| a + b);
        for (name, x) in layouts(&x) {
            let run = || reduce_axes_ewise((&x, &y), axes, dot).unwrap();
            let got = run();
            let n = (x.len() / want.len()) as f64;
            for (got, want) in got.iter::<f32>().unwrap().zip(&want) {
                // products are below 40, sums of halves lose a bit every level
                let bound = 40.0 * n.sqrt() * 20.0 * f32::EPSILON as f64;
                assert!(
                    (got as f64 - want).abs() <= bound,
                    "{name} {shape:?}: {got}, not {want}"
                );
            }
            #[cfg(feature = "std")]
            for threads in [1, 2, 7] {
                assert_eq!(
                    bits(&flex::with_threads(threads, run)),
                    bits(&got),
                    "{name} {shape:?}"
                );
            }
        }
    }
}

#[test]
fn accumulators_may_be_empty_or_large() {
    let x = Tensor::from_vec((0..1000).map(|k| k as f32).collect(), (10, 100)).unwrap();
    // no accumulator
    let n = reducer((), |(), _: f32| (), |(), ()| ()).post(|(), n| n as i64);
    assert_eq!(reduce_ewise(&x, n).unwrap(), 1000);
    assert_eq!(
        reduce_axes_ewise(&x, 1, n)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [100; 10]
    );
    // more than a vector, with padding
    #[derive(Clone, Copy)]
    struct Histogram {
        bins: [u32; 10],
        any: bool,
    }
    struct Count;
    impl Reducer<(f32, f32)> for Count {
        type Acc = Histogram;
        type Output = [u32; 10];
        fn init(&self) -> Histogram {
            Histogram {
                bins: [0; 10],
                any: false,
            }
        }
        fn step(&self, mut acc: Histogram, (x, width): (f32, f32)) -> Histogram {
            acc.bins[(x / width) as usize % 10] += 1;
            acc.any = true;
            acc
        }
        fn join(&self, mut a: Histogram, b: Histogram) -> Histogram {
            (0..10).for_each(|k| a.bins[k] += b.bins[k]);
            a.any |= b.any;
            a
        }
        fn post(&self, acc: Histogram, _: usize) -> [u32; 10] {
            assert!(acc.any);
            acc.bins
        }
    }
    assert_eq!(reduce_ewise((&x, 100.0), Count).unwrap(), [100; 10]);
    // an empty reduction gives the identity
    let none = Tensor::zeros((0, 3), DType::F32).unwrap();
    let sum = reducer(0.0, |sum: f32, x: f32| sum + x, |a, b| a + b).post(|sum, n| (sum, n as i32));
    assert_eq!(reduce_ewise(&none, sum).unwrap(), (0.0, 0));
    let (sums, counts) = reduce_axes_ewise(&none, Axes::from(0).keepdims(), sum).unwrap();
    assert_eq!(
        (sums.shape(), sums.to_vec::<f32>().unwrap()),
        (&[1, 3][..], vec![0.0; 3])
    );
    assert_eq!(counts.to_vec::<i32>().unwrap(), [0; 3]);
    let (sums, _) = reduce_axes_ewise(&none, 1, sum).unwrap();
    assert_eq!(sums.shape(), [0]);
}
