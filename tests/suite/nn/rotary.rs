//! Rotary embeddings, compared with rotating pairs one by one in `f64`.

use super::*;
use flex::nn::{Rotary, RotaryTables};

/// The rotation of `x`, `[lead, tokens, dim]`, with token positions `position(lead, token)`.
fn turned(
    x: &[f64],
    [lead, tokens, dim]: [usize; 3],
    pairs: usize,
    interleaved: bool,
    position: impl Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let mut y = x.to_vec();
    for l in 0..lead {
        for t in 0..tokens {
            for i in 0..pairs {
                let angle =
                    position(l, t) as f64 * 10_000f64.powf(-2.0 * i as f64 / (2 * pairs) as f64);
                let at = (l * tokens + t) * dim;
                let [a, b] = if interleaved {
                    [at + 2 * i, at + 2 * i + 1]
                } else {
                    [at + i, at + pairs + i]
                };
                y[a] = x[a] * angle.cos() - x[b] * angle.sin();
                y[b] = x[b] * angle.cos() + x[a] * angle.sin();
            }
        }
    }
    y
}

#[test]
fn pairs_are_rotated_by_the_angle_of_their_position() {
    for (dim, pairs) in [(2, 1), (8, 4), (64, 32), (40, 10), (7, 3), (5, 0)] {
        let (cos, sin) = nn::rotary_tables(50, 2 * pairs, RotaryTables::default()).unwrap();
        let x = tensor(&[2, 3, 9, dim], 1);
        let sizes = [6, 9, dim];
        for interleaved in [false, true] {
            let run = |x: &Tensor, positions: Option<&Tensor>, offset| {
                let options = Rotary {
                    interleaved,
                    positions,
                    offset,
                };
                nn::rotary_embedding(x, &cos, &sin, options).unwrap()
            };
            let want = turned(&doubles(&x), sizes, pairs, interleaved, |_, t| t + 11);
            close(&run(&x, None, 11), &want, 1e-6);
            // strides do not matter
            let strided = x.transpose(1, 3).unwrap().copy().unwrap();
            let strided = strided.transpose(1, 3).unwrap();
            let bits = |t: Tensor| t.to_vec::<f32>().unwrap();
            assert_eq!(bits(run(&strided, None, 11)), bits(run(&x, None, 11)));
            // positions for each sequence, and positions shared by all
            let p: Vec<i64> = (0..18).map(|i| (i * 7 + 3) % 50).collect();
            let own = Tensor::from_slice(&p, [2, 9]).unwrap();
            let want = turned(&doubles(&x), sizes, pairs, interleaved, |l, t| {
                p[l / 3 * 9 + t] as usize
            });
            close(&run(&x, Some(&own), 0), &want, 1e-6);
            let shared = Tensor::from_slice(&p[..9], [9]).unwrap();
            let want = turned(&doubles(&x), sizes, pairs, interleaved, |_, t| {
                p[t] as usize
            });
            close(&run(&x, Some(&shared), 0), &want, 1e-6);
            // tables gathered beforehand
            let rows = |t: &Tensor| flex::ops::take(t, &own, 0isize).unwrap();
            let options = Rotary {
                interleaved,
                ..Default::default()
            };
            let y = nn::rotary_embedding(&x, &rows(&cos), &rows(&sin), options).unwrap();
            assert_eq!(bits(y), bits(run(&x, Some(&own), 0)));
        }
    }
}

#[cfg(feature = "half")]
#[test]
fn narrow_floats_are_rotated_in_float32() {
    let (cos, sin) = nn::rotary_tables(20, 16, RotaryTables::default()).unwrap();
    for dtype in [DType::F16, DType::BF16] {
        let x = tensor(&[3, 20, 24], 1).astype(dtype).unwrap();
        let got = nn::rotary_embedding(&x, &cos, &sin, Rotary::default()).unwrap();
        let wide = x.astype(DType::F32).unwrap();
        let want = nn::rotary_embedding(&wide, &cos, &sin, Rotary::default()).unwrap();
        let bits = |t: &Tensor| t.astype(DType::F32).unwrap().to_vec::<f32>().unwrap();
        assert_eq!(bits(&got), bits(&want.astype(dtype).unwrap()));
    }
}

#[test]
fn tables_are_cosines_and_sines() {
    let options = RotaryTables {
        base: 500.0,
        scaling: 4.0,
    };
    let (cos, sin) = nn::rotary_tables(100, 6, options).unwrap();
    let (cos, sin) = (doubles(&cos), doubles(&sin));
    for p in 0..100 {
        for i in 0..3 {
            let angle = p as f64 / 4.0 * 500f64.powf(-2.0 * i as f64 / 6.0);
            assert!((cos[p * 3 + i] - angle.cos()).abs() < 1e-7);
            assert!((sin[p * 3 + i] - angle.sin()).abs() < 1e-7);
        }
    }
    assert_eq!(nn::rotary_tables(0, 6, options).unwrap().0.shape(), [0, 3]);
}

#[test]
fn rotary_errors_name_the_parameter() {
    let (cos, sin) = nn::rotary_tables(8, 4, RotaryTables::default()).unwrap();
    let x = tensor(&[2, 5, 4], 1);
    let error = |x: &Tensor, cos: &Tensor, options| {
        nn::rotary_embedding(x, cos, &sin, options)
            .unwrap_err()
            .to_string()
    };
    let late = Rotary {
        offset: 4,
        ..Default::default()
    };
    assert!(
        error(&x, &cos, late).contains("8 rows, for 5 tokens from position 4 on (x: [2, 5, 4]"),
        "{}",
        error(&x, &cos, late)
    );
    let narrow = tensor(&[5, 3], 1);
    assert!(error(&narrow, &cos, Rotary::default()).contains("2 pairs need more than 3 elements"));
    let other = tensor(&[8, 1], 1);
    assert!(error(&x, &other, Rotary::default()).contains("cos and sin differ in shape"));
    let flags = flex::ops::greater(&x, 0.0).unwrap();
    assert!(error(&flags, &cos, Rotary::default()).starts_with("rotary_embedding: "));
    let positions = Tensor::from_slice(&[0i64, 1, 2, 3, 8], [5]).unwrap();
    let beyond = Rotary {
        positions: Some(&positions),
        ..Default::default()
    };
    assert_eq!(
        error(&x, &cos, beyond),
        "rotary_embedding: index 8 is out of range for axis 0 of size 8"
    );
    let tables = |dim, options| nn::rotary_tables(4, dim, options).unwrap_err().to_string();
    assert_eq!(
        tables(3, RotaryTables::default()),
        "rotary_tables: dim is 3; it must be even"
    );
    let base = RotaryTables {
        base: f64::NAN,
        ..Default::default()
    };
    assert_eq!(
        tables(4, base),
        "rotary_tables: base is NaN; it must be positive and finite"
    );
}
