//! The choice of the algorithm.

use super::*;

#[test]
fn plans_depend_on_sizes() {
    let plan =
        |x: &[usize], w: &[usize], options: Conv| nn::conv_plan(x, w, options, DType::F32).unwrap();
    let name = |x: &[usize], w: &[usize], options| plan(x, w, options).algorithm.name();
    assert_eq!(
        name(&[1, 64, 56, 56], &[256, 64, 1, 1], Conv::default()),
        "pointwise"
    );
    assert_eq!(
        name(
            &[1, 64, 56, 56],
            &[64, 1, 3, 3],
            Conv {
                groups: 64,
                ..Default::default()
            }
        ),
        "depthwise"
    );
    assert_eq!(
        name(
            &[1, 64, 14, 14],
            &[64, 4, 3, 3],
            Conv {
                groups: 16,
                ..Default::default()
            }
        ),
        "direct"
    );
    assert_eq!(
        name(
            &[1, 3, 224, 224],
            &[64, 3, 7, 7],
            Conv {
                stride: 2.into(),
                ..Default::default()
            }
        ),
        "implicit_gemm"
    );
    assert_eq!(
        name(
            &[1, 4, 9],
            &[4, 1, 3],
            Conv {
                groups: 4,
                dilation: 4.into(),
                ..Default::default()
            }
        ),
        "depthwise"
    );
    for channels in [16, 512, 4096] {
        let plan = plan(
            &[8, channels, 56, 56],
            &[64, channels, 3, 3],
            Conv::default(),
        );
        assert!((1..=8 << 20).contains(&plan.scratch), "{plan:?}");
        assert_eq!(plan.flops, 2 * 8 * 64 * channels * 9 * 54 * 54);
    }
    let strided = |padding| Conv {
        stride: 2.into(),
        padding,
        ..Default::default()
    };
    for (x, weight, padding) in [
        (
            &[1, 64, 512, 512][..],
            &[192, 64, 3, 6][..],
            nn::Padding::from([1, 2]),
        ),
        (&[16, 128, 8, 8, 8], &[256, 128, 5, 5, 5], 2.into()),
        (&[4, 64, 56, 56], &[128, 64, 11, 11], 5.into()),
    ] {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            let options = strided(padding.clone());
            if let Ok(plan) = nn::conv_plan(x, weight, options, dtype) {
                assert!((1..=8 << 20).contains(&plan.scratch), "{dtype} {plan:?}");
            }
        }
    }
    assert!(nn::conv_plan(&[1, 2], &[2, 2], None, DType::F32).is_err());
    assert!(nn::conv_plan(&[1, 3, 9, 9], &[2, 2, 3, 3], None, DType::F32).is_err());
    assert!(nn::conv_plan(&[1, 2, 9, 9], &[2, 2, 3, 3], None, DType::Bool).is_err());
}
