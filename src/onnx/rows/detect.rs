//! Boxes and regions of images.

use super::super::call::{Call, Inputs, Node, floats, int as int_of, ints, one};
use super::{Attribute, Kind, Row, float, int, make, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const ALIGN: [Attribute; 5] = [
    text("mode", "avg"),
    int("output_height", 1),
    int("output_width", 1),
    int("sampling_ratio", 0),
    float("spatial_scale", 1.0),
];
const ALIGN_10: &[Attribute] = &ALIGN;
const ALIGN_16: &[Attribute] = &[
    ALIGN[0],
    ALIGN[1],
    ALIGN[2],
    ALIGN[3],
    ALIGN[4],
    text("coordinate_transformation_mode", "half_pixel"),
];

pub(super) const ROWS: &[Row] = &[
    make(
        "NonMaxSuppression",
        10,
        2..=5,
        &[int("center_point_box", 0)],
        |node| {
            let centred = node.flag("center_point_box");
            one(move |x| suppressed(x, centred))
        },
    ),
    make("RoiAlign", 10, 3..=3, ALIGN_10, |node| align(node, 0.0)),
    make("RoiAlign", 16, 3..=3, ALIGN_16, |node| {
        let shifts = [("half_pixel", 0.5), ("output_half_pixel", 0.0)];
        align(
            node,
            node.choice("coordinate_transformation_mode", &shifts)?,
        )
    }),
    make(
        "MaxRoiPool",
        1,
        2..=2,
        &[
            required("pooled_shape", Kind::Ints),
            float("spatial_scale", 1.0),
        ],
        roi_pool,
    ),
];

/// A box by its corners.
#[derive(Clone, Copy)]
struct Corners {
    low: [f32; 2],
    high: [f32; 2],
}
impl Corners {
    fn new(b: &[f32], centred: bool) -> Corners {
        let (a, c) = ([b[0], b[1]], [b[2], b[3]]);
        if centred {
            let half = [c[0] / 2.0, c[1] / 2.0];
            return Corners {
                low: [a[0] - half[0], a[1] - half[1]],
                high: [a[0] + half[0], a[1] + half[1]],
            };
        }
        // any two opposite corners
        Corners {
            low: [a[0].min(c[0]), a[1].min(c[1])],
            high: [a[0].max(c[0]), a[1].max(c[1])],
        }
    }
    fn area(&self) -> f32 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }
    /// The area in common divided by the area of both.
    fn overlap(&self, other: &Corners) -> f32 {
        let side =
            |k: usize| (self.high[k].min(other.high[k]) - self.low[k].max(other.low[k])).max(0.0);
        let common = side(0) * side(1);
        let all = self.area() + other.area() - common;
        if common > 0.0 && all > 0.0 {
            common / all
        } else {
            0.0
        }
    }
}

/// `[selected, 3]`: example, class and box of those that are not near a better one of their class.
fn suppressed(x: &Inputs, centred: bool) -> Result<Tensor> {
    const OP: &str = "NonMaxSuppression";
    let (boxes, scores) = (x.get(0)?, x.get(1)?);
    let operands = [
        ("boxes", boxes.shape(), boxes.dtype()),
        ("scores", scores.shape(), scores.dtype()),
    ];
    let (&[batch, count, 4], &[batches, classes, candidates]) = (boxes.shape(), scores.shape())
    else {
        return Err(Error::shape_of(
            OP,
            "boxes must be [batch, boxes, 4], scores [batch, classes, boxes]",
            &operands,
        ));
    };
    if batches != batch || candidates != count {
        return Err(Error::shape_of(
            OP,
            "boxes and scores differ in batch or boxes",
            &operands,
        ));
    }
    let most = x.maybe(2).map_or(Ok(0), int_of)?.max(0) as usize;
    let limit = |i: usize| {
        x.maybe(i)
            .map(|t| t.reshape(())?.astype(DType::F32)?.item::<f32>())
            .transpose()
    };
    let (near, least) = (limit(3)?.unwrap_or(0.0), limit(4)?);
    let boxes = boxes.astype(DType::F32)?.to_vec::<f32>()?;
    let scores = scores.astype(DType::F32)?.to_vec::<f32>()?;
    let mut selected: Vec<i64> = Vec::new();
    for example in 0..batch {
        for class in 0..classes {
            super::super::call::checkpoint();
            let scores = &scores[(example * classes + class) * count..][..count];
            let mut order: Vec<usize> = fallible::with_capacity(count)?;
            order.extend((0..count).filter(|i| least.is_none_or(|least| scores[*i] > least)));
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            let mut kept: Vec<Corners> = Vec::new();
            for i in order {
                if kept.len() >= most {
                    break;
                }
                let candidate = Corners::new(&boxes[(example * count + i) * 4..][..4], centred);
                if kept.iter().all(|k| k.overlap(&candidate) <= near) {
                    fallible::push(&mut kept, candidate)?;
                    fallible::append(&mut selected, &[example as i64, class as i64, i as i64])?;
                }
            }
        }
    }
    let n = selected.len() / 3;
    Tensor::from_vec(selected, [n, 3])
}

