//! Attention, compared with one head at a time in `f64`.

use super::*;

/// One head in `f64`; `mask(query, key)` is added to the score.
pub fn attend(
    q: &[f64],
    k: &[f64],
    v: &[f64],
    sizes: [usize; 4],
    scale: f64,
    mask: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let [queries, keys, depth, width] = sizes;
    let mut out = vec![0.0; queries * width];
    for i in 0..queries {
        let score = |j: usize| {
            (0..depth)
                .map(|p| q[i * depth + p] * k[j * depth + p])
                .sum::<f64>()
                * scale
                + mask(i, j)
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

#[test]
fn attention_applies_every_mask() {
    for (queries, keys, depth, width) in [
        (1, 1, 1, 1),
        (1, 700, 64, 64),
        (5, 7, 3, 2),
        (64, 256, 32, 32),
        (130, 300, 16, 20),
        (70, 65, 64, 33),
        (300, 600, 24, 20),
        (290, 270, 8, 64),
    ] {
        let (q, k, v) = (
            tensor(&[queries, depth], 1),
            tensor(&[keys, depth], 2),
            tensor(&[keys, width], 3),
        );
        let (wq, wk, wv) = (doubles(&q), doubles(&k), doubles(&v));
        let sizes = [queries, keys, depth, width];
        let scale = 1.0 / (depth as f64).sqrt();
        let run =
            |options: nn::Attention| nn::scaled_dot_product_attention(&q, &k, &v, options).unwrap();
        let none = f64::NEG_INFINITY;
        close(
            &run(nn::Attention::default()),
            &attend(&wq, &wk, &wv, sizes, scale, |_, _| 0.0),
            3e-6,
        );
        let causal = attend(
            &wq,
            &wk,
            &wv,
            sizes,
            scale,
            |i, j| if j <= i { 0.0 } else { none },
        );
        close(
            &run(nn::Attention {
                causal: true,
                align: Some(nn::Align::UpperLeft),
                ..Default::default()
            }),
            &causal,
            3e-6,
        );
        let scaled = attend(&wq, &wk, &wv, sizes, 0.25, |_, _| 0.0);
        close(
            &run(nn::Attention {
                scale: Some(0.25),
                ..Default::default()
            }),
            &scaled,
            3e-6,
        );
        let bias = tensor(&[queries, keys], 4);
        let wide = doubles(&bias);
        let biased = attend(&wq, &wk, &wv, sizes, scale, |i, j| wide[i * keys + j]);
        close(
            &run(nn::Attention {
                mask: Some(&bias),
                ..Default::default()
            }),
            &biased,
            3e-6,
        );
        // row 0 and every fifth row mask all keys
        let takes = |i: usize, j: usize| !i.is_multiple_of(5) && !(i + 3 * j).is_multiple_of(4);
        let flags: Vec<bool> = (0..queries * keys)
            .map(|x| takes(x / keys, x % keys))
            .collect();
        let flags = Tensor::from_slice(&flags, [queries, keys]).unwrap();
        let masked = attend(&wq, &wk, &wv, sizes, scale, |i, j| {
            if takes(i, j) { 0.0 } else { none }
        });
        let got = run(nn::Attention {
            mask: Some(&flags),
            ..Default::default()
        });
        close(&got, &masked, 3e-6);
        assert!(
            got.to_vec::<f32>().unwrap()[..width]
                .iter()
                .all(|x| *x == 0.0)
        );
        // one mask of keys for all queries, as padding needs
        let padding: Vec<bool> = (0..keys).map(|j| j < keys.div_ceil(2)).collect();
        let padding = Tensor::from_slice(&padding, [keys]).unwrap();
        let padded = attend(&wq, &wk, &wv, sizes, scale, |_, j| {
            if j < keys.div_ceil(2) { 0.0 } else { none }
        });
        close(
            &run(nn::Attention {
                mask: Some(&padding),
                ..Default::default()
            }),
            &padded,
            3e-6,
        );
    }
}

#[test]
fn strided_and_grouped_heads_match_the_formula() {
    // [batch, tokens, heads, depth] seen as [batch, heads, tokens, depth]
    let (batch, tokens, heads, depth) = (2, 70, 4, 16);
    let make = |heads: usize, seed: u64| {
        tensor(&[batch, tokens, heads, depth], seed)
            .transpose(1, 2)
            .unwrap()
    };
    let (q, k, v) = (make(heads, 1), make(heads, 2), make(heads, 3));
    let got = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default()).unwrap();
    assert_eq!(got.shape(), [batch, heads, tokens, depth]);
    let one = |t: &Tensor, b: usize, h: usize| {
        doubles(
            &t.select(0, b as i64)
                .unwrap()
                .select(0, h as i64)
                .unwrap()
                .copy()
                .unwrap(),
        )
    };
    let sizes = [tokens, tokens, depth, depth];
    for (b, h) in [(0, 0), (1, 3)] {
        let want = attend(
            &one(&q, b, h),
            &one(&k, b, h),
            &one(&v, b, h),
            sizes,
            0.25,
            |_, _| 0.0,
        );
        assert!(
            one(&got, b, h)
                .iter()
                .zip(&want)
                .all(|(x, y)| (x - y).abs() < 3e-6)
        );
    }
    let (k, v) = (make(2, 4), make(2, 5));
    let grouped = nn::Attention {
        grouped: true,
        ..Default::default()
    };
    let got = nn::scaled_dot_product_attention(&q, &k, &v, grouped).unwrap();
    assert_eq!(got.shape(), [batch, heads, tokens, depth]);
    for h in 0..heads {
        let want = attend(
            &one(&q, 1, h),
            &one(&k, 1, h / 2),
            &one(&v, 1, h / 2),
            sizes,
            0.25,
            |_, _| 0.0,
        );
        assert!(
            one(&got, 1, h)
                .iter()
                .zip(&want)
                .all(|(x, y)| (x - y).abs() < 3e-6)
        );
    }
}

#[test]
fn attention_does_not_depend_on_blocking() {
    let (queries, keys, depth, width) = (300, 280, 40, 24);
    let columns =
        |rows: usize, cols: usize, seed: u64| tensor(&[cols, rows], seed).transpose(0, 1).unwrap();
    let (q, k, v) = (
        columns(queries, depth, 1),
        columns(keys, depth, 2),
        columns(keys, width, 3),
    );
    let rows = |t: &Tensor| doubles(&t.copy().unwrap());
    let run = |q: &Tensor, k: &Tensor, v: &Tensor| {
        nn::scaled_dot_product_attention(q, k, v, nn::Attention::default()).unwrap()
    };
    let alone = run(&q, &k, &v);
    let want = attend(
        &rows(&q),
        &rows(&k),
        &rows(&v),
        [queries, keys, depth, width],
        1.0 / (depth as f64).sqrt(),
        |_, _| 0.0,
    );
    close(&alone, &want, 3e-6);
    // block sizes depend on the number of heads, and must not change the result
    let heads = |t: &Tensor| t.broadcast_to([200, t.shape()[0], t.shape()[1]]).unwrap();
    let all = run(&heads(&q), &heads(&k), &heads(&v))
        .to_vec::<f32>()
        .unwrap();
    let alone = alone.to_vec::<f32>().unwrap();
    assert!(all.chunks_exact(alone.len()).all(|head| head == alone));
}

#[test]
fn attention_confines_nan_and_ignores_far_keys() {
    let (n, depth) = (70, 16);
    let (k, v) = (tensor(&[n, depth], 2), tensor(&[n, depth], 3));
    for nan in [
        f32::NAN,
        f32::from_bits(0x7fc0_01ff),
        f32::from_bits(0xffff_ffff),
    ] {
        let mut values = tensor(&[n, depth], 1).to_vec::<f32>().unwrap();
        values[5 * depth + 3] = nan;
        let q = Tensor::from_slice(&values, [n, depth]).unwrap();
        let got = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default())
            .unwrap()
            .to_vec::<f32>()
            .unwrap();
        assert!(
            got.chunks(depth)
                .enumerate()
                .all(|(i, row)| row.iter().all(|x| x.is_nan() == (i == 5)))
        );
    }
    // scores so far apart that one key gets all the weight
    let q = Tensor::from_slice(&[1.0f32; 20], [20, 1]).unwrap();
    let k = Tensor::from_slice(&[0.0f32, -3e38, -200.0, -88.0], [4, 1]).unwrap();
    let v = Tensor::from_slice(&[2.0f32, 1e30, 1e30, 3e37], [4, 1]).unwrap();
    let got = nn::scaled_dot_product_attention(
        &q,
        &k,
        &v,
        nn::Attention {
            scale: Some(1.0),
            ..Default::default()
        },
    )
    .unwrap();
    assert!(
        got.to_vec::<f32>()
            .unwrap()
            .iter()
            .all(|x| (x - 2.0).abs() < 0.5),
        "{got:?}"
    );
}

#[test]
fn varlen_attention_matches_each_sequence() {
    let offsets = [0, 0, 1, 70, 70, 83, 300, 300];
    let (tokens, heads, groups, depth, width) = (300, 4, 2, 16, 24);
    // strided queries, as a joint projection of queries, keys and values gives them
    let q = tensor(&[tokens, 2 * heads, depth], 1)
        .narrow(1, heads, heads)
        .unwrap();
    let (k, v) = (
        tensor(&[tokens, groups, depth], 2),
        tensor(&[tokens, groups, width], 3),
    );
    let part = |t: &Tensor, start: usize, len: usize, h: usize| {
        doubles(
            &t.narrow(0, start, len)
                .unwrap()
                .select(1, h as i64)
                .unwrap()
                .copy()
                .unwrap(),
        )
    };
    for causal in [false, true] {
        let got = nn::varlen_attention(
            &q,
            &k,
            &v,
            &offsets,
            nn::VarlenAttention {
                causal,
                ..Default::default()
            },
        )
        .unwrap();
        assert_eq!(got.shape(), [tokens, heads, width]);
        for pair in offsets.windows(2) {
            let (start, len) = (pair[0], pair[1] - pair[0]);
            for h in 0..heads {
                let see = |i: usize, j: usize| {
                    if causal && j > i {
                        f64::NEG_INFINITY
                    } else {
                        0.0
                    }
                };
                let (one_k, one_v) = (part(&k, start, len, h / 2), part(&v, start, len, h / 2));
                let want = attend(
                    &part(&q, start, len, h),
                    &one_k,
                    &one_v,
                    [len, len, depth, width],
                    0.25,
                    see,
                );
                assert!(
                    part(&got, start, len, h)
                        .iter()
                        .zip(&want)
                        .all(|(x, y)| (x - y).abs() < 3e-6),
                    "{causal} {pair:?} {h}"
                );
            }
        }
    }
    let none = tensor(&[0, 2, 3], 1);
    assert_eq!(
        nn::varlen_attention(&none, &none, &none, &[0, 0], ())
            .unwrap()
            .shape(),
        [0, 2, 3]
    );
    for offsets in [
        &[][..],
        &[0],
        &[0, 299],
        &[1, 300],
        &[0, 200, 100, 300],
        &[0, usize::MAX, 300],
    ] {
        let error = nn::varlen_attention(&q, &k, &v, offsets, ())
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!(
                "varlen_attention: offsets are {offsets:?}; they must ascend from 0 to 300, the \
                 number of tokens"
            )
        );
    }
    let error = nn::varlen_attention(&q, &tensor(&[tokens, 3, depth], 1), &v, &[0, 300], ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("are not a multiple of those of key and value (query: [300, 4, 16] float32"),
        "{error}"
    );
}

#[test]
fn attention_errors_name_the_operands() {
    let (q, k, v) = (tensor(&[4, 8], 1), tensor(&[6, 7], 2), tensor(&[6, 3], 3));
    let error = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the depth, differ (query: [4, 8] float32, key: [6, 7] float32"),
        "{error}"
    );
    let mask = tensor(&[5, 6], 4);
    let options = nn::Attention {
        mask: Some(&mask),
        ..Default::default()
    };
    let error = nn::scaled_dot_product_attention(&q, &tensor(&[6, 8], 2), &v, options)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("attn_mask does not broadcast to [.., queries, keys] (query: [4, 8]"),
        "{error}"
    );
}
