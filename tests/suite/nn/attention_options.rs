//! Windows, alignments, soft caps, masks of any strides, few queries and narrow floats.

use super::attention::attend;
use super::*;
use flex::nn::{Align, Attention};

/// Whether query `i` of `queries` attends to key `j` of `keys`, by the definition.
fn sees(options: &Attention, [queries, keys]: [usize; 2], i: usize, j: usize) -> bool {
    let shift = match options.align {
        Some(Align::LowerRight) => keys as i64 - queries as i64,
        _ => 0,
    };
    let ahead = j as i64 - (i as i64 + shift);
    let (before, after) = options.window;
    (!options.causal || ahead <= 0)
        && before.is_none_or(|n| i128::from(-ahead) <= n as i128)
        && after.is_none_or(|n| i128::from(ahead) <= n as i128)
}

/// The formula in `f64`.
fn expected(
    q: &[f64],
    k: &[f64],
    v: &[f64],
    sizes: [usize; 4],
    options: &Attention,
    bias: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let [queries, keys, depth, width] = sizes;
    let scale = options.scale.unwrap_or(1.0 / (depth as f64).sqrt());
    let mut out = vec![0.0; queries * width];
    for i in 0..queries {
        let score = |j: usize| {
            let dot: f64 = (0..depth)
                .map(|p| q[i * depth + p] * k[j * depth + p])
                .sum();
            let capped = options
                .softcap
                .map_or(dot * scale, |cap| cap * (dot * scale / cap).tanh());
            if sees(options, [queries, keys], i, j) {
                capped + bias(i, j)
            } else {
                f64::NEG_INFINITY
            }
        };
        let scores: Vec<f64> = (0..keys).map(score).collect();
        if scores.iter().all(|s| *s == f64::NEG_INFINITY) {
            continue;
        }
        for (j, weight) in softmax(&scores).into_iter().enumerate() {
            (0..width).for_each(|p| out[i * width + p] += weight * v[j * width + p]);
        }
    }
    out
}

/// All combinations of the options that exclude keys.
fn options() -> Vec<Attention<'static>> {
    let windows = [
        (None, None),
        (Some(5), Some(3)),
        (Some(300), None),
        (None, Some(0)),
        (Some(0), Some(usize::MAX)),
    ];
    let mut all = vec![];
    for window in windows {
        for causal in [false, true] {
            for align in [Align::UpperLeft, Align::LowerRight] {
                all.push(Attention {
                    causal,
                    window,
                    align: Some(align),
                    softcap: causal.then_some(1.5),
                    ..Default::default()
                });
            }
        }
    }
    all
}

#[test]
fn windows_soft_caps_and_alignments_match_the_formula() {
    for sizes in [
        [1, 1, 1, 1],
        [1, 1300, 16, 64],
        [7, 600, 24, 5],
        [8, 3, 4, 4],
        [70, 300, 16, 20],
        [300, 70, 8, 64],
        [330, 600, 12, 8],
    ] {
        let [queries, keys, depth, width] = sizes;
        // weights of bfloat16 may be rounded to it, and results are: relative to values below 2
        for (dtype, error) in [(DType::F32, 4e-6), (DType::BF16, 2.0 / 128.0)] {
            if !dtype.is_available() {
                continue;
            }
            let make = |shape: &[usize], seed| tensor(shape, seed).astype(dtype).unwrap();
            let (q, k, v) = (
                make(&[queries, depth], 1),
                make(&[keys, depth], 2),
                make(&[keys, width], 3),
            );
            let single = |t: &Tensor| t.astype(DType::F32).unwrap();
            let [wq, wk, wv] = [&q, &k, &v].map(|t| doubles(&single(t)));
            for options in options() {
                let want = expected(&wq, &wk, &wv, sizes, &options, |_, _| 0.0);
                let got = nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap();
                close(&single(&got), &want, error);
            }
        }
    }
}

/// A bias gives the same bits materialised and as a view: broadcast, transposed, flipped.
#[test]
fn masks_are_read_by_their_strides() {
    for queries in [4, 130] {
        let (keys, depth, width) = (530, 16, 8);
        let (q, k, v) = (
            tensor(&[2, queries, depth], 1),
            tensor(&[2, keys, depth], 2),
            tensor(&[2, keys, width], 3),
        );
        let full = [2, queries, keys];
        let views = [
            tensor(&[keys], 4),
            tensor(&[queries, 1], 5),
            tensor(&[2, 1, keys], 6),
            tensor(&[keys, queries], 7).transpose(0, 1).unwrap(),
            tensor(&[queries, keys], 8).flip([0isize, 1]).unwrap(),
            tensor(&[1, 1, 1], 9),
        ];
        for view in views {
            let expanded = view.broadcast_to(full).unwrap();
            let copied = expanded.copy().unwrap();
            let run = |mask: &Tensor| {
                let options = Attention {
                    mask: Some(mask),
                    ..Default::default()
                };
                nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap()
            };
            let want = run(&copied).to_vec::<f32>().unwrap();
            assert_eq!(run(&view).to_vec::<f32>().unwrap(), want);
            assert_eq!(run(&expanded).to_vec::<f32>().unwrap(), want);
            let flags = |t: &Tensor| flex::ops::greater(t, 0.0).unwrap();
            let broadcast = flags(&view).broadcast_to(full).unwrap();
            assert_eq!(
                run(&flags(&copied)).to_vec::<f32>().unwrap(),
                run(&broadcast).to_vec::<f32>().unwrap()
            );
            // the second head against the formula
            let bias = doubles(&copied);
            let part = |t: &Tensor| doubles(&t.select(0, 1).unwrap().copy().unwrap());
            let scores = |i: usize, j: usize| bias[(queries + i) * keys + j];
            let sizes = [queries, keys, depth, width];
            let want_head = attend(&part(&q), &part(&k), &part(&v), sizes, 0.25, scores);
            let got = part(&run(&view));
            assert!(
                got.iter()
                    .zip(&want_head)
                    .all(|(x, y)| (x - y).abs() < 4e-6)
            );
        }
    }
}

