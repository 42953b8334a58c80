//! Files of arbitrary content: they are read or refused, identically from memory, from a file and
//! from a mapping; tensors round-trip; nothing panics, and memory depends on the actual size, not
//! on what a header claims (libFuzzer's limits check that).
#![no_main]

use flex::io::{npy, safetensors};
use flex::{Error, Result, Tensor};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;

/// The bytes of a tensor; bools as 0 or 1, since in memory any nonzero byte is true.
fn bytes(t: &Tensor) -> Vec<u8> {
    let t = t.contiguous().unwrap();
    if t.is_empty() {
        return vec![];
    }
    // SAFETY: contiguous, inside the storage (TENSOR1), initialised (STORAGE1).
    let bytes = unsafe { std::slice::from_raw_parts(t.as_ptr(), t.len() * t.dtype().size()) };
    if t.dtype().is_bool() { bytes.iter().map(|b| (*b != 0) as u8).collect() } else { bytes.to_vec() }
}
fn same(a: &Tensor, b: &Tensor) {
    assert_eq!((a.shape(), a.dtype()), (b.shape(), b.dtype()));
    assert!(bytes(a) == bytes(b));
}
/// A reader's errors concern the file or a lack of memory.
fn read<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::File { .. } | Error::Memory { .. } | Error::DType { .. }) => None,
        Err(other) => panic!("{other:?}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((which, content)) = data.split_first() else { return };
    let path = PathBuf::from(format!("/dev/shm/flex-fuzz-{}", std::process::id()));
    fs::write(&path, content).unwrap();
    if which % 2 == 0 {
        let parsed = read(npy::parse(content));
        for mapped in [false, true] {
            // SAFETY: nobody writes to the file while tensors of it live (MAP1).
            let loaded = read(if mapped { unsafe { npy::map(&path) } } else { npy::load(&path) });
            assert_eq!(loaded.is_some(), parsed.is_some());
            loaded.iter().zip(&parsed).for_each(|(a, b)| same(a, b));
        }
        if let Some(t) = parsed {
            same(&npy::parse(&npy::write(&t).unwrap()).unwrap(), &t);
        }
    } else {
        let (parsed, metadata) = (read(safetensors::parse(content)), read(safetensors::parse_metadata(content)));
        assert!(parsed.is_none() || metadata.is_some());
        for mapped in [false, true] {
            // SAFETY: as above.
            let loaded = read(if mapped { unsafe { safetensors::map(&path) } } else { safetensors::load(&path) });
            assert_eq!(loaded.as_ref().map(|l| l.len()), parsed.as_ref().map(|p| p.len()));
            for (a, b) in loaded.iter().flat_map(|l| l.iter()).zip(parsed.iter().flat_map(|p| p.iter())) {
                assert_eq!(a.0, b.0);
                same(a.1, b.1);
            }
        }
        if let (Some(tensors), Some(metadata)) = (parsed, metadata) {
            let written = safetensors::write(tensors.iter().map(|(name, t)| (name.as_str(), t)), &metadata).unwrap();
            let again = safetensors::parse(&written).unwrap();
            assert!(again.keys().eq(tensors.keys()));
            again.values().zip(tensors.values()).for_each(|(a, b)| same(a, b));
            assert_eq!(safetensors::parse_metadata(&written).unwrap(), metadata);
        }
    }
    fs::remove_file(&path).unwrap();
});
