//! Scans: every prefix of a line reduced. Within a register by doubling distances, from register to
//! register by a carry, so that the chain of dependent operations is one for sixteen elements.

use crate::kernel::reduce::Reduce;

kernel! {
    /// `y[i]` is `carry` joined with `x[0] .. x[i]`; both are equally long.
    pub fn scan<'a, T: Copy, R: Reduce<T, Acc = T>>(x: &'a [T], y: &'a mut [T], carry: T) -> () { |I|
        if I::AVX512 { blocks::<T, R, 16>(x, y, carry) } else { blocks::<T, R, 8>(x, y, carry) }
    }
}

/// In blocks of `W` elements.
#[inline(always)]
fn blocks<T: Copy, R: Reduce<T, Acc = T>, const W: usize>(x: &[T], y: &mut [T], mut carry: T) {
    let ((blocks, rest), (results, tail)) = (x.as_chunks::<W>(), y.as_chunks_mut::<W>());
    for (x, y) in blocks.iter().zip(results) {
        let mut prefix = *x;
        let mut distance = 1;
        while distance < W {
            let shorter = prefix;
            for i in distance..W {
                prefix[i] = R::join(shorter[i - distance], shorter[i]);
            }
            distance *= 2;
        }
        for i in 0..W {
            y[i] = R::join(carry, prefix[i]);
        }
        carry = R::join(carry, prefix[W - 1]);
    }
    for (x, y) in rest.iter().zip(tail) {
        carry = R::join(carry, *x);
        *y = carry;
    }
}

kernel! {
    /// `y[i]` is `above[i]` joined with `x[i]`: a step of the scans of neighbouring columns.
    pub fn step<'a, T: Copy, R: Reduce<T, Acc = T>>(above: &'a [T], x: &'a [T], y: &'a mut [T]) -> () { |I|
        for ((y, x), above) in y.iter_mut().zip(x).zip(above) {
            *y = R::join(*above, *x);
        }
    }
}
