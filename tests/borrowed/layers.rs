//! Layers of models on borrowed memory give the same bits as on owned memory of the same layout.

use super::{borrowed, bytes, numbers};
use flex::nn::{self, Conv, ConvTranspose, DeformConv};
use flex::{DType, Result, Tensor, ops};

/// Returns an operand of the given shape.
type Given<'a> = &'a dyn Fn(&[usize]) -> Tensor;
type Layer = fn(Given) -> Result<Vec<Tensor>>;

/// Operations of models, one for each kernel that locates its elements itself.
const LAYERS: [(&str, Layer); 21] = [
    ("pointwise", |t| {
        let y = nn::conv2d(&t(&[2, 5, 3, 4]), &t(&[9, 5, 1, 1]), None)?;
        Ok(vec![y])
    }),
    ("implicit products", |t| {
        let options = Conv {
            stride: [2, 1].into(),
            padding: [1, 2].into(),
            dilation: [1, 2].into(),
            bias: Some(&t(&[9])),
            ..Default::default()
        };
        let y = nn::conv2d(&t(&[1, 3, 6, 7]), &t(&[9, 3, 3, 3]), options)?;
        Ok(vec![y])
    }),
    ("few channels", |t| {
        let options = |groups| Conv {
            padding: 1.into(),
            groups,
            ..Default::default()
        };
        Ok(vec![
            nn::conv2d(&t(&[1, 4, 6, 5]), &t(&[4, 1, 3, 3]), options(4))?,
            nn::conv2d(&t(&[1, 4, 6, 5]), &t(&[4, 2, 3, 3]), options(2))?,
        ])
    }),
    ("Winograd", |t| {
        let padding = || Conv {
            padding: 1.into(),
            ..Default::default()
        };
        Ok(vec![
            nn::conv2d(&t(&[1, 16, 9, 13]), &t(&[17, 16, 3, 3]), same())?,
            nn::conv3d(&t(&[1, 18, 2, 5, 9]), &t(&[16, 18, 2, 3, 3]), padding())?,
        ])
    }),
    ("conv_transpose2d", |t| {
        let options = || ConvTranspose {
            stride: [2, 1].into(),
            padding: [0, 1].into(),
            output_padding: [1, 0].into(),
            dilation: [1, 2].into(),
            ..Default::default()
        };
        Ok(vec![
            nn::conv_transpose2d(&t(&[1, 4, 3, 4]), &t(&[4, 5, 3, 3]), options())?,
            nn::conv_transpose2d(&t(&[1, 1, 3, 4]), &t(&[1, 1, 3, 3]), options())?,
        ])
    }),
    ("deform_conv2d", |t| {
        let mask = t(&[1, 9, 4, 5]);
        let options = DeformConv {
            padding: 1.into(),
            mask: Some(&mask),
            ..Default::default()
        };
        let (x, offset, w) = (t(&[1, 4, 4, 5]), t(&[1, 18, 4, 5]), t(&[3, 4, 3, 3]));
        let y = nn::deform_conv2d(&x, &offset, &w, options)?;
        Ok(vec![y])
    }),
    ("conv2d's gradients", |t| {
        let all = |channels: usize, outputs: usize| {
            let (x, w) = (t(&[2, channels, 4, 5]), t(&[outputs, channels, 3, 3]));
            nn::grad::conv2d(&t(&[2, outputs, 4, 5]), &x, &w, same())
        };
        Ok([all(2, 9)?, all(9, 2)?].concat())
    }),
    ("depthwise gradients", |t| {
        let options = Conv {
            groups: 4,
            ..same()
        };
        let (grad, x, w) = (t(&[2, 4, 4, 5]), t(&[2, 4, 4, 5]), t(&[4, 1, 3, 3]));
        Ok(nn::grad::conv2d(&grad, &x, &w, options)?.into())
    }),
    ("deform_conv2d's gradients", |t| {
        let options = DeformConv {
            padding: 1.into(),
            ..Default::default()
        };
        let (x, offset, w) = (t(&[1, 4, 3, 4]), t(&[1, 18, 3, 4]), t(&[3, 4, 3, 3]));
        let all = nn::grad::deform_conv2d(&t(&[1, 3, 3, 4]), &x, &offset, &w, options)?;
        Ok(all.into())
    }),
    ("max_pool2d", |t| {
        let (x, options) = (t(&[2, 2, 5, 6]), || nn::MaxPool {
            stride: Some(2.into()),
            padding: 1.into(),
            ..Default::default()
        });
        let (y, places) = nn::max_pool2d_with_indices(&x, 3, options())?;
        let back = nn::grad::max_pool2d(&t(y.shape()), &places, x.shape())?;
        Ok(vec![nn::max_pool2d(&x, 3, options())?, y, places, back])
    }),
    ("avg_pool2d", |t| {
        let y = nn::avg_pool2d(&t(&[2, 2, 5, 6]), [2, 3], None)?;
        let whole = nn::adaptive_avg_pool2d(&t(&[2, 2, 5, 6]), [2, 4])?;
        Ok(vec![y, whole])
    }),
    ("interpolate", |t| {
        use nn::InterpolateMode::{Bicubic, Bilinear, Nearest};
        let to = |mode| {
            let options = nn::Interpolate {
                size: Some([7, 9].into()),
                mode,
                ..Default::default()
            };
            nn::interpolate(&t(&[1, 2, 4, 5]), options)
        };
        Ok(vec![to(Nearest)?, to(Bilinear)?, to(Bicubic)?])
    }),
    ("grid_sample", |t| {
        let (x, grid) = (t(&[1, 3, 4, 5]), t(&[1, 3, 9, 2]));
        Ok(vec![nn::grid_sample(&x, &grid, ())?])
    }),
    ("the gradient of grid_sample", |t| {
        let of = |channels: usize| {
            let (x, grid) = (t(&[1, channels, 4, 5]), t(&[1, 3, 9, 2]));
            nn::grad::grid_sample(&t(&[1, channels, 3, 9]), &x, &grid, ())
        };
        Ok([of(3)?, of(5)?].concat())
    }),
    ("pad", |t| {
        let padded = |mode| nn::pad(&t(&[2, 3, 4, 5]), &[1, 2, 3, 0], mode);
        Ok(vec![
            padded(nn::PadMode::Reflect)?,
            padded(nn::PadMode::Circular)?,
        ])
    }),
    ("unfold and fold", |t| {
        let y = nn::unfold(&t(&[1, 2, 4, 5]), [2, 3], nn::Unfold::default())?;
        let back = nn::fold(&t(&[1, 12, 9]), [4, 5], [2, 3], nn::Unfold::default())?;
        Ok(vec![y, back])
    }),
    ("norms by channels", |t| {
        let (x, w) = (t(&[2, 4, 3, 5]), t(&[4]));
        let options = || nn::ChannelNorm {
            weight: Some(&w),
            ..Default::default()
        };
        Ok(vec![
            nn::batch_norm(&x, None, options())?,
            nn::group_norm(&x, 2, options())?,
        ])
    }),
    ("attention", |t| {
        let of = |queries: usize, mask: &[usize]| {
            let mask = t(mask);
            let options = nn::Attention {
                mask: Some(&mask),
                scale: SCALE,
                ..Default::default()
            };
            let (q, k) = (t(&[2, 2, queries, 8]), t(&[2, 1, 7, 8]));
            nn::scaled_dot_product_attention(&q, &k, &t(&[2, 1, 7, 5]), options)
        };
        Ok(vec![of(9, &[9, 7])?, of(1, &[2, 2, 1, 7])?])
    }),
    ("attention's gradients", |t| {
        let (grad, q) = (t(&[2, 5, 8]), t(&[2, 5, 8]));
        let (k, v) = (t(&[2, 7, 8]), t(&[2, 7, 8]));
        let options = nn::Attention {
            causal: true,
            align: Some(nn::Align::LowerRight),
            scale: SCALE,
            ..Default::default()
        };
        let all = nn::grad::scaled_dot_product_attention(&grad, &q, &k, &v, options)?;
        Ok(all.into())
    }),
    ("rotary_embedding", |t| {
        let (x, cos, sin) = (t(&[1, 2, 3, 8]), t(&[3, 4]), t(&[3, 4]));
        Ok(vec![nn::rotary_embedding(&x, &cos, &sin, ())?])
    }),
    ("lstm", |t| {
        let (u, w, b) = (t(&[12, 5]), t(&[12, 3]), t(&[12]));
        let (y, h, c) = nn::lstm(&t(&[3, 2, 5]), None, &[&u, &w, &b, &b], ())?;
        Ok(vec![y, h, c])
    }),
];
/// Explicit, since the default takes a square root by inline assembly, which Miri does not support.
const SCALE: Option<f64> = Some(0.25);
fn same<'a>() -> Conv<'a> {
    Conv {
        padding: 1.into(),
        ..Default::default()
    }
}

