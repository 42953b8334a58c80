//! How tensors are printed.

use flex::DType;
use flex::Tensor;
use flex::dtype::Element;
use std::string::ToString;

fn text<T: Element>(values: &[T], shape: &[usize]) -> String {
    Tensor::from_slice(values, shape).unwrap().to_string()
}

#[test]
fn numbers_are_aligned_and_have_the_fewest_digits() {
    assert_eq!(text(&[1, -20, 300], &[3]), "[  1, -20, 300]");
    assert_eq!(text(&[true, false], &[2]), "[ true, false]");
    assert_eq!(text(&[0.1f32, -2.25, 3.0], &[3]), "[ 0.1 , -2.25,  3.  ]");
    assert_eq!(text(&[1e10f32, 1.0], &[2]), "[1.e+10, 1.e+00]");
    assert_eq!(text(&[1.5e-7f32, 2.0e-7], &[2]), "[1.5e-07, 2.0e-07]");
    assert_eq!(
        text(&[f32::NAN, f32::INFINITY, -1.0], &[3]),
        "[nan, inf, -1.]"
    );
    assert_eq!(text(&[0.0f32, -0.0], &[2]), "[ 0., -0.]");
    assert_eq!(text(&[7i8], &[]), "7");
}

#[cfg(feature = "f64")]
#[test]
fn long_floats_are_rounded_to_eight_decimals() {
    assert_eq!(text(&[1.0 / 3.0, 0.5], &[2]), "[0.33333333, 0.5       ]");
    assert_eq!(text(&[1e300 / 3.0], &[1]), "[3.33333333e+299]");
    assert_eq!(text(&[0.999999999999], &[1]), "[1.]");
}

#[cfg(feature = "half")]
#[test]
fn halves_print_their_shortest_digits() {
    use flex::dtype::{bf16, f16};
    assert_eq!(
        text(&[bf16::from_f32(0.1), bf16::from_f32(3.25)], &[2]),
        "[0.1 , 3.25]"
    );
    // 65504 is the only float16 nearest to 65500
    assert_eq!(
        text(&[f16::from_f32(0.1), f16::from_f32(65504.0)], &[2]),
        "[1.00e-01, 6.55e+04]"
    );
}

#[cfg(feature = "float8")]
#[test]
fn float8_prints_its_shortest_digits() {
    use flex::dtype::{F8E4M3, F8E5M2};
    assert_eq!(
        text(&[0.1, 3.25, 448.0, f32::NAN].map(F8E4M3::from_f32), &[4]),
        "[  0.1,   3.2, 448. ,   nan]"
    );
    assert_eq!(
        text(&[57344.0, -f32::INFINITY].map(F8E5M2::from_f32), &[2]),
        "[57344.,   -inf]"
    );
}

#[cfg(feature = "complex")]
#[test]
fn complex_numbers_print_both_parts() {
    use flex::dtype::Complex64;
    assert_eq!(
        text(&[Complex64::new(1.0, -2.5), Complex64::new(0.5, 3.0)], &[2]),
        "[1.-2.5j, 0.5+3.j]"
    );
}

#[test]
fn nested_empty_and_large_tensors_are_laid_out() {
    assert_eq!(text(&[1, 2, 3, 4], &[2, 2]), "[[1, 2],\n [3, 4]]");
    assert_eq!(text(&[1, 2, 3, 4], &[2, 1, 2]), "[[[1, 2]],\n\n [[3, 4]]]");
    assert_eq!(text::<i32>(&[], &[0, 3]), "[]");
    let long = Tensor::from_slice(&(0..2000).collect::<Vec<i32>>(), [2000]).unwrap();
    assert_eq!(
        long.to_string(),
        "[   0,    1,    2, ..., 1997, 1998, 1999]"
    );
    let rows = long.reshape([500, 4]).unwrap().to_string();
    assert_eq!(rows.lines().count(), 7);
    assert!(rows.lines().nth(3) == Some(" ...,"), "{rows}");
    let wide = Tensor::zeros([100], DType::I8).unwrap().to_string();
    assert!(
        wide.lines().count() > 1 && wide.lines().all(|l| l.len() <= 75),
        "{wide}"
    );
}

#[test]
fn many_dimensions_are_summarised() {
    let deep = |rank: usize| {
        Tensor::zeros([1], DType::I8)
            .unwrap()
            .broadcast_to(std::vec![2; rank])
            .unwrap()
            .to_string()
    };
    assert_eq!(deep(9).matches('0').count(), 512);
    let deepest = if cfg!(target_pointer_width = "64") {
        40
    } else {
        25
    }; // so that the number of elements doesn't overflow
    assert_eq!(
        (deep(10).as_str(), deep(deepest).as_str()),
        ("[...]", "[...]")
    );
    let thin = Tensor::zeros([1], DType::I8)
        .unwrap()
        .broadcast_to([&[1; 30][..], &[5000]].concat())
        .unwrap()
        .to_string();
    assert!(thin.contains("[0, ..., 0]"), "{thin}");
}

#[test]
fn views_print_their_own_elements() {
    let x = Tensor::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
    assert_eq!(
        x.transpose(0, 1).unwrap().flip([0]).unwrap().to_string(),
        "[[3, 6],\n [2, 5],\n [1, 4]]"
    );
    assert_eq!(
        x.narrow(0, 0, 1)
            .unwrap()
            .broadcast_to([2, 3])
            .unwrap()
            .to_string(),
        "[[1, 2, 3],\n [1, 2, 3]]"
    );
}

/// A precision is that of each number alone.
#[test]
#[cfg(feature = "f64")]
fn precision_is_honoured() {
    let x = Tensor::from([[1.0f32, 2.345], [-0.5, 12.0]]);
    assert_eq!(format!("{x:.2}"), "[[ 1.00,  2.35],\n [-0.50, 12.00]]"); // 2.34500003 in float32
    assert_eq!(format!("{x:.0}"), "[[ 1,  2],\n [-0, 12]]");
    assert_eq!(
        format!("{:.1}", Tensor::from([1e30f64, 1.0])),
        format!("[{:.1}, {:>33.1}]", 1e30, 1.0)
    );
    assert_eq!(
        format!("{:.3}", Tensor::from([f32::NAN, f32::INFINITY])),
        "[nan, inf]"
    );
    assert_eq!(format!("{:.3}", Tensor::from([1, -2])), "[ 1, -2]");
    assert_eq!(format!("{:.1}", Tensor::from(2.25f32)), "2.2");
    #[cfg(feature = "complex")]
    {
        let z = flex::dtype::Complex64::new(1.0, -0.25);
        assert_eq!(format!("{:.2}", Tensor::from([z])), "[1.00-0.25j]");
    }
}
