//! Dequantisation: from integers to floats.

/// `scale * (q - zero)` for bytes, signed or unsigned.
#[inline(always)]
pub(super) fn bytes(q: &[u8], signed: bool, scale: f32, zero: f32, d: &mut [f32]) {
    // with the sign bit flipped, signed bytes are unsigned ones, 128 too large
    let (flip, zero) = if signed {
        (0x80, zero + 128.0)
    } else {
        (0, zero)
    };
    for (d, q) in d.iter_mut().zip(q) {
        *d = ((q ^ flip) as f32 - zero) * scale;
    }
}

/// `PER` signed bit fields in each byte, the first in the lowest bits.
pub(super) struct Fields<const PER: usize>;
impl<const PER: usize> Fields<PER> {
    const BITS: usize = 8 / PER;
    const MASK: u8 = (1 << Self::BITS) - 1;
    /// The sign bit of one field, and those of all fields in a byte.
    const SIGN: u8 = 1 << (Self::BITS - 1);
    const SIGNS: u8 = u8::MAX / Self::MASK * Self::SIGN;

    /// `scale * (q - zero)` for field `i`.
    #[inline(always)]
    pub fn one(q: &[u8], i: usize, scale: f32, zero: f32) -> f32 {
        let q = (q[i / PER] ^ Self::SIGNS) >> (i % PER * Self::BITS) & Self::MASK;
        (q as f32 - (zero + Self::SIGN as f32)) * scale
    }
    /// The same for whole bytes; `d` is `PER` times as long. Eight fields at a time, as one word:
    /// given longer runs, LLVM vectorises across words and gathers the bytes one by one.
    #[inline(always)]
    pub fn all(q: &[u8], scale: f32, zero: f32, d: &mut [f32]) {
        const TOGETHER: usize = 8;
        let bytes = const { TOGETHER / PER };
        // with the sign bit flipped, fields are unsigned and too large by its value
        let zero = zero + Self::SIGN as f32;
        let whole = q.chunks_exact(bytes);
        let rest = whole.remainder();
        let (to, ends) = d.as_chunks_mut::<TOGETHER>();
        for (q, d) in whole.zip(to) {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(q);
            let word = u32::from_le_bytes(word) ^ u32::from_le_bytes([Self::SIGNS; 4]);
            for (l, d) in d.iter_mut().enumerate() {
                let q = word >> (l * Self::BITS) & Self::MASK as u32;
                *d = (q as i32 as f32 - zero) * scale;
            }
        }
        for (q, d) in rest.iter().zip(ends.chunks_exact_mut(PER)) {
            for (d, q) in d.iter_mut().zip(Self::apart(*q)) {
                *d = (q as f32 - zero) * scale;
            }
        }
    }
    /// The fields of a byte, zero-extended.
    #[inline(always)]
    fn apart(q: u8) -> [u8; PER] {
        let mut each = [0; PER];
        for (i, d) in each.iter_mut().enumerate() {
            *d = (q ^ Self::SIGNS) >> (i * Self::BITS) & Self::MASK;
        }
        each
    }
    /// Packs neighbours into bytes, padding the last one with zeros.
    #[inline(always)]
    fn pack(x: &[u8], d: &mut [u8]) {
        let byte = |x: &[u8]| {
            let bits = |(i, x): (usize, &u8)| (x & Self::MASK) << (i * Self::BITS);
            x.iter().enumerate().map(bits).fold(0, |all, x| all | x)
        };
        let (whole, rest) = x.as_chunks::<PER>();
        for (d, x) in d.iter_mut().zip(whole) {
            *d = byte(x);
        }
        if let (false, Some(d)) = (rest.is_empty(), d.get_mut(whole.len())) {
            *d = byte(rest);
        }
    }
    /// Unpacks to sign-extended bytes, as many as `d` has.
    #[inline(always)]
    fn unpack(q: &[u8], d: &mut [u8]) {
        let (whole, rest) = d.as_chunks_mut::<PER>();
        for (d, q) in whole.iter_mut().zip(q) {
            *d = Self::apart(*q).map(|q| q.wrapping_sub(Self::SIGN));
        }
        if let Some(q) = q.get(whole.len()) {
            for (d, q) in rest.iter_mut().zip(Self::apart(*q)) {
                *d = q.wrapping_sub(Self::SIGN);
            }
        }
    }
}

/// `expression` with the `Fields` of that many per byte.
macro_rules! with_fields {
    ($per:expr, |$F:ident| $expression:expr) => {
        match $per {
            4 => {
                type $F = Fields<4>;
                $expression
            }
            _ => {
                type $F = Fields<2>;
                $expression
            }
        }
    };
}
pub(super) use with_fields;

kernel! {
    /// Dequantises groups of `len` bytes, signed or unsigned, with a scale each; `zeros` may be
    /// empty.
    pub fn decode<'a>(q: &'a [u8], signed: bool, len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len).zip(d.chunks_mut(len)).enumerate() {
            bytes(q, signed, scales[g], zeros.get(g).copied().unwrap_or(0.0), d);
        }
    }
}
kernel! {
    /// Dequantises groups of `len` integers packed `per` (2 or 4) to a byte; a group is whole
    /// bytes.
    pub fn decode_packed<'a>(q: &'a [u8], per: usize, len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len / per).zip(d.chunks_mut(len)).enumerate() {
            let (scale, zero) = (scales[g], zeros.get(g).copied().unwrap_or(0.0));
            with_fields!(per, |F| F::all(q, scale, zero, d))
        }
    }
}
kernel! {
    /// Packs `per` (2 or 4) neighbours into a byte, the first in the lowest bits, padding the last
    /// byte with zeros.
    pub fn pack<'a>(x: &'a [u8], per: usize, d: &'a mut [u8]) -> () { |I|
        with_fields!(per, |F| F::pack(x, d))
    }
}
kernel! {
    /// Unpacks bytes of `per` (2 or 4) integers to sign-extended bytes, as many as `d` has.
    pub fn unpack<'a>(q: &'a [u8], per: usize, d: &'a mut [u8]) -> () { |I|
        with_fields!(per, |F| F::unpack(q, d))
    }
}
kernel! {
    /// For each row of `k` signed bytes their wrapping sum, and 1 if bytes are narrow: no magnitudes of
    /// two neighbours, the first of which is at an even place, are above 128 in sum; or else 0. Neighbours
    /// are `apart` bytes from each other.
    pub fn row_facts<'a>(q: &'a [u8], k: usize, apart: usize, d: &'a mut [[u32; 2]]) -> () { |I|
        for (q, d) in q.chunks(k.max(1)).zip(d) {
            let sum = q.iter().fold(0i32, |sum, q| sum.wrapping_add(*q as i8 as i32));
            *d = [sum as u32, (widest_pair(q, apart) <= 128) as u32];
        }
    }
}

/// The largest sum of two neighbours' magnitudes.
#[inline(always)]
fn widest_pair(q: &[u8], apart: usize) -> u16 {
    let size = |x: u8| (x as i8).unsigned_abs() as u16;
    let mut widest = 0;
    if apart == 1 {
        for [a, b] in q.as_chunks().0 {
            widest = widest.max(size(*a) + size(*b));
        }
        return widest;
    }
    for both in q.chunks(2 * apart.max(1)) {
        let (a, b) = both.split_at(apart.min(both.len()));
        for (a, b) in a.iter().zip(b) {
            widest = widest.max(size(*a) + size(*b));
        }
    }
    widest
}
