//! From integers to floats.

/// `scale * (q - zero)` of bytes, signed or not.
#[inline(always)]
pub(super) fn bytes(q: &[u8], signed: bool, scale: f32, zero: f32, d: &mut [f32]) {
    // the sign bit flipped, signed bytes are unsigned ones that are 128 too large
    let (flip, zero) = if signed {
        (0x80, zero + 128.0)
    } else {
        (0, zero)
    };
    for (d, q) in d.iter_mut().zip(q) {
        *d = ((q ^ flip) as f32 - zero) * scale;
    }
}
/// The same of halves of bytes, -8 to 7; `d` is twice as long.
#[inline(always)]
pub(super) fn nibbles(q: &[u8], scale: f32, zero: f32, d: &mut [f32]) {
    const BYTES: usize = 16;
    let zero = zero + 8.0;
    let (whole, rest) = q.as_chunks::<BYTES>();
    let (to, ends) = d.as_chunks_mut::<{ 2 * BYTES }>();
    for (q, d) in whole.iter().zip(to) {
        let mut pairs = [0u8; 2 * BYTES];
        for l in 0..BYTES {
            pairs[2 * l] = (q[l] ^ 0x88) & 15;
            pairs[2 * l + 1] = (q[l] ^ 0x88) >> 4;
        }
        for l in 0..2 * BYTES {
            d[l] = (pairs[l] as f32 - zero) * scale;
        }
    }
    for (q, d) in rest.iter().zip(ends.as_chunks_mut::<2>().0) {
        d[0] = (((q ^ 0x88) & 15) as f32 - zero) * scale;
        d[1] = (((q ^ 0x88) >> 4) as f32 - zero) * scale;
    }
}

kernel! {
    /// Groups of `len` bytes, signed or not, of these scales; `zeros` may be none.
    pub fn decode<'a>(q: &'a [u8], signed: bool, len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len).zip(d.chunks_mut(len)).enumerate() {
            bytes(q, signed, scales[g], zeros.get(g).copied().unwrap_or(0.0), d);
        }
    }
}
kernel! {
    /// Groups of `len` halves of bytes, an even number of them.
    pub fn decode_nibbles<'a>(q: &'a [u8], len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len / 2).zip(d.chunks_mut(len)).enumerate() {
            nibbles(q, scales[g], zeros.get(g).copied().unwrap_or(0.0), d);
        }
    }
}
kernel! {
    /// Pairs of neighbours as bytes, the first in the lower half; after a last one without a neighbour, 0.
    pub fn pack_nibbles<'a>(x: &'a [u8], d: &'a mut [u8]) -> () { |I|
        let (pairs, rest) = x.as_chunks::<2>();
        for (d, [low, high]) in d.iter_mut().zip(pairs) {
            *d = low & 15 | high << 4;
        }
        if let ([last], Some(d)) = (rest, d.get_mut(pairs.len())) {
            *d = last & 15;
        }
    }
}
/// Four bits with a sign as eight.
#[inline(always)]
fn extended(x: u8) -> u8 {
    (x ^ 8).wrapping_sub(8)
}
kernel! {
    /// Halves of bytes as signed bytes, as many as `d` has.
    pub fn unpack_nibbles<'a>(q: &'a [u8], d: &'a mut [u8]) -> () { |I|
        let (pairs, rest) = d.as_chunks_mut::<2>();
        for (d, q) in pairs.iter_mut().zip(q) {
            *d = [extended(q & 15), extended(q >> 4)];
        }
        if let ([last], Some(q)) = (rest, q.get(pairs.len())) {
            *last = extended(q & 15);
        }
    }
}
kernel! {
    /// The sum of each row of `k` signed bytes, wrapping.
    pub fn row_sums<'a>(q: &'a [u8], k: usize, d: &'a mut [i32]) -> () { |I|
        for (q, d) in q.chunks(k.max(1)).zip(d) {
            *d = q.iter().fold(0i32, |sum, q| sum.wrapping_add(*q as i8 as i32));
        }
    }
}
