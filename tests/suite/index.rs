//! Indexing against NumPy's figures and naive oracles.
#![cfg(all(
    feature = "ints",
    feature = "f64",
    feature = "half",
    feature = "complex"
))]
#![expect(
    clippy::reversed_empty_ranges,
    reason = "a negative end counts from the end of the axis"
)]

use crate::common::{Rng, layouts, random, values};
use flex::ops::{self, Index};
use flex::{DType, Error, Tensor, s};

fn ints(v: &[i64]) -> Tensor {
    Tensor::from_slice(v, [v.len()]).unwrap()
}
fn bools(v: impl IntoIterator<Item = bool>, shape: &[usize]) -> Tensor {
    Tensor::from_slice(&v.into_iter().collect::<Vec<_>>(), shape).unwrap()
}

/// The items used by the table below.
struct Arrays {
    a: Tensor,
    a2: Tensor,
    b: Tensor,
    c: Tensor,
    e: Tensor,
    f: Tensor,
    g: Tensor,
    h: Tensor,
    k: Tensor,
    m2: Tensor,
    m23: Tensor,
    m3: Tensor,
    m34: Tensor,
    m4: Tensor,
    mf: Tensor,
    n3: Tensor,
    t: Tensor,
    z: Tensor,
}
fn arrays() -> Arrays {
    Arrays {
        a: ints(&[1, -1, 0]),
        a2: ints(&[1]),
        b: Tensor::from_slice(&[0i8, -2], [2, 1]).unwrap(),
        c: Tensor::from_slice(&[2u64, 0, 2], [3]).unwrap(),
        e: ints(&[]),
        f: bools([false], &[]),
        g: ints(&[4, -5]),
        h: Tensor::from_slice(&[1u8, 0, 1, 1], [4]).unwrap(),
        k: Tensor::from_slice(&[1i32, 0, 1], [3]).unwrap(),
        m2: bools([true, false], &[2]),
        m23: bools((0..6).map(|i| i % 3 != 1), &[2, 3]),
        m3: bools([true, false, true], &[3]),
        m34: bools((0..12).map(|i| i % 5 == 1), &[3, 4]),
        m4: bools([false, true, true, false], &[4]),
        mf: bools((0..120).map(|i| i * 7 % 11 < 4), &[2, 3, 4, 5]),
        n3: bools([false; 3], &[3]),
        t: bools([true], &[]),
        z: Tensor::from_slice(&[1i64], []).unwrap(),
    }
}

/// `sum(v[i] * (i + 1))`: depends on the values and their order.
fn weight(t: &Tensor) -> i128 {
    values(t)
        .iter()
        .enumerate()
        .map(|(i, v)| v.int() * (i as i128 + 1))
        .sum()
}

