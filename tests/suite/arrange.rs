//! NumPy's functions that join, divide and turn tensors.

use flex::{DType, Tensor, ops};

fn counted(shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let values: Vec<i32> = (0..n as i32).collect();
    Tensor::from_slice(&values, shape).unwrap()
}

fn shapes(pieces: &[Tensor]) -> Vec<Vec<usize>> {
    pieces.iter().map(|p| p.shape().to_vec()).collect()
}

#[test]
fn dimensions_are_added() {
    for (shape, expected) in [
        (&[][..], [&[1][..], &[1, 1], &[1, 1, 1]]),
        (&[4], [&[4], &[1, 4], &[1, 4, 1]]),
        (&[4, 2], [&[4, 2], &[4, 2], &[4, 2, 1]]),
        (&[4, 2, 1, 3], [&[4, 2, 1, 3]; 3]),
    ] {
        let x = counted(shape);
        let views = [
            ops::atleast_1d(&x),
            ops::atleast_2d(&x),
            ops::atleast_3d(&x),
        ];
        for (y, expected) in views.into_iter().zip(expected) {
            let y = y.unwrap();
            assert!(y.shape() == expected && y.shares_storage(&x));
        }
    }
    let x = counted(&[2, 3]);
    assert!(ops::ravel(&x).unwrap().shares_storage(&x));
    let turned = ops::ravel(&x.transpose(0, 1).unwrap()).unwrap();
    assert_eq!(turned, Tensor::from([0, 3, 1, 4, 2, 5]));
}

