//! Gradients of `max_unpool`.

use super::*;

/// Distinct indices into planes of `plane` elements, shuffled; `lead` dimensions count planes.
fn positions(shape: &[usize], lead: usize, plane: usize) -> Tensor {
    let taken: usize = shape[lead..].iter().product();
    let planes: usize = shape[..lead].iter().product();
    let of = |p: usize, k: usize| ((k * 7 + p * 3) % plane) as i64;
    let all: Vec<i64> = (0..planes)
        .flat_map(|p| (0..taken).map(move |k| of(p, k)))
        .collect();
    Tensor::from_slice(&all, shape).unwrap()
}

#[test]
fn unpooling_matches_differences() {
    let x = wide(&[2, 3, 5], 1);
    let i = positions(x.shape(), 2, 10);
    let g = wide(&[2, 3, 10], 2);
    agree(
        &grad::max_unpool1d(&g, &i).unwrap(),
        &differences(&x, &g, |x| nn::max_unpool1d(x, &i, 2, None).unwrap()),
    );
    let x = wide(&[3, 4, 3], 3);
    let i = positions(x.shape(), 1, 48);
    let g = wide(&[3, 8, 6], 4);
    agree(
        &grad::max_unpool2d(&g, &i).unwrap(),
        &differences(&x, &g, |x| nn::max_unpool2d(x, &i, 2, None).unwrap()),
    );
    let x = wide(&[1, 2, 2, 2, 3], 5);
    let i = positions(x.shape(), 2, 96);
    let g = wide(&[1, 2, 4, 4, 6], 6);
    agree(
        &grad::max_unpool3d(&g, &i).unwrap(),
        &differences(&x, &g, |x| nn::max_unpool3d(x, &i, 2, None).unwrap()),
    );
}

#[test]
fn unpooling_supports_any_layout_and_float() {
    let g = tensor(&[3, 40, 16, 18], 1);
    let i = positions(&[3, 40, 8, 9], 2, 16 * 18);
    let want = numbers(&grad::max_unpool2d(&g, &i).unwrap());
    let naive: Vec<f64> = numbers(&g)
        .chunks(16 * 18)
        .zip(numbers(&i).chunks(72))
        .flat_map(|(g, i)| i.iter().map(|i| g[*i as usize]).collect::<Vec<_>>())
        .collect();
    assert!(want == naive);
    let turned = |t: &Tensor| {
        let t = t.permute([2, 0, 3, 1]).unwrap().contiguous().unwrap();
        t.permute([1, 3, 0, 2]).unwrap()
    };
    let i32s = turned(&i).astype(DType::I32).unwrap();
    assert!(numbers(&grad::max_unpool2d(&turned(&g), &i32s).unwrap()) == want);
    #[cfg(feature = "std")]
    for threads in [1, 2, 7] {
        let run = || grad::max_unpool2d(&g, &i).unwrap();
        assert!(numbers(&flex::par::with_threads(threads, run)) == want);
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let got = grad::max_unpool2d(&g.astype(dtype).unwrap(), &i).unwrap();
        let rounded = Tensor::from_slice(&want, [want.len()]).unwrap();
        assert_eq!(got.dtype(), dtype);
        assert!(numbers(&got) == numbers(&rounded.astype(dtype).unwrap()));
    }
}

#[test]
fn indices_out_of_range_are_refused() {
    let g = tensor(&[2, 3, 4], 1);
    let positions = |last: i64| {
        let mut all = [0i64; 12];
        all[11] = last;
        Tensor::from_slice(&all, [2, 3, 2]).unwrap()
    };
    assert!(grad::max_unpool1d(&g, &positions(3)).is_ok());
    for last in [4, -1, i64::MAX, i64::MIN] {
        let error = grad::max_unpool1d(&g, &positions(last)).unwrap_err();
        if cfg!(feature = "messages") {
            let want = format!(
                "grad.max_unpool1d: indices has {last} at row-major position 11; a plane of [4] has 4 elements"
            );
            assert_eq!(error.to_string(), want);
        }
    }
    let i = positions(0);
    assert!(grad::max_unpool2d(&g, &i).is_ok());
    assert!(grad::max_unpool3d(&g, &i).is_err());
    assert!(grad::max_unpool1d(&tensor(&[2, 2, 4], 1), &i).is_err());
    assert!(grad::max_unpool1d(&tensor(&[3, 4], 1), &i).is_err());
    assert!(grad::max_unpool1d(&g, &g).is_err());
    assert!(grad::max_unpool1d(&i, &i).is_err());
    // no index is valid in an empty plane, and no indices need no elements
    assert!(grad::max_unpool1d(&tensor(&[2, 3, 0], 1), &i).is_err());
    let none = positions(0).narrow(2, 0, 0).unwrap();
    let d = grad::max_unpool1d(&tensor(&[2, 3, 0], 1), &none).unwrap();
    assert_eq!(d.shape(), [2, 3, 0]);
}