/// Indices of `arange(120).reshape(2, 3, 4, 5)`; the shape and the weight of NumPy 2's result, and
/// the weight of the whole after `x[indices] = 1000 + arange(..)`.
#[test]
fn indexing_matches_numpy() {
    let t = arrays();
    let cases: &[(&[Index], &[usize], i128, i128)] = &[
        (&s![1], &[3, 4, 5], 181780, 5680160),
        (&s![-1, 2], &[4, 5], 23660, 2564960),
        (&s![.., 1], &[2, 4, 5], 62120, 2875160),
        (&s![.., 1..; -1], &[2, 2, 4, 5], 203040, 4535560),
        (&s![1..2, .., ..; -2], &[1, 3, 2, 5], 46465, 3144610),
        (&s![-1.., ..2, 1..-1], &[1, 2, 2, 5], 17860, 2072260),
        (&s![Index::Ellipsis], &[2, 3, 4, 5], 575960, 7835960),
        (&s![Index::Ellipsis, 0], &[2, 3, 4], 23000, 1892376),
        (&s![0, Index::Ellipsis, 1], &[3, 4], 2938, 918958),
        (
            &s![Index::NewAxis, Index::Ellipsis, Index::NewAxis],
            &[1, 2, 3, 4, 5, 1],
            575960,
            7835960,
        ),
        (
            &s![0, Index::NewAxis, 1, .., Index::NewAxis],
            &[1, 4, 1, 5],
            6860,
            1173760,
        ),
        (&s![1, 2, 3, 4], &[], 119, 681680),
        (&s![.., 5..9], &[2, 0, 4, 5], 0, 575960),
        (
            &s![..; -1, ..; -1, ..; -1, ..; -1],
            &[2, 3, 4, 5],
            287980,
            7547980,
        ),
        (&s![&t.h], &[4, 3, 4, 5], 2334520, 8597360),
        (&s![.., &t.a], &[2, 3, 4, 5], 527960, 7787960),
        (&s![.., &t.a, .., 2], &[3, 2, 4], 18160, 1929824),
        (&s![.., .., &t.a], &[2, 3, 3, 5], 318420, 5839385),
        (&s![.., &t.a, &t.c], &[2, 3, 5], 33090, 2260985),
        (&s![.., .., &t.a, &t.c], &[2, 3, 3], 13038, 1566995),
        (&s![&t.k, .., &t.a], &[3, 3, 5], 73035, 3531785),
        (&s![.., &t.a, .., &t.a], &[3, 2, 4], 17996, 1921276),
        (&s![.., &t.b, &t.a], &[2, 2, 3, 5], 120180, 3467510),
        (&s![&t.b, .., &t.a], &[2, 3, 3, 5], 121320, 1950260),
        (&s![0, .., &t.a], &[3, 3, 5], 31635, 1890185),
        (&s![0, &t.a], &[3, 4, 5], 47980, 2381960),
        (&s![.., 1, &t.a], &[2, 3, 5], 33840, 2265235),
        (&s![.., &t.a, 1], &[2, 3, 5], 32315, 2212760),
        (
            &s![&t.a2, Index::Ellipsis, &t.c],
            &[3, 3, 4],
            61308,
            2578740,
        ),
        (
            &s![.., &t.a, Index::NewAxis, &t.c],
            &[3, 2, 1, 5],
            27590,
            2255485,
        ),
        (
            &s![Index::NewAxis, &t.k, &t.a],
            &[1, 3, 4, 5],
            121180,
            4612760,
        ),
        (
            &s![.., &t.a, Index::Ellipsis],
            &[2, 3, 4, 5],
            527960,
            7787960,
        ),
        (
            &s![.., &t.a, Index::Ellipsis, &t.c, &t.a],
            &[3, 2],
            1231,
            905512,
        ),
        (&s![Index::Ellipsis, &t.c, &t.a], &[2, 3, 3], 13119, 1572710),
        (&s![1, 2, Index::Ellipsis, &t.c, &t.a], &[3], 649, 868725),
        (&s![1, &t.c, Index::Ellipsis, &t.c, &t.a], &[3], 569, 835445),
        (&s![&t.z], &[3, 4, 5], 181780, 5680160),
        (&s![.., &t.z, .., &t.a], &[3, 2, 4], 19276, 1930236),
        (&s![.., &t.e], &[2, 0, 4, 5], 0, 575960),
        (&s![.., 0..0, &t.a], &[2, 0, 3, 5], 0, 575960),
        (&s![&t.m2], &[1, 3, 4, 5], 71980, 2405960),
        (&s![.., &t.m3], &[2, 2, 4, 5], 259440, 5279160),
        (&s![.., .., &t.m4], &[2, 3, 2, 5], 144380, 4062060),
        (&s![&t.m23], &[4, 4, 5], 259440, 5279160),
        (&s![.., &t.m34], &[2, 3, 5], 38140, 2345935),
        (&s![&t.mf], &[44], 77671, 3072894),
        (&s![&t.m23, .., &t.a2], &[4, 4], 10616, 1460768),
        (&s![.., &t.m3, .., &t.g], &[2, 2, 4], 10304, 1475752),
        (&s![&t.m23, 1], &[4, 5], 16010, 1658860),
        (&s![&t.t], &[1, 2, 3, 4, 5], 575960, 7835960),
        (&s![&t.f], &[0, 2, 3, 4, 5], 0, 575960),
        (&s![&t.t, &t.h], &[4, 3, 4, 5], 2334520, 8597360),
        (&s![.., &t.n3], &[2, 0, 4, 5], 0, 575960),
        (
            &s![Index::Ellipsis, &t.m4, ..],
            &[2, 3, 2, 5],
            144380,
            4062060,
        ),
        (&s![1..; -1, &t.a, 2, ..3], &[2, 3, 3], 7653, 1609580),
    ];
    let x = Tensor::from_slice(&Vec::from_iter(0..120i32), [2, 3, 4, 5]).unwrap();
    for (name, layout) in layouts(&x) {
        for (indices, shape, got, put) in cases {
            let y = ops::get(&layout, indices).unwrap();
            assert_eq!(
                (y.shape(), weight(&y)),
                (*shape, *got),
                "{indices:?} {name}"
            );
            let value = Tensor::from_slice(
                &Vec::from_iter((0..y.len()).map(|i| 1000 + i as i16)),
                y.shape(),
            )
            .unwrap();
            let mut z = layout.clone();
            ops::set(&mut z, indices, &value).unwrap();
            assert_eq!(weight(&z), *put, "{indices:?}");
            assert_eq!(weight(&x), 575_960, "a write was seen elsewhere");
            let mut alone = layout.copy().unwrap();
            let p = alone.as_ptr();
            ops::set(&mut alone, indices, &value).unwrap();
            assert!(alone.as_ptr() == p && weight(&alone) == *put, "{indices:?}");
        }
    }
}

