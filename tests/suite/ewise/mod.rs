//! A user's own functions: elementwise, in place, by index, and reductions.

mod reduce;

use crate::common::{Rng, indices, layouts, random};
use flex::ops::{
    Apply, Elementwise, ewise, ewise_inplace, ewise_into, iwise, reduce_axes_ewise, reduce_ewise,
    reducer,
};
use flex::{DType, Element, Error, Tensor};

/// The elements in row-major order, found index by index in the shape that `x` broadcasts to.
fn spread<T: Element>(x: &Tensor, shape: &[usize]) -> Vec<T> {
    let own = |index: &[usize]| -> Vec<i64> {
        let lead = shape.len() - x.rank();
        let sizes = x.shape().iter().zip(&index[lead..]);
        sizes
            .map(|(n, i)| if *n == 1 { 0 } else { *i as i64 })
            .collect()
    };
    let position = |index: &[usize]| {
        own(index)
            .into_iter()
            .map(|i| i as isize)
            .collect::<Vec<_>>()
    };
    let all = indices(shape);
    all.iter().map(|i| x.at(position(i)).unwrap()).collect()
}
/// `x` in every layout; a 0-dimensional tensor has only one.
fn views(x: &Tensor) -> Vec<(&'static str, Tensor)> {
    if x.rank() == 0 {
        vec![("scalar", x.clone())]
    } else {
        layouts(x)
    }
}
#[cfg(feature = "std")]
fn bits(x: &Tensor) -> Vec<u32> {
    x.iter::<f32>().unwrap().map(f32::to_bits).collect()
}

const SHAPES: [[&[usize]; 3]; 10] = [
    [&[], &[], &[]],
    [&[7], &[], &[1]],
    [&[0], &[1], &[0]],
    [&[3, 0, 2], &[2], &[3, 1, 1]],
    [&[5, 3], &[3], &[5, 1]],
    [&[2, 3, 4], &[3, 1], &[4]],
    [&[70, 33], &[33], &[70, 1]],
    [&[9, 1], &[1, 300], &[9, 300]],
    [&[300], &[20, 1], &[20, 300]],
    [&[2, 1, 40], &[35, 1], &[2, 35, 40]],
];

#[test]
fn functions_see_the_elements_of_each_index() {
    let mut rng = Rng(1);
    for shapes in SHAPES {
        let (x, y, z) = (
            random(&mut rng, shapes[0], DType::F32),
            random(&mut rng, shapes[1], DType::I64),
            random(&mut rng, shapes[2], DType::Bool),
        );
        let shape = flex::layout::broadcast("test", &shapes).unwrap();
        let f = |x: f32, y: i64, z: bool, k: i32| {
            let word = (x.to_bits() as i64).wrapping_mul(31).wrapping_add(y) ^ k as i64;
            (word, if z { x } else { -x }, z && y > 0, word as u8)
        };
        for (a, x) in views(&x) {
            for (b, y) in views(&y) {
                for (c, z) in views(&z) {
                    let name = format!("{shapes:?}: {a}, {b}, {c}");
                    let (p, q, r, s) = ewise((&x, &y, &z, 5), f).unwrap();
                    assert!(
                        [&p, &q, &r, &s].iter().all(|t| t.shape() == &shape[..]),
                        "{name}"
                    );
                    let (x, y) = (spread::<f32>(&x, &shape), spread::<i64>(&y, &shape));
                    let z = spread::<bool>(&z, &shape);
                    for (k, ((x, y), z)) in x.iter().zip(&y).zip(&z).enumerate() {
                        let want = f(*x, *y, *z, 5);
                        let at = |t: &Tensor| t.flatten_index(k);
                        let got: (i64, f32, bool, u8) = (
                            p.at(at(&p)).unwrap(),
                            q.at(at(&q)).unwrap(),
                            r.at(at(&r)).unwrap(),
                            s.at(at(&s)).unwrap(),
                        );
                        assert_eq!(got, want, "{name}, element {k}");
                    }
                }
            }
        }
    }
}

