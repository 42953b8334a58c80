//! Gradients of attention.

use super::*;
use nn::{Align, Attention};

/// All gradients against finite differences.
#[track_caller]
fn check(q: &[usize], k: &[usize], v: &[usize], options: Attention) {
    let (q, k, v) = (wide(q, 1), wide(k, 2), wide(v, 3));
    let f = |q: &Tensor, k: &Tensor, v: &Tensor| {
        nn::scaled_dot_product_attention(q, k, v, options).unwrap()
    };
    let g = wide(f(&q, &k, &v).shape(), 4);
    let [dq, dk, dv] = grad::scaled_dot_product_attention(&g, &q, &k, &v, options).unwrap();
    assert_eq!(
        [dq.shape(), dk.shape(), dv.shape()],
        [q.shape(), k.shape(), v.shape()]
    );
    agree(&dq, &differences(&q, &g, |q| f(q, &k, &v)));
    agree(&dk, &differences(&k, &g, |k| f(&q, k, &v)));
    agree(&dv, &differences(&v, &g, |v| f(&q, &k, v)));
    if let Some(mask) = options.mask.filter(|m| m.dtype().is_float()) {
        let d = grad::scaled_dot_product_attention_mask(&g, &q, &k, &v, options).unwrap();
        assert_eq!(d.shape(), mask.shape());
        let masked = |mask: &Tensor| {
            let options = Attention {
                mask: Some(mask),
                ..options
            };
            nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap()
        };
        agree(&d, &differences(mask, &g, masked));
    }
}

fn bools(shape: &[usize]) -> Tensor {
    flex::ops::greater(wide(shape, 9), -0.5).unwrap()
}

#[test]
fn attention_matches_differences() {
    let none = Attention::default();
    check(&[3, 2], &[4, 2], &[4, 3], none);
    check(&[2, 2, 5, 4], &[2, 2, 6, 4], &[2, 2, 6, 3], none);
    let scaled = Attention {
        scale: Some(0.3),
        softcap: Some(1.5),
        ..none
    };
    check(&[2, 5, 4], &[2, 6, 4], &[2, 6, 4], scaled);
    // operands that broadcast
    check(&[2, 3, 4, 2], &[3, 5, 2], &[2, 1, 5, 2], none);
    check(&[1, 4, 2], &[2, 3, 2], &[2, 3, 1], none);
}

#[test]
fn bands_match_differences() {
    for (causal, window, align, queries, keys) in [
        (true, (None, None), Align::UpperLeft, 6, 6),
        (true, (None, None), Align::LowerRight, 3, 7),
        // some queries have no key
        (true, (None, None), Align::LowerRight, 7, 3),
        (false, (Some(1), Some(2)), Align::UpperLeft, 9, 5),
        (true, (Some(2), None), Align::LowerRight, 5, 8),
    ] {
        let options = Attention {
            causal,
            window,
            align: Some(align),
            ..Default::default()
        };
        check(&[2, queries, 3], &[2, keys, 3], &[2, keys, 2], options);
    }
}

#[test]
fn masks_match_differences() {
    for shape in [&[4, 5][..], &[2, 1, 4, 5], &[3, 1, 5], &[1], &[2, 3, 4, 5]] {
        for mask in [wide(shape, 8), bools(shape)] {
            let options = Attention {
                mask: Some(&mask),
                softcap: Some(3.0),
                ..Default::default()
            };
            check(&[2, 3, 4, 2], &[2, 3, 5, 2], &[2, 3, 5, 3], options);
        }
    }
}

#[test]
fn grouped_heads_match_differences() {
    let grouped = Attention {
        grouped: true,
        causal: true,
        align: Some(Align::UpperLeft),
        ..Default::default()
    };
    check(&[2, 4, 5, 2], &[2, 2, 5, 2], &[2, 2, 5, 3], grouped);
    check(&[6, 3, 2], &[2, 4, 2], &[2, 4, 2], grouped);
    for shape in [&[4, 3, 4][..], &[2, 1, 3, 4], &[3, 4]] {
        let mask = wide(shape, 8);
        let options = Attention {
            mask: Some(&mask),
            ..grouped
        };
        check(&[2, 4, 3, 2], &[2, 2, 4, 2], &[2, 2, 4, 2], options);
    }
}

