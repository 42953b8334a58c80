//! Files of both formats on disk: mapped and read, replaced, errors of the system.

use super::*;
use std::path::{Path, PathBuf};

/// A temporary file, removed on drop.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> TempFile {
        TempFile(std::env::temp_dir().join(format!("flex_io_{}_{name}", std::process::id())))
    }
    fn with(name: &str, bytes: &[u8]) -> TempFile {
        let s = TempFile::new(name);
        std::fs::write(&s.0, bytes).unwrap();
        s
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Maps a file: the tests replace files, but never write to them in place.
fn map_npy(path: impl AsRef<Path>) -> flex::Result<Tensor> {
    // SAFETY: MAP1, by the line above.
    unsafe { npy::map(path) }
}
fn map_safetensors(path: impl AsRef<Path>) -> flex::Result<safetensors::Tensors> {
    // SAFETY: MAP1, as above.
    unsafe { safetensors::map(path) }
}
/// The tensors of a file of these bytes, mapped and read.
#[cfg(feature = "ints")]
pub fn from_file(name: &str, bytes: &[u8]) -> [safetensors::Tensors; 2] {
    let file = TempFile::with(name, bytes);
    [
        map_safetensors(&file.0).unwrap(),
        safetensors::load(&file.0).unwrap(),
    ]
}

#[test]
fn every_dtype_and_shape_round_trips() {
    let file = TempFile::new("round_trip");
    for dtype in DType::ALL.into_iter().filter(|d| d.is_available()) {
        for shape in SHAPES {
            let t = arbitrary(shape, dtype);
            if !dtype.is_storage() {
                npy::save(&file.0, &t).unwrap();
                same(&map_npy(&file.0).unwrap(), &t);
                same(&npy::load(&file.0).unwrap(), &t);
            }
            if !dtype.safetensors().is_empty() {
                safetensors::save(&file.0, [("a", &t)], &no_metadata()).unwrap();
                same(&map_safetensors(&file.0).unwrap()["a"], &t);
                same(&safetensors::load(&file.0).unwrap()["a"], &t);
            }
        }
    }
}

#[test]
fn many_tensors_and_metadata_round_trip() {
    let file = TempFile::new("many");
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
            map_safetensors(&file.0)
        } else {
            safetensors::load(&file.0)
        };
        let loaded = loaded.unwrap();
        assert_eq!(loaded.len(), named.len());
        named.iter().for_each(|(n, t)| same(&loaded[n], t));
    }
    safetensors::save(&file.0, [("", &named[0].1); 0], &no_metadata()).unwrap();
    assert!(map_safetensors(&file.0).unwrap().is_empty());
}

#[test]
fn mapped_tensors_lie_in_the_file_and_survive_its_replacement() {
    let file = TempFile::new("mapped");
    let t = arbitrary(&[1000], DType::F32);
    safetensors::save(&file.0, [("w", &t)], &no_metadata()).unwrap();
    let mut w = map_safetensors(&file.0).unwrap().remove("w").unwrap();
    // files are little-endian: on other machines they are byte-swapped copies
    let turned = cfg!(target_endian = "big");
    assert_eq!(w.storage().is_owned(), turned);
    assert_eq!(w.as_ptr() as usize % 64, 0);
    // over the file that it is mapped from
    safetensors::save(&file.0, [("w", &w), ("again", &w)], &no_metadata()).unwrap();
    same(&w, &t);
    assert_eq!(safetensors::load(&file.0).unwrap().len(), 2);
    npy::save(&file.0, &w).unwrap();
    same(&w, &t);
    let lain = map_npy(&file.0).unwrap();
    assert!(
        lain.storage().is_owned() == turned && npy::load(&file.0).unwrap().storage().is_owned()
    );
    // a write copies, the file is unchanged
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
    let file = TempFile::with("failed", b"old");
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
fn system_errors_are_io_errors() {
    let nowhere = TempFile::new("no_such_folder").0.join("x");
    for e in [
        map_npy(&nowhere).unwrap_err(),
        safetensors::load(&nowhere).map(drop).unwrap_err(),
        npy::save(&nowhere, &arbitrary(&[1], DType::U8)).unwrap_err(),
        map_npy(std::env::temp_dir()).unwrap_err(),
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
    assert!(wrong(map_npy(device)).contains("truncated"));

    let (file, link) = (TempFile::with("target", b"old"), TempFile::new("link"));
    std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file.0, &link.0).unwrap();
    npy::save(&link.0, &t).unwrap();
    assert!(link.0.symlink_metadata().unwrap().is_symlink());
    assert_eq!(
        file.0.metadata().unwrap().permissions().mode() & 0o777,
        0o640
    );
    same(&map_npy(&file.0).unwrap(), &t);
}

#[test]
fn truncated_files_are_errors() {
    let (a, b) = (arbitrary(&[3, 2], DType::F32), arbitrary(&[5], DType::U8));
    let tensors = safetensors::write([("a", &a), ("b", &b)], &no_metadata()).unwrap();
    let file = TempFile::new("truncated");
    for n in (0..tensors.len()).step_by(17) {
        std::fs::write(&file.0, &tensors[..n]).unwrap();
        wrong(map_safetensors(&file.0));
        wrong(safetensors::load(&file.0));
    }
}
