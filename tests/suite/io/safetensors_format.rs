//! safetensors: files that other programs write, static files, alignment, and the errors of
//! malformed headers.

use super::*;

/// A file of this header and so many bytes of data.
fn safetensors_file(header: &str, data: usize) -> Vec<u8> {
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header.as_bytes());
    out.extend((0..data).map(|k| k as u8));
    out
}

#[cfg(feature = "ints")]
#[test]
fn safetensors_of_other_writers_are_read() {
    // unpadded, so the data is misaligned and copied; keys in any order; spaces after the header
    let header = r#"{"b":{"data_offsets":[4,12],"shape":[2],"dtype":"F32"},"a":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}"#;
    for spaces in 0..9 {
        let file = safetensors_file(&(header.to_string() + &" ".repeat(spaces)), 12);
        let parsed = [safetensors::parse(&file).unwrap()];
        #[cfg(feature = "std")]
        let parsed = disk::from_file("others", &file).into_iter().chain(parsed);
        for loaded in parsed {
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
fn static_files_are_borrowed() {
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
/// that of their parts.
#[test]
#[cfg(feature = "complex")]
fn misaligned_complex_numbers_are_copied_or_refused() {
    #[repr(align(64))]
    struct Aligned<const N: usize>([u8; N]);
    static HALVES: Aligned<20> = Aligned([
        0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40,
    ]);
    // some 32-bit machines align 64-bit integers to 4: there nothing has to be refused
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
fn malformed_safetensors_files_are_diagnosed() {
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
        (wrong(safetensors::parse(&[0; 8])), "expected an object"),
        (
            wrong(safetensors::parse(&safetensors_file("[]", 0))),
            "expected an object",
        ),
        (
            wrong(safetensors::parse(&safetensors_file(
                &"[".repeat(100_000),
                0,
            ))),
            "expected an object",
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
            "not a pair",
        ),
        (
            of(r#""dtype":"F32","shape":[1],"data_offsets":[-4,0]"#, 8),
            "not a pair",
        ),
        (
            of(r#""dtype":"F32","shape":[1.5],"data_offsets":[0,4]"#, 4),
            "not a list of sizes",
        ),
        (
            of(r#""dtype":"F32","shape":[-1],"data_offsets":[0,4]"#, 4),
            "not a list of sizes",
        ),
        (
            of(r#""dtype":"F32","shape":1,"data_offsets":[0,4]"#, 4),
            "not a list of sizes",
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
            "not a pair",
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
            "the metadata is not a JSON object",
        ),
        (
            two("[0,4]", "[2,6]", 6),
            "begins at 2, but the one before it ends at 4",
        ),
        (
            two("[0,4]", "[0,4]", 4),
            "begins at 0, but the one before it ends at 4",
        ),
        (
            two("[0,4]", "[5,9]", 9),
            "begins at 5, but the one before it ends at 4",
        ),
    ] {
        assert!(
            message.contains(expected),
            "{message:?} should say {expected:?}"
        );
    }
}
