//! Files and the operating system: its errors, replacement, streams, unknown dtypes.
#![cfg(feature = "std")]

use flex::io::{npy, safetensors};
use flex::{DType, Error, Tensor};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A temporary folder, removed on drop.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("flex_files_{}_{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
    fn names(&self) -> Vec<String> {
        self.0
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn ones() -> Tensor {
    Tensor::from_slice(&[1.0f32; 10], [10]).unwrap()
}
/// Saves a file in each format.
fn writers() -> [fn(&Path) -> flex::Result<()>; 2] {
    [
        |path| npy::save(path, &ones()),
        |path| safetensors::save(path, [("x", &ones())], &Default::default()),
    ]
}

#[test]
fn io_errors_keep_path_and_code() {
    let folder = Folder::new("refusals");
    let missing = folder.0.join("none").join("x");
    let calls = [
        // SAFETY: there is no file.
        unsafe { npy::map(&missing) }.map(drop),
        safetensors::metadata(&missing).map(drop),
        writers()[0](&missing),
        writers()[1](&missing),
    ];
    for result in calls {
        match result {
            Err(Error::Io {
                path,
                kind: ErrorKind::NotFound,
                code: Some(_),
                ..
            }) => assert_eq!(*path, *missing),
            other => panic!("{other:?}"),
        }
    }
    assert!(folder.names().is_empty());
}

#[cfg(unix)]
#[test]
fn dangling_links_are_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    fs::create_dir(folder.0.join("there")).unwrap();
    for write in writers() {
        let (link, target) = (folder.0.join("link"), folder.0.join("there").join("target"));
        symlink("there/target", &link).unwrap();
        write(&link).unwrap();
        assert!(
            link.symlink_metadata().unwrap().is_symlink()
                && target.symlink_metadata().unwrap().is_file()
        );
        fs::remove_file(link).unwrap();
        fs::remove_file(target).unwrap();
        let circle = folder.0.join("circle");
        symlink("circle", &circle).unwrap();
        assert!(matches!(
            write(&circle),
            Err(Error::Io {
                code: Some(libc::ELOOP),
                ..
            })
        ));
        fs::remove_file(circle).unwrap();
    }
    assert_eq!(folder.names(), ["there"]);
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_temporaries_removed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("permissions");
    let (path, other) = (folder.0.join("x"), folder.0.join("other"));
    fs::write(&other, b"").unwrap();
    for write in writers() {
        write(&path).unwrap();
        assert_eq!(
            path.metadata().unwrap().permissions(),
            other.metadata().unwrap().permissions(),
            "those of any new file"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        write(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o604);
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(folder.names(), ["other"]);
}

/// Returns one byte at a time, and an error at the end.
struct Slow<'a>(&'a [u8]);
impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = out.len().min(1);
        self.0.read(&mut out[..n])
    }
}

#[test]
fn streams_are_read_no_further_than_needed() {
    let x = ones();
    let mut file = npy::write(&x).unwrap();
    file.extend(b"more");
    let mut slow = Slow(&file);
    assert_eq!(
        npy::read_from(&mut slow).unwrap().to_vec::<f32>().unwrap(),
        [1.0; 10]
    );
    assert_eq!(slow.0, b"more");
    let mut file = safetensors::write([("x", &x)], &[("k".into(), "v".into())].into()).unwrap();
    let mut slow = Slow(&file);
    assert_eq!(safetensors::read_metadata(&mut slow).unwrap()["k"], "v");
    assert_eq!(slow.0.len(), 40, "the data is not read");
    assert_eq!(
        safetensors::read_from(Slow(&file)).unwrap()["x"]
            .to_vec::<f32>()
            .unwrap(),
        [1.0; 10]
    );
    for n in 0..file.len() {
        assert!(
            matches!(
                safetensors::read_from(Slow(&file[..n])),
                Err(Error::File { .. })
            ),
            "{n}"
        );
    }
    file.push(0);
    assert!(matches!(safetensors::read_from(Slow(&file)),
            Err(Error::File { message, .. }) if message.contains("data beyond")));
}

#[test]
fn tensors_of_unknown_dtypes_are_kept_as_bytes() {
    let header = r#"{"a":{"dtype":"F8_E8M0","shape":[3],"data_offsets":[4,7]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(1.5f32.to_le_bytes());
    file.extend([7, 8, 9]);
    let tensors = safetensors::parse(&file).unwrap();
    assert_eq!(
        (
            tensors.len(),
            tensors.tensor("b").unwrap().to_vec::<f32>().unwrap()
        ),
        (1, vec![1.5])
    );
    assert!(
        matches!(tensors.tensor("a"), Err(Error::DType { message, .. }) if message.contains("F8_E8M0"))
    );
    assert!(matches!(tensors.tensor("c"), Err(Error::Value { .. })));
    let other = &tensors.others["a"];
    assert_eq!(
        (other.dtype.as_str(), &other.shape[..], other.bytes.dtype()),
        ("F8_E8M0", &[3][..], DType::U8)
    );
    // SAFETY: three bytes of a contiguous tensor (TENSOR1), initialised (STORAGE1).
    assert_eq!(
        unsafe { std::slice::from_raw_parts(other.bytes.as_ptr(), 3) },
        [7, 8, 9]
    );
}

#[test]
fn json_of_other_writers_is_read() {
    let parse = |header: &str| {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        safetensors::parse_metadata(&file)
    };
    let m = parse(
        " {\"__metadata__\" : {\"\\u00e9\\ud83d\\ude00\" : \
        \"\\\"\\\\\\/\\b\\f\\n\\r\\t\u{fc}\", \"\" : \"\"} }\n ",
    )
    .unwrap();
    assert_eq!(
        (m["\u{e9}\u{1f600}"].as_str(), m[""].as_str()),
        ("\"\\/\u{8}\u{c}\n\r\t\u{fc}", "")
    );
    let extra = r#"{"a":{"dtype":"BOOL","more":[1.5e-3,{"x":[null,true,-0]}],"shape":[0],"data_offsets":[0,0]}}"#;
    assert!(parse(extra).unwrap().is_empty());
    for wrong in [
        "",
        "{",
        "{}}",
        "{,}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"__metadata__":{"a":"b",}}"#,
        r#"{"__metadata__":{"a":"\x"}}"#,
        r#"{"__metadata__":{"a":"\ud800"}}"#,
        r#"{"__metadata__":{"a":"\u12"}}"#,
        "{\"__metadata__\":{\"a\":\"\n\"}}",
        r#"{"__metadata__":{"a":"b"}"#,
        r#"{"__metadata__":{"a":"b"#,
        r#"{"a":{"x":01,"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#,
        r#"{"a":{"x":.5,"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#,
        r#"{"a":{"x":nul,"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#,
        r#"{"__metadata__":{"a":"b","a":"b"}}"#,
        r#"{"a":{"dtype":"F32","shape":[0],"shape":[0],"data_offsets":[0,0]}}"#,
    ] {
        assert!(matches!(parse(wrong), Err(Error::File { .. })), "{wrong}");
    }
}
