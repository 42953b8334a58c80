//! Resampling, an axis at a time ([`axis`]).

mod axis;

use super::super::call::{Call, Inputs, Node, floats, ints, one, sizes};
use super::{Attribute, Kind, Row, float, int, ints as ints_attribute, make, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout;
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
    /// Before operator set 11: up where there become fewer elements, else down.
    ByScale,
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
            round: Round::ByScale,
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
                    // as many as the product in float32 has, which exporters count with
                    let to = libm::floorf(size_of(k) as f32 * scale as f32) as usize;
                    plans.push(Axis {
                        from: size_of(k),
                        to,
                        scale: f64::from(scale as f32),
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
}
