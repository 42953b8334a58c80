//! The generator of bits.

use flex::kernel::random::{BLOCKS, GROUP, Stream, bits, philox, seed_key, words};

/// Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, result.
const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    (
        [0; 4],
        [0; 2],
        [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    ),
    (
        [u32::MAX; 4],
        [u32::MAX; 2],
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    ),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

#[test]
fn known_answers() {
    for (counter, key, block) in KNOWN {
        assert_eq!(philox(counter, key), block);
    }
}

/// Ten rounds as the paper defines them.
fn naive(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (p, q) = (c[0] as u64 * 0xd251_1f53, c[2] as u64 * 0xcd9e_8d57);
        c = [
            (q >> 32) as u32 ^ c[1] ^ k[0],
            q as u32,
            (p >> 32) as u32 ^ c[3] ^ k[1],
            p as u32,
        ];
        k = [
            k[0].wrapping_add(0x9e37_79b9),
            k[1].wrapping_add(0xbb67_ae85),
        ];
    }
    c
}

#[test]
fn vectors_make_the_same_blocks() {
    for (key, id, first) in [
        ([0, 0], 0, 0),
        ([1, 0xffff_ffff], 7, 0xffff_fffc),
        ([0x1234_5678, 9], u32::MAX, u64::MAX - 9),
    ] {
        let stream = Stream { key, id };
        let mut groups = [[0; GROUP]; 5];
        bits(stream, first, &mut groups);
        for (i, x) in groups.as_flattened().iter().enumerate() {
            assert_eq!(*x, stream.long(first, i, 0), "{i}");
            let block = first.wrapping_add((i / GROUP * BLOCKS + i % BLOCKS) as u64);
            let want = naive([block as u32, (block >> 32) as u32, 0, id], key);
            let half = i % GROUP / BLOCKS * 2;
            assert_eq!(*x as u32, want[half]);
            assert_eq!((*x >> 32) as u32, want[half + 1]);
        }
        let want: Vec<u32> = (0..5 * 2 * GROUP)
            .map(|i| stream.word(first, i, 0))
            .collect();
        assert_eq!(words(&mut groups), want);
    }
}

#[test]
fn keys_of_seeds() {
    // the first numbers of SplitMix64 from state 0 and 1234567, as its authors' code has them
    let word = |seed| {
        let [low, high] = seed_key(&[seed]);
        low as u64 | (high as u64) << 32
    };
    assert_eq!(word(0), 0xe220_a839_7b1d_cdaf);
    assert_eq!(word(1_234_567), 6_457_827_717_110_365_317);
    assert_ne!(seed_key(&[1, 2]), seed_key(&[2, 1]));
}
