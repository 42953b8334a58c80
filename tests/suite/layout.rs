//! Layouts, and slices of axes.

use flex::Layout;
use flex::layout::slice_bounds;

fn positions(l: &Layout) -> std::vec::Vec<usize> {
    let mut out = std::vec::Vec::new();
    for n in 0..l.len() {
        let (mut n, mut p) = (n, l.offset() as isize);
        for k in (0..l.rank()).rev() {
            p += (n % l.shape()[k]) as isize * l.strides()[k];
            n /= l.shape()[k];
        }
        out.push(p as usize);
    }
    out
}

#[test]
fn reshape_keeps_the_order_or_declines() {
    let base = Layout::contiguous(&[2, 3, 4]).unwrap();
    let views = [
        base.clone(),
        base.swap_axes("t", 0, 1).unwrap(),
        base.swap_axes("t", 1, 2).unwrap(),
        base.flip("t", &[0, 1, 2]).unwrap(),
        base.flip("t", &[2]).unwrap(),
        base.narrow("t", 1, 0, 2).unwrap(),
        base.expand_dims("t", &[1, -1]).unwrap(),
        Layout::contiguous(&[3, 1])
            .unwrap()
            .broadcast_to("t", &[2, 3, 4])
            .unwrap(),
    ];
    let mut viewed = 0;
    for v in &views {
        let n = v.len();
        for shape in [
            &[n][..],
            &[2, n / 2],
            &[n / 2, 2],
            &[n / 4, 4],
            &[2, n / 4, 2],
            &[1, n, 1],
            &[4, n / 4],
            &[n / 8, 2, 4],
            &[2, 1, n / 2],
        ] {
            if shape.iter().product::<usize>() != n {
                continue;
            }
            if let Some(r) = v.reshape(shape) {
                assert_eq!(positions(&r), positions(v), "{v:?} {shape:?}");
                assert_eq!(r.shape(), shape);
                viewed += 1;
            }
        }
    }
    assert!(viewed > 20);
    // whatever can be a view is one
    assert!(views[3].reshape(&[24]).is_some());
    assert!(views[4].reshape(&[6, 2, 2]).is_some());
    assert!(views[1].reshape(&[24]).is_none());
}

#[test]
fn layouts_out_of_bounds_are_refused() {
    assert!(Layout::new(&[3], &[-1], 1).is_err());
    assert!(Layout::new(&[3], &[-1], 2).is_ok());
    assert!(Layout::new(&[usize::MAX, 2], &[0, 0], 0).is_err());
    let much = usize::MAX / 1000;
    assert!(Layout::contiguous(&[much, much]).is_err());
    assert!(Layout::contiguous(&[0, much, much]).is_err());
    assert!(Layout::new(&[2, 2], &[isize::MAX, isize::MAX], 0).is_err());
    // an empty layout reaches no element, and views of it must not overflow
    let none = Layout::new(&[0, 5], &[0, isize::MAX], usize::MAX).unwrap();
    assert_eq!(none.slice(1, 0, 2, 3).shape(), [0, 3]);
    assert_eq!(Layout::new(&[1], &[isize::MAX], 0).unwrap().strides(), [0]);
    assert!(
        Layout::contiguous(&[1])
            .unwrap()
            .broadcast_to("t", &[usize::MAX / 16])
            .is_err()
    );
}

#[test]
fn slices_follow_python() {
    for size in 0..6usize {
        for step in [-7, -2, -1, 1, 2, 3, 9] {
            for start in (-8..8).map(Some).chain([None]) {
                for stop in (-8..8).map(Some).chain([None]) {
                    let n = size as i64;
                    let fix = |x: i64| if x < 0 { x + n } else { x };
                    let mut want = std::vec::Vec::new();
                    let mut i = start.map_or(if step > 0 { 0 } else { n - 1 }, fix);
                    let end = stop.map_or(if step > 0 { n } else { -1 }, fix);
                    i = if step > 0 { i.max(0) } else { i.min(n - 1) };
                    while if step > 0 { i < end } else { i > end } && (0..n).contains(&i) {
                        want.push(i);
                        i += step;
                    }
                    let (a, c) = slice_bounds(start, stop, step, size);
                    let got: std::vec::Vec<i64> =
                        (0..c as i64).map(|k| a as i64 + k * step).collect();
                    assert_eq!(got, want, "{start:?}:{stop:?}:{step} of {size}");
                }
            }
        }
    }
}

#[test]
fn spans_and_shared_elements() {
    for shape in [[2usize, 3], [1, 4], [3, 1], [0, 2]] {
        for steps in [
            [3isize, 1],
            [1, 2],
            [-3, 1],
            [1, -4],
            [0, 1],
            [1, 1],
            [2, 2],
        ] {
            let l = Layout::new(&shape, &steps, 20).unwrap();
            let mut all = positions(&l);
            all.sort_unstable();
            let ends = all.first().zip(all.last()).map(|(a, b)| (*a, *b));
            assert_eq!(l.span(), ends, "{shape:?} {steps:?}");
            let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
            // it may miss that they are distinct, never that they are shared
            assert!(distinct || !l.is_injective(), "{shape:?} {steps:?}");
        }
    }
    let nested = Layout::new(&[2, 3], &[-3, 1], 3).unwrap();
    assert!(nested.is_injective());
}

#[test]
fn moved_axes() {
    let l = Layout::contiguous(&[2, 3, 4, 5]).unwrap();
    // NumPy: np.moveaxis(np.empty((2, 3, 4, 5)), source, destination).shape
    let cases: [(&[isize], &[isize], [usize; 4]); 4] = [
        (&[0], &[-1], [3, 4, 5, 2]),
        (&[-1], &[0], [5, 2, 3, 4]),
        (&[0, 1], &[-1, -2], [4, 5, 3, 2]),
        (&[3, 0], &[0, 2], [5, 3, 2, 4]),
    ];
    for (source, destination, want) in cases {
        assert_eq!(l.move_axes("t", source, destination).unwrap().shape(), want);
    }
    assert!(l.move_axes("t", &[0], &[0, 1]).is_err());
    assert!(l.move_axes("t", &[0, 0], &[0, 1]).is_err());
}
