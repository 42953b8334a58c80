//! Views, joins and selections, for tensors of all three kinds: they move elements only, so float32,
//! int16 and bool stand for all dtypes.

use crate::common::*;
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps, PadMode};
use burn_backend::{BoolDType, DType, Slice};
use burn_std::reader::try_read_sync;
use flex_burn::{Flex, FlexTensor};

/// `for_kinds!(array => (x, [method float int bool, ..]) { .. })`: the body for tensors of each kind.
macro_rules! for_kinds {
    ([$($method:ident = $float:ident $int:ident $boolean:ident),* $(,)?] |$of:ident| $body:expr) => {{
        #[allow(unused)]
        fn kind_float() {
            $(use self::methods::$float as $method;)*
            let $of = |a: &Array, layout: usize| tensor(a, DType::F32, layout);
            $body
        }
        #[allow(unused)]
        fn kind_int() {
            $(use self::methods::$int as $method;)*
            let $of = |a: &Array, layout: usize| tensor(a, DType::I16, layout);
            $body
        }
        #[allow(unused)]
        fn kind_bool() {
            $(use self::methods::$boolean as $method;)*
            let $of = |a: &Array, layout: usize| {
                Flex::int_not_equal_elem(tensor(a, DType::U8, layout), 0.into(), BoolDType::U8)
            };
            $body
        }
        kind_float();
        kind_int();
        kind_bool();
    }};
}

/// The methods as functions.
mod methods {
    use super::*;
    macro_rules! functions {
        ($($name:ident($($x:ident: $T:ty),*);)*) => { $(
            pub fn $name($($x: $T),*) -> FlexTensor {
                Flex::$name($($x),*)
            }
        )* };
    }
    functions! {
        float_reshape(x: FlexTensor, s: burn_backend::Shape); int_reshape(x: FlexTensor, s: burn_backend::Shape); bool_reshape(x: FlexTensor, s: burn_backend::Shape);
        float_swap_dims(x: FlexTensor, a: usize, b: usize); int_swap_dims(x: FlexTensor, a: usize, b: usize); bool_swap_dims(x: FlexTensor, a: usize, b: usize);
        float_transpose(x: FlexTensor); int_transpose(x: FlexTensor); bool_transpose(x: FlexTensor);
        float_permute(x: FlexTensor, a: &[usize]); int_permute(x: FlexTensor, a: &[usize]); bool_permute(x: FlexTensor, a: &[usize]);
        float_flip(x: FlexTensor, a: &[usize]); int_flip(x: FlexTensor, a: &[usize]); bool_flip(x: FlexTensor, a: &[usize]);
        float_expand(x: FlexTensor, s: burn_backend::Shape); int_expand(x: FlexTensor, s: burn_backend::Shape); bool_expand(x: FlexTensor, s: burn_backend::Shape);
        float_unfold(x: FlexTensor, d: usize, n: usize, s: usize); int_unfold(x: FlexTensor, d: usize, n: usize, s: usize); bool_unfold(x: FlexTensor, d: usize, n: usize, s: usize);
        float_slice(x: FlexTensor, s: &[Slice]); int_slice(x: FlexTensor, s: &[Slice]); bool_slice(x: FlexTensor, s: &[Slice]);
        float_slice_assign(x: FlexTensor, s: &[Slice], v: FlexTensor); int_slice_assign(x: FlexTensor, s: &[Slice], v: FlexTensor); bool_slice_assign(x: FlexTensor, s: &[Slice], v: FlexTensor);
        float_cat(x: Vec<FlexTensor>, d: usize); int_cat(x: Vec<FlexTensor>, d: usize); bool_cat(x: Vec<FlexTensor>, d: usize);
        float_repeat_dim(x: FlexTensor, d: usize, n: usize); int_repeat_dim(x: FlexTensor, d: usize, n: usize); bool_repeat_dim(x: FlexTensor, d: usize, n: usize);
        float_mask_where(x: FlexTensor, m: FlexTensor, v: FlexTensor); int_mask_where(x: FlexTensor, m: FlexTensor, v: FlexTensor); bool_mask_where(x: FlexTensor, m: FlexTensor, v: FlexTensor);
        float_mask_fill(x: FlexTensor, m: FlexTensor, v: burn_backend::Scalar); int_mask_fill(x: FlexTensor, m: FlexTensor, v: burn_backend::Scalar); bool_mask_fill(x: FlexTensor, m: FlexTensor, v: burn_backend::Scalar);
    }
    pub fn float_mask_select(x: FlexTensor, m: FlexTensor) -> FlexTensor {
        try_read_sync(Flex::float_mask_select(x, m)).unwrap()
    }
    pub fn int_mask_select(x: FlexTensor, m: FlexTensor) -> FlexTensor {
        try_read_sync(Flex::int_mask_select(x, m)).unwrap()
    }
    pub fn bool_mask_select(x: FlexTensor, m: FlexTensor) -> FlexTensor {
        try_read_sync(Flex::bool_mask_select(x, m)).unwrap()
    }
}

