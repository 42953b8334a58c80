//! Views of queued values, and layers.

use super::bits;
use flex::op::Op;
use flex::stream::{Kind, Plans, Stream};
use flex::{DType, Tensor, nn, ops};
use std::sync::Arc;

/// A value that is only viewed is computed only for the view's elements, and a view that restores
/// the axes of a reduction costs no pass.
#[test]
fn views_do_not_split_passes() {
    let x = Tensor::zeros([64, 96], DType::F32).unwrap();
    let stream = Stream::new();
    let double = stream.apply(Op::Multiply, &[(&x).into(), 2.0.into()]);
    let double = double.unwrap();
    let columns = stream.view(&(&double).into(), |x| Ok(x.slice(1, 0, 2, 48)));
    let columns = columns.unwrap();
    let turned = stream.view(&(&columns).into(), |x| x.permute("T", &[1, 0]));
    let turned = turned.unwrap();
    let y = stream.apply(Op::Add, &[(&turned).into(), 1.0.into()]);
    let y = y.unwrap();
    drop((double, columns, turned));
    let y = y.get().unwrap();
    assert_eq!((y.shape(), y.strides()), (&[48, 64][..], &[1, 48][..]));
    let run = stream.stats().run;
    assert_eq!((run.kernels, run.written), (1, 48 * 64 * 4));
    assert_eq!(stream.stats().operations, 2);

    let rows = stream.reduce(Kind::Mean, &(&x).into(), 1).unwrap();
    let column = stream.view(&(&rows).into(), |x| x.expand_dims("column", &[1]));
    let column = column.unwrap();
    let y = stream.apply(Op::Subtract, &[(&x).into(), (&column).into()]);
    let y = y.unwrap();
    assert_eq!(rows.get().unwrap().shape(), [64]);
    assert_eq!(y.get().unwrap().shape(), [64, 96]);
    assert_eq!(stream.stats().run.kernels, 3);
}
#[test]
fn elementwise_operations_are_fused_into_the_layer_before() {
    let x = Tensor::from_vec(
        (0..2 * 8 * 40 * 40).map(|k| (k % 13) as f32).collect(),
        [2, 8, 40, 40],
    );
    let weight = Tensor::from_vec(
        (0..64 * 8 * 9).map(|k| (k % 7) as f32 - 3.0).collect(),
        [64, 8, 3, 3],
    );
    let (x, weight) = (x.unwrap(), weight.unwrap());
    let bias = Tensor::from_vec((0..64).map(|k| k as f32).collect(), [64]).unwrap();
    let options = || nn::Conv {
        padding: 1.into(),
        ..Default::default()
    };
    let expected = nn::conv2d(
        &x,
        &weight,
        nn::Conv {
            bias: Some(&bias),
            ..options()
        },
    );
    let expected = ops::multiply(ops::relu(expected.unwrap()).unwrap(), 0.5).unwrap();
    let stream = Stream::new();
    let operands = [&(&x).into(), &(&weight).into()];
    let y = stream.convolve(operands, [Some(&(&bias).into()), None], options());
    let y = stream.apply(Op::Relu, &[(&y.unwrap()).into()]).unwrap();
    let half = stream.apply(Op::Multiply, &[(&y).into(), 0.5.into()]);
    drop(y);
    let y = half.unwrap().get().unwrap();
    assert_eq!(bits(&y), bits(&expected));
    let run = stream.stats().run;
    assert_eq!((run.kernels, run.written), (1, 2 * 64 * 40 * 40 * 4));
    let wrong = stream.convolve(operands, [Some(&(&weight).into()), None], options());
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("bias must have the shape [64]")
    );
}
#[test]
fn views_with_other_offsets_share_a_plan() {
    let plans = Arc::new(Plans::default());
    let stream = Stream::with_plans(plans.clone());
    for (n, start) in [(10, 2), (12, 7), (31, 0)] {
        let x = Tensor::from_vec((0..n).map(|k| k as f32).collect(), [n]).unwrap();
        let double = stream.apply(Op::Multiply, &[(&x).into(), 2.0.into()]);
        let part = stream.view(&(&double.unwrap()).into(), |x| {
            x.narrow("narrow", 0, start, 3)
        });
        let y = stream.apply(Op::Add, &[(&part.unwrap()).into(), 1.0.into()]);
        let expected = [0, 1, 2].map(|k| (start + k) as f32 * 2.0 + 1.0);
        let y = y.unwrap().get().unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), expected);
    }
    assert_eq!(plans.len(), 1);
}
