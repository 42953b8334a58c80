//! npy: the bytes that NumPy writes, the headers it reads, and the errors of malformed ones.

use super::*;

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
fn npy_bytes_match_numpy() {
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
fn npy_versions_orders_and_spellings_are_read() {
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
    // another order of keys, other quotes, Python 2's long integers, no trailing comma, trailing
    // bytes
    let t = f(
        1,
        " { \"shape\" : ( 2L , ) , \"fortran_order\":False, \"descr\":\"<i4\" } ",
        &[&little[..], b"more"].concat(),
    );
    assert_eq!(t.to_vec::<i32>().unwrap(), [1, 2]);
    // each part of a complex number is byte-swapped by itself
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
fn malformed_npy_files_are_diagnosed() {
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
        (of("'<f4'", "(184)"), "not a tuple"),
        (of("'<f4'", "(2 3)"), "')' is missing"),
        (of("'<f4'", "(04,)"), "begins with 0"),
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
    assert!(wrong(npy::parse(&latin)).contains("not text"));
}

#[test]
fn bools_of_any_byte_are_saved_as_0_and_1() {
    static ODD: [u8; 4] = [0, 1, 2, 255];
    let t = Tensor::from_static(&ODD, [4], DType::Bool).unwrap();
    assert!(npy::write(&t).unwrap().ends_with(b"\n\x00\x01\x01\x01"));
}
