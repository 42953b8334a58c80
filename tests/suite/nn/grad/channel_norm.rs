//! Gradients of batch, group and instance normalisation.

use super::*;
use nn::ChannelNorm;

fn with<'a>(weight: Option<&'a Tensor>, bias: Option<&'a Tensor>) -> ChannelNorm<'a> {
    ChannelNorm {
        weight,
        bias,
        eps: 1e-2,
    }
}

/// The gradients of a norm for `x`, weight and bias against finite differences.
fn check(
    shape: &[usize],
    norm: impl Fn(&Tensor, ChannelNorm) -> Tensor,
    gradients: impl Fn(&Tensor, &Tensor, ChannelNorm) -> [Tensor; 3],
) {
    let (x, g) = (wide(shape, 1), wide(shape, 2));
    let (w, b) = (wide(&shape[1..2], 3), wide(&shape[1..2], 4));
    for weight in [None, Some(&w)] {
        let [dx, dw, db] = gradients(&g, &x, with(weight, None));
        assert_eq!((dx.shape(), dw.shape()), (shape, w.shape()));
        agree(&dx, &differences(&x, &g, |x| norm(x, with(weight, None))));
        agree(&dw, &differences(&w, &g, |w| norm(&x, with(Some(w), None))));
        agree(
            &db,
            &differences(&b, &g, |b| norm(&x, with(weight, Some(b)))),
        );
    }
}

#[test]
fn channel_norms_match_differences() {
    for shape in [
        &[5, 4][..],
        &[3, 4, 5],
        &[2, 4, 3, 3],
        &[2, 4, 2, 1, 3],
        &[1, 4, 6],
        &[2, 4, 6, 6],
        &[8, 4, 6, 6], // groups in cache
    ] {
        check(
            shape,
            |x, o| nn::batch_norm(x, None, o).unwrap(),
            |g, x, o| grad::batch_norm(g, x, None, o).unwrap(),
        );
        let (mean, var) = (wide(&[4], 5), flex::ops::abs(wide(&[4], 6)).unwrap());
        let given = Some((&mean, &var));
        check(
            shape,
            |x, o| nn::batch_norm(x, given, o).unwrap(),
            |g, x, o| grad::batch_norm(g, x, given, o).unwrap(),
        );
        check(
            shape,
            |x, o| nn::instance_norm(x, given, o).unwrap(),
            |g, x, o| grad::instance_norm(g, x, given, o).unwrap(),
        );
        for groups in [1, 2, 4] {
            check(
                shape,
                |x, o| nn::group_norm(x, groups, o).unwrap(),
                |g, x, o| grad::group_norm(g, x, groups, o).unwrap(),
            );
        }
        if shape.len() > 2 {
            check(
                shape,
                |x, o| nn::instance_norm(x, None, o).unwrap(),
                |g, x, o| grad::instance_norm(g, x, None, o).unwrap(),
            );
        }
    }
}

#[test]
fn channel_norms_support_any_layout_and_float() {
    let shape = [3, 8, 7, 9];
    let (x, g, w) = (tensor(&shape, 1), tensor(&shape, 2), tensor(&[8], 3));
    let options = ChannelNorm {
        weight: Some(&w),
        ..Default::default()
    };
    let all = |g: &Tensor, x: &Tensor| {
        let batch = grad::batch_norm(g, x, None, options).unwrap();
        let few = grad::group_norm(g, x, 2, options).unwrap();
        let many = grad::group_norm(g, x, 8, options).unwrap();
        (batch.into_iter().chain(few).chain(many)).collect::<Vec<_>>()
    };
    let want: Vec<_> = all(&g, &x).iter().map(numbers).collect();
    let last = |t: &Tensor| {
        let t = t.permute([0, 2, 3, 1]).unwrap().contiguous().unwrap();
        t.permute([0, 3, 1, 2]).unwrap()
    };
    let back = |t: &Tensor| t.flip(2).unwrap().contiguous().unwrap().flip(2).unwrap();
    for (g, x) in [
        (last(&g), last(&x)),
        (last(&g), x.clone()),
        (g.clone(), back(&x)),
    ] {
        for (got, want) in all(&g, &x).iter().zip(&want) {
            for (got, want) in numbers(got).iter().zip(want) {
                assert!((got - want).abs() < 1e-5 * want.abs().max(1.0));
            }
        }
    }
    #[cfg(feature = "std")]
    for threads in [1, 2, 7] {
        let got = flex::par::with_threads(threads, || all(&g, &x));
        assert!(
            got.iter().map(numbers).eq(want.iter().cloned()),
            "{threads}"
        );
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let (x, g) = (x.astype(dtype).unwrap(), g.astype(dtype).unwrap());
        let single = |t: &Tensor| t.astype(DType::F32).unwrap();
        let want = all(&single(&g), &single(&x));
        for (got, want) in all(&g, &x).iter().zip(&want) {
            assert_eq!(got.dtype(), dtype);
            // sums of another order, rounded
            let step = if dtype == DType::F16 { 1e-3 } else { 8e-3 };
            for (got, want) in numbers(got).iter().zip(numbers(want)) {
                assert!((got - want).abs() < step * want.abs().max(0.01));
            }
        }
    }
}

/// Channels of several chunks, whose mean is far larger than their deviation.
#[test]
fn channel_norms_keep_small_deviations_from_a_large_mean() {
    let shape = [2, 2, 3, 3001];
    let g = tensor(&shape, 2);
    let x = flex::ops::add(tensor(&shape, 1), 300.0).unwrap();
    let double = |t: &Tensor| t.astype(DType::F64).unwrap();
    let all = |g: &Tensor, x: &Tensor| {
        let batch = grad::batch_norm(g, x, None, with(None, None)).unwrap();
        let group = grad::group_norm(g, x, 1, with(None, None)).unwrap();
        batch.into_iter().chain(group).collect::<Vec<_>>()
    };
    for (got, want) in all(&g, &x).iter().zip(all(&double(&g), &double(&x))) {
        for (got, want) in numbers(&double(got)).iter().zip(numbers(&want)) {
            assert!(
                (got - want).abs() < 1e-4 * want.abs().max(1.0),
                "{got} for {want}"
            );
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (x, none) = (tensor(&[2, 3, 4], 1), ChannelNorm::default());
    let other = tensor(&[2, 3, 5], 2);
    assert!(grad::batch_norm(&other, &x, None, none).is_err());
    assert!(grad::group_norm(&other, &x, 1, none).is_err());
    assert!(grad::group_norm(&x, &x, 2, none).is_err());
    assert!(grad::group_norm(&x, &x, 0, none).is_err());
    let two = tensor(&[2], 3);
    let weight = ChannelNorm {
        weight: Some(&two),
        ..none
    };
    assert!(grad::batch_norm(&x, &x, None, weight).is_err());
    assert!(grad::instance_norm(&x, &x, Some((&two, &two)), none).is_err());
    assert!(grad::batch_norm(&two, &two, None, none).is_err());
    let integers = x.astype(DType::I64).unwrap();
    assert!(grad::batch_norm(&x, &integers, None, none).is_err());
    assert!(grad::batch_norm(&integers, &x, None, none).is_ok());
    for shape in [[0, 3, 4], [2, 3, 0], [2, 0, 4]] {
        let empty = tensor(&shape, 1);
        let [dx, dw, _] = grad::batch_norm(&empty, &empty, None, none).unwrap();
        assert_eq!((dx.shape(), dw.shape()), (&shape[..], &shape[1..2]));
        assert!(numbers(&dw).iter().all(|x| *x == 0.0));
        grad::instance_norm(&empty, &empty, None, none).unwrap();
    }
}
