//! Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
//! 2011): a keyed bijection of 128-bit counters that passes BigCrush. Its only arithmetic is
//! multiplication of 32-bit words to 64 bits, which every vector set has.
//!
//! The counter's words are, from the lowest: the block, of 64 bits; the retry, which a number that
//! is drawn again increments; the stream.

const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What each round adds to the key: the golden ratio and sqrt(3) - 1.
const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const WORD: u64 = 0xffff_ffff;

/// Blocks of a group.
pub const BLOCKS: usize = 8;
/// 64-bit numbers of a group.
pub const GROUP: usize = 2 * BLOCKS;
/// 32-bit numbers of a group.
pub const WORDS: usize = 2 * GROUP;
/// The numbers of eight blocks, as vectors make them: 64-bit number `j` is the first half of block
/// `j`, number `j + 8` its second half, the lower word first.
pub type Group = [u64; GROUP];

/// The ten rounds of a counter, whose words are in the low halves of 64-bit numbers. The results'
/// high halves are unspecified.
#[inline(always)]
fn rounds(counter: [u64; 4], key: [u32; 2]) -> [u64; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    // written out: an inner loop would not be vectorised with the one around it
    macro_rules! rounds {
        ($($round:tt)*) => { $(
            let _: u8 = $round;
            let (p, q) = ((a & WORD) * MULTIPLIERS[0], (c & WORD) * MULTIPLIERS[1]);
            (a, b, c, d) = ((q >> 32) ^ b ^ k as u64, q, (p >> 32) ^ d ^ l as u64, p);
            (k, l) = (k.wrapping_add(STEPS[0]), l.wrapping_add(STEPS[1]));
        )* };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9);
    let _ = (k, l);
    [a, b, c, d]
}

/// The block of a counter.
///
/// ```
/// let zeros = flex::kernel::random::philox([0; 4], [0; 2]);
/// assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// ```
#[inline]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [a, b, c, d] = counter;
    let [a, b, c, d] = rounds([a as u64, b as u64, c as u64, d as u64], key);
    [a as u32, b as u32, c as u32, d as u32]
}

/// The key of a seed, of 64-bit words: each is mixed in by the finaliser of SplitMix64 (Steele, Lea
/// and Flood, 2014), in which every bit of the result depends on every bit of the word, so the keys
/// of neighbouring seeds are unrelated. Seeds of one word have keys of their own.
pub fn seed_key(words: &[u64]) -> [u32; 2] {
    /// The odd number nearest to 2^64 over the golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut key = 0u64;
    for word in words {
        let z = (key ^ word).wrapping_add(STEP);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        key = z ^ (z >> 31);
    }
    [key as u32, (key >> 32) as u32]
}

/// A sequence of 2^64 blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The key of the bijection.
    pub key: [u32; 2],
    /// The highest word of the counter.
    pub id: u32,
}
impl Stream {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Stream {
        Stream {
            key: seed_key(&[seed]),
            id: 0,
        }
    }
    /// A block of a retry.
    #[inline]
    pub fn block(self, block: u64, retry: u32) -> [u32; 4] {
        philox(
            [block as u32, (block >> 32) as u32, retry, self.id],
            self.key,
        )
    }
    /// 32-bit number `i` of those that begin with block `first`.
    pub fn word(self, first: u64, i: usize, retry: u32) -> u32 {
        let long = self.long(first, i / 2, retry);
        (long >> (32 * (i % 2))) as u32
    }
    /// 64-bit number `i` of those that begin with block `first`.
    pub fn long(self, first: u64, i: usize, retry: u32) -> u64 {
        let (group, j) = (i / GROUP, i % GROUP);
        let block = (group * BLOCKS + j % BLOCKS) as u64;
        let words = self.block(first.wrapping_add(block), retry);
        let half = 2 * (j / BLOCKS);
        words[half] as u64 | ((words[half + 1] as u64) << 32)
    }
}

kernel! {
    /// The groups of a stream that begin with block `first`.
    pub fn bits<'a>(stream: Stream, first: u64, y: &'a mut [Group]) -> () { |I|
        let Stream { key, id } = stream;
        for (g, group) in y.iter_mut().enumerate() {
            let start = first.wrapping_add((BLOCKS * g) as u64);
            let (low, high) = group.split_at_mut(BLOCKS);
            for j in 0..BLOCKS {
                let block = start.wrapping_add(j as u64);
                let [a, b, c, d] = rounds([block & WORD, block >> 32, 0, id as u64], key);
                low[j] = (a & WORD) | (b << 32);
                high[j] = (c & WORD) | (d << 32);
            }
        }
    }
}

/// The numbers of groups as 32-bit numbers, the lower word of each first on every machine. Called
/// once for fresh bits.
pub fn words(groups: &mut [Group]) -> &mut [u32] {
    if cfg!(target_endian = "big") {
        for x in groups.as_flattened_mut() {
            *x = x.rotate_left(32);
        }
    }
    as_words(groups)
}
/// The same memory as 32-bit numbers.
pub fn as_words(groups: &mut [Group]) -> &mut [u32] {
    bytemuck::cast_slice_mut(groups.as_flattened_mut())
}
