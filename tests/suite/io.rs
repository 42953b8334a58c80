//! Files: round trips, what other programs write, hostile content, mapped files that are replaced.
#![cfg(feature = "std")]

use crate::common::Rng;
use flex::io::{npy, safetensors};
use flex::{DType, Error, Tensor};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file of the test's own, removed at its end.
struct Scratch(PathBuf);
impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("flex_io_{}_{name}", std::process::id())))
    }
    fn with(name: &str, bytes: &[u8]) -> Scratch {
        let s = Scratch::new(name);
        std::fs::write(&s.0, bytes).unwrap();
        s
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The bytes of a contiguous tensor.
fn bytes(t: &Tensor) -> Vec<u8> {
    let t = t.contiguous().unwrap();
    // SAFETY: contiguous, inside the storage (TENSOR1), initialised (STORAGE1).
    if t.is_empty() {
        vec![]
    } else {
        unsafe { std::slice::from_raw_parts(t.as_ptr(), t.len() * t.dtype().size()) }.to_vec()
    }
}
/// Any bits; bools are 0 or 1.
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
fn each_dtype_and_shape_comes_back() {
    let file = Scratch::new("round_trip");
    for dtype in DType::ALL.into_iter().filter(|d| d.is_available()) {
        for shape in SHAPES {
            let t = arbitrary(shape, dtype);
            if dtype.is_storage() {
                assert!(
                    matches!(npy::write(&t), Err(Error::DType { message, .. }) if message.contains("safetensors"))
                );
            } else {
                npy::save(&file.0, &t).unwrap();
                same(&npy::map(&file.0).unwrap(), &t);
                same(&npy::load(&file.0).unwrap(), &t);
                same(&npy::parse(&npy::write(&t).unwrap()).unwrap(), &t);
            }
            if !dtype.safetensors().is_empty() {
                safetensors::save(&file.0, [("a", &t)], &no_metadata()).unwrap();
                same(&safetensors::map(&file.0).unwrap()["a"], &t);
                same(&safetensors::load(&file.0).unwrap()["a"], &t);
                same(
                    &safetensors::parse(&safetensors::write([("a", &t)], &no_metadata()).unwrap())
                        .unwrap()["a"],
                    &t,
                );
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

#[test]
fn many_tensors_with_metadata() {
    let file = Scratch::new("many");
    let dtypes: Vec<DType> = DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.safetensors().is_empty())
        .collect();
    let named: Vec<(String, Tensor)> = dtypes
        .iter()
        .enumerate()
        .map(|(k, d)| {
            (
                format!("layer.{k}/\"{d}\" \u{e9}\\"),
                arbitrary(&[k, 3], *d),
            )
        })
        .collect();
    let metadata = BTreeMap::from([
        ("format".into(), "pt".into()),
        ("note \"quoted\"".into(), "line\nbreak".into()),
    ]);
    safetensors::save(&file.0, named.iter().map(|(n, t)| (n, t)), &metadata).unwrap();
    assert_eq!(safetensors::metadata(&file.0).unwrap(), metadata);
    for mmap in [true, false] {
        let loaded = if mmap {
            safetensors::map(&file.0)
        } else {
            safetensors::load(&file.0)
        };
        let loaded = loaded.unwrap();
        assert_eq!(loaded.len(), named.len());
        named.iter().for_each(|(n, t)| same(&loaded[n], t));
    }
    safetensors::save(&file.0, [("", &named[0].1); 0], &no_metadata()).unwrap();
    assert!(safetensors::map(&file.0).unwrap().is_empty());
}

#[test]
fn mapped_tensors_lie_in_the_file_and_survive_its_replacement() {
    let file = Scratch::new("mapped");
    let t = arbitrary(&[1000], DType::F32);
    safetensors::save(&file.0, [("w", &t)], &no_metadata()).unwrap();
    let mut w = safetensors::map(&file.0).unwrap().remove("w").unwrap();
    // files are little-endian: elsewhere they are read and turned
    let turned = cfg!(target_endian = "big");
    assert_eq!(w.storage().is_owned(), turned);
    assert_eq!(w.as_ptr() as usize % 64, 0);
    // onto the file that it is mapped from
    safetensors::save(&file.0, [("w", &w), ("again", &w)], &no_metadata()).unwrap();
    same(&w, &t);
    assert_eq!(safetensors::load(&file.0).unwrap().len(), 2);
    npy::save(&file.0, &w).unwrap();
    same(&w, &t);
    let lain = npy::map(&file.0).unwrap();
    assert!(
        lain.storage().is_owned() == turned && npy::load(&file.0).unwrap().storage().is_owned()
    );
    // a write copies, the file stays
    w.as_mut_slice::<f32>().unwrap()[0] = 5.0;
    same(&lain, &t);
    let folder = file.0.parent().unwrap();
    let name = file.0.file_name().unwrap().to_string_lossy().into_owned();
    let left: Vec<_> = folder
        .read_dir()
        .unwrap()
        .filter(|e| {
            e.as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains(&name)
        })
        .collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let file = Scratch::with("failed", b"old");
    let t = arbitrary(&[2], DType::F32);
    let twice = safetensors::save(&file.0, [("a", &t), ("a", &t)], &no_metadata());
    assert!(matches!(twice, Err(Error::Value { .. })));
    let twice = safetensors::save(
        &file.0,
        [("a", &t), ("a", &arbitrary(&[2], DType::U8))],
        &no_metadata(),
    );
    assert!(matches!(twice, Err(Error::Value { .. })));
    assert!(matches!(
        safetensors::save(&file.0, [("__metadata__", &t)], &no_metadata()),
        Err(Error::Value { .. })
    ));
    let complex = Tensor::zeros([1], DType::Complex128).unwrap();
    let e = safetensors::save(&file.0, [("z", &complex)], &no_metadata()).unwrap_err();
    assert!(
        matches!(e, Error::DType { .. })
            && e.to_string().contains("complex128")
            && e.to_string().contains("\"z\"")
    );
    assert_eq!(std::fs::read(&file.0).unwrap(), b"old");
}

#[test]
fn refusals_of_the_system_say_so() {
    let nowhere = Scratch::new("no_such_folder").0.join("x");
    for e in [
        npy::map(&nowhere).unwrap_err(),
        safetensors::load(&nowhere).map(drop).unwrap_err(),
        npy::save(&nowhere, &arbitrary(&[1], DType::U8)).unwrap_err(),
        npy::map(std::env::temp_dir()).unwrap_err(),
    ] {
        assert!(matches!(e, Error::Io { code: Some(_), .. }), "{e:?}");
    }
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_and_links_followed() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let t = arbitrary(&[10], DType::U8);
    let device = std::path::Path::new("/dev/null");
    npy::save(device, &t).unwrap();
    assert!(device.metadata().unwrap().file_type().is_char_device());
    assert!(wrong(npy::map(device)).contains("truncated"));

    let (file, link) = (Scratch::with("target", b"old"), Scratch::new("link"));
    std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file.0, &link.0).unwrap();
    npy::save(&link.0, &t).unwrap();
    assert!(link.0.symlink_metadata().unwrap().is_symlink());
    assert_eq!(
        file.0.metadata().unwrap().permissions().mode() & 0o777,
        0o640
    );
    same(&npy::map(&file.0).unwrap(), &t);
}

/// A file of this header and data.
fn npy_file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    out.extend(&(header.len() as u32).to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

#[cfg(feature = "ints")]
#[test]
fn npy_as_numpy_writes_it() {
    // np.save of np.arange(6, dtype='<i2').reshape(2, 3), to the last byte
    let mut expected =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }"
            .to_vec();
    expected.resize(127, b' ');
    expected.extend(b"\n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00");
    let t = Tensor::from_slice(&[0i16, 1, 2, 3, 4, 5], [2, 3]).unwrap();
    assert_eq!(npy::write(&t).unwrap(), expected);
    assert_eq!(
        npy::parse(&expected).unwrap().to_vec::<i16>().unwrap(),
        [0, 1, 2, 3, 4, 5]
    );
    for (shape, text) in [(&[][..], "()"), (&[3], "(3,)"), (&[0, 2, 1], "(0, 2, 1)")] {
        let header = npy::write(&Tensor::zeros(shape, DType::Bool).unwrap()).unwrap();
        let expected = format!("{{'descr': '|b1', 'fortran_order': False, 'shape': {text}, }}");
        assert!(
            header[10..].starts_with(expected.as_bytes()),
            "{}",
            String::from_utf8_lossy(&header)
        );
    }
    let bf16 = npy::write(&Tensor::zeros([2], DType::BF16).unwrap()).unwrap();
    assert!(bf16[10..].starts_with(b"{'descr': '<V2'"));
}

#[test]
fn npy_versions_orders_and_spellings() {
    let f =
        |version, header: &str, data: &[u8]| npy::parse(&npy_file(version, header, data)).unwrap();
    let (little, big) = ([1u8, 0, 0, 0, 2, 0, 0, 0], [0u8, 0, 0, 1, 0, 0, 0, 2]);
    for version in [1, 2, 3] {
        let t = f(
            version,
            "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
            &little,
        );
        assert_eq!(t.to_vec::<i32>().unwrap(), [1, 2]);
    }
    let t = f(
        1,
        "{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }",
        &big,
    );
    assert_eq!(t.to_vec::<i32>().unwrap(), [1, 2]);
    // the order of keys, the other quotes, Python 2's long integers, no comma at the end, bytes
    // behind the elements
    let t = f(
        1,
        " { \"shape\" : ( 2L , ) , \"fortran_order\":False, \"descr\":\"<i4\" } ",
        &[&little[..], b"more"].concat(),
    );
    assert_eq!(t.to_vec::<i32>().unwrap(), [1, 2]);
    // each half of a complex number is turned around by itself
    let parts: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let t = f(
        1,
        "{'descr': '>c8', 'fortran_order': False, 'shape': ()}",
        &parts,
    );
    assert_eq!(
        bytes(&t),
        [1.0f32, 2.0]
            .iter()
            .flat_map(|x| x.to_ne_bytes())
            .collect::<Vec<_>>()
    );
    // Fortran order is a view
    let t = f(
        1,
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}",
        &[0, 3, 1, 4, 2, 5],
    );
    assert_eq!((t.shape(), t.strides()), (&[2, 3][..], &[1, 2][..]));
    assert_eq!(t.to_vec::<u8>().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        f(
            2,
            "{'descr': '<V2', 'fortran_order': True, 'shape': (1,)}",
            &[0, 0]
        )
        .dtype(),
        DType::BF16
    );
}

#[test]
fn bad_npy_files_are_told_apart() {
    let f = |header: &str| wrong(npy::parse(&npy_file(2, header, &[0; 64])));
    let of = |descr: &str, shape: &str| {
        f(&format!(
            "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"
        ))
    };
    for (message, expected) in [
        (wrong(npy::parse(b"")), "truncated"),
        (
            wrong(npy::parse(b"not an npy file at all")),
            "doesn't begin with",
        ),
        (wrong(npy::parse(&npy_file(4, "{}", &[]))), "version 4"),
        (
            wrong(npy::parse(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")),
            "header of 4294967295 bytes",
        ),
        (of("'<f4'", "(17,)"), "takes 68 bytes, the file has 64"),
        (of("'<f4'", "(4611686018427387904, 4)"), "overflows"),
        (of("'<f4'", "(18446744073709551615,)"), "overflows"),
        (of("'<f4'", "(99999999999999999999,)"), "number too large"),
        (of("'<f4'", "(-1,)"), "size \"\""),
        (of("'<f4'", "(2"), "')' is missing"),
        (of("'<f4'", "3"), "'(' is missing"),
        (of("'|O'", "(1,)"), "no dtype \"|O\""),
        (of("'<M8[ns]'", "(1,)"), "no dtype"),
        (of("'<f16'", "(1,)"), "no dtype"),
        (of("'|V1'", "(1,)"), "no dtype"),
        (of("'<f1'", "(1,)"), "no dtype"),
        (of("''", "(1,)"), "no dtype"),
        (of("'\u{e9}4'", "(1,)"), "no dtype"),
        (of("[('a', '<f4')]", "(1,)"), "fields"),
        (of("'<f4", "(1,)"), "missing"),
        (f("{'descr': '<f4'}"), "fortran_order is missing"),
        (
            f("{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}"),
            "Maybe",
        ),
        (
            f("{'descr': '<f4', 'fortran_order': True, 'shape': (), 'x': 1}"),
            "unknown key",
        ),
        (
            f("{'descr': '<f4', 'fortran_order': True, 'shape': ()} tail"),
            "after the header's end",
        ),
        (
            f(&format!(
                "{{'descr': '<f4', 'fortran_order': True, 'shape': ({})}}",
                "1,".repeat(5000)
            )),
            "5000 axes",
        ),
        (f("\u{0}"), "missing"),
        (f(""), "missing"),
    ] {
        assert!(
            message.contains(expected),
            "{message:?} should say {expected:?}"
        );
    }
    let mut latin = npy_file(
        1,
        "{'descr': '<f4', 'fortran_order': True, 'shape': ()}",
        &[0; 4],
    );
    latin[20] = 0xe9;
    assert!(wrong(npy::parse(&latin)).contains("no text"));
}

/// A file of this header and so many bytes of data.
fn safetensors_file(header: &str, data: usize) -> Vec<u8> {
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header.as_bytes());
    out.extend((0..data).map(|k| k as u8));
    out
}

#[cfg(feature = "ints")]
#[test]
fn safetensors_as_others_write_it() {
    // unpadded, so the data begins at an odd place and is copied; keys in any order; spaces behind
    // the header
    let header = r#"{"b":{"data_offsets":[4,12],"shape":[2],"dtype":"F32"},"a":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}"#;
    for spaces in 0..9 {
        let file = Scratch::with(
            "others",
            &safetensors_file(&(header.to_string() + &" ".repeat(spaces)), 12),
        );
        for loaded in [
            safetensors::map(&file.0).unwrap(),
            safetensors::load(&file.0).unwrap(),
        ] {
            assert_eq!(loaded["a"].to_vec::<i16>().unwrap(), [0x0100, 0x0302]);
            assert_eq!(loaded["b"].shape(), [2]);
            assert_eq!(
                bytes(&loaded["b"]),
                if cfg!(target_endian = "big") {
                    vec![7, 6, 5, 4, 11, 10, 9, 8]
                } else {
                    (4..12).collect()
                }
            );
        }
    }
}

#[test]
fn static_files_stay_where_they_are() {
    #[repr(align(64))]
    struct Aligned<const N: usize>([u8; N]);
    static FILE: Aligned<76> =
        Aligned(*b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]}}         \x01\x02\x03\x04");
    let w = safetensors::from_static(&FILE.0)
        .unwrap()
        .remove("w")
        .unwrap();
    assert_eq!(w.to_vec::<u8>().unwrap(), [1, 2, 3, 4]);
    assert_eq!(w.as_ptr(), &FILE.0[72]);
}

/// Kernels move elements as integers of their width, so complex numbers need that alignment, not
/// that of their halves.
#[test]
#[cfg(feature = "complex")]
fn complex_numbers_on_half_their_width_are_copied_or_refused() {
    #[repr(align(64))]
    struct Aligned<const N: usize>([u8; N]);
    static HALVES: Aligned<20> = Aligned([
        0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40,
    ]);
    // words of 64 bits lie at multiples of 4 on some machines of 32: there nothing has to be
    // refused
    let whole = align_of::<u64>();
    match Tensor::from_static(&HALVES.0[4..], [2], DType::Complex64) {
        Ok(z) => assert_eq!((whole, z.as_ptr() as usize % whole), (4, 0)),
        Err(error) => assert!(
            whole == 8 && error.to_string().contains("aligned"),
            "{error}"
        ),
    }
    assert!(Tensor::from_static(&HALVES.0[4..], [4], DType::F32).is_ok());
    assert!(Tensor::from_static(&HALVES.0[..16], [2], DType::Complex64).is_ok());

    // a float32 first, so that the complex number behind it lies at 4 modulo 8 in whatever memory
    // holds the file
    let header = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"z":{"dtype":"C64","shape":[2],"data_offsets":[4,20]}}"#;
    let file: &'static [u8] = {
        let bytes = safetensors_file(header, 20);
        let start = (8 - (8 + header.len()) % 8) % 8;
        let room: Vec<u64> = vec![0; bytes.len() / 8 + 2];
        // SAFETY: the bytes of numbers, for as long as the program runs.
        let room = unsafe {
            std::slice::from_raw_parts_mut(room.leak().as_mut_ptr() as *mut u8, bytes.len() + 8)
        };
        room[start..start + bytes.len()].copy_from_slice(&bytes);
        &room[start..start + bytes.len()]
    };
    let z = safetensors::from_static(file).unwrap().remove("z").unwrap();
    assert_eq!(z.as_ptr() as usize % whole, 0);
    let mut expected: Vec<u8> = (4..20).collect();
    if cfg!(target_endian = "big") {
        expected.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    }
    assert_eq!(bytes(&z), expected);
}

