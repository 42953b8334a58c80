//! Elements as Rust values: constructors, single elements, iterators, closures.

use crate::common::{Rng, layouts, random};
use flex::{DType, Error, Tensor};

#[test]
fn closures_visit_each_element_once() {
    let mut rng = Rng(7);
    for shape in [&[][..], &[0], &[1], &[5, 3], &[2, 3, 4], &[70, 130]] {
        let base = random(&mut rng, shape, DType::F32);
        let other = random(&mut rng, shape, DType::F32);
        for (name, x) in layouts(&base) {
            let values = x.to_vec::<f32>().unwrap();
            let f = |v: f32| v.to_bits() as i64 + 1;
            let y = x.map(f).unwrap();
            assert_eq!(
                (y.shape(), y.dtype()),
                (x.shape(), DType::I64),
                "{name} {shape:?}"
            );
            assert_eq!(
                y.to_vec::<i64>().unwrap(),
                values.iter().map(|v| f(*v)).collect::<Vec<_>>(),
                "{name} {shape:?}"
            );
            assert!(
                x.iter::<f32>()
                    .unwrap()
                    .map(f32::to_bits)
                    .eq(values.iter().map(|v| v.to_bits())),
                "{name} {shape:?}"
            );

            for (_, z) in layouts(&other)
                .into_iter()
                .filter(|(_, z)| z.shape() == x.shape())
            {
                let sums = x
                    .zip_with(&z, |a: f32, b: f32| {
                        a.to_bits().wrapping_mul(31).wrapping_add(b.to_bits()) as i64
                    })
                    .unwrap();
                let pairs = values.iter().zip(z.to_vec::<f32>().unwrap());
                let want: Vec<i64> = pairs
                    .map(|(a, b)| a.to_bits().wrapping_mul(31).wrapping_add(b.to_bits()) as i64)
                    .collect();
                assert_eq!(sums.to_vec::<i64>().unwrap(), want, "{name} {shape:?}");
            }
            let mut z = x.clone();
            z.map_inplace(|v: f32| -v).unwrap();
            assert!(
                z.iter::<f32>()
                    .unwrap()
                    .map(f32::to_bits)
                    .eq(values.iter().map(|v| (-v).to_bits())),
                "{name} {shape:?}"
            );
            assert!(
                x.iter::<f32>()
                    .unwrap()
                    .map(f32::to_bits)
                    .eq(values.iter().map(|v| v.to_bits())),
                "what shares the storage stays"
            );
        }
    }
}

#[test]
fn closures_broadcast_and_return_any_dtype() {
    let x = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (row, one) = (
        Tensor::from([1i32, 2, 3]),
        Tensor::scalar(3, DType::I32).unwrap(),
    );
    let same = x.zip_with(&row, |a: f32, b: i32| a == b as f32).unwrap();
    assert_eq!(
        same.to_vec::<bool>().unwrap(),
        [true, true, true, false, false, false]
    );
    assert_eq!(
        row.zip_with(&x, |b: i32, a: f32| a as i64 * b as i64)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [1, 4, 9, 4, 10, 18]
    );
    assert_eq!(
        x.zip_with(&one, |a: f32, b: i32| a as i32 % b)
            .unwrap()
            .shape(),
        [2, 3]
    );
    assert_eq!(
        same.map(|b: bool| !b).unwrap().to_vec::<bool>().unwrap(),
        [false, false, false, true, true, true]
    );
    // a dense result in its operand's memory order
    let turned = x.transpose(0, 1).unwrap();
    assert_eq!(turned.map(|a: f32| a).unwrap().strides(), turned.strides());
}

#[test]
fn broadcast_operands_match_their_copies() {
    let mut rng = Rng(8);
    for (left, right) in [
        (&[][..], &[300][..]),
        (&[5, 3], &[3]),
        (&[5, 1], &[3]),
        (&[4, 300], &[300]),
        (&[300, 4], &[4]),
        (&[300, 1], &[1, 300]),
        (&[2, 1, 7], &[6, 1]),
        (&[2000, 3, 2], &[3, 1]),
        (&[0, 3], &[3]),
    ] {
        let (x, y) = (
            random(&mut rng, left, DType::F32),
            random(&mut rng, right, DType::I64),
        );
        let f = |a: f32, b: i64| (a.to_bits() as i64).wrapping_mul(31).wrapping_add(b) as i32;
        let whole = |t: &Tensor, shape: &[usize]| t.broadcast_to(shape).unwrap().copy().unwrap();
        let views = |t: &Tensor| {
            if t.rank() == 0 {
                vec![("", t.clone())]
            } else {
                layouts(t)
            }
        };
        for (a, x) in views(&x) {
            for (b, y) in views(&y) {
                for (x, y, swapped) in [(&x, &y, false), (&y, &x, true)] {
                    let z = if swapped {
                        x.zip_with(y, |b: i64, a: f32| f(a, b)).unwrap()
                    } else {
                        x.zip_with(y, f).unwrap()
                    };
                    let (p, q) = if swapped { (y, x) } else { (x, y) };
                    let want: Vec<i32> = whole(p, z.shape())
                        .to_vec::<f32>()
                        .unwrap()
                        .into_iter()
                        .zip(whole(q, z.shape()).to_vec::<i64>().unwrap())
                        .map(|(a, b)| f(a, b))
                        .collect();
                    assert_eq!(
                        z.to_vec::<i32>().unwrap(),
                        want,
                        "{left:?} {a}, {right:?} {b}"
                    );
                }
            }
        }
    }
    // an operand that repeats itself along a dimension stays as it is
    let (row, x) = (Tensor::from([1i32, 2, 3]), Tensor::from([[1i32; 3]; 2]));
    let repeated = row.broadcast_to([2, 3]).unwrap();
    let z = x.zip_with(&repeated, |a: i32, b: i32| a + b).unwrap();
    assert_eq!(z.to_vec::<i32>().unwrap(), [2, 3, 4, 2, 3, 4]);
}