/// Asserts values, and that the dtype, name of bytes included, is still that of the tensor.
#[track_caller]
fn same(got: FlexTensor, want: &Array, x: &FlexTensor) {
    equal(got, want, x.dtype());
}

#[test]
fn views() {
    for_kinds!([
        reshape = float_reshape int_reshape bool_reshape,
        swap_dims = float_swap_dims int_swap_dims bool_swap_dims,
        transpose = float_transpose int_transpose bool_transpose,
        permute = float_permute int_permute bool_permute,
        flip = float_flip int_flip bool_flip,
        expand = float_expand int_expand bool_expand,
        unfold = float_unfold int_unfold bool_unfold,
    ] |of| {
        let a = Array::integers(&[3, 4, 5], 0, 2, 1);
        for layout in 0..LAYOUTS {
            let x = of(&a, layout);
            let flat = Array::new(&[5, 12], a.values.clone());
            same(reshape(x.clone(), shape(&[5, 12])), &flat, &x);
            let swapped = Array::of(&[5, 4, 3], |at| a.at(&[at[2], at[1], at[0]]));
            same(swap_dims(x.clone(), 0, 2), &swapped, &x);
            let turned = Array::of(&[3, 5, 4], |at| a.at(&[at[0], at[2], at[1]]));
            same(transpose(x.clone()), &turned, &x);
            let moved = Array::of(&[5, 3, 4], |at| a.at(&[at[1], at[2], at[0]]));
            same(permute(x.clone(), &[2, 0, 1]), &moved, &x);
            let mirrored = Array::of(&[3, 4, 5], |at| a.at(&[2 - at[0], at[1], 4 - at[2]]));
            same(flip(x.clone(), &[0, 2]), &mirrored, &x);
            let one = Array::integers(&[3, 1, 5], 0, 2, 2);
            let wide = Array::of(&[3, 4, 5], |at| one.at(&[at[0], 0, at[2]]));
            same(expand(of(&one, layout), shape(&[3, 4, 5])), &wide, &x);
            let windows = Array::of(&[3, 4, 2, 3], |at| a.at(&[at[0], at[1], 2 * at[2] + at[3]]));
            same(unfold(x.clone(), 2, 3, 2), &windows, &x);
        }
    });
}

/// The places of an axis that a slice names.
fn named(s: &Slice, size: usize) -> Vec<usize> {
    let range = s.to_range(size);
    let step = s.step().unsigned_abs();
    match s.step() > 0 {
        true => range.step_by(step).collect(),
        false => range.rev().step_by(step).collect(),
    }
}

#[test]
fn slices() {
    const ALL: &[[Slice; 2]] = &[
        [Slice::full(), Slice::new(1, Some(4), 1)],
        [Slice::new(-3, None, 1), Slice::new(0, Some(-1), 2)],
        [Slice::new(1, Some(5), -1), Slice::new(0, None, -2)],
        [Slice::new(0, Some(100), 3), Slice::new(2, Some(8), -2)],
        [Slice::new(-100, Some(2), 1), Slice::new(6, Some(7), 1)],
        [Slice::new(0, Some(1), -1), Slice::new(1, None, -3)],
        [Slice::new(4, Some(2), 1), Slice::full()],
        [Slice::new(3, Some(3), -1), Slice::full()],
    ];
    for_kinds!([
        slice = float_slice int_slice bool_slice,
        slice_assign = float_slice_assign int_slice_assign bool_slice_assign,
    ] |of| {
        let a = Array::integers(&[6, 8], 0, 2, 1);
        for slices in ALL {
            let rows = named(&slices[0], 6);
            let columns = named(&slices[1], 8);
            let sizes = [rows.len(), columns.len()];
            let want = Array::of(&sizes, |at| a.at(&[rows[at[0]], columns[at[1]]]));
            let v = Array::integers(&sizes, 0, 2, 2);
            let mut written = a.clone();
            for at in places(&sizes) {
                *written.at_mut(&[rows[at[0]], columns[at[1]]]) = v.at(&at);
            }
            for layout in 0..LAYOUTS {
                println!("{slices:?} {layout}");
                let x = of(&a, layout);
                same(slice(x.clone(), slices), &want, &x);
                if !v.values.is_empty() {
                    same(slice_assign(x.clone(), slices, of(&v, layout)), &written, &x);
                    same(slice_assign(of(&a, layout), slices, of(&v, 0)), &written, &x);
                    same(x.clone(), &a, &x);
                }
            }
        }
        // axes that are not named are whole
        let x = of(&a, 0);
        let first = Array::of(&[1, 8], |at| a.at(&[0, at[1]]));
        same(slice(x.clone(), &[Slice::new(0, Some(1), 1)]), &first, &x);
    });
}

