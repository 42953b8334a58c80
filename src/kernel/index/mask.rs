//! Masks: counting, positions, selection. A mask is bytes, true where not zero.

kernel! {
    /// How many are true.
    pub fn count<'a>(mask: &'a [u8]) -> usize { |I|
        let mut n = 0;
        // a byte counts to 255 without overflow
        for block in mask.chunks(128) {
            let mut k = 0u8;
            for m in block {
                k += (*m != 0) as u8;
            }
            n += k as usize;
        }
        n
    }
}

/// Writes the positions of what is true, counted from `base`; `out` has room for exactly these.
pub fn positions(mask: &[u8], base: usize, out: &mut [i64]) {
    let mut n = 0;
    for (i, m) in mask.iter().enumerate() {
        // written in any case, kept where true: no branch that depends on data
        let Some(o) = out.get_mut(n) else { return };
        *o = (base + i) as i64;
        n += (*m != 0) as usize;
    }
}

/// Copies the elements where the mask is true; `out` has room for exactly these.
pub fn select<U: Copy>(x: &[U], mask: &[u8], out: &mut [U]) {
    let mut n = 0;
    for (x, m) in x.iter().zip(mask) {
        let Some(o) = out.get_mut(n) else { return };
        *o = *x;
        n += (*m != 0) as usize;
    }
}

/// The coordinate along a dimension of `size`, whose next one is `inner` positions on, of each position.
pub fn coordinates(positions: &[i64], inner: usize, size: usize, out: &mut [i64], step: usize) {
    for (p, o) in positions.iter().zip(out.iter_mut().step_by(step)) {
        *o = (*p as usize / inner % size) as i64;
    }
}