#[test]
fn basic_indices_are_views() {
    let x = Tensor::from_slice(&Vec::from_iter(0..24), [2, 3, 4]).unwrap();
    let y = ops::get(&x, &s![1, .., ..; -1]).unwrap();
    assert!(y.shares_storage(&x));
    assert_eq!((y.shape(), y.strides()), (&[3, 4][..], &[4, -1][..]));
    // element 0 of y is x[1, 0, 3]
    assert_eq!(y.as_ptr(), x.as_ptr().wrapping_add(15 * 4));
    assert_eq!(x.slice(s![.., 0..=-1, ..=1]).unwrap().shape(), [2, 3, 2]);
    assert!(x.slice(s![&ints(&[0])]).is_err());
}

#[test]
fn every_dtype_is_read_and_written() {
    let mut rng = Rng(5);
    let (rows, columns) = (ints(&[2, 0]), ints(&[1, -1]));
    for dtype in DType::ALL {
        let x = random(&mut rng, &[3, 4], dtype);
        let v = values(&x);
        let value = random(&mut rng, &[2], dtype);
        for (name, mut x) in layouts(&x) {
            assert_eq!(
                values(&ops::get(&x, &s![&rows, &columns]).unwrap()),
                [v[9], v[3]],
                "{dtype} {name}"
            );
            ops::set(&mut x, &s![&rows, &columns], &value).unwrap();
            let mut expected = v.clone();
            (expected[9], expected[3]) = (values(&value)[0], values(&value)[1]);
            assert_eq!(values(&x), expected, "{dtype} {name}");
        }
    }
}

#[test]
fn writes_do_not_reach_other_tensors() {
    let base = Tensor::from_slice(&Vec::from_iter(0..12), [3, 4]).unwrap();
    let mut x = base.clone();
    let view = x.transpose(0, 1).unwrap();
    ops::set(&mut x, &s![0], &Tensor::scalar(9, DType::I32).unwrap()).unwrap();
    assert_eq!(
        x.to_vec::<i32>().unwrap(),
        [9, 9, 9, 9, 4, 5, 6, 7, 8, 9, 10, 11]
    );
    assert_eq!(base.to_vec::<i32>().unwrap(), Vec::from_iter(0..12));
    assert_eq!(view.to_vec::<i32>().unwrap()[..4], [0, 4, 8, 1]);

    // the value is part of the target
    let mut x = base.copy().unwrap();
    let reversed = x.flip([0]).unwrap();
    ops::set(&mut x, &s![Index::Ellipsis], &reversed).unwrap();
    assert_eq!(
        x.to_vec::<i32>().unwrap(),
        [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]
    );

    // elements that indices shared are distinct afterwards
    let mut x = Tensor::from_slice(&[1, 2], [2])
        .unwrap()
        .expand_dims([0])
        .unwrap()
        .broadcast_to([3, 2])
        .unwrap();
    ops::set(
        &mut x,
        &s![1, &ints(&[0])],
        &Tensor::scalar(7, DType::I32).unwrap(),
    )
    .unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 7, 2, 1, 2]);

    // of several values for a position, the last one wins
    let mut x = Tensor::zeros([2], DType::I32).unwrap();
    ops::set(
        &mut x,
        &s![&ints(&[1, 1, 1])],
        &Tensor::from_slice(&[1, 2, 3], [3]).unwrap(),
    )
    .unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [0, 3]);
}

