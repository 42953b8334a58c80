//! Elements taken from positions and put at positions.

use crate::common::*;
use burn_backend::IntDType;
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::tensor::IndexingUpdateOp as Update;
use flex_burn::Flex;

const UPDATES: [Update; 5] = [
    Update::Assign,
    Update::Add,
    Update::Mul,
    Update::Min,
    Update::Max,
];
/// A dtype of positions for each layout.
const POSITIONS: [IntDType; LAYOUTS] = [IntDType::I64, IntDType::I32, IntDType::U8, IntDType::I16];

fn update(how: Update, x: f64, v: f64) -> f64 {
    match how {
        Update::Assign => v,
        Update::Add => x + v,
        Update::Mul => x * v,
        Update::Min => x.min(v),
        Update::Max => x.max(v),
    }
}

/// Positions below `n` that do not repeat along an axis, so that the order of updates is nobody's
/// business; or do.
fn positions(shape: &[usize], axis: usize, n: usize, repeat: bool) -> Array {
    Array::of(shape, |at| {
        let other: usize = at
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != axis)
            .map(|(_, i)| i)
            .sum();
        let along = if repeat { at[axis] / 2 } else { at[axis] };
        ((3 * along + other) % n) as f64
    })
}

#[test]
fn along_an_axis() {
    let a = Array::integers(&[4, 5, 7], -3, 4, 1);
    for axis in 0..3 {
        let mut sizes = a.shape.clone();
        sizes[axis] = 4;
        for (k, repeat) in [false, true].into_iter().enumerate() {
            let i = positions(&sizes, axis, a.shape[axis], repeat);
            let v = Array::integers(&sizes, 1, 4, 2);
            let target = |at: &[usize]| {
                let mut to = at.to_vec();
                to[axis] = i.at(at) as usize;
                to
            };
            let gathered = Array::of(&sizes, |at| a.at(&target(at)));
            for (layout, at) in POSITIONS.into_iter().enumerate() {
                let index = || ints(&i, at, layout);
                for dtype in FLOATS {
                    let x = || floats(&a, dtype, layout);
                    equal(Flex::float_gather(axis, x(), index()), &gathered, dtype);
                    for how in UPDATES {
                        if repeat && how == Update::Assign {
                            continue;
                        }
                        let mut want = a.clone();
                        for at in places(&sizes) {
                            let to = want.at_mut(&target(&at));
                            *to = update(how, *to, v.at(&at));
                        }
                        println!("{axis} {dtype:?} {how:?} {k} {layout}");
                        let (t, kept) = (x(), x());
                        let other = t.clone();
                        let value = floats(&v, dtype, 3 - layout);
                        equal(
                            Flex::float_scatter(axis, t, index(), value, how),
                            &want,
                            dtype,
                        );
                        equal(other, &array(kept), dtype);
                    }
                }
                for dtype in INTS.into_iter().filter(|d| is_signed(*d)) {
                    let x = || ints(&a, dtype, layout);
                    equal(Flex::int_gather(axis, x(), index()), &gathered, dtype);
                    for how in UPDATES
                        .into_iter()
                        .filter(|how| !repeat || *how != Update::Assign)
                    {
                        let mut want = a.clone();
                        for at in places(&sizes) {
                            let to = want.at_mut(&target(&at));
                            *to = update(how, *to, v.at(&at));
                        }
                        let value = ints(&v, dtype, 3 - layout);
                        equal(
                            Flex::int_scatter(axis, x(), index(), value, how),
                            &want,
                            dtype,
                        );
                    }
                }
            }
            let bits = a.map(|x| (x > 0.0).into());
            let want = gathered.map(|x| (x > 0.0).into());
            let got = Flex::bool_gather(axis, bools(&bits, k), ints(&i, IntDType::I32, 0));
            equal(got, &want, burn_backend::BoolDType::Native);
        }
    }
}