#[test]
fn joins_and_masks() {
    for_kinds!([
        cat = float_cat int_cat bool_cat,
        repeat_dim = float_repeat_dim int_repeat_dim bool_repeat_dim,
        mask_where = float_mask_where int_mask_where bool_mask_where,
        mask_fill = float_mask_fill int_mask_fill bool_mask_fill,
        mask_select = float_mask_select int_mask_select bool_mask_select,
    ] |of| {
        let [a, b, m] = [1, 2, 3].map(|seed| Array::integers(&[3, 4], 0, 2, seed));
        for layout in 0..LAYOUTS {
            let (x, y) = (of(&a, layout), of(&b, 3 - layout));
            let mask = || bools(&m, layout);
            let below = Array::of(&[6, 4], |at| match at[0] {
                i @ 0..3 => a.at(&[i, at[1]]),
                i => b.at(&[i - 3, at[1]]),
            });
            same(cat(vec![x.clone(), y.clone()], 0), &below, &x);
            let beside = Array::of(&[3, 8], |at| match at[1] {
                i @ 0..4 => a.at(&[at[0], i]),
                i => b.at(&[at[0], i - 4]),
            });
            same(cat(vec![x.clone(), y.clone()], 1), &beside, &x);
            let tiled = Array::of(&[3, 12], |at| a.at(&[at[0], at[1] % 4]));
            same(repeat_dim(x.clone(), 1, 3), &tiled, &x);
            let chosen = Array::of(&[3, 4], |at| if m.at(at) != 0.0 { b.at(at) } else { a.at(at) });
            same(mask_where(x.clone(), mask(), y.clone()), &chosen, &x);
            let filled = Array::of(&[3, 4], |at| if m.at(at) != 0.0 { 1.0 } else { a.at(at) });
            same(mask_fill(x.clone(), mask(), 1.into()), &filled, &x);
            same(x.clone(), &a, &x);
            let kept: Vec<f64> =
                places(&[3, 4]).iter().filter(|at| m.at(at) != 0.0).map(|at| a.at(at)).collect();
            same(mask_select(x.clone(), mask()), &Array::new(&[kept.len()], kept), &x);
        }
    });
}

#[test]
fn padding() {
    let a = Array::integers(&[3, 4], -5, 6, 1);
    let pads = [(1, 2), (3, 0)];
    let place = |mode: PadMode, at: &[usize]| -> Option<Vec<usize>> {
        let axis = |k: usize| {
            let (n, i) = (a.shape[k] as isize, at[k] as isize - pads[k].0 as isize);
            match mode {
                PadMode::Constant(_) => (0..n).contains(&i).then_some(i),
                PadMode::Edge => Some(i.clamp(0, n - 1)),
                PadMode::Reflect if i < 0 => Some(-i),
                PadMode::Reflect if i >= n => Some(2 * (n - 1) - i),
                PadMode::Reflect => Some(i),
            }
        };
        Some(vec![axis(0)? as usize, axis(1)? as usize])
    };
    for mode in [PadMode::Constant(2.0), PadMode::Reflect, PadMode::Edge] {
        let want = Array::of(&[6, 7], |at| place(mode, at).map_or(2.0, |at| a.at(&at)));
        for layout in 0..LAYOUTS {
            for dtype in FLOATS {
                equal(
                    Flex::float_pad(floats(&a, dtype, layout), &pads, mode),
                    &want,
                    dtype,
                );
            }
            for dtype in INTS.into_iter().filter(|d| is_signed(*d)) {
                equal(
                    Flex::int_pad(ints(&a, dtype, layout), &pads, mode),
                    &want,
                    dtype,
                );
            }
        }
    }
    let x = floats(&a, FLOATS[0], 0);
    let message = panic_message(move || Flex::float_pad(x, &[(3, 0), (0, 0)], PadMode::Reflect));
    assert!(message.contains("less than"), "{message}");
}