#[test]
fn values_convert_within_their_kind() {
    let mut x = Tensor::zeros([2], DType::F32).unwrap();
    ops::set(&mut x, &s![0], &Tensor::scalar(3, DType::I64).unwrap()).unwrap();
    ops::set(&mut x, &s![1], &Tensor::scalar(0.5, DType::F64).unwrap()).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [3.0, 0.5]);
    let mut x = Tensor::zeros([2, 3], DType::I32).unwrap();
    // leading dimensions of size 1 are ignored
    ops::set(
        &mut x,
        &s![0],
        &Tensor::from_slice(&[true, false, true], [1, 1, 3]).unwrap(),
    )
    .unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 0, 1, 0, 0, 0]);
}

fn message<T: std::fmt::Debug>(r: flex::Result<T>) -> String {
    r.unwrap_err().to_string()
}

#[test]
fn errors_say_what_is_wrong() {
    let x = Tensor::from_slice(&Vec::from_iter(0..24), [2, 3, 4]).unwrap();
    let m = bools([true, false], &[2]);
    let get = |i: &[Index]| message(ops::get(&x, i));
    assert_eq!(
        get(&s![2]),
        "index: index 2 is out of range for axis 0 of size 2"
    );
    assert_eq!(
        get(&s![0, Index::NewAxis, -4]),
        "index: index -4 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        get(&s![.., .., &ints(&[0, 4, 9])]),
        "index: index 4 is out of range for axis 2 of size 4"
    );
    assert_eq!(
        get(&s![.., &ints(&[-4])]),
        "index: index -4 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        get(&s![&Tensor::from_slice(&[u64::MAX], [1]).unwrap()]),
        "index: index 9223372036854775807 is out of range for axis 0 of size 2"
    );
    assert_eq!(
        get(&s![0, 0, 0, 0]),
        "index: 4 indices for 3 dimensions (x: [2, 3, 4] int32)"
    );
    assert_eq!(
        get(&s![Index::Ellipsis, Index::Ellipsis]),
        "index: 2 ellipses; an index takes at most one"
    );
    assert_eq!(get(&s![..; 0]), "index: the step of a slice is 0");
    assert_eq!(
        get(&s![.., &m]),
        "index: a mask of shape [2] over dimensions of sizes [3], from axis 1 (x: [2, 3, 4] int32)"
    );
    assert_eq!(
        get(&s![&Tensor::zeros([1], DType::F32).unwrap()]),
        "index: indices must be integers, not float32"
    );
    assert_eq!(
        get(&[Index::Mask(ints(&[0]))]),
        "index: a mask must be bool, not int64"
    );
    assert_eq!(
        get(&s![&ints(&[0, 1]), &ints(&[0, 1, 2])]),
        "index: shapes [2] and [3] do not broadcast: sizes 2 and 3 differ and neither is 1"
    );
    let along = |i: &Tensor| message(ops::take_along_axis(&x, i, 1));
    assert_eq!(
        along(&ints(&[0])),
        "take_along_axis: the ranks differ (x: [2, 3, 4] int32, indices: [1] int64)"
    );
    let wide = Tensor::zeros([2, 1, 3], DType::I64).unwrap();
    assert_eq!(
        along(&wide),
        "take_along_axis: sizes must be equal, or one of them 1, except along axis 1 (x: [2, 3, \
            4] int32, indices: [2, 1, 3] int64)"
    );
    assert_eq!(
        message(ops::scatter_add(&x, &wide, &x, 1)),
        "scatter_add: the shapes must be equal except along axis 1 (x: [2, 3, 4] int32, indices: \
            [2, 1, 3] int64)"
    );
    assert_eq!(
        message(ops::take(&x, &ints(&[0]), 3)),
        "take: axis 3 is out of range for 3 dimensions (valid: -3 to 2)"
    );
    assert_eq!(
        message(ops::take(&x, &ints(&[24]), ())),
        "take: index 24 is out of range for axis 0 of size 24"
    );
    assert_eq!(
        message(ops::masked_select(&x, &ints(&[1]))),
        "masked_select: a mask must be bool, not int64"
    );
    assert!(matches!(
        ops::masked_fill(&x, &m.reshape([2, 1, 1]).unwrap(), 0.5),
        Err(Error::DType { .. })
    ));
    assert!(matches!(
        ops::nonzero(&Tensor::scalar(1, DType::I8).unwrap()),
        Err(Error::Shape { .. })
    ));

    // errors come before writes
    let mut y = x.copy().unwrap();
    let mut set = |i: &[Index], v: &Tensor| message(ops::set(&mut y, i, v));
    assert_eq!(
        set(&s![0], &Tensor::zeros([1], DType::F32).unwrap()),
        "set: values of float32 for a tensor of int32: convert one with astype"
    );
    assert_eq!(
        set(&s![0], &ints(&[1, 2])),
        "set: values do not broadcast to the indexed shape [3, 4] (x: [2, 3, 4] int32, values: \
            [2] int64)"
    );
    assert_eq!(
        set(&s![&ints(&[0, 1, 2])], &ints(&[5])),
        "set: index 2 is out of range for axis 0 of size 2"
    );
    assert_eq!(values(&y), values(&x));
}