/// Few queries whose heads share keys and values match the formula with copies of them.
#[test]
fn decoding_with_grouped_heads_matches_the_formula() {
    for (queries, heads, groups) in [(1, 8, 2), (3, 6, 3), (8, 12, 1), (1, 70, 1)] {
        let (keys, depth) = (1100, 16);
        let q = tensor(&[2, heads, queries, depth], 1);
        let (k, v) = (
            tensor(&[2, groups, keys, depth], 2),
            tensor(&[2, groups, keys, depth], 3),
        );
        let mask = tensor(&[2, heads, 1, keys], 4);
        let options = Attention {
            causal: true,
            window: (Some(700), None),
            align: Some(Align::LowerRight),
            grouped: true,
            mask: Some(&mask),
            ..Default::default()
        };
        let got = doubles(&nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap());
        let part = |t: &Tensor, b: usize, h: usize| {
            let one = t.select(0, b as i64).unwrap().select(0, h as i64).unwrap();
            doubles(&one.copy().unwrap())
        };
        let group = heads / groups;
        for (b, h) in [(0, 0), (1, heads - 1), (1, heads / 2)] {
            let bias = part(&mask, b, h);
            let want = expected(
                &part(&q, b, h),
                &part(&k, b, h / group),
                &part(&v, b, h / group),
                [queries, keys, depth, depth],
                &options,
                |_, j| bias[j],
            );
            let at = (b * heads + h) * queries * depth;
            for (x, y) in got[at..].iter().zip(&want) {
                assert!((x - y).abs() < 4e-6, "{x} for {y}");
            }
        }
    }
}

/// Bits depend neither on strides nor on the number of threads or of other heads.
#[test]
fn bits_depend_on_shapes_alone() {
    let sizes = [
        (1, 1100, 64),
        (5, 1500, 24),
        (70, 300, 20),
        (300, 520, 64),
        (300, 521, 19),
    ];
    let dtypes = [DType::F32, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available());
    for (dtype, (queries, keys, depth)) in dtypes.flat_map(|dtype| sizes.map(|s| (dtype, s))) {
        let make = |rows: usize, seed| tensor(&[3, rows, depth], seed).astype(dtype).unwrap();
        let (q, k, v) = (make(queries, 1), make(keys, 2), make(keys, 3));
        let options = Attention {
            window: (Some(400), Some(100)),
            align: Some(Align::LowerRight),
            ..Default::default()
        };
        let run = |q: &Tensor, k: &Tensor, v: &Tensor| {
            let y = nn::scaled_dot_product_attention(q, k, v, options).unwrap();
            y.astype(DType::F32).unwrap().to_vec::<f32>().unwrap()
        };
        let want = run(&q, &k, &v);
        let turned = |t: &Tensor| {
            let copy = t.transpose(1, 2).unwrap().copy().unwrap();
            copy.transpose(1, 2).unwrap()
        };
        let flipped = |t: &Tensor| {
            let copy = t.flip([1isize, 2]).unwrap().copy().unwrap();
            copy.flip([1isize, 2]).unwrap()
        };
        let by_token = |t: &Tensor| {
            let copy = t.transpose(0, 1).unwrap().copy().unwrap();
            copy.transpose(0, 1).unwrap()
        };
        assert_eq!(run(&turned(&q), &turned(&k), &turned(&v)), want);
        assert_eq!(run(&q, &flipped(&k), &flipped(&v)), want);
        assert_eq!(run(&by_token(&q), &by_token(&k), &by_token(&v)), want);
        let head = |t: &Tensor| t.narrow(0, 1, 1).unwrap();
        let one = want.len() / 3;
        assert_eq!(run(&head(&q), &head(&k), &head(&v)), want[one..2 * one]);
        #[cfg(feature = "std")]
        for threads in [1, 2, 7] {
            assert_eq!(flex::par::with_threads(threads, || run(&q, &k, &v)), want);
        }
    }
}

