//! `unfold` and `fold`, padding, shuffles.

use super::*;

#[test]
fn fold_is_the_transpose_of_unfold() {
    let mut random = Rng(4);
    for round in 0..20 {
        let kernel = [random.between(1, 4), random.between(1, 4)];
        let options = || Unfold {
            dilation: [round % 2 + 1, 1].into(),
            padding: [round % 3, 1].into(),
            stride: [1 + round % 3, 2].into(),
        };
        let sizes = [random.between(7, 12), random.between(4, 12)];
        let x = converted(
            &[2, 3, sizes[0], sizes[1]],
            DType::F32,
            round as u64,
            round % 4,
        );
        let columns = nn::unfold(&x, kernel, options()).unwrap();
        // <unfold(x), c> = <x, fold(c)>
        let c = tensor(columns.shape(), 50);
        let back = nn::fold(&c, sizes, kernel, options()).unwrap();
        let dot = |a: &Tensor, b: &Tensor| -> f64 {
            doubles(a).iter().zip(doubles(b)).map(|(a, b)| a * b).sum()
        };
        let (one, other) = (dot(&columns, &c), dot(&x, &back));
        assert!((one - other).abs() < 1e-3, "{one} {other}");
        // every element of the columns by its index
        let [down, across] = [0, 1].map(|k| {
            let (d, p, s) = (
                [round % 2 + 1, 1][k],
                [round % 3, 1][k],
                [1 + round % 3, 2][k],
            );
            (sizes[k] + 2 * p - d * (kernel[k] - 1) - 1) / s + 1
        });
        assert_eq!(
            columns.shape(),
            [2, 3 * kernel[0] * kernel[1], down * across]
        );
        let (values, all) = (exact(&x), doubles(&columns));
        for (i, at) in indices(&[2, 3, kernel[0], kernel[1], down, across])
            .into_iter()
            .enumerate()
        {
            let y = at[4] * (1 + round % 3) + at[2] * (round % 2 + 1);
            let x = at[5] * 2 + at[3];
            let inside = y >= round % 3 && x >= 1 && y - round % 3 < sizes[0] && x - 1 < sizes[1];
            let want = if inside {
                values[((at[0] * 3 + at[1]) * sizes[0] + y - round % 3) * sizes[1] + x - 1]
            } else {
                0.0
            };
            assert_eq!(all[i], want);
        }
    }
}

#[test]
fn padding_matches_the_definition() {
    let mut random = Rng(3);
    for round in 0..40 {
        let mode = [
            PadMode::Constant(7.0.into()),
            PadMode::Reflect,
            PadMode::Replicate,
            PadMode::Circular,
        ][round % 4];
        let rank = round % 3 + 1;
        let sizes: Vec<usize> = (0..rank).map(|_| random.between(4, 9)).collect();
        let around: Vec<(isize, isize)> = (0..rank)
            .map(|_| (random.below(6) as isize - 2, random.below(6) as isize - 2))
            .collect();
        let x = converted(
            &[&[2, 3], &sizes[..]].concat(),
            DType::F32,
            round as u64,
            if rank > 1 { round % 4 } else { 0 },
        );
        let pairs: Vec<isize> = around.iter().rev().flat_map(|(a, b)| [*a, *b]).collect();
        // the size left after negative padding
        let left = |k: usize| sizes[k] as isize + around[k].0.min(0) + around[k].1.min(0);
        if mode == PadMode::Circular && (0..rank).any(|k| around[k].0.max(around[k].1) > left(k)) {
            assert!(nn::pad(&x, &pairs, mode).is_err());
            continue;
        }
        let y = nn::pad(&x, &pairs, mode).unwrap();
        let places: Vec<usize> = (0..rank)
            .map(|k| (sizes[k] as isize + around[k].0 + around[k].1) as usize)
            .collect();
        assert_eq!(&y.shape()[2..], places);
        let (values, got) = (exact(&x), doubles(&y));
        let many: usize = places.iter().product();
        for p in 0..6 {
            for (i, to) in indices(&places).into_iter().enumerate() {
                let mut from = Some(p);
                for k in 0..rank {
                    let (at, n) = (to[k] as isize - around[k].0, sizes[k] as isize);
                    let at = match mode {
                        PadMode::Constant(_) => Some(at).filter(|at| (0..n).contains(at)),
                        PadMode::Reflect => Some(if at < 0 {
                            -at
                        } else if at >= n {
                            2 * n - 2 - at
                        } else {
                            at
                        }),
                        PadMode::Replicate => Some(at.clamp(0, n - 1)),
                        PadMode::Circular => {
                            let cut = -around[k].0.min(0);
                            Some(cut + (at - cut).rem_euclid(left(k)))
                        }
                    };
                    from = from.zip(at).map(|(f, at)| f * sizes[k] + at as usize);
                }
                assert_eq!(
                    got[p * many + i],
                    from.map_or(7.0, |f| values[f]),
                    "{mode:?} {around:?}"
                );
            }
        }
    }
    let x = tensor(&[2, 3, 4], 1);
    assert_eq!(
        nn::pad(&x, &[0, 0, 1, 0, -1, 2], PadMode::Constant(0.into()))
            .unwrap()
            .shape(),
        [3, 4, 4]
    );
    let bools = Tensor::from_slice(&[true, false], [1, 2]).unwrap();
    assert_eq!(
        nn::pad(&bools, &[1, 0], PadMode::Circular)
            .unwrap()
            .to_vec::<bool>()
            .unwrap(),
        [false, true, false]
    );
}

#[test]
fn shuffles_match_the_definition() {
    let x = tensor(&[2, 12, 3, 5], 1);
    let y = nn::pixel_shuffle(&x, 2).unwrap();
    assert_eq!(y.shape(), [2, 3, 6, 10]);
    let (from, to) = (doubles(&x), doubles(&y));
    for (i, at) in indices(&[2, 3, 6, 10]).into_iter().enumerate() {
        let channel = at[1] * 4 + at[2] % 2 * 2 + at[3] % 2;
        assert_eq!(
            to[i],
            from[((at[0] * 12 + channel) * 3 + at[2] / 2) * 5 + at[3] / 2]
        );
    }
    assert_eq!(doubles(&nn::pixel_unshuffle(&y, 2).unwrap()), from);
    let z = nn::channel_shuffle(&x, 3).unwrap();
    assert_eq!(doubles(&nn::channel_shuffle(&z, 4).unwrap()), from);
}