#[test]
fn bad_safetensors_files_are_told_apart() {
    let of = |entry: &str, data| {
        wrong(safetensors::parse(&safetensors_file(
            &format!(r#"{{"w":{{{entry}}}}}"#),
            data,
        )))
    };
    let whole = |header: &str, data| wrong(safetensors::parse(&safetensors_file(header, data)));
    let two = |a: &str, b: &str, data| {
        let header = format!(
            r#"{{"a":{{"dtype":"U8","shape":[4],"data_offsets":{a}}},"b":{{"dtype":"U8","shape":[4],"data_offsets":{b}}}}}"#
        );
        wrong(safetensors::parse(&safetensors_file(&header, data)))
    };
    for (message, expected) in [
        (wrong(safetensors::parse(b"")), "truncated"),
        (wrong(safetensors::parse(&[0; 7])), "truncated"),
        (
            wrong(safetensors::parse(&[0xff; 100])),
            "header of 18446744073709551615 bytes",
        ),
        (
            wrong(safetensors::parse(&[3, 0, 0, 0, 0, 0, 0, 0, b'{'])),
            "header of 3 bytes",
        ),
        (wrong(safetensors::parse(&[0; 8])), "an object is expected"),
        (
            wrong(safetensors::parse(&safetensors_file("[]", 0))),
            "an object is expected",
        ),
        (
            wrong(safetensors::parse(&safetensors_file(
                &"[".repeat(100_000),
                0,
            ))),
            "an object is expected",
        ),
        (
            wrong(safetensors::parse(&safetensors_file("{\"a\":1}", 0))),
            "has no dtype",
        ),
        (
            wrong(safetensors::parse(&safetensors_file("{}", 1))),
            "the file has 1",
        ),
        (
            of(r#""dtype":"","shape":[1],"data_offsets":[0,16]"#, 16),
            "is not a dtype",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[0,3]"#, 3),
            "takes 4 bytes",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[4,0]"#, 4),
            "takes 4 bytes",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[0,4,8]"#, 8),
            "no pair",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[-4,0]"#, 8),
            "no pair",
        ),
        (
            of(r#""dtype":"F32","shape":[1.5],"data_offsets":[0,4]"#, 4),
            "no list of sizes",
        ),
        (
            of(r#""dtype":"F32","shape":[-1],"data_offsets":[0,4]"#, 4),
            "no list of sizes",
        ),
        (
            of(r#""dtype":"F32","shape":1,"data_offsets":[0,4]"#, 4),
            "no list of sizes",
        ),
        (
            of(
                r#""dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]"#,
                0,
            ),
            "overflows",
        ),
        (
            of(
                r#""dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551616]"#,
                0,
            ),
            "no pair",
        ),
        (
            of(
                r#""dtype":"F32","shape":[1],"data_offsets":[18446744073709551611,18446744073709551615]"#,
                0,
            ),
            "begins at",
        ),
        (
            of(r#""dtype":"F32","shape":[2],"data_offsets":[0,8]"#, 4),
            "the file has 4",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[0,4]"#, 8),
            "the file has 8",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[4,8]"#, 8),
            "begins at 4",
        ),
        (
            whole(
                r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#,
                1,
            ),
            "duplicate tensor",
        ),
        (
            whole(r#"{"__metadata__":{},"__metadata__":{}}"#, 0),
            "duplicate key \"__metadata__\"",
        ),
        (
            whole(r#"{"__metadata__":{"format":"pt","epoch":3}}"#, 0),
            "the metadata \"epoch\" is 3, not text",
        ),
        (
            whole(r#"{"__metadata__":["pt"]}"#, 0),
            "the metadata is no JSON object",
        ),
        (
            two("[0,4]", "[2,6]", 6),
            "begins at 2, the one before it ends at 4",
        ),
        (
            two("[0,4]", "[0,4]", 4),
            "begins at 0, the one before it ends at 4",
        ),
        (
            two("[0,4]", "[5,9]", 9),
            "begins at 5, the one before it ends at 4",
        ),
    ] {
        assert!(
            message.contains(expected),
            "{message:?} should say {expected:?}"
        );
    }
}

/// Files cut short anywhere, and with bytes changed anywhere: an error or a tensor, never a panic,
/// and no memory outside the file.
#[test]
fn truncated_and_corrupted_files() {
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
    let file = Scratch::new("corrupt");
    for n in (0..tensors.len()).step_by(17) {
        std::fs::write(&file.0, &tensors[..n]).unwrap();
        wrong(safetensors::map(&file.0));
        wrong(safetensors::load(&file.0));
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

#[test]
fn bools_of_any_byte_are_saved_as_0_and_1() {
    static ODD: [u8; 4] = [0, 1, 2, 255];
    let t = Tensor::from_static(&ODD, [4], DType::Bool).unwrap();
    assert!(npy::write(&t).unwrap().ends_with(b"\n\x00\x01\x01\x01"));
}