/// The index of element `k` in row-major order.
trait FlattenIndex {
    fn flatten_index(&self, k: usize) -> Vec<isize>;
}
impl FlattenIndex for Tensor {
    fn flatten_index(&self, mut k: usize) -> Vec<isize> {
        let mut index = vec![0; self.rank()];
        for (i, n) in index.iter_mut().zip(self.shape()).rev() {
            *i = (k % n) as isize;
            k /= n;
        }
        index
    }
}

#[test]
fn inputs_may_be_one_or_six_and_functions_may_be_types() {
    let x = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let turned = x.transpose(0, 1).unwrap();
    // dense results in their operand's order
    let y = ewise(&turned, |x: f32| x).unwrap();
    assert_eq!(y.strides(), turned.strides());
    let sum = |a: f32, b: f32, c: f32, d: i32, e: u8, f: bool| {
        a + b + c + d as f32 + e as f32 + f as u8 as f32
    };
    let (row, column) = (Tensor::from([10i32, 20, 30]), Tensor::from([[1u8], [2]]));
    let y = ewise((&x, 0.5, &x, &row, &column, true), sum).unwrap();
    assert_eq!(
        y.to_vec::<f32>().unwrap(),
        [14.5, 26.5, 38.5, 21.5, 33.5, 45.5]
    );
    let (y,) = ewise((&x,), |x: f32| (x > 3.0,)).unwrap();
    assert_eq!(y.dtype(), DType::Bool);
    // only scalars
    let y = ewise((2.0, 3), |a: f32, b: i32| a * b as f32).unwrap();
    assert_eq!((y.shape(), y.item::<f32>().unwrap()), (&[][..], 6.0));

    struct Scale(f32);
    impl Elementwise<(f32, i32)> for Scale {
        type Output = f32;
        #[inline(always)]
        fn apply(&self, (x, k): (f32, i32)) -> f32 {
            self.0 * x * k as f32
        }
    }
    let y = ewise((&x, &row), Apply(Scale(0.5))).unwrap();
    assert_eq!(
        y.to_vec::<f32>().unwrap(),
        [5.0, 20.0, 45.0, 20.0, 50.0, 90.0]
    );
}

#[cfg(feature = "complex")]
#[test]
fn complex_elements_are_supported() {
    use flex::dtype::Complex64;
    let values: Vec<_> = (0..600).map(|k| Complex64::new(k as f32, -1.0)).collect();
    let z = Tensor::from_vec(values.clone(), (30, 20)).unwrap();
    for (name, z) in layouts(&z) {
        let (norm, swapped) = ewise((&z, 2.0), |z: Complex64, k: f32| {
            (z.re * k - z.im, Complex64::new(z.im, z.re))
        })
        .unwrap();
        let want = values.iter().map(|z| z.re * 2.0 - z.im);
        assert!(norm.iter::<f32>().unwrap().eq(want), "{name}");
        let want = values.iter().map(|z| Complex64::new(z.im, z.re));
        assert!(swapped.iter::<Complex64>().unwrap().eq(want), "{name}");
    }
}

#[test]
fn outputs_of_any_layout_are_written() {
    let mut rng = Rng(2);
    for shapes in SHAPES {
        let (x, y) = (
            random(&mut rng, shapes[0], DType::F32),
            random(&mut rng, shapes[1], DType::I64),
        );
        let shape = flex::layout::broadcast("test", &shapes).unwrap();
        let f = |x: f32, y: i64| (x * 2.0, y - 1);
        let (a, b) = (spread::<f32>(&x, &shape), spread::<i64>(&y, &shape));
        let whole = (
            random(&mut rng, &shape, DType::F32),
            random(&mut rng, &shape, DType::I64),
        );
        for ((name, mut p), (_, mut q)) in views(&whole.0)
            .into_iter()
            .zip(views(&whole.1).into_iter().rev())
        {
            let strides = p.strides().to_vec();
            ewise_into((&x, &y), (&mut p, &mut q), f).unwrap();
            if name != "contiguous" && !p.is_empty() && p.rank() > 0 {
                assert_eq!(
                    p.strides(),
                    strides,
                    "{name} {shape:?}: written where it is"
                );
            }
            assert!(
                p.iter::<f32>().unwrap().eq(a.iter().map(|x| x * 2.0)),
                "{name} {shape:?}"
            );
            assert!(
                q.iter::<i64>().unwrap().eq(b.iter().map(|y| y - 1)),
                "{name} {shape:?}"
            );
        }
    }
}

