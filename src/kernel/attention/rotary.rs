//! Rotary position embedding of one head's vector.

use super::head::AttentionElement;

kernel! {
    /// Rotates each pair of the leading elements of `x` by the angle with this cosine and sine, and
    /// copies the rest. Pairs are neighbours if `interleaved`, else corresponding elements of the
    /// two halves.
    pub fn rotate<'a, T: AttentionElement>(x: &'a [T], cos: &'a [T::Acc], sin: &'a [T::Acc], interleaved: bool, y: &'a mut [T]) -> () { |I|
        let pairs = cos.len().min(sin.len());
        let (x, kept) = x.split_at(2 * pairs);
        let (y, rest) = y.split_at_mut(2 * pairs);
        rest.copy_from_slice(kept);
        if interleaved {
            let (x, y) = (x.as_chunks::<2>().0, y.as_chunks_mut::<2>().0);
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                let [a, b] = [x[0].widen(), x[1].widen()];
                *y = [
                    T::narrow(a * cos[i] - b * sin[i]),
                    T::narrow(b * cos[i] + a * sin[i]),
                ];
            }
        } else {
            let (x, second) = x.split_at(pairs);
            let (y, y_second) = y.split_at_mut(pairs);
            for i in 0..pairs {
                let [a, b] = [x[i].widen(), second[i].widen()];
                y[i] = T::narrow(a * cos[i] - b * sin[i]);
                y_second[i] = T::narrow(b * cos[i] + a * sin[i]);
            }
        }
    }
}