#[test]
fn slices_at_positions() {
    let a = Array::integers(&[6, 5, 7], -3, 4, 1);
    for axis in 0..3 {
        let rows = Array::new(&[4], vec![3.0, 0.0, 4.0, 1.0]);
        let mut sizes = a.shape.clone();
        sizes[axis] = 4;
        let v = Array::integers(&sizes, 1, 4, 2);
        let target = |at: &[usize]| {
            let mut to = at.to_vec();
            to[axis] = rows.values[at[axis]] as usize;
            to
        };
        let selected = Array::of(&sizes, |at| a.at(&target(at)));
        for (layout, at) in POSITIONS.into_iter().enumerate() {
            let index = || ints(&rows, at, 0);
            for how in UPDATES {
                let mut want = a.clone();
                for at in places(&sizes) {
                    let to = want.at_mut(&target(&at));
                    *to = update(how, *to, v.at(&at));
                }
                for dtype in FLOATS {
                    let (x, value) = (floats(&a, dtype, layout), floats(&v, dtype, 3 - layout));
                    equal(
                        Flex::float_select(x.clone(), axis, index()),
                        &selected,
                        dtype,
                    );
                    equal(
                        Flex::float_select_assign(x, axis, index(), value, how),
                        &want,
                        dtype,
                    );
                }
                for dtype in INTS.into_iter().filter(|d| is_signed(*d)) {
                    let (x, value) = (ints(&a, dtype, layout), ints(&v, dtype, 3 - layout));
                    equal(Flex::int_select(x.clone(), axis, index()), &selected, dtype);
                    equal(
                        Flex::int_select_assign(x, axis, index(), value, how),
                        &want,
                        dtype,
                    );
                }
            }
            let bits = a.map(|x| (x > 0.0).into());
            let want = selected.map(|x| (x > 0.0).into());
            let got = Flex::bool_select(bools(&bits, layout), axis, index());
            equal(got, &want, burn_backend::BoolDType::Native);
        }
    }
}

#[test]
fn positions_of_several_axes() {
    let a = Array::integers(&[4, 5, 3], -3, 4, 1);
    for axes in 1..=3 {
        let mut rng = Rng(axes as u64);
        // of different first positions, so that none repeats
        let i = Array::of(&[2, 2, axes], |at| match at[2] {
            0 => (2 * at[0] + at[1]) as f64,
            k => rng.below(a.shape[k] as u64) as f64,
        });
        let sizes = [&[2, 2], &a.shape[axes..]].concat();
        let v = Array::integers(&sizes, 1, 4, 2);
        let target = |at: &[usize]| {
            let index = (0..axes).map(|k| i.at(&[at[0], at[1], k]) as usize);
            index.chain(at[2..].iter().copied()).collect::<Vec<_>>()
        };
        let gathered = Array::of(&sizes, |at| a.at(&target(at)));
        for (layout, at) in POSITIONS.into_iter().enumerate() {
            let index = || ints(&i, at, layout);
            for how in UPDATES {
                let mut want = a.clone();
                for at in places(&sizes) {
                    let to = want.at_mut(&target(&at));
                    *to = update(how, *to, v.at(&at));
                }
                for dtype in FLOATS {
                    let (x, value) = (floats(&a, dtype, layout), floats(&v, dtype, 3 - layout));
                    equal(Flex::float_gather_nd(x.clone(), index()), &gathered, dtype);
                    equal(Flex::float_scatter_nd(x, index(), value, how), &want, dtype);
                }
                let dtype = IntDType::I32;
                let (x, value) = (ints(&a, dtype, layout), ints(&v, dtype, 3 - layout));
                equal(Flex::int_gather_nd(x.clone(), index()), &gathered, dtype);
                equal(Flex::int_scatter_nd(x, index(), value, how), &want, dtype);
            }
        }
    }
    // sums at a position that repeats
    let zeros = Array::of(&[3], |_| 0.0);
    let i = Array::new(&[3, 1], vec![1.0, 1.0, 2.0]);
    let v = Array::new(&[3], vec![1.0, 2.0, 4.0]);
    let dtype = FLOATS[1];
    let (x, i, v) = (
        floats(&zeros, dtype, 0),
        ints(&i, IntDType::I32, 0),
        floats(&v, dtype, 0),
    );
    equal(
        Flex::float_scatter_nd(x, i, v, Update::Add),
        &Array::new(&[3], vec![0., 3., 4.]),
        dtype,
    );
}

#[test]
fn positions_out_of_range() {
    let x = || floats(&Array::of(&[3], |_| 0.0), FLOATS[1], 0);
    let at = |i: f64| ints(&Array::new(&[1], vec![i]), IntDType::I32, 0);
    let (t, i) = (x(), at(3.0));
    assert!(panic_message(move || Flex::float_select(t, 0, i)).contains("take"));
    let (t, i) = (x(), at(7.0));
    assert!(panic_message(move || Flex::float_gather(0, t, i)).contains("take_along_axis"));
    for how in UPDATES {
        let (t, i, v) = (
            x(),
            at(3.0),
            floats(&Array::of(&[1], |_| 0.0), FLOATS[1], 0),
        );
        let i = Flex::int_reshape(i, shape(&[1, 1]));
        panic_message(move || Flex::float_scatter_nd(t, i, v, how));
    }
}
