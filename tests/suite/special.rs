//! Special functions at values computed with 40 digits. The comparison with SciPy is in tests/python.

use flex::{Error, Result, Tensor, ops};

type Function = fn(&Tensor) -> Result<Tensor>;

#[test]
fn special_functions_have_known_values() {
    let table: [(Function, &[(f64, f64)]); 7] = [
        (
            ops::lgamma,
            &[
                (-0.5, 1.2655121234846454),
                (-10.3, -14.457515440024208),
                (1e-300, 690.7755278982137),
                (1.0000001, -5.772155829918507e-8),
                (0.0, f64::INFINITY),
            ],
        ),
        (
            ops::digamma,
            &[
                (1.0, -0.5772156649015329),
                (0.5, -1.9635100260214235),
                (-2.5, 1.103156640645243),
                (0.0, f64::NEG_INFINITY),
            ],
        ),
        (
            ops::erfinv,
            &[
                (0.5, 0.4769362762044699),
                (1.0, f64::INFINITY),
                (-1.0, f64::NEG_INFINITY),
            ],
        ),
        (
            ops::i0,
            &[
                (1.0, 1.2660658777520082),
                (0.0, 1.0),
                (-1000.0, f64::INFINITY),
            ],
        ),
        (
            ops::i0e,
            &[(1.0, 0.46575960759364043), (f64::INFINITY, 0.0)],
        ),
        (ops::i1, &[(0.5, 0.2578943053908963), (-1e-200, -5e-201)]),
        (
            ops::i1e,
            &[(1.0, 0.2079104153497085), (-1.0, -0.2079104153497085)],
        ),
    ];
    for (k, (f, values)) in table.into_iter().enumerate() {
        for (x, expected) in values {
            let y = f(&Tensor::from([*x])).unwrap().to_vec::<f64>().unwrap()[0];
            let close = (y - expected).abs() <= 16.0 * f64::EPSILON * expected.abs();
            assert!(close || y == *expected, "{k}: {x} {y} {expected}");
        }
        assert!(
            f(&Tensor::from([f64::NAN]))
                .unwrap()
                .to_vec::<f64>()
                .unwrap()[0]
                .is_nan()
        );
        let bytes = Tensor::from([1.0f32]).astype(flex::DType::F8E4M3);
        if let Ok(bytes) = bytes {
            assert!(matches!(f(&bytes), Err(Error::DType { .. })));
        }
    }
    assert!(
        ops::digamma(&Tensor::from([-3.0f64]))
            .unwrap()
            .to_vec::<f64>()
            .unwrap()[0]
            .is_nan()
    );
}
