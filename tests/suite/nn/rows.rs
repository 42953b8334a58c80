//! Softmax and the norms, row by row.

use super::*;

#[test]
fn softmax_matches_the_oracle() {
    for n in (1..70).chain([127, 128, 129, 1000, 4099]) {
        let x = tensor(&[3, n], n as u64);
        let want: Vec<f64> = doubles(&x).chunks(n).flat_map(softmax).collect();
        close(&nn::softmax(&x, 1).unwrap(), &want, 1e-6);
        let logs: Vec<f64> = want.iter().map(|x| x.ln()).collect();
        close(&nn::log_softmax(&x, -1).unwrap(), &logs, 2e-6);
        let columns = nn::softmax(&x.transpose(0, 1).unwrap(), 0).unwrap();
        close(&columns.transpose(0, 1).unwrap(), &want, 1e-6);
    }
}

#[test]
fn channels_have_the_bits_of_rows() {
    // more columns than are packed together, of few and many elements
    for (n, inner) in [(3, 2500), (21, 1100), (70, 520), (300, 130), (1000, 40)] {
        let x = tensor(&[2, n, inner], n as u64);
        let rows = x.permute([0, 2, 1]).unwrap().copy().unwrap();
        for f in [
            |x: &Tensor, axis| nn::softmax(x, axis),
            |x: &Tensor, axis| nn::log_softmax(x, axis),
        ] {
            let columns = f(&x, 1).unwrap().permute([0, 2, 1]).unwrap();
            let rows = f(&rows, 2).unwrap();
            assert!(
                columns.to_vec::<f32>().unwrap() == rows.to_vec::<f32>().unwrap(),
                "{n} {inner}"
            );
        }
    }
}

#[test]
fn softmax_propagates_infinities_and_nan() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = Tensor::from_slice(
        &[-inf, -inf, -inf, 0.0, 1e30, 0.0, nan, 0.0, -inf, 3.0],
        [5, 2],
    )
    .unwrap();
    close(
        &nn::softmax(&x, 1).unwrap(),
        &[
            f64::NAN,
            f64::NAN,
            0.0,
            1.0,
            1.0,
            0.0,
            f64::NAN,
            f64::NAN,
            0.0,
            1.0,
        ],
        0.0,
    );
    let empty = tensor(&[2, 0], 1);
    assert_eq!(nn::softmax(&empty, 1).unwrap().shape(), [2, 0]);
    assert!(matches!(
        nn::softmax(&x, 2),
        Err(flex::Error::Axis {
            op: "softmax",
            axis: 2,
            ..
        })
    ));
}