#[cfg(feature = "half")]
#[test]
fn narrow_floats_are_computed_in_float32() {
    for dtype in [DType::F16, DType::BF16] {
        for queries in [1, 6, 140] {
            let make = |rows: usize, seed| tensor(&[2, rows, 24], seed).astype(dtype).unwrap();
            let (q, k, v) = (make(queries, 1), make(700, 2), make(700, 3));
            let bias = tensor(&[700], 4);
            for bias in [bias.clone(), bias.astype(dtype).unwrap()] {
                let options = Attention {
                    mask: Some(&bias),
                    softcap: Some(3.0),
                    causal: true,
                    align: Some(Align::LowerRight),
                    ..Default::default()
                };
                let got = nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap();
                assert_eq!(got.dtype(), dtype);
                let [q, k, v] = [&q, &k, &v].map(|t| t.astype(DType::F32).unwrap());
                let want = nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap();
                let got = got.astype(DType::F32).unwrap();
                if dtype == DType::BF16 && queries > 4 {
                    // weights may be rounded too
                    close(&got, &doubles(&want), 2.0 / 128.0);
                    continue;
                }
                // the same sums, rounded
                let want = want.astype(dtype).unwrap().astype(DType::F32).unwrap();
                assert_eq!(
                    got.to_vec::<f32>().unwrap(),
                    want.to_vec::<f32>().unwrap(),
                    "{dtype} {queries}"
                );
            }
        }
    }
}

#[test]
fn queries_without_keys_give_zeros() {
    let (q, v) = (tensor(&[3, 4], 1), tensor(&[5, 2], 3));
    let zeros = |y: &Tensor| y.to_vec::<f32>().unwrap().iter().all(|x| *x == 0.0);
    let none = nn::scaled_dot_product_attention(
        &q,
        &tensor(&[0, 4], 2),
        &tensor(&[0, 2], 2),
        Attention::default(),
    );
    assert!(zeros(&none.unwrap()));
    // the last query is aligned with the last key, so the first ones come before the first key
    let options = Attention {
        causal: true,
        align: Some(Align::LowerRight),
        ..Default::default()
    };
    for queries in [8, 40] {
        let q = tensor(&[queries, 4], 1);
        let y = nn::scaled_dot_product_attention(&q, &tensor(&[5, 4], 2), &v, options).unwrap();
        let y = y.to_vec::<f32>().unwrap();
        let unseen = (queries - 5) * 2;
        assert!(y[..unseen].iter().all(|x| *x == 0.0));
        assert_eq!(y[unseen..unseen + 2], v.to_vec::<f32>().unwrap()[..2]);
    }
    // depth 0: all scores are equal
    let y = nn::scaled_dot_product_attention(
        &tensor(&[2, 0], 1),
        &tensor(&[5, 0], 1),
        &v,
        Attention::default(),
    );
    let mean: f64 = doubles(&v).iter().step_by(2).sum::<f64>() / 5.0;
    assert!((doubles(&y.unwrap())[0] - mean).abs() < 1e-6);
}

#[test]
fn varlen_attention_supports_windows_and_soft_caps() {
    let offsets = [0, 1, 70, 70, 420];
    let (tokens, depth) = (420, 16);
    let x = |seed| tensor(&[tokens, 1, depth], seed);
    let (q, k, v) = (x(1), x(2), x(3));
    for (causal, window) in [(true, (Some(9), None)), (false, (Some(2), Some(260)))] {
        let options = nn::VarlenAttention {
            causal,
            window,
            softcap: Some(2.0),
            ..Default::default()
        };
        let got = nn::varlen_attention(&q, &k, &v, &offsets, options).unwrap();
        for pair in offsets.windows(2) {
            let part = |t: &Tensor| {
                let own = t.narrow(0, pair[0], pair[1] - pair[0]).unwrap();
                doubles(&own.copy().unwrap())
            };
            let len = pair[1] - pair[0];
            let alone = Attention {
                causal,
                window,
                softcap: Some(2.0),
                ..Default::default()
            };
            let sizes = [len, len, depth, depth];
            let want = expected(&part(&q), &part(&k), &part(&v), sizes, &alone, |_, _| 0.0);
            let got = part(&got);
            assert!(got.iter().zip(&want).all(|(x, y)| (x - y).abs() < 4e-6));
        }
    }
}

#[test]
fn invalid_scales_and_soft_caps_are_errors() {
    let x = tensor(&[2, 4], 1);
    let error = |options| {
        nn::scaled_dot_product_attention(&x, &x, &x, options)
            .unwrap_err()
            .to_string()
    };
    for scale in [f64::NAN, f64::INFINITY] {
        let options = Attention {
            scale: Some(scale),
            ..Default::default()
        };
        assert_eq!(
            error(options),
            format!("scaled_dot_product_attention: scale is {scale:?}; it must be finite")
        );
    }
    for softcap in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = Attention {
            softcap: Some(softcap),
            ..Default::default()
        };
        assert_eq!(
            error(options),
            format!(
                "scaled_dot_product_attention: softcap is {softcap:?}; it must be positive and \
                 finite"
            )
        );
    }
}
