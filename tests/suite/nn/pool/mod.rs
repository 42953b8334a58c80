//! Pools against loops over the elements of each window.

mod adaptive;
mod behaviour;

use super::*;
use crate::common::indices;
use flex::nn::{AvgPool, MaxPool, PerAxis};
use flex::ops;

/// The sizes and options of a pool.
#[derive(Clone, Debug)]
struct Case {
    lead: Vec<usize>,
    image: Vec<usize>,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
    ceil: bool,
}

impl Case {
    fn rank(&self) -> usize {
        self.image.len()
    }
    fn shape(&self) -> Vec<usize> {
        [&self.lead[..], &self.image[..]].concat()
    }
    /// The output size along an axis, counted window by window.
    fn places(&self, k: usize) -> usize {
        let (size, pad) = (self.image[k], self.padding[k]);
        let seen = (self.kernel[k] - 1) * self.dilation[k] + 1;
        let mut count = 0;
        loop {
            let start = count * self.stride[k];
            // with ceil_mode a window that starts before the right padding may pass the end of the
            // padded image, if the one before it, or one that would be, does not reach that end
            let fits = match self.ceil {
                false => start + seen <= size + 2 * pad,
                true => start < size + pad && start + seen < size + 2 * pad + self.stride[k],
            };
            if !fits {
                return count;
            }
            count += 1;
        }
    }
    /// The row-major positions that an output's window covers in a plane, and how many positions
    /// of the window lie in the padded image.
    fn taps(&self, place: &[usize]) -> (Vec<usize>, usize) {
        let mut inside = Vec::new();
        let mut padded = 0;
        for tap in indices(&self.kernel) {
            let mut at = Some(0);
            let mut counted = true;
            for k in 0..self.rank() {
                let p = place[k] * self.stride[k] + tap[k] * self.dilation[k];
                counted &= p < self.image[k] + 2 * self.padding[k];
                let p = p
                    .checked_sub(self.padding[k])
                    .filter(|p| *p < self.image[k]);
                at = at.zip(p).map(|(at, p)| at * self.image[k] + p);
            }
            inside.extend(at);
            padded += counted as usize;
        }
        (inside, padded)
    }
    /// Applies `f` to each window.
    fn each<R>(
        &self,
        x: &[f64],
        mut f: impl FnMut(&[f64], &[usize], usize) -> R,
    ) -> (Vec<usize>, Vec<R>) {
        let places: Vec<usize> = (0..self.rank()).map(|k| self.places(k)).collect();
        let plane: usize = self.image.iter().product();
        let mut all = Vec::new();
        for x in x.chunks(plane) {
            for place in indices(&places) {
                let (taps, padded) = self.taps(&place);
                all.push(f(x, &taps, padded));
            }
        }
        ([&self.lead[..], &places[..]].concat(), all)
    }
    fn options(&self) -> MaxPool {
        MaxPool {
            stride: Some(PerAxis::from(&self.stride[..])),
            padding: PerAxis::from(&self.padding[..]),
            dilation: PerAxis::from(&self.dilation[..]),
            ceil_mode: self.ceil,
        }
    }
}

/// Cases of a rank; `dilated` ones for max pools.
fn cases(rank: usize, dilated: bool) -> Vec<Case> {
    let mut random = Rng(rank as u64 + 10 * dilated as u64);
    (0..40)
        .map(|round| {
            // long rows that are not padded are read where they lie
            let long = |k: usize| round % 5 == 4 && k == rank - 1;
            let size = |k: usize| match round % 5 == 4 {
                true if long(k) => 900,
                true => 4,
                false => [0, 70, 40, 9][rank],
            };
            let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
            let same = round % 3 == 0;
            let side = random.between(1, 4);
            let kernel = axes(&mut || if same { side } else { random.between(1, 5) });
            let dilation = axes(&mut || {
                if dilated && !same {
                    random.between(1, 3)
                } else {
                    1
                }
            });
            let seen: Vec<usize> = (0..rank)
                .map(|k| (kernel[k] - 1) * dilation[k] + 1)
                .collect();
            let stride = axes(&mut || random.between(1, 5));
            let pad = |k: usize| match long(k) {
                true => 0,
                false => random.below(seen[k] / 2 + 1),
            };
            let padding: Vec<usize> = (0..rank).map(pad).collect();
            let ceil = round % 2 == 1;
            let image = (0..rank)
                .map(|k| match ceil && random.below(3) == 0 {
                    false => seen[k] - 1 + random.between(1, size(k)),
                    // as small as leaves one place, whose window may pass the image by a stride - 1
                    true => {
                        let fewest = (seen[k] + 1).saturating_sub(2 * padding[k] + stride[k]);
                        random.between(fewest.max(1), seen[k])
                    }
                })
                .collect();
            let lead = [vec![2, 3], vec![3], vec![1, 1], vec![0, 2]][round % 4].clone();
            Case {
                lead,
                image,
                kernel,
                stride,
                padding,
                dilation,
                ceil,
            }
        })
        .collect()
}