/// Long rows are split in chunks, for all threads if there are few rows: the bits are those of
/// whole rows.
#[test]
fn chunked_rows_match_whole_rows() {
    for n in [4095, 4096, 4097, 8192, 8193, 20_001] {
        let (x, w, b) = (tensor(&[3, n], 1), tensor(&[n], 2), tensor(&[n], 3));
        let wide = doubles(&x);
        let want: Vec<f64> = wide.chunks(n).flat_map(softmax).collect();
        let soft = nn::softmax(&x, 1).unwrap();
        let times = |v: &f64| v * n as f64;
        close(
            &flex::ops::multiply(&soft, n as f32).unwrap(),
            &want.iter().map(times).collect::<Vec<_>>(),
            2e-6,
        );
        let logs: Vec<f64> = want.iter().map(|v| v.ln()).collect();
        close(&nn::log_softmax(&x, 1).unwrap(), &logs, 2e-6);
        let (weight, bias) = (doubles(&w), doubles(&b));
        let norm = |row: &[f64], shift: bool| -> Vec<f64> {
            let mean = if shift {
                row.iter().sum::<f64>() / n as f64
            } else {
                0.0
            };
            let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (0..n)
                .map(|j| {
                    (row[j] - mean) / (var + 1e-3).sqrt() * weight[j]
                        + if shift { bias[j] } else { 0.0 }
                })
                .collect()
        };
        let layer = nn::layer_norm(
            &x,
            [n],
            nn::LayerNorm {
                weight: Some(&w),
                bias: Some(&b),
                eps: 1e-3,
            },
        )
        .unwrap();
        close(
            &layer,
            &wide
                .chunks(n)
                .flat_map(|row| norm(row, true))
                .collect::<Vec<_>>(),
            3e-6,
        );
        let rms = nn::rms_norm(
            &x,
            [n],
            nn::RmsNorm {
                weight: Some(&w),
                eps: Some(1e-3),
            },
        )
        .unwrap();
        close(
            &rms,
            &wide
                .chunks(n)
                .flat_map(|row| norm(row, false))
                .collect::<Vec<_>>(),
            3e-6,
        );

        // so many rows that none is split; and lines that are packed
        let bits = |t: &Tensor| {
            t.to_vec::<f32>()
                .unwrap()
                .into_iter()
                .map(f32::to_bits)
                .collect::<Vec<_>>()
        };
        let all = x
            .reshape([1, 3, n as isize])
            .unwrap()
            .broadcast_to([6, 3, n])
            .unwrap();
        assert_eq!(
            bits(&nn::softmax(&all, 2).unwrap().narrow(0, 4, 1).unwrap()),
            bits(&soft)
        );
        assert_eq!(
            bits(
                &nn::layer_norm(
                    &all,
                    [n],
                    nn::LayerNorm {
                        weight: Some(&w),
                        bias: Some(&b),
                        eps: 1e-3
                    }
                )
                .unwrap()
                .narrow(0, 4, 1)
                .unwrap()
            ),
            bits(&layer)
        );
        assert_eq!(
            bits(
                &nn::rms_norm(
                    &all,
                    [n],
                    nn::RmsNorm {
                        weight: Some(&w),
                        eps: Some(1e-3)
                    }
                )
                .unwrap()
                .narrow(0, 4, 1)
                .unwrap()
            ),
            bits(&rms)
        );
        let columns = nn::softmax(&x.transpose(0, 1).unwrap().copy().unwrap(), 0).unwrap();
        assert_eq!(bits(&columns.transpose(0, 1).unwrap()), bits(&soft));
    }
    // chunks of only minus infinities, and values that make the whole row NaN
    let (inf, n) = (f32::INFINITY, 20_000);
    let row = |k: usize, v: f32| {
        let mut row = vec![-inf; n];
        row[5000] = 1.0;
        row[k] = v;
        Tensor::from_slice(&row, [1, n]).unwrap()
    };
    let y = nn::softmax(&row(15_000, 1.0), 1)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!((0..n).all(|k| y[k] == if k == 5000 || k == 15_000 { 0.5 } else { 0.0 }));
    let y = nn::log_softmax(&row(15_000, 1.0), 1)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!((0..n).all(|k| if k == 5000 || k == 15_000 {
        (y[k] + 2f32.ln()).abs() < 1e-6
    } else {
        y[k] == -inf
    }));
    for x in [row(15_000, f32::NAN), row(15_000, inf), row(5000, -inf)] {
        assert!(
            nn::softmax(&x, 1)
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
                .iter()
                .all(|v| v.is_nan())
        );
        assert!(
            nn::log_softmax(&x, 1)
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
                .iter()
                .all(|v| v.is_nan())
        );
    }
}

#[test]
fn other_float_dtypes_match_float32() {
    for dtype in [DType::F16, DType::BF16, DType::F64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let x = tensor(&[4, 130], 3).astype(dtype).unwrap();
        let exact = x.astype(DType::F32).unwrap();
        let unit = match dtype {
            DType::F16 => 1e-3,
            DType::BF16 => 8e-3,
            _ => 1e-6,
        };
        let check = |got: Tensor, want: Tensor| {
            assert_eq!(got.dtype(), dtype);
            close(&got.astype(DType::F32).unwrap(), &doubles(&want), unit);
        };
        check(
            nn::softmax(&x, -1).unwrap(),
            nn::softmax(&exact, -1).unwrap(),
        );
        check(
            nn::layer_norm(&x, [130], ()).unwrap(),
            nn::layer_norm(&exact, [130], ()).unwrap(),
        );
        let rms = nn::RmsNorm {
            eps: Some(1e-5),
            ..Default::default()
        };
        check(
            nn::rms_norm(&x, [130], rms).unwrap(),
            nn::rms_norm(&exact, [130], rms).unwrap(),
        );
        let (long, exact_long) = (
            tensor(&[1, 9000], 4).astype(dtype).unwrap(),
            tensor(&[1, 9000], 4)
                .astype(dtype)
                .unwrap()
                .astype(DType::F32)
                .unwrap(),
        );
        check(
            nn::layer_norm(&long, [9000], ()).unwrap(),
            nn::layer_norm(&exact_long, [9000], ()).unwrap(),
        );
        let head = x.reshape([2, 10, 26]).unwrap();
        let exact = exact.reshape([2, 10, 26]).unwrap();
        let attend = |t: &Tensor| {
            nn::scaled_dot_product_attention(t, t, t, nn::Attention::default()).unwrap()
        };
        check(attend(&head), attend(&exact));
    }
}

