//! Files of both formats, in memory: round trips, damaged content.

#[cfg(feature = "std")]
mod disk;
mod npy_format;
mod safetensors_format;

use crate::common::Rng;
use flex::io::{npy, safetensors};
use flex::{DType, Error, Tensor};
use std::collections::BTreeMap;

/// The bytes of a contiguous tensor.
fn bytes(t: &Tensor) -> Vec<u8> {
    let t = t.contiguous().unwrap();
    if t.is_empty() {
        return vec![];
    }
    // SAFETY: contiguous, inside the storage (TENSOR1), initialised (STORAGE1).
    unsafe { std::slice::from_raw_parts(t.as_ptr(), t.len() * t.dtype().size()) }.to_vec()
}

/// Arbitrary bits; bools are 0 or 1.
fn arbitrary(shape: &[usize], dtype: DType) -> Tensor {
    let mut t = Tensor::zeros(shape, dtype).unwrap();
    let (start, len) = (t.as_mut_ptr().unwrap(), t.len() * dtype.size());
    for k in 0..len {
        let byte = (k * 37 + 11) as u8;
        // SAFETY: inside the storage of a tensor that is ours alone (TENSOR1, STORAGE3).
        unsafe {
            start
                .add(k)
                .write(if dtype.is_bool() { byte & 1 } else { byte })
        };
    }
    t
}

fn same(a: &Tensor, b: &Tensor) {
    assert_eq!((a.shape(), a.dtype()), (b.shape(), b.dtype()));
    assert!(bytes(a) == bytes(b), "{:?} {}", a.shape(), a.dtype());
}

fn no_metadata() -> safetensors::Metadata {
    BTreeMap::new()
}

/// The message of an error about a file's content.
#[track_caller]
fn wrong<T>(r: flex::Result<T>) -> String {
    match r {
        Err(Error::File { message, .. }) => message.into(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

const SHAPES: [&[usize]; 6] = [&[], &[0], &[1], &[7], &[3, 5], &[2, 0, 4]];

#[test]
fn every_dtype_and_shape_round_trips() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_available()) {
        for shape in SHAPES {
            let t = arbitrary(shape, dtype);
            if dtype.is_storage() {
                assert!(matches!(npy::write(&t),
                        Err(Error::DType { message, .. }) if message.contains("safetensors")));
            } else {
                same(&npy::parse(&npy::write(&t).unwrap()).unwrap(), &t);
            }
            if !dtype.safetensors().is_empty() {
                let file = safetensors::write([("a", &t)], &no_metadata()).unwrap();
                same(&safetensors::parse(&file).unwrap()["a"], &t);
            }
        }
    }
}

#[test]
fn views_are_written_in_row_major_order() {
    let t = arbitrary(&[4, 3, 2], DType::I32)
        .permute([2, 0, 1])
        .unwrap()
        .flip([0])
        .unwrap();
    same(&npy::parse(&npy::write(&t).unwrap()).unwrap(), &t);
    same(
        &safetensors::parse(&safetensors::write([("v", &t)], &no_metadata()).unwrap()).unwrap()["v"],
        &t,
    );
}

/// Files truncated at every length, and with random bytes changed: an error or a tensor, never a
/// panic or an access outside the file.
#[test]
fn truncated_and_corrupted_files_never_panic() {
    let (a, b) = (arbitrary(&[3, 2], DType::F32), arbitrary(&[5], DType::U8));
    let tensors = safetensors::write(
        [("a", &a), ("b", &b)],
        &BTreeMap::from([("k".into(), "v".into())]),
    )
    .unwrap();
    let array = npy::write(&a).unwrap();
    for n in 0..tensors.len() {
        wrong(safetensors::parse(&tensors[..n]));
    }
    for n in 0..array.len() {
        wrong(npy::parse(&array[..n]));
    }
    let mut random = Rng(12345);
    for round in 0..30_000 {
        let (mut t, mut n) = (tensors.clone(), array.clone());
        for _ in 0..1 + round % 4 {
            let (at, to) = (
                random.between(0, t.len() - 1),
                [
                    random.between(0, 255) as u8,
                    b'0' + random.between(0, 9) as u8,
                ][random.between(0, 1)],
            );
            t[at] = to;
            let k = n.len();
            n[at % k] = to;
        }
        if let Ok(all) = safetensors::parse(&t) {
            assert!(all.values().map(|t| bytes(t).len()).sum::<usize>() <= t.len());
        }
        if let Ok(t) = npy::parse(&n) {
            assert!(bytes(&t).len() <= n.len());
        }
    }
}