#[test]
fn indices_beyond_int64_are_out_of_range() {
    use flex::s;
    let x = Tensor::from_slice(&[0, 1, 2], [3]).unwrap();
    assert!(matches!(
        x.slice(s![usize::MAX]),
        Err(flex::Error::Index { .. })
    ));
    for (view, want) in [
        (x.slice(s![1..usize::MAX]), 2),
        (x.slice(s![usize::MAX..]), 0),
        (x.slice(s![..usize::MAX - 1]), 3),
        (x.slice(s![1..=usize::MAX]), 2),
        (x.slice(s![..=usize::MAX]), 3),
    ] {
        assert_eq!(view.unwrap().len(), want);
    }
}

#[test]
fn reading_a_row_before_each_write_copies_the_tensor_once() {
    let mut t = Tensor::zeros([1000, 3], DType::F32).unwrap();
    let mut bases = Vec::new();
    for k in 1..1000 {
        // alive while the next row is written
        let row = t.select(0, k - 1).unwrap();
        let next = ops::add(&row, 1.0f32).unwrap();
        ops::set(&mut t, &s![k], &next).unwrap();
        bases.push(t.as_ptr());
        assert_eq!(row.to_vec::<f32>().unwrap(), [k as f32 - 1.0; 3]);
    }
    bases.dedup();
    assert_eq!(
        bases.len(),
        1,
        "the first write moved the tensor, no other did"
    );
    assert_eq!(
        t.select(0, -1).unwrap().to_vec::<f32>().unwrap(),
        [999.0; 3]
    );
    // a large part is shared
    assert!(t.narrow(0, 0, 500).unwrap().shares_storage(&t));
}

#[test]
fn views_share_until_a_write_copies() {
    let t = Tensor::zeros([1000, 3], DType::F32).unwrap();
    let row = t.select(0, 1).unwrap();
    assert!(row.shares_storage(&t) && t.narrow(0, 0, 1).unwrap().shares_storage(&t));
}

#[test]
fn counts_match_a_loop() {
    let mut rng = Rng(23);
    for (n, most) in [
        (1, 0),
        (5, 3),
        (1000, 6),
        (5000, 999),
        (5000, 4000),
        (3, 100_000),
    ] {
        let x: Vec<i64> = (0..n).map(|_| rng.between(0, most) as i64).collect();
        let largest = x.iter().max().map_or(0, |x| *x as usize);
        for least in [0, 4, largest + 2] {
            let mut counts = vec![0; least.max(largest + 1)];
            let mut sums = vec![0.0; counts.len()];
            for (i, x) in x.iter().enumerate() {
                counts[*x as usize] += 1;
                sums[*x as usize] += i as f64;
            }
            let t = Tensor::from_slice(&x, [n]).unwrap();
            assert_eq!(
                t.bincount(None, least).unwrap().to_vec::<i64>().unwrap(),
                counts
            );
            let w = Tensor::from_slice(&(0..n as i64).collect::<Vec<_>>(), [n]).unwrap();
            let found = ops::bincount(&t, Some(&w), least).unwrap();
            assert_eq!(found.to_vec::<f64>().unwrap(), sums);
        }
    }
    let none = Tensor::zeros([0], DType::F32).unwrap();
    assert_eq!(
        none.bincount(None, 2).unwrap().to_vec::<i64>().unwrap(),
        [0, 0]
    );
    assert!(Tensor::from([-1]).bincount(None, 0).is_err());
    assert!(Tensor::from([1.0]).bincount(None, 0).is_err());
    assert!(Tensor::from([[1]]).bincount(None, 0).is_err());
    assert!(
        Tensor::from([1])
            .bincount(Some(&Tensor::from([1.0, 2.0])), 0)
            .is_err()
    );
    assert!(Tensor::from([i64::MAX]).bincount(None, 0).is_err());
}