/// More queries than fit in a block, against the formula on whole matrices, in every float.
#[test]
fn blocks_of_queries_match_the_formula() {
    let (q, k, v) = (
        tensor(&[3, 300, 16], 1),
        tensor(&[3, 270, 16], 2),
        tensor(&[3, 270, 8], 3),
    );
    let g = tensor(&[3, 300, 8], 4);
    let product = |a: &Tensor, b: &Tensor| flex::ops::matmul(a, b).unwrap();
    let t = |t: &Tensor| t.transpose(-1, -2).unwrap();
    let scores = flex::ops::multiply(product(&q, &t(&k)), 0.25).unwrap();
    let p = nn::softmax(&scores, -1).unwrap();
    let ds = grad::softmax(&product(&g, &t(&v)), &p, -1).unwrap();
    let ds = flex::ops::multiply(ds, 0.25).unwrap();
    let want = [product(&ds, &k), product(&t(&ds), &q), product(&t(&p), &g)];
    let all = |g: &Tensor, q: &Tensor| {
        grad::scaled_dot_product_attention(g, q, &k, &v, Attention::default()).unwrap()
    };
    let near = |got: &Tensor, want: &Tensor, bound: f64| {
        for (x, y) in numbers(got).iter().zip(numbers(want)) {
            assert!((x - y).abs() <= bound * y.abs().max(1.0), "{x} for {y}");
        }
    };
    let got = all(&g, &q);
    got.iter().zip(&want).for_each(|(x, y)| near(x, y, 1e-5));
    // strides, and any number of threads
    let turned = |x: &Tensor| {
        let x = x.permute([1, 2, 0]).unwrap().contiguous().unwrap();
        x.permute([2, 0, 1]).unwrap()
    };
    let again = all(&turned(&g), &turned(&q));
    assert!(
        got.iter()
            .zip(&again)
            .all(|(x, y)| numbers(x) == numbers(y))
    );
    #[cfg(feature = "std")]
    for threads in [1, 2, 7] {
        let again = flex::par::with_threads(threads, || all(&g, &q));
        assert!(
            got.iter()
                .zip(&again)
                .all(|(x, y)| numbers(x) == numbers(y))
        );
    }
    for dtype in [DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let narrow = |x: &Tensor| x.astype(dtype).unwrap();
        let single = |x: &Tensor| narrow(x).astype(DType::F32).unwrap();
        let of = |f: &dyn Fn(&Tensor) -> Tensor| {
            let [g, q, k, v] = [&g, &q, &k, &v].map(f);
            grad::scaled_dot_product_attention(&g, &q, &k, &v, Attention::default()).unwrap()
        };
        for (x, y) in of(&narrow).iter().zip(of(&single)) {
            assert_eq!(x.dtype(), dtype);
            assert!(numbers(x) == numbers(&narrow(&y)));
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (q, k, none) = (
        tensor(&[2, 3, 4], 1),
        tensor(&[2, 5, 4], 2),
        Attention::default(),
    );
    let f = |g: &Tensor, q: &Tensor, o| grad::scaled_dot_product_attention(g, q, &k, &k, o);
    assert!(f(&q, &q, none).is_ok());
    assert!(f(&k, &q, none).is_err());
    assert!(f(&tensor(&[3, 4], 1), &q, none).is_err());
    assert!(f(&q, &tensor(&[2, 3, 5], 1), none).is_err());
    let integers = q.astype(DType::I64).unwrap();
    let [g, x] = [&integers; 2];
    assert!(grad::scaled_dot_product_attention(g, x, x, x, none).is_err());
    let bad = Attention {
        scale: Some(f64::NAN),
        ..none
    };
    assert!(f(&q, &q, bad).is_err());
    let mask = bools(&[3, 5]);
    let masked = Attention {
        mask: Some(&mask),
        ..none
    };
    assert!(f(&q, &q, masked).is_ok());
    assert!(grad::scaled_dot_product_attention_mask(&q, &q, &k, &k, masked).is_err());
    assert!(grad::scaled_dot_product_attention_mask(&q, &q, &k, &k, none).is_err());
    for (queries, keys) in [(0, 5), (3, 0)] {
        let (q, k) = (tensor(&[2, queries, 4], 1), tensor(&[2, keys, 4], 2));
        let d = grad::scaled_dot_product_attention(&q, &q, &k, &k, none).unwrap();
        assert!(d.iter().all(|d| numbers(d).iter().all(|x| *x == 0.0)));
    }
    let empty = tensor(&[0, 3, 4], 1);
    let d = grad::scaled_dot_product_attention(&empty, &empty, &empty, &empty, none).unwrap();
    assert_eq!(d[0].shape(), [0, 3, 4]);
}