#[test]
fn closure_types_must_match_dtypes() {
    let mut x = Tensor::from([1.0f32, 2.0]);
    assert!(matches!(
        x.map(|a: i32| a),
        Err(Error::DType { op: "map", .. })
    ));
    assert!(matches!(
        x.zip_with(&x, |a: f32, b: i32| a + b as f32),
        Err(Error::DType { op: "zip_with", .. })
    ));
    assert!(matches!(
        x.map_inplace(|a: i32| a),
        Err(Error::DType {
            op: "map_inplace",
            ..
        })
    ));
    assert!(matches!(
        x.zip_with(&Tensor::from([1.0f32; 3]), |a: f32, b: f32| a + b),
        Err(Error::Shape { op: "zip_with", .. })
    ));
    assert!(matches!(
        x.iter::<i64>().map(drop),
        Err(Error::DType { op: "iter", .. })
    ));
    let caught = std::panic::catch_unwind(|| {
        Tensor::from([1i32, 2]).map(|a: i32| if a == 2 { panic!("two") } else { a })
    });
    assert!(caught.is_err());
}

#[test]
fn single_elements_are_read_and_written() {
    let x = Tensor::from([[0i32, 1, 2], [3, 4, 5]]);
    let turned = x.transpose(0, 1).unwrap().flip(0).unwrap();
    assert_eq!(
        (
            turned.at::<i32>((0, 1)).unwrap(),
            turned.at::<i32>([-1, 0]).unwrap()
        ),
        (5, 0)
    );
    let (i, j) = (1usize, 2usize);
    assert_eq!(x.at::<i32>((i, j)).unwrap(), 5);
    assert_eq!(x.at::<i32>((i, -1)).unwrap(), 5);
    assert_eq!(
        Tensor::scalar(7, DType::I32)
            .unwrap()
            .at::<i32>(())
            .unwrap(),
        7
    );
    let message = |r: flex::Result<i32>| r.unwrap_err().to_string();
    assert_eq!(
        message(x.at((2, 0))),
        "at: index 2 is out of range for axis 0 of size 2"
    );
    assert_eq!(
        message(x.at((0, -4))),
        "at: index -4 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        message(x.at(0)),
        "at: 1 indices for 2 dimensions (shape [2, 3])"
    );
    assert!(matches!(x.at::<f32>((0, 0)), Err(Error::DType { .. })));

    let mut y = turned.clone();
    y.set_at((0, 1), -5).unwrap();
    assert_eq!(
        (
            y.at::<i32>((0, 1)).unwrap(),
            turned.at::<i32>((0, 1)).unwrap(),
            x.at::<i32>((1, 2)).unwrap()
        ),
        (-5, 5, 5)
    );
    let mut repeated = Tensor::from([1i32]).broadcast_to(3).unwrap();
    repeated.set_at(1, 2).unwrap();
    assert_eq!(repeated.to_vec::<i32>().unwrap(), [1, 2, 1]);
    assert!(matches!(
        repeated.set_at(3, 2),
        Err(Error::Index { op: "set_at", .. })
    ));
}

#[test]
fn long_vectors_are_adopted_and_short_ones_copied() {
    for n in [0usize, 1, 1000, 100_000] {
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let mut x = Tensor::from_vec(values.clone(), n).unwrap();
        let y = x.clone();
        assert_eq!(x.to_vec::<f32>().unwrap(), values);
        x.map_inplace(|v: f32| v + 1.0).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), values);
        assert!(x.iter::<f32>().unwrap().eq(values.iter().map(|v| v + 1.0)));
    }
    let flags = Tensor::from_vec(vec![true; 1 << 16], (256, 256)).unwrap();
    assert_eq!(
        flags.count_nonzero(()).unwrap().item::<i64>().unwrap(),
        1 << 16
    );
    assert!(matches!(
        Tensor::from_vec(vec![1, 2, 3], (2, 2)),
        Err(Error::Shape { op: "from_vec", .. })
    ));
    #[cfg(feature = "complex")]
    {
        let pairs: Vec<flex::dtype::Complex64> =
            vec![flex::dtype::Complex64::new(1.0, 2.0); 10_000];
        assert_eq!(
            Tensor::from(pairs)
                .imag()
                .unwrap()
                .sum(())
                .unwrap()
                .item::<f32>()
                .unwrap(),
            20_000.0
        );
    }
}

#[test]
fn arrays_slices_and_iterators_convert() {
    assert_eq!(Tensor::from([0u8; 0]).shape(), [0]);
    assert_eq!(Tensor::from([[0u8; 0]; 3]).shape(), [3, 0]);
    assert_eq!(Tensor::from([[[1i64; 2]; 3]; 4]).shape(), [4, 3, 2]);
    assert_eq!(
        Tensor::from([[1, 2], [3, 4]]).to_vec::<i32>().unwrap(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        Tensor::from(&[1.5f32, 2.5][..]).to_vec::<f32>().unwrap(),
        [1.5, 2.5]
    );
    let x: Tensor = (0..4u8).filter(|i| i % 2 == 1).collect();
    assert_eq!(x.to_vec::<u8>().unwrap(), [1, 3]);
    assert!(x.iter::<u8>().unwrap().rev().eq([3, 1]));
    assert_eq!(x.iter::<u8>().unwrap().len(), 2);
}
