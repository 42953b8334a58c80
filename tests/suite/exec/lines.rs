use flex::DType;
use flex::exec::lines::*;
use flex::par::Cost;
use flex::{Error, Tensor};
use std::vec::Vec;

fn counting(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>() as i32;
    Tensor::from_slice(&(0..n).collect::<Vec<_>>(), shape).unwrap()
}
/// Reverses every line.
fn reversed(x: &Tensor, axis: usize, mut y: Tensor) -> Tensor {
    let lines = Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(y.elements_mut().unwrap());
    let run = lines.run(
        Cost {
            bytes: 1 << 16,
            flops: 0,
        },
        |line| {
            let (x, y): (&[i32], &mut [i32]) = (line.input(0), line.output(0));
            for (y, x) in y.iter_mut().zip(x.iter().rev()) {
                *y = *x
            }
        },
    );
    run.unwrap();
    y
}

#[test]
fn every_layout_and_axis() {
    for shape in [
        &[7][..],
        &[3, 5],
        &[70, 33],
        &[2, 3, 4],
        &[5, 1, 67],
        &[4, 9, 2, 3],
        &[300, 2],
        &[0, 3],
        &[3, 0],
        &[2, 0, 3],
        &[1, 1],
    ] {
        let base = counting(shape);
        let rank = shape.len() as isize;
        let mut views = std::vec![
            base.clone(),
            base.flip([0]).unwrap(),
            base.flip([-1]).unwrap(),
            base.slice_axis(0, Some(1), None, 2).unwrap()
        ];
        if rank > 1 && !base.is_empty() {
            views.push(base.transpose(0, -1).unwrap());
            views.push(base.transpose(0, 1).unwrap().flip([1]).unwrap());
            views.push(
                base.narrow(-1, 0, 1.min(shape[shape.len() - 1]))
                    .unwrap()
                    .broadcast_to([&shape[..shape.len() - 1], &[6]].concat())
                    .unwrap(),
            );
        }
        for x in views {
            for axis in 0..x.rank() {
                let want = x.flip([axis as isize]).unwrap().to_vec::<i32>().unwrap();
                let fresh = Tensor::empty(x.shape(), DType::I32).unwrap();
                assert_eq!(
                    reversed(&x, axis, fresh).to_vec::<i32>().unwrap(),
                    want,
                    "{:?} {:?} {axis}",
                    x.shape(),
                    x.strides()
                );
                // an output that is a flipped and transposed view of its own storage
                let view = Tensor::empty(x.shape(), DType::I32)
                    .unwrap()
                    .flip([0])
                    .unwrap()
                    .transpose(0, -1)
                    .unwrap();
                if view.shape() == x.shape() {
                    assert_eq!(reversed(&x, axis, view).to_vec::<i32>().unwrap(), want);
                }
            }
        }
    }
}

#[test]
fn lengths_differ_scratch_and_indices() {
    let x = counting(&[6, 50, 4]);
    let weight = counting(&[50]);
    let mut sum = Tensor::zeros([6, 1, 4], DType::I32).unwrap();
    let mut index = Tensor::zeros([6, 2, 4], DType::I64).unwrap();
    let lines = Lines::new(x.shape(), 1)
        .input(x.elements())
        .output(sum.elements_mut().unwrap())
        .input(weight.elements())
        .scratch(50, DType::I64);
    let run = lines
        .output(index.elements_mut().unwrap())
        .run(Cost::default(), |line| {
            let (x, w): (&[i32], &[i32]) = (line.input(0), line.input(1));
            let (sum, index): (&mut [i32], &mut [i64]) = (line.output(0), line.output(1));
            let scratch: &mut [i64] = line.scratch(0);
            for ((s, x), w) in scratch.iter_mut().zip(x).zip(w) {
                *s = *x as i64 * *w as i64
            }
            sum[0] = scratch.iter().sum::<i64>() as i32;
            index.fill(line.index() as i64);
        });
    run.unwrap();
    let at = |i: usize, k: usize| (0..50).map(|j| ((i * 50 + j) * 4 + k) * j).sum::<usize>() as i32;
    assert_eq!(
        sum.to_vec::<i32>().unwrap(),
        (0..24).map(|n| at(n / 4, n % 4)).collect::<Vec<_>>()
    );
    assert_eq!(
        index.transpose(1, 2).unwrap().to_vec::<i64>().unwrap(),
        (0..48).map(|n| n / 2).collect::<Vec<_>>()
    );
}

#[test]
fn rank_zero_is_one_line_and_updates_see_what_was_there() {
    let mut y = Tensor::from_slice(&[5i32], []).unwrap();
    let lines = Lines::new(&[], 0).update(y.elements_mut().unwrap());
    lines
        .run(Cost::default(), |line| line.output::<i32>(0)[0] += 1)
        .unwrap();
    assert_eq!(y.item::<i32>().unwrap(), 6);
    let mut y = counting(&[3, 4]).transpose(0, 1).unwrap();
    Lines::new(&[4, 3], 1)
        .update(y.elements_mut().unwrap())
        .run(Cost::default(), |line| line.output::<i32>(0)[2] = -1)
        .unwrap();
    assert_eq!(
        y.to_vec::<i32>().unwrap(),
        [0, 4, -1, 1, 5, -1, 2, 6, -1, 3, 7, -1]
    );
}

#[test]
fn scratch_beyond_all_memory_is_an_error_and_none_where_no_line_is() {
    for (rows, ok) in [(2, false), (0, true)] {
        let x = Tensor::zeros([rows, 3], DType::I32).unwrap();
        for len in [usize::MAX, usize::MAX / 8 + 1, usize::MAX / 8] {
            let lines = Lines::new(x.shape(), 1)
                .input(x.elements())
                .scratch(len, DType::I64)
                .scratch(len, DType::I64);
            let run = lines.run(Cost::default(), |line| {
                assert!(line.scratch::<i64>(0).is_empty())
            });
            assert_eq!(run.is_ok(), ok, "{len}");
            assert!(ok || matches!(run, Err(Error::Memory { .. })));
        }
    }
}