/// Four elements and their weights.
type Sample = ([usize; 4], [f64; 4]);

/// Where a point lies between elements; `None` if it is outside.
fn sample(y: f64, x: f64, height: usize, width: usize) -> Option<Sample> {
    if y < -1.0 || y > height as f64 || x < -1.0 || x > width as f64 {
        return None;
    }
    let axis = |at: f64, size: usize| {
        let at = at.max(0.0);
        let low = at as usize;
        match low + 1 >= size {
            true => (size - 1, size - 1, 0.0),
            false => (low, low + 1, at - low as f64),
        }
    };
    let ((y0, y1, fy), (x0, x1, fx)) = (axis(y, height), axis(x, width));
    let at = [
        y0 * width + x0,
        y0 * width + x1,
        y1 * width + x0,
        y1 * width + x1,
    ];
    Some((
        at,
        [
            (1.0 - fy) * (1.0 - fx),
            (1.0 - fy) * fx,
            fy * (1.0 - fx),
            fy * fx,
        ],
    ))
}

fn align(node: &Node, shift: f64) -> Result<Call> {
    let max = node.choice("mode", &[("avg", false), ("max", true)])?;
    let (height, width) = (node.size("output_height")?, node.size("output_width")?);
    let (ratio, scale) = (node.size("sampling_ratio")?, node.float("spatial_scale"));
    one(move |x: &mut Inputs| {
        const OP: &str = "RoiAlign";
        /// Points of a region: a larger one is a mistake.
        const MOST: f64 = 1e8;
        let (image, rois, batches) = (x.get(0)?, x.get(1)?, ints(x.get(2)?)?);
        let (&[n, channels, rows, columns], &[count, 4]) = (image.shape(), rois.shape()) else {
            return Err(Error::shape(
                OP,
                "X must have four dimensions, rois [rois, 4]",
            ));
        };
        if batches.len() != count || rows * columns == 0 || height * width == 0 {
            return Err(Error::shape(
                OP,
                "batch_indices must be one for each of the rois, and sizes not be 0",
            ));
        }
        let rois = floats(rois)?;
        let mut y: Vec<f64> = Vec::new();
        let values = floats(image)?;
        for (roi, at) in rois.chunks_exact(4).zip(batches) {
            super::super::call::checkpoint();
            let at = usize::try_from(at)
                .ok()
                .filter(|at| *at < n)
                .ok_or_else(|| Error::value(OP, message!("batch index {at} of {n} images")))?;
            let [x0, y0, x1, y1] = [0, 1, 2, 3].map(|k| roi[k] * scale - shift);
            let size = |a: f64, b: f64| {
                if shift == 0.0 {
                    (b - a).max(1.0)
                } else {
                    b - a
                }
            };
            let (bin_y, bin_x) = (size(y0, y1) / height as f64, size(x0, x1) / width as f64);
            let grid = |bin: f64| {
                if ratio > 0 {
                    ratio as f64
                } else {
                    libm::ceil(bin).max(0.0)
                }
            };
            let (grid_y, grid_x) = (grid(bin_y), grid(bin_x));
            let points = grid_y * grid_x * (height * width) as f64;
            if points.is_nan() || points > MOST {
                return Err(Error::value(
                    OP,
                    message!("a region of {grid_y} x {grid_x} points for each element"),
                ));
            }
            let mut samples: Vec<Option<Sample>> = Vec::new();
            for (py, px) in (0..height).flat_map(|py| (0..width).map(move |px| (py, px))) {
                for (iy, ix) in
                    (0..grid_y as usize).flat_map(|iy| (0..grid_x as usize).map(move |ix| (iy, ix)))
                {
                    let place = |start: f64, p: usize, bin: f64, i: usize, grid: f64| {
                        start + p as f64 * bin + (i as f64 + 0.5) * bin / grid
                    };
                    let point = sample(
                        place(y0, py, bin_y, iy, grid_y),
                        place(x0, px, bin_x, ix, grid_x),
                        rows,
                        columns,
                    );
                    fallible::push(&mut samples, point)?;
                }
            }
            let per_bin = (grid_y * grid_x) as usize;
            for channel in 0..channels {
                let plane = &values[(at * channels + channel) * rows * columns..][..rows * columns];
                for bin in 0..height * width {
                    let points = samples[bin * per_bin..(bin + 1) * per_bin].iter();
                    let parts = points.map(|s| {
                        s.map_or([0.0; 4], |(at, w)| {
                            [0, 1, 2, 3].map(|k| w[k] * plane[at[k]])
                        })
                    });
                    let value = match max {
                        true => parts
                            .map(|p| p.into_iter().fold(f64::NEG_INFINITY, f64::max))
                            .reduce(f64::max)
                            .unwrap_or(0.0),
                        false => {
                            parts.map(|p| p.iter().sum::<f64>()).sum::<f64>()
                                / per_bin.max(1) as f64
                        }
                    };
                    fallible::push(&mut y, value)?;
                }
            }
        }
        Tensor::from_vec(y, [count, channels, height, width])?.astype(image.dtype())
    })
}

