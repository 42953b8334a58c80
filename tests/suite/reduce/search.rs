//! Reductions that find one element: argmax and its like, `any` and `all`.

use super::*;

/// The deciding element is found at every position.
#[test]
fn any_and_all_find_a_single_element() {
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

#[cfg(feature = "std")]
#[test]
fn argmax_is_the_first_occurrence_in_long_rows() {
    // rows of several blocks, with extremes and NaN at, before and after the blocks' ends
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
        // a NaN wins over the largest element, and the first NaN over others
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

/// Rows short enough to be searched side by side, and the first that are not, in numbers around a
/// block of rows.
#[test]
fn argmax_is_the_first_occurrence_in_short_rows() {
    let mut rng = Rng(8);
    for d in available().filter(|d| !d.is_complex() && !d.is_storage()) {
        for n in 1..=18 {
            for rows in [1, 2, 15, 16, 17, 33] {
                // few values, so that most rows have ties
                let numbers: Vec<i32> = (0..rows * n).map(|_| rng.below(4) as i32).collect();
                let x = Tensor::from_slice(&numbers, [rows, n]).unwrap();
                let x = x.astype(d).unwrap();
                let numbers = values(&x);
                let first = |row: &[Value]| {
                    let as_f64 = |v: &Value| match v {
                        Value::Bool(x) => *x as u8 as f64,
                        Value::Int(x) => *x as f64,
                        Value::Float(x) => *x,
                        Value::Complex(..) => unreachable!(),
                    };
                    (0..n).rev().fold(n - 1, |best, k| {
                        if as_f64(&row[k]) >= as_f64(&row[best]) {
                            k
                        } else {
                            best
                        }
                    })
                };
                let expected: Vec<i64> = numbers.chunks(n).map(|row| first(row) as i64).collect();
                let found = ops::argmax(&x, 1).unwrap().to_vec::<i64>().unwrap();
                assert_eq!(found, expected, "{d} {rows}x{n}");
            }
        }
    }
    let (nan, low) = (f32::NAN, f32::NEG_INFINITY);
    let x = Tensor::from([
        [low, low, low],
        [1.0, nan, nan],
        [nan, 2.0, 3.0],
        [low, low, 0.0],
    ]);
    assert_eq!(
        ops::argmax(&x, 1).unwrap().to_vec::<i64>().unwrap(),
        [0, 1, 0, 2]
    );
    assert_eq!(
        ops::argmin(&x, 1).unwrap().to_vec::<i64>().unwrap(),
        [0, 1, 0, 0]
    );
}

/// Rows and columns around the widths of vectors and groups of them, with the extreme, a second one
/// and NaN anywhere.
#[test]
fn extremes_and_their_positions_around_vectors() {
    let mut rng = Rng(12);
    for d in [DType::F32, DType::F64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        for n in (17..=70).chain([95, 96, 97, 127, 128, 129, 191, 193, 257, 1000, 1023]) {
            let rows = 3;
            let mut numbers: Vec<f64> = (0..rows * n).map(|_| rng.unit()).collect();
            let at: Vec<usize> = (0..rows).map(|_| rng.below(n)).collect();
            for (row, at) in numbers.chunks_mut(n).zip(&at) {
                row[*at] = 2.0;
                row[rng.between(*at, n - 1)] = 2.0;
            }
            let low = f64::NEG_INFINITY;
            let mut want = vec![2.0; rows];
            let mut found: Vec<i64> = at.iter().map(|at| *at as i64).collect();
            // all as low as can be, and one with a NaN
            numbers.extend(vec![low; n]);
            numbers.extend((0..n).map(|k| if k == at[0] { f64::NAN } else { 3.0 }));
            numbers.extend((0..n).map(|k| if k + 1 == n { -1e30 } else { low }));
            want.extend([low, f64::NAN, -1e30]);
            found.extend([0, at[0] as i64, n as i64 - 1]);
            let numbers: Vec<f32> = numbers.iter().map(|x| *x as f32).collect();
            let x = Tensor::from_slice(&numbers, [rows + 3, n]).unwrap();
            let x = x.astype(d).unwrap();
            let negated = ops::negative(&x).unwrap();
            let bits = |x: &[f64]| format!("{:?}", x.iter().map(|x| *x as f32).collect::<Vec<_>>());
            let less: Vec<f64> = want.iter().map(|x| -x).collect();
            let columns = |x: &Tensor| x.transpose(0, 1).unwrap().contiguous().unwrap();
            for (x, negated, axis) in [
                (x.clone(), negated.clone(), 1),
                (columns(&x), columns(&negated), 0),
            ] {
                assert_eq!(
                    bits(&floats(&ops::max(&x, axis).unwrap())),
                    bits(&want),
                    "{d} {n}"
                );
                assert_eq!(
                    bits(&floats(&ops::min(&negated, axis).unwrap())),
                    bits(&less)
                );
                let positions = |x: Tensor| x.to_vec::<i64>().unwrap();
                assert_eq!(positions(ops::argmax(&x, axis).unwrap()), found, "{d} {n}");
                assert_eq!(
                    positions(ops::argmin(&negated, axis).unwrap()),
                    found,
                    "{d} {n}"
                );
            }
        }
    }
}

#[test]
fn extremes_of_nothing_are_errors() {
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
fn argmax_takes_one_axis_or_all() {
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
#[cfg(target_pointer_width = "64")] // 32 bits may address no more than there is
fn searches_beyond_memory_are_errors() {
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
    let attention = flex::nn::scaled_dot_product_attention(&q, &q, &v, ());
    assert!(matches!(attention, Err(Error::Memory { .. })));
}
