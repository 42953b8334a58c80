//! Distinct elements and membership against naive oracles.
#![cfg(all(
    feature = "ints",
    feature = "f64",
    feature = "half",
    feature = "complex"
))]

use crate::common::{Rng, Value, layouts, random, special, tensor, values};
use flex::{DType, Scalar, Tensor, ops};

/// Few values, so that many are equal, and the special ones.
fn repeated(rng: &mut Rng, shape: &[usize], dtype: DType) -> Tensor {
    let special = special(dtype);
    let n: usize = shape.iter().product();
    let few: Vec<_> = (0..n)
        .map(|_| special[rng.between(0, special.len() - 1)])
        .collect();
    tensor(&few, shape, dtype)
}
/// The equality of elements: NaN equals nothing, both zeros are equal.
fn equal(a: &Value, b: &Value) -> bool {
    a == b
}
fn bits(v: &[Value]) -> Vec<String> {
    v.iter().map(|v| format!("{v:?}")).collect()
}

#[test]
fn unique_matches_the_oracle() {
    let mut rng = Rng(1);
    for dtype in DType::ALL.into_iter().filter(|d| !d.is_storage()) {
        for shape in [&[][..], &[0], &[1], &[60], &[7, 9], &[2, 0]] {
            let base = repeated(&mut rng, shape, dtype);
            let v = values(&base);
            // for each element the first index of an equal one; each NaN is distinct
            let first: Vec<usize> = (0..v.len())
                .map(|i| v.iter().position(|w| equal(w, &v[i])).unwrap_or(i))
                .collect();
            let first: Vec<usize> = (0..v.len())
                .map(|i| if equal(&v[i], &v[i]) { first[i] } else { i })
                .collect();
            let distinct = (0..v.len()).filter(|i| first[*i] == *i).count();
            for (name, x) in layouts(&base) {
                let u = ops::unique_all(&x).unwrap();
                assert_eq!(
                    (u.values.shape(), u.inverse.shape()),
                    (&[distinct][..], shape),
                    "{dtype} {name}"
                );
                let (uv, indices, inverse, counts) = (
                    values(&u.values),
                    values(&u.indices),
                    values(&u.inverse),
                    values(&u.counts),
                );
                for i in 0..v.len() {
                    let group = inverse[i].int() as usize;
                    assert_eq!(indices[group].int() as usize, first[i], "{dtype} {name}");
                }
                for (group, value) in uv.iter().enumerate() {
                    let at = indices[group].int() as usize;
                    assert_eq!(bits(&[*value]), bits(&[v[at]]), "{dtype} {name}");
                    assert_eq!(
                        counts[group].int() as usize,
                        first.iter().filter(|f| **f == at).count(),
                        "{dtype} {name}"
                    );
                }
                if !dtype.is_complex() {
                    assert!(
                        uv.windows(2).all(|w| w[0].float() < w[1].float()
                            || w[1].float().is_nan()
                            || w[0].int() < w[1].int()),
                        "{dtype} {name}"
                    );
                }
                let (same, counted) = ops::unique_counts(&x).unwrap();
                assert_eq!(
                    (bits(&values(&same)), values(&counted)),
                    (bits(&uv), counts),
                    "{dtype} {name}"
                );
                assert_eq!(
                    bits(&values(&ops::unique_values(&x).unwrap())),
                    bits(&uv),
                    "{dtype} {name}"
                );
                assert_eq!(
                    values(&ops::unique_inverse(&x).unwrap().1),
                    inverse,
                    "{dtype} {name}"
                );
            }
        }
    }
}

#[test]
fn isin_matches_the_oracle() {
    let mut rng = Rng(2);
    for dtype in DType::ALL
        .into_iter()
        .filter(|d| !d.is_complex() && !d.is_storage())
    {
        for n in [0, 1, 5] {
            let (x, elements) = (
                repeated(&mut rng, &[6, 7], dtype),
                repeated(&mut rng, &[n], dtype),
            );
            let e = values(&elements);
            let expected: Vec<Value> = values(&x)
                .iter()
                .map(|v| Value::Bool(e.iter().any(|e| equal(e, v))))
                .collect();
            for (name, x) in layouts(&x) {
                assert_eq!(
                    values(&ops::isin(&x, &elements).unwrap()),
                    expected,
                    "{dtype} {name} {n}"
                );
            }
        }
    }
    let c = random(&mut rng, &[2], DType::Complex64);
    assert!(matches!(ops::isin(&c, &c), Err(flex::Error::DType { .. })));
}

/// Elements that lie close together are looked up in a table, others are searched.
#[test]
fn isin_of_integers_near_and_far() {
    for dtype in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && d.is_integer())
    {
        let bits = 8 * dtype.size() as u32;
        let [lowest, highest] = match dtype.is_signed() {
            true => [-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1],
            false => [0, (1i128 << bits) - 1],
        };
        let at = |from: i128| (from..from + 40).step_by(3).collect::<Vec<_>>();
        for elements in [
            at(lowest),
            at(highest - 45),
            vec![lowest, highest],
            vec![highest],
        ] {
            let mut x: Vec<i128> = elements.iter().flat_map(|e| [e - 1, *e, e + 1]).collect();
            x.extend([lowest, highest, lowest + 50]);
            x.retain(|x| (lowest..=highest).contains(x));
            let numbers = |x: &[i128]| {
                let numbers: Vec<Scalar> = x.iter().map(|x| Scalar::Int(*x)).collect();
                tensor(&numbers, &[x.len()], dtype)
            };
            let want: Vec<Value> = x
                .iter()
                .map(|x| Value::Bool(elements.contains(x)))
                .collect();
            for (name, x) in layouts(&numbers(&x)) {
                let found = ops::isin(&x, &numbers(&elements)).unwrap();
                assert_eq!(values(&found), want, "{dtype} {name} {elements:?}");
            }
        }
    }
}
