//! Reductions of slices by independent accumulators, which become lanes of vectors.

/// `lanes!(x, identity, |v| lift, |a, b| join)`: `x` reduced by 64 accumulators, which are then
/// joined by halving; the remainder of `x` goes into as many as it fills. WebAssembly without
/// vectors has 16, since each is a variable there, and microcontrollers have 4. `lanes!(x, y,
/// identity, |v, w| lift, |a, b| join)` is the same for pairs, from two slices of one length. A
/// first argument of 64 or 256 is the number of accumulators on every target: with more of them,
/// sums lose less. A macro, since a closure may be outlined from its kernel.
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
    (@@ $of:tt $identity:expr, $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        if crate::simd::MICROCONTROLLER {
            lanes!(@ [4 2 1] $of $identity, $lift, |$a, $b| $join)
        } else if crate::simd::SCALAR_WEB {
            lanes!(@ [16 8 4 2 1] $of $identity, $lift, |$a, $b| $join)
        } else {
            lanes!(@ [64 32 16 8 4 2 1] $of $identity, $lift, |$a, $b| $join)
        }
    };
    ($x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@@ [$v = $x] $identity, $lift, |$a, $b| $join)
    };
    ($x:expr, $y:expr, $identity:expr, |$v:ident, $w:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@@ [$v = $x, $w = $y] $identity, $lift, |$a, $b| $join)
    };
    (64, $x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@ [64 32 16 8 4 2 1] [$v = $x] $identity, $lift, |$a, $b| $join)
    };
    (256, $x:expr, $identity:expr, |$v:ident| $lift:expr, |$a:ident, $b:ident| $join:expr) => {
        lanes!(@ [256 128 64 32 16 8 4 2 1] [$v = $x] $identity, $lift, |$a, $b| $join)
    };
}
