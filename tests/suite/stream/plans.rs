//! Plan files.

use super::program;
use flex::stream::{Plans, Stream};
use std::sync::Arc;

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("flex-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
#[test]
fn plans_round_trip_through_files() {
    let folder = folder("plans");
    let path = folder.join("plans");
    let stream = Stream::new();
    for seed in 0..30 {
        program(&stream, seed, 3, 40);
    }
    let plans = stream.plans();
    assert!(plans.is_changed());
    plans.save(&path).unwrap();
    assert!(!plans.is_changed());
    let loaded = Arc::new(Plans::default());
    assert_eq!(loaded.load(&path).unwrap(), plans.len());
    assert_eq!(loaded.len(), plans.len());
    let stream = Stream::with_plans(loaded.clone());
    for seed in 0..30 {
        program(&stream, seed, 3, 40);
    }
    assert_eq!(loaded.len(), plans.len());
    assert!(!loaded.is_changed());
    loaded.save(&path).unwrap();
    assert_eq!(loaded.load(&path).unwrap(), plans.len()); // again
    assert_eq!(loaded.len(), plans.len());
    std::fs::remove_dir_all(folder).unwrap();
}
#[test]
fn malformed_plan_files_are_refused_as_a_whole() {
    let folder = folder("no-plans");
    let path = folder.join("plans");
    let stream = Stream::new();
    for seed in 0..6 {
        program(&stream, seed, 3, 20);
    }
    stream.plans().save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let plans = Plans::default();
        let e = plans.load(&path).unwrap_err();
        assert!(matches!(e, flex::Error::File { .. }), "{e}");
        assert!(plans.is_empty());
        e.to_string()
    };
    assert!(refused(b"").contains("not a file of plans"));
    assert!(refused(&[0xff; 100]).contains("not a file of plans"));
    assert!(
        refused(text.replacen("flex-plans 2", "flex-plans 1", 1).as_bytes()).contains("version")
    );
    // truncated, and changed, anywhere
    for k in (0..text.len() - 1).step_by(97) {
        refused(&text.as_bytes()[..k]);
        let mut damaged = text.clone().into_bytes();
        damaged[k] ^= 1;
        refused(&damaged);
    }
    let missing = Plans::default().load(folder.join("none")).unwrap_err();
    assert!(matches!(missing, flex::Error::Io { .. }), "{missing}");
    std::fs::remove_dir_all(folder).unwrap();
}
/// Impossible operations in a file with a valid checksum.
#[test]
fn loaded_plans_are_validated() {
    let folder = folder("wrong-plans");
    let path = folder.join("plans");
    Stream::new().plans().save(&path).unwrap();
    let header = std::fs::read_to_string(&path).unwrap();
    let header = header.lines().next().unwrap();
    let checksum = |text: &str| {
        let step = |h: u64, b: u8| (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
        text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let load = |body: &str| {
        let text = format!("{header}\n{body}");
        std::fs::write(&path, format!("{text}end {:016x}\n", checksum(&text))).unwrap();
        Plans::default().load(&path)
    };
    assert_eq!(
        load("input float32 2\napply exp v0\nplan 2 0 0 0\n").unwrap(),
        1
    );
    assert_eq!(
        load("input float32 2 2\nmatmul v0 v0 float32\nplan 2 0 0 0\n").unwrap(),
        1
    );
    for right in [
        "input float32 2 3\nview v0 0 whole,1,0 3 2\napply exp v1\nplan 4 0 0 0\n",
        "input float32 2 3\nview v0 0 part,1,- 4 1\nview v1 1 reshape 4\nplan 4 0 0 0\n",
        "input float32 2 3\ninput float32 4 3\nlinear 0 0 gelu - v0 v1 2 4\nplan 4 0 0 0\n",
        "input float32 2 3 4\ninput float32 5 3 6\nconv1d 0 0 - 1 0 2 1 pairs,1,2 v0 v1 2 5 7\nplan 4 0 0 0\n",
    ] {
        assert_eq!(load(right).unwrap(), 1, "{right}");
    }
    for wrong in [
        "input float32 2 3\nview v0 0 whole,1,0 2 3\nplan 2 0 0 0\n",
        "input float32 2 3\nview v0 0 whole,2 2\nplan 2 0 0 0\n",
        "input float32 2 3\nview v0 1 whole,1,0 3 2\nplan 2 0 0 0\n",
        "input float32 2 3\nview v1 0 whole,1,0 3 2\nplan 2 0 0 0\n",
        "input float32 2 3\nview v0 0 half,1,0 3 2\nplan 2 0 0 0\n",
        "input float32 2 3\nview v0 0 part,1 5\nplan 2 0 0 0\n",
        "input float32 2 3\nlinear 0 1 - - v0 v0 2 2\nplan 2 0 0 0\n",
        "input float32 2 3\nlinear 0 0 cosine - v0 v0 2 2\nplan 2 0 0 0\n",
        "input float32 2 3\nlinear 0 0 - - v0 v1 2 2\nplan 2 0 0 0\n",
        "input float32 2 3 4\nconv9d 0 0 - 1 0 1 1 0 v0 v0 2 2 2\nplan 2 0 0 0\n",
        "input float32 2 3 4\nconv1d 0 0 - 1 0 1 , 0 v0 v0 2 2 2\nplan 2 0 0 0\n",
        "input float32 2 3\nmatmul v0 v0\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v1\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v0 int8\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v0 float64 v0\nplan 2 0 0 0\n",
        "input float32 3\napply exp v0\nplan 2 0 0 0\n",
        "input float32 65535\napply exp v0\nplan 2 0 0 0\n",
        "input float99 2\napply exp v0\nplan 2 0 0 0\n",
        "input float32 2\napply exp v1\nplan 2 0 0 0\n",
        "input float32 2\napply exp v0 v0\nplan 2 0 0 0\n",
        "input float32 2\napply exp\nplan 2 0 0 0\n",
        "input float32 2\napply nothing v0\nplan 2 0 0 0\n",
        "input float32 2\napply add v0 f1\nplan 2 0 0 0\n",
        "input float32 2\napply add v0 =q1\nplan 2 0 0 0\n",
        "input float32 2\nreduce sum v0 2 0\nplan 2 0 0 0\n",
        "input float32 2\nreduce total v0 1 0\nplan 2 0 0 0\n",
        "input float32 2\nastype v7 float32\nplan 2 0 0 0\n",
        "input float32 2\napply exp v0\nplan 4 0 0 0\n",
        "input float32 2\napply exp v0\nplan 2 0 0 1\n",
        "input float32 2\napply exp v0\nplan 0 0 0 0\n",
        "input float32 2\napply exp v0\nplan 2 0\n",
        "input float32 2\ninput float32 3\napply add v0 v1\nplan 4 0 0 0\n",
        "input bool 2\napply exp v0\nfoo\nplan 2 0 0 0\n",
    ] {
        assert!(load(wrong).is_err(), "{wrong}");
    }
    let sizes: Vec<String> = (2..30).map(|n| n.to_string()).collect();
    let many = format!(
        "input float32 {}\nreduce sum v0 fffffff 0\nplan 2 0 0 0\n",
        sizes.join(" ")
    );
    assert!(load(&many).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}