#[test]
fn norms_match_the_oracle() {
    for n in [1, 2, 5, 63, 64, 65, 384, 1000] {
        let (x, w, b) = (tensor(&[7, n], 1), tensor(&[n], 2), tensor(&[n], 3));
        let (wide_w, wide_b) = (doubles(&w), doubles(&b));
        for (weight, bias) in [
            (None, None),
            (Some(&w), None),
            (None, Some(&b)),
            (Some(&w), Some(&b)),
        ] {
            let scale = |j: usize| weight.map_or(1.0, |_| wide_w[j]);
            let shift = |j: usize| bias.map_or(0.0, |_| wide_b[j]);
            let row = |row: &[f64]| -> Vec<f64> {
                let mean = row.iter().sum::<f64>() / n as f64;
                let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
                row.iter()
                    .enumerate()
                    .map(|(j, x)| (x - mean) / (var + 1e-3).sqrt() * scale(j) + shift(j))
                    .collect()
            };
            let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
            close(
                &nn::layer_norm(
                    &x,
                    [n],
                    nn::LayerNorm {
                        weight,
                        bias,
                        eps: 1e-3,
                    },
                )
                .unwrap(),
                &want,
                3e-6,
            );
        }
        let row = |row: &[f64]| -> Vec<f64> {
            let square = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
            row.iter()
                .enumerate()
                .map(|(j, x)| x / (square + 1e-6).sqrt() * wide_w[j])
                .collect()
        };
        let want: Vec<f64> = doubles(&x).chunks(n).flat_map(row).collect();
        close(
            &nn::rms_norm(
                &x,
                [n],
                nn::RmsNorm {
                    weight: Some(&w),
                    eps: Some(1e-6),
                },
            )
            .unwrap(),
            &want,
            3e-6,
        );
    }
    // two dimensions at once, and a strided operand
    let (x, w) = (tensor(&[4, 6, 5], 4), tensor(&[5, 6], 5));
    let view = x.transpose(1, 2).unwrap();
    let flat = view.copy().unwrap().reshape([4, 30]).unwrap();
    let want = nn::layer_norm(
        &flat,
        [30],
        nn::LayerNorm {
            weight: Some(&w.reshape([30]).unwrap()),
            ..Default::default()
        },
    )
    .unwrap();
    let got = nn::layer_norm(
        &view,
        [5, 6],
        nn::LayerNorm {
            weight: Some(&w),
            ..Default::default()
        },
    )
    .unwrap();
    assert_eq!(
        (got.shape(), got.to_vec::<f32>().unwrap()),
        (&[4, 5, 6][..], want.to_vec::<f32>().unwrap())
    );
    let error = nn::layer_norm(&x, [6], ()).unwrap_err().to_string();
    assert_eq!(
        error,
        "layer_norm: normalized_shape is [6]; it must be the last sizes of x (x: [4, 6, 5] float32)"
    );
}

/// A long row of 16-bit floats is computed in float32, yet written to the target in place.
#[cfg(all(feature = "half", feature = "ints"))] // compares bits as int16
#[test]
fn long_rows_of_halves_are_written_in_place() {
    let x = tensor(&[1, 100_000], 6).astype(flex::DType::BF16).unwrap();
    let mut out = x.copy().unwrap();
    let memory = out.as_ptr();
    nn::softmax_into(&x, 1, &mut out).unwrap();
    let bits = |t: &Tensor| {
        t.bitcast(flex::DType::I16)
            .unwrap()
            .to_vec::<i16>()
            .unwrap()
    };
    assert_eq!(
        (bits(&out), out.as_ptr()),
        (bits(&nn::softmax(&x, 1).unwrap()), memory)
    );
}

/// Several rows go through each step together: the bits are those of each row alone.
#[test]
fn grouped_rows_match_single_rows() {
    let m = 130;
    for n in [
        1, 2, 3, 7, 8, 16, 17, 31, 49, 64, 100, 255, 256, 300, 1024, 2049, 4096,
    ] {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            if !dtype.is_available() {
                continue;
            }
            let of = |shape: &[usize], seed| tensor(shape, seed).astype(dtype).unwrap();
            let (x, w, b) = (of(&[m, n], 1), of(&[n], 2), of(&[n], 3));
            let norms: [&dyn Fn(&Tensor) -> Tensor; 5] = [
                &|x| nn::softmax(x, 1).unwrap(),
                &|x| nn::log_softmax(x, 1).unwrap(),
                &|x| {
                    nn::layer_norm(
                        x,
                        [n],
                        nn::LayerNorm {
                            weight: Some(&w),
                            bias: Some(&b),
                            ..Default::default()
                        },
                    )
                    .unwrap()
                },
                &|x| {
                    nn::rms_norm(
                        x,
                        [n],
                        nn::RmsNorm {
                            weight: Some(&w),
                            eps: Some(1e-5),
                        },
                    )
                    .unwrap()
                },
                &|x| nn::normalize(x, nn::Length::default()).unwrap(),
            ];
            for (which, norm) in norms.iter().enumerate() {
                let all = norm(&x);
                for k in [0, 1, 19, 20, 63, 64, 65, 129] {
                    let alone = norm(&x.narrow(0, k, 1).unwrap());
                    assert_eq!(
                        exact(&all.narrow(0, k, 1).unwrap()),
                        exact(&alone),
                        "row {k} of {n} elements, {dtype:?}, norm {which}"
                    );
                }
            }
        }
    }
}
