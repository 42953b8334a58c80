//! Reductions of squares, which are squared as they are read.

use super::bits;
use crate::common::{Rng, floats, layouts, random};
use flex::op::Op;
use flex::stream::{Argument, Kind, Stream};
use flex::{DType, Scalar, Tensor, ops};

/// Sums and means of the squares of `x`, and of its differences from `center`, over each axis and
/// over all, have the bits of eager operations.
fn check(x: &Tensor, center: f64) {
    let all: Vec<isize> = (0..x.rank() as isize).collect();
    let mut over: Vec<Vec<isize>> = all.iter().map(|axis| vec![*axis]).collect();
    over.push(all);
    let stream = Stream::new();
    for (axes, kind) in (over.iter()).flat_map(|axes| [(axes, Kind::Sum), (axes, Kind::Mean)]) {
        let over = || ops::ReductionAxes {
            axes: axes.clone().into(),
            keepdims: true,
        };
        let eager = |x: &Tensor| match kind {
            Kind::Sum => ops::sum(x, over()),
            _ => ops::mean(x, over()),
        };
        let square = ops::square(x).unwrap();
        let by_hand = ops::multiply(x, x).unwrap();
        let lazy = stream.apply(Op::Square, &[x.into()]).unwrap();
        let got = stream.reduce(kind, &(&lazy).into(), over()).unwrap();
        assert_eq!(bits(&got.get().unwrap()), bits(&eager(&square).unwrap()));
        let lazy = stream.apply(Op::Multiply, &[x.into(), x.into()]).unwrap();
        let got = stream.reduce(kind, &(&lazy).into(), over()).unwrap();
        assert_eq!(bits(&got.get().unwrap()), bits(&eager(&by_hand).unwrap()));
        // computed, and needed again
        let number = Argument::Number(Scalar::Float(center));
        let away = stream.apply(Op::Subtract, &[x.into(), number]).unwrap();
        let lazy = stream.apply(Op::Square, &[(&away).into()]).unwrap();
        let got = stream.reduce(kind, &(&lazy).into(), over()).unwrap();
        let quotient = stream
            .apply(Op::Divide, &[(&away).into(), (&got).into()])
            .unwrap();
        let plain = ops::subtract(x, center).unwrap();
        let expected = eager(&ops::square(&plain).unwrap()).unwrap();
        assert_eq!(bits(&got.get().unwrap()), bits(&expected));
        let expected = ops::divide(&plain, &expected).unwrap();
        assert_eq!(bits(&quotient.get().unwrap()), bits(&expected));
    }
}

fn dtypes() -> impl Iterator<Item = DType> {
    [DType::F32, DType::F64]
        .into_iter()
        .filter(|dtype| dtype.is_available())
}

#[test]
fn reductions_of_squares_have_the_bits_of_stored_squares() {
    let mut rng = Rng(7);
    let shapes: [&[usize]; 9] = [
        &[0],
        &[1],
        &[37],
        &[33_000],
        &[5, 3],
        &[40, 129],
        &[3, 70, 9],
        &[300, 130],
        &[2, 1, 600],
    ];
    for dtype in dtypes() {
        for shape in shapes {
            let x = random(&mut rng, shape, dtype);
            for (_, x) in layouts(&x) {
                check(&x, 0.25);
            }
        }
        // blocks of rows
        check(&random(&mut rng, &[300, 1000], dtype), 0.5);
    }
}

#[test]
fn means_of_squares_survive_sums_that_overflow() {
    for (dtype, large) in [(DType::F32, 1e19), (DType::F64, 1e154)] {
        if !dtype.is_available() {
            continue;
        }
        for n in [5usize, 100, 20_000] {
            let x = Tensor::full([n, 2], large, dtype).unwrap();
            check(&x, 1.0);
            let square = Stream::new();
            let y = square.apply(Op::Square, &[(&x).into()]).unwrap();
            let mean = square.reduce(Kind::Mean, &(&y).into(), ()).unwrap();
            let mean = floats(&mean.get().unwrap())[0];
            assert!((mean / (large * large) - 1.0).abs() < 1e-5, "{mean}");
        }
    }
    // elements whose squares are not finite
    let x = Tensor::from([1e30f32, 2.0, f32::NAN, 3.0, f32::INFINITY, -1.0]);
    check(&x, 0.0);
    check(&x.reshape([3, 2]).unwrap(), 0.0);
}

/// Distances of all pairs, by hand: differences are computed block by block, and so are sums of
/// them without the reduced axis, which other results read whole.
#[test]
fn distances_of_pairs_have_the_bits_of_eager_operations() {
    let mut rng = Rng(11);
    for (n, m, k) in [
        (3usize, 2usize, 5usize),
        (700, 16, 16),
        (120, 40, 50),
        (5000, 8, 3),
    ] {
        let x = random(&mut rng, &[n, 1, k], DType::F32);
        let c = random(&mut rng, &[m, k], DType::F32);
        for (kind, keepdims) in [(Kind::Sum, false), (Kind::Mean, true), (Kind::Max, false)] {
            let over = || ops::ReductionAxes {
                axes: [-1].into(),
                keepdims,
            };
            let stream = Stream::new();
            let away = stream
                .apply(Op::Subtract, &[(&x).into(), (&c).into()])
                .unwrap();
            let square = stream
                .apply(Op::Multiply, &[(&away).into(), (&away).into()])
                .unwrap();
            let got = stream.reduce(kind, &(&square).into(), over()).unwrap();
            let twice = stream
                .apply(Op::Add, &[(&got).into(), (&got).into()])
                .unwrap();
            let plain = ops::subtract(&x, &c).unwrap();
            let plain = ops::multiply(&plain, &plain).unwrap();
            let expected = match kind {
                Kind::Sum => ops::sum(&plain, over()),
                Kind::Mean => ops::mean(&plain, over()),
                _ => ops::max(&plain, over()),
            };
            let expected = expected.unwrap();
            drop((away, square));
            assert_eq!(got.shape(), expected.shape());
            assert_eq!(bits(&got.get().unwrap()), bits(&expected));
            let expected = ops::add(&expected, &expected).unwrap();
            assert_eq!(bits(&twice.get().unwrap()), bits(&expected));
        }
    }
}

/// A result without the reduced axis that is read by steps of the operand's own rank.
#[test]
fn sums_without_their_axis_are_not_read_along_another_one() {
    let mut rng = Rng(12);
    let x = random(&mut rng, &[500, 500], DType::F32);
    let stream = Stream::new();
    let double = stream.apply(Op::Add, &[(&x).into(), (&x).into()]).unwrap();
    let over = || ops::ReductionAxes {
        axes: [1].into(),
        keepdims: false,
    };
    let sum = stream.reduce(Kind::Sum, &(&double).into(), over()).unwrap();
    let got = stream
        .apply(Op::Subtract, &[(&double).into(), (&sum).into()])
        .unwrap();
    let plain = ops::add(&x, &x).unwrap();
    let expected = ops::subtract(&plain, ops::sum(&plain, over()).unwrap()).unwrap();
    assert_eq!(bits(&got.get().unwrap()), bits(&expected));
}
