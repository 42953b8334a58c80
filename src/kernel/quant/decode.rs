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

/// `PER` integers with a sign in each byte, the first in its lowest bits.
pub(super) struct Fields<const PER: usize>;
impl<const PER: usize> Fields<PER> {
    const BITS: usize = 8 / PER;
    const MASK: u8 = (1 << Self::BITS) - 1;
    /// The sign of one, and of all in a byte.
    const SIGN: u8 = 1 << (Self::BITS - 1);
    const SIGNS: u8 = u8::MAX / Self::MASK * Self::SIGN;

    /// `scale * (q - zero)` of one of them.
    #[inline(always)]
    pub fn one(q: &[u8], i: usize, scale: f32, zero: f32) -> f32 {
        let q = (q[i / PER] ^ Self::SIGNS) >> (i % PER * Self::BITS) & Self::MASK;
        (q as f32 - (zero + Self::SIGN as f32)) * scale
    }
    /// The same of whole bytes; `d` is `PER` times as long. Eight at a time, of one word: of longer pieces LLVM makes
    /// vectors across several, whose bytes it gathers one by one.
    #[inline(always)]
    pub fn all(q: &[u8], scale: f32, zero: f32, d: &mut [f32]) {
        const TOGETHER: usize = 8;
        let bytes = const { TOGETHER / PER };
        // the sign flipped, they are unsigned ones that are too large by it
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
    /// Those of a byte, without signs.
    #[inline(always)]
    fn apart(q: u8) -> [u8; PER] {
        let mut each = [0; PER];
        for (i, d) in each.iter_mut().enumerate() {
            *d = (q ^ Self::SIGNS) >> (i * Self::BITS) & Self::MASK;
        }
        each
    }
    /// Neighbours as bytes; after the last ones 0.
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
    /// As signed bytes, as many as `d` has.
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

/// `expression` with the fields of bytes of so many.
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
    /// Groups of `len` bytes, signed or not, of these scales; `zeros` may be none.
    pub fn decode<'a>(q: &'a [u8], signed: bool, len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len).zip(d.chunks_mut(len)).enumerate() {
            bytes(q, signed, scales[g], zeros.get(g).copied().unwrap_or(0.0), d);
        }
    }
}
kernel! {
    /// Groups of `len` integers, whole bytes of `per`, 2 or 4.
    pub fn decode_packed<'a>(q: &'a [u8], per: usize, len: usize, scales: &'a [f32], zeros: &'a [f32], d: &'a mut [f32]) -> () { |I|
        for (g, (q, d)) in q.chunks(len / per).zip(d.chunks_mut(len)).enumerate() {
            let (scale, zero) = (scales[g], zeros.get(g).copied().unwrap_or(0.0));
            with_fields!(per, |F| F::all(q, scale, zero, d))
        }
    }
}
kernel! {
    /// `per` neighbours, 2 or 4, as a byte, the first in the lowest bits; after the last ones 0.
    pub fn pack<'a>(x: &'a [u8], per: usize, d: &'a mut [u8]) -> () { |I|
        with_fields!(per, |F| F::pack(x, d))
    }
}
kernel! {
    /// Bytes of `per` integers, 2 or 4, as signed bytes, as many as `d` has.
    pub fn unpack<'a>(q: &'a [u8], per: usize, d: &'a mut [u8]) -> () { |I|
        with_fields!(per, |F| F::unpack(q, d))
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