#[test]
fn layers_read_borrowed_memory() {
    let fractions = |shape: &[usize], dtype| {
        let t = ops::multiply(numbers(shape, DType::F32), 0.0625).unwrap();
        t.astype(dtype).unwrap()
    };
    let dtypes: &[DType] = if cfg!(miri) {
        &[DType::F32]
    } else {
        &[DType::F32, DType::BF16]
    };
    for dtype in dtypes.iter().copied().filter(|d| d.is_available()) {
        for (name, layer) in LAYERS {
            for reversed in [false, true] {
                // row-major, or the first axis innermost
                let run = |lend: fn(&Tensor) -> Tensor| {
                    let given = |shape: &[usize]| {
                        let t = fractions(shape, dtype);
                        let axes: Vec<usize> = (0..shape.len()).rev().collect();
                        if !reversed {
                            return lend(&t);
                        }
                        let inner = lend(&t.permute(&axes).unwrap());
                        inner.permute(&axes).unwrap()
                    };
                    layer(&given).unwrap()
                };
                let own = run(|t| t.contiguous().unwrap());
                let lent = run(|t| borrowed(t, 8));
                for (k, (a, b)) in lent.iter().zip(&own).enumerate() {
                    let same = a.shape() == b.shape() && bytes(a) == bytes(b);
                    assert!(same, "{name} {dtype}, result {k}, reversed: {reversed}");
                }
            }
        }
    }
}
