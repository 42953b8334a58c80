//! The block formats of GGUF files (ggml): values interleaved with their scales, little-endian.

use crate::dtype::f16;
use crate::kernel::convert::Widen;

/// Bytes of a block and values in it: 4-bit values, 0 to 15, offset by 8, with one scale.
pub const Q4_0: [usize; 2] = [18, 32];
/// 8-bit values, -128 to 127, with one scale.
pub const Q8_0: [usize; 2] = [34, 32];
/// 4-bit values, 0 to 15, with a 6-bit scale and minimum for each 32.
pub const Q4_K: [usize; 2] = [144, 256];
/// 6-bit values, -32 to 31, with an 8-bit scale for each 16.
pub const Q6_K: [usize; 2] = [210, 256];

#[inline(always)]
fn half(bytes: &[u8]) -> f32 {
    Widen::widen(f16::from_bits(u16::from_le_bytes([bytes[0], bytes[1]])))
}

kernel! {
    /// A block is the scale, then 16 bytes of two values each, offset by 8: the low nibbles are
    /// the first 16 values. Repacks them so that neighbours share a byte.
    pub fn q4_0<'a>(blocks: &'a [u8], values: &'a mut [u8], scales: &'a mut [f16]) -> () { |I|
        for ((block, d), scale) in blocks.chunks_exact(Q4_0[0]).zip(values.as_chunks_mut::<16>().0).zip(scales) {
            *scale = f16::from_bits(u16::from_le_bytes([block[0], block[1]]));
            let (pairs, _) = block[2..].as_chunks::<2>();
            for (j, [a, b]) in pairs.iter().enumerate() {
                d[j] = (a & 15 | (b & 15) << 4) ^ 0x88;
                d[j + 8] = (a >> 4 | (b >> 4) << 4) ^ 0x88;
            }
        }
    }
}
kernel! {
    /// A block is the scale, then 32 signed bytes.
    pub fn q8_0<'a>(blocks: &'a [u8], values: &'a mut [u8], scales: &'a mut [f16]) -> () { |I|
        for ((block, d), scale) in blocks.chunks_exact(Q8_0[0]).zip(values.as_chunks_mut::<32>().0).zip(scales) {
            *scale = f16::from_bits(u16::from_le_bytes([block[0], block[1]]));
            d.copy_from_slice(&block[2..]);
        }
    }
}
kernel! {
    /// A block is the low four bits of 256 values, their high two bits, 16 scales, and the scale
    /// of the scales. Each 128 values are four runs of 32 whose bits share bytes.
    pub fn q6_k<'a>(blocks: &'a [u8], values: &'a mut [u8], scales: &'a mut [f32]) -> () { |I|
        let scales = scales.as_chunks_mut::<16>().0;
        for ((block, d), scales) in blocks.chunks_exact(Q6_K[0]).zip(values.as_chunks_mut::<256>().0).zip(scales) {
            let (low, rest) = block.split_at(128);
            let (high, rest) = rest.split_at(64);
            let whole = half(&rest[16..]);
            for (scale, q) in scales.iter_mut().zip(rest) {
                *scale = whole * (*q as i8) as f32;
            }
            for (i, d) in d.as_chunks_mut::<128>().0.iter_mut().enumerate() {
                let (low, high) = (&low[64 * i..], &high[32 * i..]);
                for l in 0..32 {
                    for run in 0..4 {
                        let four = low[l + 32 * (run % 2)] >> (run / 2 * 4) & 15;
                        let two = high[l] >> (2 * run) & 3;
                        d[l + 32 * run] = (four | two << 4).wrapping_sub(32);
                    }
                }
            }
        }
    }
}
kernel! {
    /// A block is the scale of the scales, that of the minima, 8 of each in 12 bytes, and 128 bytes
    /// of nibbles: of each 32 bytes, the low nibbles are 32 values, the high ones the next 32.
    /// Decodes to floats, since the minima are not multiples of the scales.
    pub fn q4_k<'a>(blocks: &'a [u8], d: &'a mut [f32]) -> () { |I|
        for (block, d) in blocks.chunks_exact(Q4_K[0]).zip(d.as_chunks_mut::<256>().0) {
            let (scale, least) = (half(block), half(&block[2..]));
            let (packed, q) = block[4..].split_at(12);
            for (s, d) in d.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                let (factor, minimum) = match s {
                    0..4 => (packed[s] & 63, packed[s + 4] & 63),
                    _ => (
                        packed[s + 4] & 15 | packed[s - 4] >> 6 << 4,
                        packed[s + 4] >> 4 | packed[s] >> 6 << 4,
                    ),
                };
                let (factor, minimum) = (scale * factor as f32, least * minimum as f32);
                for (d, q) in d.iter_mut().zip(&q[s / 2 * 32..]) {
                    *d = factor * (q >> (s % 2 * 4) & 15) as f32 - minimum;
                }
            }
        }
    }
}