/// Values with repetitions, in one of several layouts.
fn image(shape: &[usize], dtype: DType, seed: u64, layout: usize) -> Tensor {
    let mut random = Rng(seed);
    let n: usize = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|_| random.below(40) as f32 - 20.0).collect();
    let t = Tensor::from_slice(&values, shape)
        .unwrap()
        .astype(dtype)
        .unwrap();
    match layout {
        // channels last in memory
        1 if shape.len() > 2 => {
            let channels = shape.len() as isize - 3;
            let channels = channels.clamp(0, 1);
            let last = t.moveaxis(channels, -1).unwrap().contiguous().unwrap();
            last.moveaxis(-1, channels).unwrap()
        }
        // reversed in memory
        2 => t
            .flip([-1, 0])
            .unwrap()
            .contiguous()
            .unwrap()
            .flip([-1, 0])
            .unwrap(),
        // gaps between rows
        3 => ops::concat(&[&t, &t], -1)
            .unwrap()
            .narrow(-1, 0, *shape.last().unwrap())
            .unwrap(),
        _ => t,
    }
}

fn max_pool(x: &Tensor, c: &Case) -> Tensor {
    let kernel = PerAxis::from(&c.kernel[..]);
    match c.rank() {
        1 => nn::max_pool1d(x, kernel, c.options()),
        2 => nn::max_pool2d(x, kernel, c.options()),
        _ => nn::max_pool3d(x, kernel, c.options()),
    }
    .unwrap()
}

fn max_pool_with_indices(x: &Tensor, c: &Case) -> (Tensor, Tensor) {
    let kernel = PerAxis::from(&c.kernel[..]);
    match c.rank() {
        1 => nn::max_pool1d_with_indices(x, kernel, c.options()),
        2 => nn::max_pool2d_with_indices(x, kernel, c.options()),
        _ => nn::max_pool3d_with_indices(x, kernel, c.options()),
    }
    .unwrap()
}

fn avg_pool(
    x: &Tensor,
    c: &Case,
    count_include_pad: bool,
    divisor_override: Option<usize>,
) -> Tensor {
    let kernel = PerAxis::from(&c.kernel[..]);
    let options = AvgPool {
        stride: Some(PerAxis::from(&c.stride[..])),
        padding: PerAxis::from(&c.padding[..]),
        ceil_mode: c.ceil,
        count_include_pad,
        divisor_override,
    };
    match c.rank() {
        1 => nn::avg_pool1d(x, kernel, options),
        2 => nn::avg_pool2d(x, kernel, options),
        _ => nn::avg_pool3d(x, kernel, options),
    }
    .unwrap()
}

const DTYPES: [DType; 7] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I32,
    DType::I64,
];

#[test]
fn max_pools_match_the_oracle() {
    for rank in 1..=3 {
        for (round, c) in cases(rank, true).iter().enumerate() {
            let dtype = DTYPES[round % 7];
            let dtype = if dtype.is_available() {
                dtype
            } else {
                DType::F32
            };
            let x = image(&c.shape(), dtype, round as u64, round / 2 % 4);
            let lowest = if dtype.is_float() {
                f64::NEG_INFINITY
            } else {
                0.0
            };
            let (shape, want) = c.each(&exact(&x), |x, taps, _| {
                let mut best = (lowest, None);
                for t in taps {
                    if best.1.is_none() || x[*t] > best.0 {
                        best = (x[*t], Some(*t));
                    }
                }
                best
            });
            let y = max_pool(&x, c);
            assert_eq!((y.shape(), y.dtype()), (&shape[..], dtype));
            let got = exact(&y);
            let (same, positions) = max_pool_with_indices(&x, c);
            assert_eq!(exact(&same), got);
            let positions = positions.to_vec::<i64>().unwrap();
            for (i, (largest, at)) in want.iter().enumerate() {
                // a window of padding only has the lowest value, and an arbitrary index
                if let Some(at) = at {
                    assert_eq!(
                        (got[i], positions[i]),
                        (*largest, *at as i64),
                        "{c:?} {dtype} {i}"
                    );
                }
            }
        }
    }
}

#[test]
fn average_pools_match_the_oracle() {
    for rank in 1..=3 {
        for (round, c) in cases(rank, false).iter().enumerate() {
            let dtype = DTYPES[round % 4];
            let dtype = if dtype.is_available() {
                dtype
            } else {
                DType::F32
            };
            let x = image(&c.shape(), dtype, round as u64, round / 2 % 4);
            for (include, divisor) in [(true, None), (false, None), (true, Some(3))] {
                let (shape, want) = c.each(&exact(&x), |x, taps, padded| {
                    let sum: f64 = taps.iter().map(|t| x[*t]).sum();
                    sum / divisor.unwrap_or(if include { padded } else { taps.len() }) as f64
                });
                let y = avg_pool(&x, c, include, divisor);
                assert_eq!((y.shape(), y.dtype()), (&shape[..], dtype));
                let rounding = match dtype {
                    DType::F16 => 1.0 / 2048.0,
                    DType::BF16 => 1.0 / 256.0,
                    _ => 1e-6,
                };
                for (got, want) in exact(&y).iter().zip(&want) {
                    assert!(
                        (got - want).abs() <= rounding * want.abs() + 1e-7,
                        "{c:?} {dtype}"
                    );
                }
            }
        }
    }
}