#[test]
fn tensors_that_share_storage_keep_their_values() {
    let start = Tensor::from_vec((0..600).map(|k| k as f32).collect(), (20, 30)).unwrap();
    let square = Tensor::from_vec((0..900).map(|k| k as f32).collect(), (30, 30)).unwrap();

    // the same elements are input and output
    let mut x = start.copy().unwrap();
    let before = x.clone();
    ewise_into((&before, 1.0), &mut x, |x: f32, k: f32| x + k).unwrap();
    assert!(
        x.iter::<f32>()
            .unwrap()
            .eq((0..600).map(|k| k as f32 + 1.0))
    );
    assert!(
        before
            .iter::<f32>()
            .unwrap()
            .eq(start.iter::<f32>().unwrap())
    );

    // they overlap
    let long = Tensor::from_vec((0..5000).map(|k| k as f32).collect(), 5000).unwrap();
    let (low, mut high) = (
        long.narrow(0, 0, 4999).unwrap(),
        long.narrow(0, 1, 4999).unwrap(),
    );
    ewise_into((&low, &high.clone()), &mut high, |a: f32, b: f32| {
        a * 10000.0 + b
    })
    .unwrap();
    let want = (0..4999).map(|k| k as f32 * 10000.0 + (k + 1) as f32);
    assert!(high.iter::<f32>().unwrap().eq(want));
    assert!(long.iter::<f32>().unwrap().eq((0..5000).map(|k| k as f32)));

    // in place, with its own transpose and its own rows backwards
    let mut x = square.copy().unwrap();
    let (turned, flipped) = (x.transpose(0, 1).unwrap(), x.flip(0).unwrap());
    let f = |x: &mut f32, t: f32, f: f32| *x = 1000.0 * *x + t - f;
    ewise_inplace(&mut x, (&turned, &flipped), f).unwrap();
    for (i, j) in (0..30).flat_map(|i| (0..30).map(move |j| (i, j))) {
        let at = |i: usize, j: usize| (30 * i + j) as f32;
        let want = 1000.0 * at(i, j) + at(j, i) - at(29 - i, j);
        assert_eq!(x.at::<f32>((i, j)).unwrap(), want, "{i}, {j}");
    }

    // two broadcast targets that share storage
    let row = Tensor::from([1.0f32, 2.0, 3.0]);
    let (mut a, mut b) = (
        row.broadcast_to((2, 3)).unwrap(),
        row.broadcast_to((2, 3)).unwrap(),
    );
    let f = |a: &mut f32, b: &mut f32| {
        *a += 1.0;
        *b -= *a;
    };
    ewise_inplace((&mut a, &mut b), (), f).unwrap();
    assert_eq!(a.to_vec::<f32>().unwrap(), [2.0, 3.0, 4.0, 2.0, 3.0, 4.0]);
    assert_eq!(b.to_vec::<f32>().unwrap(), [-1.0; 6]);
    assert_eq!(row.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn targets_of_any_layout_are_updated_in_place() {
    let mut rng = Rng(3);
    for shape in [
        &[][..],
        &[0],
        &[7],
        &[5, 3],
        &[70, 130],
        &[2, 40, 35],
        &[3000, 2],
    ] {
        let (x, n) = (
            random(&mut rng, shape, DType::F32),
            random(&mut rng, shape, DType::U8),
        );
        let row = random(
            &mut rng,
            &shape[shape.len().saturating_sub(1)..],
            DType::F32,
        );
        let f = |x: &mut f32, n: &mut u8, row: f32, k: i32| {
            *x = *x * *n as f32 + row;
            if k > 0 {
                *n = n.wrapping_add(1);
            }
        };
        let rows = spread::<f32>(&row, shape);
        for ((name, mut p), (_, mut q)) in views(&x).into_iter().zip(views(&n).into_iter().rev()) {
            let mut want: Vec<(f32, u8)> = x
                .iter::<f32>()
                .unwrap()
                .zip(n.iter::<u8>().unwrap())
                .collect();
            for ((x, n), row) in want.iter_mut().zip(&rows) {
                f(x, n, *row, 1);
            }
            let (place, shared) = (p.as_ptr(), p.shares_storage(&x));
            ewise_inplace((&mut p, &mut q), (&row, 1), f).unwrap();
            assert!(shared || place == p.as_ptr(), "{name} {shape:?}");
            let got = p.iter::<f32>().unwrap().zip(q.iter::<u8>().unwrap());
            assert!(got.eq(want.into_iter()), "{name} {shape:?}");
        }
    }
    // a closure sees a `bool`
    let mut flags = Tensor::from([true, false, true]);
    ewise_inplace(&mut flags, (), |x: &mut bool| *x = !*x).unwrap();
    assert_eq!(flags.to_vec::<bool>().unwrap(), [false, true, false]);
}

#[test]
fn iwise_passes_the_index_of_each_element() {
    for shape in [[0, 3, 4], [1, 1, 1], [2, 3, 5], [3, 0, 2], [20, 30, 70]] {
        let f = |[i, j, k]: [usize; 3]| (i as i64 * 1_000_000 + (j * 1000 + k) as i64, k < j);
        let (n, less) = iwise(shape, f).unwrap();
        let want: Vec<_> = indices(&shape)
            .iter()
            .map(|i| f([i[0], i[1], i[2]]))
            .collect();
        assert_eq!(n.shape(), shape);
        assert!(
            n.iter::<i64>()
                .unwrap()
                .zip(less.iter::<bool>().unwrap())
                .eq(want)
        );
    }
    assert_eq!(
        iwise((), |[]: [usize; 0]| 7.0f32)
            .unwrap()
            .item::<f32>()
            .unwrap(),
        7.0
    );
    let e = iwise(3, |[i, j]: [usize; 2]| (i + j) as f32).unwrap_err();
    assert!(matches!(e, Error::Shape { op: "iwise", .. }));
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(6);
    let shape = [600, 700];
    let (x, y) = (
        random(&mut rng, &shape, DType::F32),
        random(&mut rng, &[700], DType::F32),
    );
    for (name, x) in layouts(&x) {
        let f = |x: f32, y: f32| x.sin() * y + 0.25;
        let run = || {
            let mut z = x.copy().unwrap();
            ewise_inplace(&mut z, (&y,), |z: &mut f32, y: f32| *z = f(*z, y)).unwrap();
            (bits(&ewise((&x, &y), f).unwrap()), bits(&z))
        };
        let want: Vec<u32> = (spread::<f32>(&x, &shape)
            .iter()
            .zip(spread::<f32>(&y, &shape)))
        .map(|(x, y)| f(*x, y).to_bits())
        .collect();
        for threads in [1, 2, 7] {
            let (got, inplace) = flex::with_threads(threads, run);
            assert!(got == want && inplace == want, "{name}, {threads} threads");
        }
    }
}

#[test]
fn errors_name_the_argument() {
    let x = Tensor::from([[1.0f32, 2.0, 3.0]; 2]);
    let n = Tensor::from([1i32, 2]);
    let add = |a: f32, b: f32| a + b;
    #[cfg(feature = "messages")]
    let is = |e: Error, text: &str| assert_eq!(e.to_string(), text);
    #[cfg(not(feature = "messages"))]
    let is = |e: Error, _: &str| drop(e);
    is(
        ewise((&x, &n), add).unwrap_err(),
        "ewise: argument 1 of the function is float32, and input 1, of shape [2], is int32: convert it with astype",
    );
    is(
        ewise((&x, &n), |a: f32, b: i32| a + b as f32).unwrap_err(),
        "ewise: shapes [2, 3] and [2] do not broadcast: sizes 3 and 2 differ and neither is 1",
    );
    let mut y = Tensor::from([5.0f32; 3]);
    is(
        ewise_into((&x, &x), &mut y, add).unwrap_err(),
        "ewise_into: inputs broadcast to shape [2, 3], and the outputs have [3]",
    );
    is(
        ewise_into((&y, &y), &mut y.clone(), |a: f32, _: f32| a as i32).unwrap_err(),
        "ewise_into: value 0 of the function is int32, and output 0, of shape [3], is float32",
    );
    let mut z = Tensor::from([0.0f32; 2]);
    is(
        ewise_into((1.0, 2.0), (&mut y, &mut z), |a: f32, b: f32| (a, b)).unwrap_err(),
        "ewise_into: outputs 0 and 1 have different shapes, [3] and [2]",
    );
    assert_eq!(y.to_vec::<f32>().unwrap(), [5.0; 3]);
    is(
        ewise_inplace(&mut y, (&n,), |y: &mut f32, n: f32| *y = n).unwrap_err(),
        "ewise_inplace: argument 0 of the function is float32, and input 0, of shape [2], is int32: convert it with astype",
    );
    is(
        ewise_inplace(&mut y, (), |y: &mut i32| *y = 1).unwrap_err(),
        "ewise_inplace: value 0 of the function is int32, and output 0, of shape [3], is float32",
    );
    let sum = reducer(0.0, |sum: f32, x: f32| sum + x, |a, b| a + b);
    is(
        reduce_ewise(&n, sum).unwrap_err(),
        "reduce_ewise: argument 0 of the function is float32, and input 0, of shape [2], is int32: convert it with astype",
    );
    is(
        reduce_ewise((1.0,), sum).unwrap_err(),
        "reduce_ewise: no input is a tensor",
    );
    assert!(matches!(
        reduce_axes_ewise(&x, 2, sum),
        Err(Error::Axis {
            op: "reduce_axes_ewise",
            axis: 2,
            rank: 2,
            ..
        })
    ));
}

#[cfg(feature = "std")]
#[test]
fn panics_propagate_and_leave_tensors_valid() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    fn panics<T>(f: impl FnOnce() -> T) -> bool {
        catch_unwind(AssertUnwindSafe(f)).is_err()
    }
    let x = Tensor::from_vec((0..300_000).map(|k| k as f32).collect(), (300, 1000)).unwrap();
    let turned = x.transpose(0, 1).unwrap();
    let at = |v: f32| {
        if v == 123_456.0 {
            panic!("there")
        } else {
            v + 1.0
        }
    };
    for x in [&x, &turned] {
        let mut y = x.copy().unwrap();
        let mut z = x.copy().unwrap();
        assert!(panics(|| ewise(x, at)));
        assert!(panics(|| ewise_into(x, &mut y, at)));
        let each = |v: &mut f32| *v = at(*v);
        assert!(panics(|| ewise_inplace(&mut z, (), each)));
        let sum = reducer(0.0, |sum: f32, x: f32| sum + at(x), |a, b| a + b);
        assert!(panics(|| reduce_ewise(x, sum)));
        assert!(panics(|| reduce_axes_ewise(x, 0, sum)));
        // each element is either unchanged or written
        for (y, z) in [(&y, x), (&z, x)] {
            let pairs = y.iter::<f32>().unwrap().zip(z.iter::<f32>().unwrap());
            assert!(pairs.into_iter().all(|(y, x)| y == x || y == x + 1.0));
        }
        assert_eq!(
            ewise(x, |v: f32| v).unwrap().to_vec::<f32>().unwrap(),
            x.to_vec::<f32>().unwrap()
        );
    }
}