#[test]
fn stacks() {
    let (row, x) = (counted(&[3]), counted(&[2, 3]));
    let both = ops::vstack(&[&row, &x]).unwrap();
    assert_eq!(both, Tensor::from([[0, 1, 2], [0, 1, 2], [3, 4, 5]]));
    assert_eq!(
        ops::hstack(&[&row, &row]).unwrap(),
        Tensor::from([0, 1, 2, 0, 1, 2])
    );
    let wide = ops::hstack(&[&x, &x]).unwrap();
    assert_eq!(wide, Tensor::from([[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]));
    let columns = ops::column_stack(&[&counted(&[2]), &x]).unwrap();
    assert_eq!(columns, Tensor::from([[0, 0, 1, 2], [1, 3, 4, 5]]));
    assert_eq!(ops::dstack(&[&x, &x]).unwrap().shape(), [2, 3, 2]);
    let errors = [
        ("hstack", ops::hstack(&[&row, &x])),
        ("vstack", ops::vstack(&[&row, &counted(&[4])])),
        ("dstack", ops::dstack::<Tensor>(&[])),
        ("column_stack", ops::column_stack(&[&row, &x])),
    ];
    for (op, e) in errors {
        let e = e.unwrap_err().to_string();
        assert!(e.starts_with(&format!("{op}: ")), "{e}");
    }
}

#[test]
fn sections_are_as_numpys() {
    let x = counted(&[7, 4]);
    let split = |n: usize| shapes(&ops::array_split(&x, n, 0).unwrap());
    assert_eq!(split(3), [[3, 4], [2, 4], [2, 4]]);
    assert_eq!(split(9)[6..], [[1, 4], [0, 4], [0, 4]]);
    let at = ops::array_split(&x, [2, -1, 5, 20], -2).unwrap();
    assert_eq!(shapes(&at), [[2, 4], [4, 4], [0, 4], [2, 4], [0, 4]]);
    assert!(at.iter().all(|p| p.shares_storage(&x)));
    assert_eq!(shapes(&ops::hsplit(&x, 2).unwrap()), [[7, 2]; 2]);
    assert_eq!(shapes(&ops::vsplit(&x, [3]).unwrap()), [[3, 4], [4, 4]]);
    assert_eq!(shapes(&ops::hsplit(&counted(&[4]), 2).unwrap()), [[2]; 2]);
    assert!(ops::array_split(&x, 0, 0).is_err() && ops::array_split(&x, 2, 2).is_err());
    assert!(ops::array_split(&x, usize::MAX, 0).is_err());
    assert!(
        ops::vsplit(&x, 2)
            .unwrap_err()
            .to_string()
            .contains("7 is not divisible by 2")
    );
    assert!(ops::vsplit(&counted(&[4]), 2).is_err() && ops::hsplit(&counted(&[]), 1).is_err());
}

#[test]
fn turns_are_views() {
    let x = counted(&[2, 3]);
    let quarter = |k| ops::rot90(&x, k, [0, 1]).unwrap();
    assert_eq!(quarter(1), Tensor::from([[2, 5], [1, 4], [0, 3]]));
    assert_eq!(quarter(2), Tensor::from([[5, 4, 3], [2, 1, 0]]));
    assert_eq!(quarter(-1), Tensor::from([[3, 0], [4, 1], [5, 2]]));
    assert_eq!((quarter(4), quarter(i64::MIN)), (x.clone(), x.clone()));
    assert_eq!(ops::rot90(&x, 1, [1, 0]).unwrap(), quarter(3));
    assert!(ops::rot90(&x, 1, [0, -2]).is_err() && ops::rot90(&x, 1, [0, 2]).is_err());
    assert_eq!(
        ops::fliplr(&x).unwrap(),
        Tensor::from([[2, 1, 0], [5, 4, 3]])
    );
    assert_eq!(
        ops::flipud(&x).unwrap(),
        Tensor::from([[3, 4, 5], [0, 1, 2]])
    );
    assert!(ops::fliplr(&counted(&[3])).is_err() && ops::flipud(&counted(&[])).is_err());
    assert!(
        [quarter(1), quarter(2), ops::flipud(&x).unwrap()]
            .iter()
            .all(|y| y.shares_storage(&x))
    );
}

#[test]
fn diagonals() {
    let x = counted(&[3, 4]);
    for (k, expected) in [
        (0, &[0, 5, 10][..]),
        (1, &[1, 6, 11]),
        (3, &[3]),
        (4, &[]),
        (-2, &[8]),
        (-3, &[]),
        (i64::MIN, &[]),
        (i64::MAX, &[]),
    ] {
        let y = ops::diag(&x, k).unwrap();
        assert!(y.shares_storage(&x));
        assert_eq!(y.to_vec::<i32>().unwrap(), expected, "{k}");
    }
    let matrix = ops::diag(&Tensor::from([1, 2]), -1).unwrap();
    assert_eq!(matrix, Tensor::from([[0, 0, 0], [1, 0, 0], [0, 2, 0]]));
    assert_eq!(ops::diag(&counted(&[0]), 2).unwrap().shape(), [2, 2]);
    assert!(ops::diag(&Tensor::from([1]), i64::MAX).is_err());
    assert!(ops::diag(&Tensor::zeros([1; 3], DType::F32).unwrap(), 0).is_err());
}

#[test]
fn copies_of_matrices_with_contiguous_columns() {
    fn check<T: flex::Element + PartialEq + std::fmt::Debug>(values: impl Fn(usize) -> T) {
        for (rows, cols) in [(1, 3), (3, 2), (7, 9), (8, 8), (16, 17), (33, 16), (70, 65)] {
            let all: Vec<T> = (0..(rows + 1) * (cols + 1)).map(&values).collect();
            let x = Tensor::from_slice(&all, [cols + 1, rows + 1]).unwrap();
            let part = x.narrow(0, 1, cols).unwrap().narrow(1, 1, rows).unwrap();
            let turned = part.transpose(0, 1).unwrap();
            let expected = |i: usize, j: usize| all[(j + 1) * (rows + 1) + i + 1];
            for (view, reversed) in [(turned.clone(), false), (turned.flip(1).unwrap(), true)] {
                let copy = view.copy().unwrap();
                for (k, x) in copy.as_slice::<T>().unwrap().iter().enumerate() {
                    let (i, j) = (k / cols, k % cols);
                    let j = if reversed { cols - 1 - j } else { j };
                    assert_eq!(*x, expected(i, j), "{rows} x {cols}");
                }
            }
        }
    }
    check(|k| k as u8);
    #[cfg(feature = "ints")]
    check(|k| k as i16);
    check(|k| k as f32);
    #[cfg(feature = "f64")]
    check(|k| k as f64);
}