/// So many planes that their powers don't fit a cache, as each plane by itself.
#[test]
fn lp_pool_of_many_planes() {
    let x = tensor(&[5, 90, 64, 64], 4);
    let y = nn::lp_pool2d(&x, 2.0, 3, None).unwrap();
    assert_eq!(y.shape(), [5, 90, 21, 21]);
    for (batch, channel) in [(0, 0), (0, 89), (2, 31), (4, 89)] {
        let plane = |t: &Tensor| {
            t.narrow(0, batch, 1)
                .unwrap()
                .narrow(1, channel, 1)
                .unwrap()
        };
        let one = nn::lp_pool2d(&plane(&x).contiguous().unwrap(), 2.0, 3, None).unwrap();
        assert_eq!(doubles(&one), doubles(&plane(&y)), "{batch} {channel}");
    }
}

#[test]
fn lp_pool_and_max_unpool() {
    let x = tensor(&[2, 3, 9, 8], 3);
    let values = doubles(&x);
    let y = nn::lp_pool2d(&x, 2.0, 2, None).unwrap();
    let mut want = Vec::new();
    for plane in values.chunks(72) {
        for at in indices(&[4, 4]) {
            let tap = |t: &[usize]| plane[(2 * at[0] + t[0]) * 8 + 2 * at[1] + t[1]];
            want.push(
                indices(&[2, 2])
                    .iter()
                    .map(|t| tap(t).powi(2))
                    .sum::<f64>()
                    .sqrt(),
            );
        }
    }
    close(&y, &want, 1e-6);
    assert!(
        nn::lp_pool2d(&x, 0.0, 2, None)
            .unwrap_err()
            .to_string()
            .contains("norm_type is 0")
    );

    let (y, at) = nn::max_pool2d_with_indices(&x, 2, None).unwrap();
    let options = nn::MaxUnpool {
        output_size: Some([9, 8].into()),
        ..Default::default()
    };
    let back = nn::max_unpool2d(&y, &at, 2, options).unwrap();
    assert_eq!(back.shape(), x.shape());
    let (y, at) = (doubles(&y), at.to_vec::<i64>().unwrap());
    let mut want = vec![0.0; values.len()];
    for (i, v) in y.iter().enumerate() {
        want[i / 16 * 72 + at[i] as usize] = *v;
    }
    assert_eq!(doubles(&back), want);
    assert_eq!(
        nn::max_unpool2d(
            &back,
            &Tensor::zeros(back.shape(), DType::I64).unwrap(),
            1,
            None
        )
        .unwrap()
        .shape(),
        x.shape()
    );
}

/// A pool in ceil mode is a plain one of the image, padded as far as its windows reach.
#[test]
fn ceil_pools_are_floor_pools_of_the_padded_image() {
    for rank in 1..=3 {
        for (round, c) in cases(rank, true).iter().enumerate().filter(|(_, c)| c.ceil) {
            let x = image(&c.shape(), DType::F32, round as u64, 0);
            let places: Vec<usize> = (0..rank).map(|k| c.places(k)).collect();
            let mut around = vec![];
            for k in (0..rank).rev() {
                let seen = (c.kernel[k] - 1) * c.dilation[k] + 1;
                let reach = (places[k] - 1) * c.stride[k] + seen;
                let after = reach.saturating_sub(c.padding[k] + c.image[k]);
                around.extend([c.padding[k] as isize, after as isize]);
            }
            let floor = Case {
                padding: vec![0; rank],
                ceil: false,
                ..c.clone()
            };
            let first = |y: Tensor| {
                let lead = y.rank() - rank;
                let y = (0..rank).fold(y, |y, k| {
                    y.narrow((lead + k) as isize, 0, places[k]).unwrap()
                });
                doubles(&y.copy().unwrap())
            };
            let padded = |value: f64| nn::pad(&x, &around, nn::PadMode::Constant(value.into()));
            let want = first(max_pool(&padded(f64::NEG_INFINITY).unwrap(), &floor));
            assert_eq!(doubles(&max_pool(&x, c)), want, "{c:?}");
            if c.dilation.iter().any(|d| *d > 1) {
                continue;
            }
            // sums, which are exact
            let want = first(avg_pool(&padded(0.0).unwrap(), &floor, true, Some(1)));
            assert_eq!(doubles(&avg_pool(&x, c, true, Some(1))), want, "{c:?}");
        }
    }
}
