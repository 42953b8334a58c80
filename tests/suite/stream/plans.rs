//! Plan files.

use super::program;
use flex::op::Op;
use flex::stream::{Argument, Kind, Lazy, Plans, Stream};
use flex::{DType, Tensor, nn};
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
        refused(text.replacen("flex-plans 4", "flex-plans 3", 1).as_bytes()).contains("version")
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
    let checksum = |text: &str| {
        let step = |h: u64, b: u8| (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
        text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let load = |header: &str, words: &[u64]| {
        let words: Vec<String> = words.iter().map(|w| format!("{w:x}")).collect();
        let text = format!("{header}\nplan {}\n", words.join(" "));
        std::fs::write(&path, format!("{text}end {:016x}\n", checksum(&text))).unwrap();
        let plans = Arc::new(Plans::default());
        let loaded = plans.load(&path);
        assert_eq!(plans.len(), loaded.as_ref().copied().unwrap_or(0));
        loaded
    };
    let given = [
        (0..12).map(|k| k as f32).collect::<Vec<_>>(),
        vec![1.0; 24],
        vec![1.0; 30],
    ];
    let shapes: [&[usize]; 3] = [&[3, 4], &[2, 3, 4], &[5, 3, 2]];
    let tensors = [0, 1, 2].map(|k| Tensor::from_vec(given[k].clone(), shapes[k]).unwrap());
    type Program<'a> = &'a dyn Fn(&Stream, [Argument; 3]) -> flex::Result<Lazy>;
    let programs: [Program; 6] = [
        &|s, [x, ..]| s.apply(Op::Add, &[x, 2.5.into()]),
        &|s, [x, ..]| s.apply(Op::Pow, &[x, 3.into()]),
        &|s, [x, ..]| s.reduce(Kind::Max, &(&s.convert(&x, DType::F64)?).into(), 1),
        &|s, [x, ..]| s.linear([&x, &x], [None, None], nn::Linear::default()),
        &|s, [_, x, w]| {
            let options = nn::Conv {
                padding: nn::Padding::Pairs(vec![(1, 2)].into()),
                ..nn::Conv::default()
            };
            s.convolve([&x, &w], [None, None], options)
        },
        &|s, [x, ..]| {
            let y = s.apply(Op::Exp, &[x])?;
            let y = s.view(&(&y).into(), |x| x.permute("permute", &[1, 0]))?;
            let y = s.view(&(&y).into(), |x| x.narrow("narrow", 0, 1, 2))?;
            let y = s.reshape(&(&y).into(), [6])?;
            s.apply(Op::Negative, &[(&y).into()])
        },
    ];
    for program in programs {
        let stream = Stream::new();
        let operands = tensors.each_ref().map(Argument::from);
        program(&stream, operands).unwrap().get().unwrap();
        stream.plans().save(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let [header, plan, _] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        let words = plan.split(' ').skip(1);
        let words: Vec<u64> = words.map(|w| u64::from_str_radix(w, 16).unwrap()).collect();
        assert_eq!(load(header, &words).unwrap(), 1);
        let (mut refused, mut tried) = (0, 0);
        for k in 0..words.len() {
            for word in [0, 1, 2, 5, 63, 255, 1 << 31, 1 << 62, u64::MAX] {
                let mut wrong = words.clone();
                wrong[k] = word;
                refused += load(header, &wrong).is_err() as usize;
                tried += 1;
            }
            assert!(load(header, &words[..k]).is_err());
        }
        assert!(
            refused > tried / 2 && refused < tried,
            "{refused} of {tried}"
        );
        // values that are not there are needed, none is, an operand is not before its operation
        for needed in [0, 1 << words[4]] {
            assert!(load(header, &[&[needed], &words[1..]].concat()).is_err());
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
