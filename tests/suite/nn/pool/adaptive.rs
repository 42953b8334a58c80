//! Adaptive pools.

use super::*;

#[test]
fn adaptive_windows_match_the_definition() {
    let mut random = Rng(7);
    for round in 0..60 {
        let rank = round % 3 + 1;
        let image_: Vec<usize> = (0..rank)
            .map(|_| random.between(1, [0, 50, 24, 8][rank]))
            .collect();
        let places: Vec<usize> = image_.iter().map(|n| random.between(1, n + 3)).collect();
        let shape = [&[2, 3], &image_[..]].concat();
        let x = image(&shape, DType::F32, round as u64, round % 4);
        let (size, values) = (PerAxis::from(&places[..]), exact(&x));
        let (mean, (largest, positions)) = match rank {
            1 => (
                nn::adaptive_avg_pool1d(&x, size.clone()),
                nn::adaptive_max_pool1d_with_indices(&x, size.clone()).unwrap(),
            ),
            2 => (
                nn::adaptive_avg_pool2d(&x, size.clone()),
                nn::adaptive_max_pool2d_with_indices(&x, size.clone()).unwrap(),
            ),
            _ => (
                nn::adaptive_avg_pool3d(&x, size.clone()),
                nn::adaptive_max_pool3d_with_indices(&x, size.clone()).unwrap(),
            ),
        };
        let alone = match rank {
            1 => nn::adaptive_max_pool1d(&x, size),
            2 => nn::adaptive_max_pool2d(&x, size),
            _ => nn::adaptive_max_pool3d(&x, size),
        };
        assert_eq!(exact(&alone.unwrap()), exact(&largest));
        let (mut sums, mut bests, mut at) = (Vec::new(), Vec::new(), Vec::new());
        for plane in values.chunks(image_.iter().product()) {
            for place in indices(&places) {
                let bounds: Vec<(usize, usize)> = (0..rank)
                    .map(|k| {
                        let (n, m) = (image_[k], places[k]);
                        (place[k] * n / m, ((place[k] + 1) * n).div_ceil(m))
                    })
                    .collect();
                let sizes: Vec<usize> = bounds.iter().map(|b| b.1 - b.0).collect();
                let taps: Vec<usize> = indices(&sizes)
                    .into_iter()
                    .map(|tap| (0..rank).fold(0, |at, k| at * image_[k] + bounds[k].0 + tap[k]))
                    .collect();
                let best = taps
                    .iter()
                    .copied()
                    .fold(taps[0], |a, b| if plane[b] > plane[a] { b } else { a });
                sums.push(taps.iter().map(|t| plane[*t]).sum::<f64>() / taps.len() as f64);
                bests.push(plane[best]);
                at.push(best as i64);
            }
        }
        close(&mean.unwrap(), &sums, 1e-6);
        assert_eq!(exact(&largest), bests);
        assert_eq!(positions.to_vec::<i64>().unwrap(), at);
    }
}