/// The largest element of each part of a region, whose corners are rounded to elements.
fn roi_pool(node: &Node) -> Result<Call> {
    let (shape, scale) = (
        node.maybe_sizes("pooled_shape")?,
        node.float("spatial_scale"),
    );
    let Some(&[height, width]) = shape.as_deref() else {
        return Err(node.wrong("pooled_shape must be two sizes"));
    };
    one(move |x: &mut Inputs| {
        const OP: &str = "MaxRoiPool";
        let (image, rois) = (x.get(0)?, x.get(1)?);
        let (&[n, channels, rows, columns], &[count, 5]) = (image.shape(), rois.shape()) else {
            return Err(Error::shape(
                OP,
                "X must have four dimensions, rois [rois, 5]",
            ));
        };
        let (values, rois) = (floats(image)?, floats(rois)?);
        let mut y: Vec<f64> = Vec::new();
        for roi in rois.chunks_exact(5) {
            let at = roi[0] as usize;
            if !(roi[0] >= 0.0 && at < n) {
                return Err(Error::value(
                    OP,
                    message!("batch index {} of {n} images", roi[0]),
                ));
            }
            let [x0, y0, x1, y1] = [1, 2, 3, 4].map(|k| libm::round(roi[k] * scale));
            // the part of an axis that a place takes, within the image
            let part = |start: f64, end: f64, place: usize, places: usize, size: usize| {
                let bin = (end - start + 1.0).max(1.0) / places as f64;
                let first = libm::floor(place as f64 * bin) + start;
                let last = libm::ceil((place + 1) as f64 * bin) + start;
                let clamp = |v: f64| v.clamp(0.0, size as f64) as usize;
                clamp(first)..clamp(last)
            };
            for channel in 0..channels {
                let plane = &values[(at * channels + channel) * rows * columns..][..rows * columns];
                for (py, px) in (0..height).flat_map(|py| (0..width).map(move |px| (py, px))) {
                    let (ys, xs) = (
                        part(y0, y1, py, height, rows),
                        part(x0, x1, px, width, columns),
                    );
                    let all = ys.flat_map(|r| xs.clone().map(move |c| plane[r * columns + c]));
                    fallible::push(&mut y, all.reduce(f64::max).unwrap_or(0.0))?;
                }
            }
        }
        Tensor::from_vec(y, [count, channels, height, width])?.astype(image.dtype())
    })
}
