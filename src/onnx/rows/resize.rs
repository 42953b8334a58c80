//! Resampling, an axis at a time: each element of the result is a sum of weighted elements of the
//! axis, at places that a coordinate's transformation gives.

use super::super::call::{Call, Inputs, Node, floats, ints, one, sizes};
use super::{Attribute, Kind, Row, float, int, ints as ints_attribute, make, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::{self, Shape};
use crate::nn::{self, Interpolate, InterpolateMode};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const OP: &str = "Resize";
const NEAREST: Attribute = text("mode", "nearest");
const RESIZE_11: &[Attribute] = &[
    NEAREST,
    text("coordinate_transformation_mode", "half_pixel"),
    float("cubic_coeff_a", -0.75),
    int("exclude_outside", 0),
    float("extrapolation_value", 0.0),
    text("nearest_mode", "round_prefer_floor"),
];
const RESIZE_18: &[Attribute] = &[
    NEAREST,
    text("coordinate_transformation_mode", "half_pixel"),
    float("cubic_coeff_a", -0.75),
    int("exclude_outside", 0),
    float("extrapolation_value", 0.0),
    text("nearest_mode", "round_prefer_floor"),
    int("antialias", 0),
    ints_attribute("axes"),
    text("keep_aspect_ratio_policy", "stretch"),
];

pub(super) const ROWS: &[Row] = &[
    make(
        "Upsample",
        7,
        1..=1,
        &[NEAREST, required("scales", Kind::Floats)],
        |node| {
            let resize = Resize::simple(node)?;
            let scales: Vec<f64> = node
                .floats("scales")
                .iter()
                .map(|s| f64::from(*s))
                .collect();
            one(move |x| resize.run(x.get(0)?, Some(scales.clone()), None, None))
        },
    ),
    make("Upsample", 9, 2..=2, &[NEAREST], |node| {
        let resize = Resize::simple(node)?;
        one(move |x| resize.run(x.get(0)?, Some(floats(x.get(1)?)?), None, None))
    }),
    make("Resize", 10, 2..=2, &[NEAREST], |node| {
        let resize = Resize::simple(node)?;
        one(move |x| resize.run(x.get(0)?, Some(floats(x.get(1)?)?), None, None))
    }),
    make(
        "GridSample",
        16,
        2..=2,
        &[int("align_corners", 0), text("mode", "bilinear"), PADDING],
        grid_sample,
    ),
    make(
        "GridSample",
        20,
        2..=2,
        &[int("align_corners", 0), text("mode", "linear"), PADDING],
        grid_sample,
    ),
    make(
        "AffineGrid",
        20,
        2..=2,
        &[int("align_corners", 0)],
        |node| {
            let options = nn::AffineGrid {
                align_corners: node.flag("align_corners"),
            };
            one(move |x| {
                nn::affine_grid(
                    x.get(0)?,
                    &sizes("AffineGrid", "a size", &x.ints(1)?)?,
                    options,
                )
            })
        },
    ),
    make("Resize", 11, 1..=4, RESIZE_11, |node| {
        by_inputs(Resize::new(node)?)
    }),
    make("Resize", 18, 1..=4, RESIZE_18, |node| {
        by_inputs(Resize::with_policy(node)?)
    }),
];
const PADDING: Attribute = text("padding_mode", "zeros");

fn grid_sample(node: &Node) -> Result<Call> {
    use nn::{GridSampleMode::*, PaddingMode};
    let modes = [
        ("bilinear", Bilinear),
        ("linear", Bilinear),
        ("nearest", Nearest),
        ("bicubic", Bicubic),
        ("cubic", Bicubic),
    ];
    let beyond = [
        ("zeros", PaddingMode::Zeros),
        ("border", PaddingMode::Border),
        ("reflection", PaddingMode::Reflection),
    ];
    let options = nn::GridSample {
        mode: node.choice("mode", &modes)?,
        padding_mode: node.choice("padding_mode", &beyond)?,
        align_corners: node.flag("align_corners"),
    };
    one(move |x| nn::grid_sample(x.get(0)?, x.get(1)?, options))
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}
#[derive(Clone, Copy, PartialEq)]
enum Coordinate {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    TfHalfPixel,
    CropAndResize,
}
#[derive(Clone, Copy, PartialEq)]
enum Round {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Stretch,
    NotLarger,
    NotSmaller,
}

struct Resize {
    mode: Mode,
    coordinate: Coordinate,
    round: Round,
    cubic: f64,
    exclude_outside: bool,
    beyond: f64,
    antialias: bool,
    axes: Option<Vec<i64>>,
    policy: Policy,
}

fn mode(node: &Node) -> Result<Mode> {
    node.choice(
        "mode",
        &[
            ("nearest", Mode::Nearest),
            ("linear", Mode::Linear),
            ("bilinear", Mode::Linear),
            ("cubic", Mode::Cubic),
        ],
    )
}

impl Resize {
    /// What there was before opset 11.
    fn simple(node: &Node) -> Result<Resize> {
        Ok(Resize {
            mode: mode(node)?,
            coordinate: Coordinate::Asymmetric,
            round: Round::Floor,
            cubic: -0.75,
            exclude_outside: false,
            beyond: 0.0,
            antialias: false,
            axes: None,
            policy: Policy::Stretch,
        })
    }
    fn new(node: &Node) -> Result<Resize> {
        use Coordinate::*;
        let coordinates = [
            ("half_pixel", HalfPixel),
            ("half_pixel_symmetric", HalfPixelSymmetric),
            ("pytorch_half_pixel", PytorchHalfPixel),
            ("align_corners", AlignCorners),
            ("asymmetric", Asymmetric),
            ("tf_half_pixel_for_nn", TfHalfPixel),
            ("tf_crop_and_resize", CropAndResize),
        ];
        let rounds = [
            ("round_prefer_floor", Round::PreferFloor),
            ("round_prefer_ceil", Round::PreferCeil),
            ("floor", Round::Floor),
            ("ceil", Round::Ceil),
        ];
        Ok(Resize {
            coordinate: node.choice("coordinate_transformation_mode", &coordinates)?,
            round: node.choice("nearest_mode", &rounds)?,
            cubic: node.float("cubic_coeff_a"),
            exclude_outside: node.flag("exclude_outside"),
            beyond: node.float("extrapolation_value"),
            ..Resize::simple(node)?
        })
    }
    fn with_policy(node: &Node) -> Result<Resize> {
        let policies = [
            ("stretch", Policy::Stretch),
            ("not_larger", Policy::NotLarger),
            ("not_smaller", Policy::NotSmaller),
        ];
        Ok(Resize {
            antialias: node.flag("antialias"),
            axes: node.maybe_ints("axes").map(Vec::from),
            policy: node.choice("keep_aspect_ratio_policy", &policies)?,
            ..Resize::new(node)?
        })
    }
}
fn by_inputs(resize: Resize) -> Result<Call> {
    one(move |x: &mut Inputs| {
        let list = |i: usize| x.maybe(i).filter(|t| !t.is_empty());
        let roi = list(1).map(floats).transpose()?;
        let scales = list(2).map(floats).transpose()?;
        let to = list(3).map(ints).transpose()?;
        resize.run(x.get(0)?, scales, to, roi)
    })
}

/// An axis that is resampled.
struct Axis {
    from: usize,
    to: usize,
    scale: f64,
    region: (f64, f64),
}

impl Resize {
    fn run(
        &self,
        x: &Tensor,
        scales: Option<Vec<f64>>,
        to: Option<Vec<i64>>,
        roi: Option<Vec<f64>>,
    ) -> Result<Tensor> {
        let axes: Vec<usize> = match &self.axes {
            Some(axes) => axes
                .iter()
                .map(|a| layout::axis(OP, *a as isize, x.rank()))
                .collect::<Result<_>>()?,
            None => (0..x.rank()).collect(),
        };
        let n = axes.len();
        let wrong = || Error::value(OP, message!("scales, sizes or roi are not for {n} axes"));
        if roi
            .as_ref()
            .is_some_and(|r| r.len() != 2 * n && self.coordinate == Coordinate::CropAndResize)
        {
            return Err(wrong());
        }
        let size_of = |k: usize| x.shape()[axes[k]];
        let mut plans: Vec<Axis> = Vec::new();
        let region = |k: usize| match &roi {
            Some(roi) if roi.len() == 2 * n => (roi[k], roi[n + k]),
            _ => (0.0, 1.0),
        };
        match (scales, to) {
            (_, Some(to)) => {
                let to = sizes(OP, "a size", &to)?;
                if to.len() != n {
                    return Err(wrong());
                }
                let ratio = |k: usize| to[k] as f64 / size_of(k).max(1) as f64;
                let all = (0..n).map(ratio);
                let one = match self.policy {
                    Policy::Stretch => None,
                    Policy::NotLarger => Some(all.fold(f64::INFINITY, f64::min)),
                    Policy::NotSmaller => Some(all.fold(0.0, f64::max)),
                };
                for k in 0..n {
                    let scale = one.unwrap_or_else(|| ratio(k));
                    let to = one.map_or(to[k], |scale| {
                        libm::floor(scale * size_of(k) as f64 + 0.5) as usize
                    });
                    plans.push(Axis {
                        from: size_of(k),
                        to,
                        scale,
                        region: region(k),
                    });
                }
            }
            (Some(scales), None) => {
                if scales.len() != n || scales.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
                    return Err(wrong());
                }
                for (k, scale) in scales.into_iter().enumerate() {
                    // as many as the float32 product has
                    let scale = f64::from(scale as f32);
                    let to = libm::floor(size_of(k) as f64 * scale) as usize;
                    plans.push(Axis {
                        from: size_of(k),
                        to,
                        scale,
                        region: region(k),
                    });
                }
            }
            (None, None) => return Err(Error::value(OP, "neither scales nor sizes are given")),
        }
        if let Some(y) = self.by_interpolation(x, &axes, &plans)? {
            return Ok(y);
        }
        let wide = match x.dtype() {
            _ if self.mode == Mode::Nearest => x.dtype(),
            d if d.is_float() => d.wide(),
            _ => DType::F32,
        };
        let mut y = x.astype(wide)?;
        for (k, plan) in axes.iter().zip(&plans) {
            if plan.from == plan.to
                && plan.scale == 1.0
                && self.coordinate != Coordinate::CropAndResize
            {
                continue;
            }
            if plan.from == 0 {
                return Err(Error::shape(OP, message!("axis {k} has no elements")));
            }
            y = self.along(&y, *k, plan)?;
        }
        match x.dtype().is_integer() && self.mode != Mode::Nearest {
            true => {
                let [low, high] = x.dtype().integers();
                ops::clip(ops::round(y)?, low as f64, high as f64)?.astype(x.dtype())
            }
            false => y.astype(x.dtype()),
        }
    }
    /// The common cases by the crate's function of images.
    fn by_interpolation(
        &self,
        x: &Tensor,
        axes: &[usize],
        plans: &[Axis],
    ) -> Result<Option<Tensor>> {
        let corners = self.coordinate == Coordinate::AlignCorners;
        let exact = |p: &Axis| p.scale == p.to as f64 / p.from.max(1) as f64;
        let still = |k: usize| {
            axes.iter()
                .position(|a| *a == k)
                .is_none_or(|i| plans[i].from == plans[i].to)
        };
        let fits = x.rank() == 4
            && x.dtype().is_float()
            && self.mode == Mode::Linear
            && !self.antialias
            && !self.exclude_outside
            && (corners || self.coordinate == Coordinate::HalfPixel)
            && still(0)
            && still(1)
            && plans.iter().all(|p| exact(p) && p.from > 0 && p.to > 1);
        if !fits {
            return Ok(None);
        }
        let to = |k: usize| {
            axes.iter()
                .position(|a| *a == k)
                .map_or(x.shape()[k], |i| plans[i].to)
        };
        let options = Interpolate {
            size: Some([to(2), to(3)].into()),
            mode: InterpolateMode::Bilinear,
            align_corners: corners,
            ..Default::default()
        };
        nn::interpolate(x, options).map(Some)
    }
    /// The place in the axis of an element of the result, and whether it is beyond its ends.
    fn place(&self, at: usize, axis: &Axis) -> (f64, bool) {
        let (x, from, scale) = (at as f64, axis.from as f64, axis.scale);
        let width = scale * from;
        let centre = (x + 0.5) / scale - 0.5;
        match self.coordinate {
            Coordinate::HalfPixel => (centre, false),
            Coordinate::PytorchHalfPixel if width == 1.0 => (-0.5, false),
            Coordinate::PytorchHalfPixel => (centre, false),
            Coordinate::HalfPixelSymmetric => {
                let adjustment = axis.to as f64 / width;
                (from / 2.0 * (1.0 - adjustment) + centre, false)
            }
            Coordinate::AlignCorners if width == 1.0 => (0.0, false),
            Coordinate::AlignCorners => (x * (from - 1.0) / (width - 1.0), false),
            Coordinate::Asymmetric => (x / scale, false),
            Coordinate::TfHalfPixel => ((x + 0.5) / scale, false),
            Coordinate::CropAndResize => {
                let (start, end) = axis.region;
                let along = match width == 1.0 {
                    true => (end - start) * (from - 1.0) / 2.0,
                    false => x * (end - start) * (from - 1.0) / (width - 1.0),
                };
                let place = along + start * (from - 1.0);
                (place, place < 0.0 || place > from - 1.0)
            }
        }
    }
    /// The weights of a filter whose taps begin at an offset from the element on the left; `ratio` is
    /// from 0, excluded, to 1.
    fn weights(&self, ratio: f64, scale: f64) -> (i64, Vec<f64>) {
        let scale = if self.antialias { scale.min(1.0) } else { 1.0 };
        let reach = if self.mode == Mode::Cubic { 2.0 } else { 1.0 };
        let first = libm::floor(-reach / scale) as i64 + 1;
        let count = 2 - 2 * first;
        let filter = |i: i64| {
            let d = libm::fabs((i as f64 - ratio) * scale);
            let a = self.cubic;
            match self.mode {
                Mode::Cubic if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
                Mode::Cubic if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
                Mode::Cubic => 0.0,
                _ => (1.0 - d).max(0.0),
            }
        };
        (first, (first..first + count).map(filter).collect())
    }
    fn along(&self, x: &Tensor, k: usize, axis: &Axis) -> Result<Tensor> {
        let last = axis.from as i64 - 1;
        let spread: Shape = (0..x.rank())
            .map(|i| if i == k { axis.to } else { 1 })
            .collect();
        let mut outside: Vec<bool> = fallible::with_capacity(axis.to)?;
        let mut nearest: Vec<i64> = fallible::with_capacity(axis.to)?;
        let mut taps: Vec<(Vec<i64>, Vec<f64>)> = Vec::new();
        for at in 0..axis.to {
            let (place, beyond) = self.place(at, axis);
            outside.push(beyond);
            if self.mode == Mode::Nearest {
                let rounded = match self.round {
                    Round::PreferFloor => libm::ceil(place - 0.5),
                    Round::PreferCeil => libm::floor(place + 0.5),
                    Round::Floor => libm::floor(place),
                    Round::Ceil => libm::ceil(place),
                };
                nearest.push((rounded as i64).clamp(0, last));
                continue;
            }
            let left = libm::ceil(place) as i64 - 1;
            let (first, mut weights) = self.weights(place - left as f64, axis.scale);
            let inside = |t: usize| (0..=last).contains(&(left + first + t as i64));
            if self.exclude_outside {
                for (t, weight) in weights.iter_mut().enumerate() {
                    if !inside(t) {
                        *weight = 0.0;
                    }
                }
            }
            if self.exclude_outside || self.antialias {
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= sum);
            }
            for (t, weight) in weights.into_iter().enumerate() {
                if t == taps.len() {
                    taps.push((
                        fallible::with_capacity(axis.to)?,
                        fallible::with_capacity(axis.to)?,
                    ));
                }
                taps[t].0.push((left + first + t as i64).clamp(0, last));
                taps[t].1.push(weight);
            }
        }
        let mut y = if self.mode == Mode::Nearest {
            ops::take(x, &Tensor::from_vec(nearest, axis.to)?, k)?
        } else {
            let mut sum: Option<Tensor> = None;
            for (at, weights) in taps {
                if weights.iter().all(|w| *w == 0.0) {
                    continue;
                }
                let weights = Tensor::from_vec(weights, axis.to)?
                    .astype(x.dtype())?
                    .reshape(&spread)?;
                let part =
                    ops::multiply(ops::take(x, &Tensor::from_vec(at, axis.to)?, k)?, &weights)?;
                sum = Some(match sum {
                    Some(sum) => ops::add(sum, part)?,
                    None => part,
                });
            }
            match sum {
                Some(sum) => sum,
                None => ops::take(x, &Tensor::zeros(axis.to, DType::I64)?, k)?,
            }
        };
        if outside.iter().any(|o| *o) {
            let outside = Tensor::from_slice(&outside, &spread[..])?;
            y = ops::where_(&outside, self.beyond, y)?;
        }
        Ok(y)
    }
}
