//! Reductions of slices by independent accumulators, which become lanes of vectors.

/// `lanes!(x, identity, |v| lift, |a, b| join)`: `x` reduced by 64 accumulators, which are then
/// joined by halving; the remainder of `x` goes into as many as it fills. Microcontrollers have 4.
/// `lanes!(x, y, identity, |v, w| lift, |a, b| join)` is the same for pairs, from two slices of one
/// length. A first argument of 64 or 256 is the number of accumulators on every target: with more of
/// them, sums lose less. Where code is to be small (`I::SMALL`, of the set `I` in scope), the same joins
/// in the same order are loops over accumulators in memory. A macro, since a closure may be outlined
/// from its kernel.
macro_rules! lanes {
    (@ [$lanes:literal $($half:literal)*] [$($v:ident = $x:expr),+] $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {{
        $(let $v = $x.as_chunks::<$lanes>();)+
        let mut acc = [$identity; $lanes];
        for k in 0..usize::MAX$(.min($v.0.len()))+ {
            // copies: read through references, elements would keep the accumulators in memory
            $(let $v = $v.0[k];)+
            lanes!(# acc $lanes [$($v)+] $lift, |$a, $b| $join);
        }
        lanes!(/ acc [$($half)*] [$($v)+] $identity, $lift, |$a, $b| $join)
    }};
    (/ $all:ident [] [$($v:ident)+] $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {{
        $(let _ = $v;)+
        $all[0]
    }};
    (/ $all:ident [$half:literal $($less:literal)*] [$($v:ident)+] $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {{
        let mut acc = [$identity; $half];
        for i in 0..$half {
            let ($a, $b) = ($all[i], $all[i + $half]);
            acc[i] = $join;
        }
        $(let $v = $v.1.as_chunks::<$half>();)+
        if true $(&& !$v.0.is_empty())+ {
            $(let $v = $v.0[0];)+
            lanes!(# acc $half [$($v)+] $lift, |$a, $b| $join);
        }
        lanes!(/ acc [$($less)*] [$($v)+] $identity, $lift, |$a, $b| $join)
    }};
    (# $acc:ident $lanes:literal [$($v:ident)+] $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        for i in 0..$lanes {
            let $a = $acc[i];
            $(let $v = $v[i];)+
            let $b = $lift;
            $acc[i] = $join;
        }
    };
    (~ $lanes:literal [$($v:ident = $x:expr),+] $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {{
        $(let $v = &$x[..];)+
        let (n, mut done) = (usize::MAX$(.min($v.len()))+, 0);
        let mut all = [$identity; $lanes];
        // unknown, so that loops stay loops
        let mut lanes = core::hint::black_box($lanes).min($lanes);
        loop {
            while n - done >= lanes {
                $(let $v = &$v[done..][..lanes];)+
                for i in 0..lanes {
                    crate::simd::rolled_of::<I, _>(all[0]);
                    let $a = all[i];
                    $(let $v = $v[i];)+
                    let $b = $lift;
                    all[i] = $join;
                }
                done += lanes;
            }
            lanes /= 2;
            if lanes == 0 {
                break all[0];
            }
            for i in 0..lanes {
                crate::simd::rolled_of::<I, _>(all[0]);
                let ($a, $b) = (all[i], all[i + lanes]);
                all[i] = $join;
            }
        }
    }};
    (^ [$lanes:literal $($half:literal)*] $of:tt $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        if const { I::SMALL } {
            lanes!(~ $lanes $of $identity, $lift, |$a, $b| $join)
        } else {
            lanes!(@ [$lanes $($half)*] $of $identity, $lift, |$a, $b| $join)
        }
    };
    (@@ $of:tt $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        if crate::simd::MICROCONTROLLER {
            lanes!(@ [4 2 1] $of $identity, $lift, |$a, $b| $join)
        } else {
            lanes!(^ [64 32 16 8 4 2 1] $of $identity, $lift, |$a, $b| $join)
        }
    };
    ($x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@@ [$v = $x] $identity, $lift, |$a, $b| $join)
    };
    ($x:expr, $y:expr, $identity:expr, |$v:ident, $w:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@@ [$v = $x, $w = $y] $identity, $lift, |$a, $b| $join)
    };
    (64, $x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(^ [64 32 16 8 4 2 1] [$v = $x] $identity, $lift, |$a, $b| $join)
    };
    (256, $x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(^ [256 128 64 32 16 8 4 2 1] [$v = $x] $identity, $lift, |$a, $b| $join)
    };
}

/// `blend!(x, y, |a, b| choice)` replaces each element of `x` by a choice between itself and
/// something else, which may depend on the element of `y` beside it.
///
/// Written in place, LLVM makes masked stores of such choices, which take AMD's CPUs with AVX2 some
/// twenty cycles each. So it is not told that the elements are written where they were read.
macro_rules! blend {
    ($x:expr, $y:expr, |$a:ident, $b:ident| $choice:expr) => {{
        const BLOCK: usize = 32;
        let (x, y) = ($x, $y);
        let n = x.len().min(y.len());
        let (x, y) = (&mut x[..n], &y[..n]);
        let from = x.as_mut_ptr();
        let (to, mut done) = (core::hint::black_box(from), 0);
        for other in y.as_chunks::<BLOCK>().0 {
            // SAFETY: a block of `x`, which has as many as `y`.
            let (s, other) = (unsafe { *(from.add(done) as *const [_; BLOCK]) }, *other);
            let mut d = s;
            for j in 0..BLOCK {
                let ($a, $b) = (s[j], other[j]);
                d[j] = $choice;
            }
            // SAFETY: the same block.
            unsafe { *(to.add(done) as *mut [_; BLOCK]) = d };
            done += BLOCK;
        }
        for (x, other) in x[done..].iter_mut().zip(&y[done..]) {
            let ($a, $b) = (*x, *other);
            *x = $choice;
        }
    }};
}
