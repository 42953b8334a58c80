//! Tensors of bools, under both of Burn's names for their bytes.

use crate::common::*;
use burn_backend::ops::{BoolTensorOps, IntTensorOps};
use burn_backend::{BoolDType, BoolStore, DType, IntDType, TensorData};
use burn_std::reader::try_read_sync;
use flex_burn::{Flex, FlexTensor};

const NAMES: [BoolDType; 2] = [BoolDType::Native, BoolDType::U8];

fn named(a: &Array, name: BoolDType, layout: usize) -> FlexTensor {
    Flex::int_not_equal_elem(tensor(a, DType::U8, layout), 0.into(), name)
}

#[test]
fn logic() {
    type Binary = (
        fn(FlexTensor, FlexTensor) -> FlexTensor,
        fn(bool, bool) -> bool,
    );
    let all: &[Binary] = &[
        (Flex::bool_and, |x, y| x & y),
        (Flex::bool_or, |x, y| x | y),
        (Flex::bool_xor, |x, y| x ^ y),
        (Flex::bool_equal, |x, y| x == y),
        (Flex::bool_not_equal, |x, y| x != y),
    ];
    let [a, b] = [1, 2].map(|seed| Array::integers(&[3, 4, 5], 0, 2, seed));
    for name in NAMES {
        for layout in 0..LAYOUTS {
            let x = || named(&a, name, layout);
            for (f, oracle) in all {
                let want = a.zip(&b, |x, y| oracle(x != 0.0, y != 0.0).into());
                equal(f(x(), named(&b, name, 3 - layout)), &want, name);
            }
            equal(Flex::bool_not(x()), &a.map(|x| 1.0 - x), name);
            equal(Flex::bool_equal_elem(x(), true.into()), &a, name);
            equal(
                Flex::bool_equal_elem(x(), 0.into()),
                &a.map(|x| 1.0 - x),
                name,
            );
            equal(
                Flex::bool_not_equal_elem(x(), true.into()),
                &a.map(|x| 1.0 - x),
                name,
            );
            for dim in 0..3 {
                let any = a.fold(dim, |l| l.contains(&1.0).into());
                let all = a.fold(dim, |l| (!l.contains(&0.0)).into());
                equal(Flex::bool_any_dim(x(), dim), &any, name);
                equal(Flex::bool_all_dim(x(), dim), &all, name);
            }
            equal(Flex::bool_any(x()), &Array::new(&[1], vec![1.0]), name);
            equal(Flex::bool_all(x()), &Array::new(&[1], vec![0.0]), name);
        }
        let of = |value: f64| Array::of(&[2, 3], |_| value);
        equal(
            Flex::bool_zeros(shape(&[2, 3]), &DEVICE, name),
            &of(0.0),
            name,
        );
        equal(
            Flex::bool_ones(shape(&[2, 3]), &DEVICE, name),
            &of(1.0),
            name,
        );
        assert_eq!(
            Flex::bool_empty(shape(&[2, 3]), &DEVICE, name).dtype(),
            name.into()
        );
    }
}

#[test]
fn conversions_and_positions() {
    let a = Array::integers(&[3, 4], 0, 2, 1);
    for name in NAMES {
        for layout in 0..LAYOUTS {
            for dtype in INTS {
                equal(
                    Flex::bool_into_int(named(&a, name, layout), dtype),
                    &a,
                    dtype,
                );
            }
            for dtype in FLOATS {
                equal(
                    Flex::bool_into_float(named(&a, name, layout), dtype),
                    &a,
                    dtype,
                );
            }
            let at: Vec<f64> = places(&a.shape)
                .into_iter()
                .filter(|at| a.at(at) != 0.0)
                .flatten()
                .map(|i| i as f64)
                .collect();
            let want = Array::new(&[at.len() / 2, 2], at);
            let found = try_read_sync(Flex::bool_argwhere(named(&a, name, layout), IntDType::I32));
            equal(found.unwrap(), &want, IntDType::I32);
        }
    }
}

#[test]
fn data_of_all_names() {
    let data = |store| TensorData::from([true, false, true]).convert_dtype(DType::Bool(store));
    for (store, back) in [
        (BoolStore::Native, BoolStore::Native),
        (BoolStore::U8, BoolStore::U8),
        (BoolStore::U32, BoolStore::Native), // kept in bytes
    ] {
        let x = Flex::bool_from_data(data(store), &DEVICE);
        assert_eq!(x.dtype(), DType::Bool(back));
        let read = try_read_sync(Flex::bool_into_data(x)).unwrap().unwrap();
        assert_eq!(read, data(back));
    }
    let message = panic_message(|| Flex::bool_zeros(shape(&[1]), &DEVICE, BoolDType::U32));
    assert!(message.contains("one byte"), "{message}");
}

#[test]
fn or_at_positions() {
    let x = Array::integers(&[4, 5], 0, 2, 1);
    let i = Array::integers(&[3, 5], 0, 4, 2);
    let v = Array::integers(&[3, 5], 0, 2, 3);
    let mut want = x.clone();
    for at in places(&[3, 5]) {
        let to = want.at_mut(&[i.at(&at) as usize, at[1]]);
        *to = to.max(v.at(&at));
    }
    for name in NAMES {
        for layout in 0..LAYOUTS {
            let (t, at) = (named(&x, name, layout), ints(&i, IntDType::I32, layout));
            equal(
                Flex::bool_scatter_or(0, t, at, named(&v, name, layout)),
                &want,
                name,
            );
        }
    }
    let rows = Array::new(&[3], vec![2.0, 0.0, 2.0]);
    let mut want = x.clone();
    for at in places(&[3, 5]) {
        let to = want.at_mut(&[rows.values[at[0]] as usize, at[1]]);
        *to = to.max(v.at(&at));
    }
    let at = ints(&rows, IntDType::I64, 0);
    let name = BoolDType::Native;
    equal(
        Flex::bool_select_or(named(&x, name, 1), 0, at, named(&v, name, 0)),
        &want,
        name,
    );
}
