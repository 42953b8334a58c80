//! Einstein sums against a loop over all labels.

use crate::common::{Rng, close, epsilon, floats, layouts, random, values, wrap};
use flex::ops::{self, EinsumOptions, EinsumOrder};
use flex::{DType, Tensor};

/// The element of `x` at these labels, where sizes of 1 broadcast.
fn at(x: &Tensor, elements: &[f64], labels: &[char], index: &dyn Fn(char) -> usize) -> f64 {
    let position = labels
        .iter()
        .zip(x.shape())
        .fold(0, |position, (label, size)| {
            position * size + if *size == 1 { 0 } else { index(*label) }
        });
    elements[position]
}

/// The sums of products of these elements, and of their magnitudes, in row-major order, and the
/// shape; for subscripts with an output and without `...`.
fn naive(subscripts: &str, operands: &[Tensor]) -> (Vec<(f64, f64)>, Vec<usize>) {
    let (inputs, output) = subscripts.split_once("->").unwrap();
    let labels = |text: &str| text.chars().filter(|c| *c != ' ').collect::<Vec<char>>();
    let inputs: Vec<Vec<char>> = inputs.split(',').map(labels).collect();
    let mut all = labels(output);
    let rank = all.len();
    for label in inputs.iter().flatten() {
        if !all.contains(label) {
            all.push(*label);
        }
    }
    let size = |label: &char| {
        let dims = inputs
            .iter()
            .zip(operands)
            .flat_map(|(l, x)| l.iter().zip(x.shape()));
        let sizes = dims.filter(|(l, _)| *l == label).map(|(_, size)| *size);
        sizes
            .reduce(|n, size| if n == 1 { size } else { n })
            .unwrap()
    };
    let sizes: Vec<usize> = all.iter().map(size).collect();
    let elements: Vec<Vec<f64>> = operands.iter().map(floats).collect();
    let kept: usize = sizes[..rank].iter().product();
    let summed: usize = sizes[rank..].iter().product();
    let sums = (0..kept).map(|outer| {
        (0..summed).fold((0.0, 0.0), |(sum, magnitude), inner| {
            let mut position = outer * summed + inner;
            let mut index = vec![0; all.len()];
            for k in (0..all.len()).rev() {
                index[k] = position % sizes[k];
                position /= sizes[k];
            }
            let of = |label: char| index[all.iter().position(|l| *l == label).unwrap()];
            let factors = operands.iter().zip(&elements).zip(&inputs);
            let product: f64 = factors.map(|((x, e), l)| at(x, e, l, &of)).product();
            (sum + product, magnitude + product.abs())
        })
    });
    (sums.collect(), sizes[..rank].to_vec())
}

fn check(subscripts: &str, operands: &[Tensor], options: &EinsumOptions) {
    let y = ops::einsum_with(subscripts, operands, options)
        .unwrap_or_else(|e| panic!("{subscripts}: {e}"));
    let (expected, shape) = naive(subscripts, operands);
    let shapes: Vec<&[usize]> = operands.iter().map(Tensor::shape).collect();
    assert_eq!(y.shape(), shape, "{subscripts} {shapes:?}");
    let dtype = operands[0].dtype();
    assert_eq!(y.dtype(), dtype);
    for (k, (got, (sum, magnitude))) in values(&y).into_iter().zip(expected).enumerate() {
        let right = match dtype.is_integer() {
            true => got.int() == wrap(sum as i128, dtype),
            false => close(
                got.float(),
                sum,
                epsilon(dtype),
                64.0 * 2f64.powi(-23) * magnitude,
            ),
        };
        assert!(
            right,
            "{subscripts} {shapes:?} {dtype} {options:?}: element {k} is {got:?}, not {sum}"
        );
    }
}

const EXPRESSIONS: &[&str] = &[
    "ij,jk->ik",
    "ij,jk->ki",
    "ji,jk->ik",
    "ij,kj->ik",
    "ij,jk->",
    "ij,ij->",
    "ij,ji->",
    "ij,j->i",
    "i,j->ij",
    "i,i->i",
    "i,i->",
    "i,->i",
    ",->",
    "ij->ji",
    "ii->i",
    "ii->",
    "iij->j",
    "iji->ij",
    "ij->i",
    "ij->j",
    "ijk->j",
    "bij,bjk->bik",
    "bij,bjk->ibk",
    "ijb,jkb->ikb",
    "bij,bij->b",
    "ibj,ibj->b",
    "kb,kb->b",
    "bhqd,bhkd->bhqk",
    "bqhd,bkhd->bhqk",
    "bhqk,bkhd->bqhd",
    "aib,bj->aij",
    "abi,bj->aij",
    "ijk,jlk->il",
    "ijk,kjl->il",
    "ijkl,jl->ik",
    "ijij->",
    "ii,ij->i",
    "ij,jk,kl->il",
    "ij,jk,kl,lm,mi->",
    "i,ij,j->",
    "ij,ij,ij->ij",
    "a,b,c,d->dbca",
    "ab,bc,cd,de,ef,fg->ag",
    "ea,fb,abcd,gc,hd->efgh",
    "i,i,i,i,i,i,i,i,i,i->",
    "Aa,aB->BA",
    " i j , jk -> i k ",
];

/// Operands of these shapes, or for each label of a size in 1 to 5, now and then 0.
fn operands(rng: &mut Rng, subscripts: &str, dtype: DType, broadcast: bool) -> Vec<Tensor> {
    let sizes: Vec<usize> = (0..128)
        .map(|_| match rng.below(12) {
            0 => 0,
            1..3 => 1,
            _ => rng.between(2, 5),
        })
        .collect();
    let inputs = subscripts.split("->").next().unwrap();
    let shape_of = |term: &str, rng: &mut Rng| -> Vec<usize> {
        let labels: Vec<char> = term.chars().filter(|c| *c != ' ').collect();
        let repeated = |l: &char| labels.iter().filter(|c| *c == l).count() > 1;
        let size = |l: &char| match broadcast && !repeated(l) && rng.below(5) == 0 {
            true => 1,
            false => sizes[*l as usize],
        };
        labels.iter().map(size).collect()
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    terms
        .into_iter()
        .map(|term| {
            let shape = shape_of(term, rng);
            let x = random(rng, &shape, dtype);
            let x = match dtype.is_float() {
                true => ops::multiply(&x, 0.25).unwrap(),
                false => x,
            };
            let mut all = layouts(&x);
            let k = rng.below(all.len());
            all.swap_remove(k).1
        })
        .collect()
}

#[test]
fn every_expression_matches_the_oracle() {
    let mut rng = Rng(11);
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8]
        .into_iter()
        .filter(|d| d.is_available())
    {
        for subscripts in EXPRESSIONS {
            for round in 0..6 {
                let operands = operands(&mut rng, subscripts, dtype, round > 2);
                let orders = [
                    EinsumOrder::Best,
                    EinsumOrder::Given,
                    EinsumOrder::Greedy,
                    EinsumOrder::Optimal,
                ];
                let options = EinsumOptions {
                    order: orders[rng.below(4)].clone(),
                    limit: (rng.below(4) == 0).then(|| rng.below(30)),
                    ..EinsumOptions::default()
                };
                check(subscripts, &operands, &options);
            }
        }
    }
}

#[test]
fn random_expressions_match_the_oracle() {
    let mut rng = Rng(12);
    let dtypes = [DType::F32, DType::I64, DType::I8, DType::F16, DType::BF16];
    let dtypes: Vec<DType> = dtypes.into_iter().filter(|d| d.is_available()).collect();
    for _ in 0..400 {
        let (mut text, mut used) = (String::new(), Vec::new());
        let count = rng.between(1, 4);
        for k in 0..count {
            if k > 0 {
                text.push(',');
            }
            for _ in 0..rng.below(4) {
                let label = (b'a' + rng.below(5) as u8) as char;
                text.push(label);
                if !used.contains(&label) {
                    used.push(label);
                }
            }
        }
        text.push_str("->");
        while !used.is_empty() && rng.below(3) > 0 {
            let k = rng.below(used.len());
            text.push(used.swap_remove(k));
        }
        let dtype = dtypes[rng.below(dtypes.len())];
        let operands = operands(&mut rng, &text, dtype, true);
        check(&text, &operands, &EinsumOptions::default());
    }
}

/// Sizes that need more than a tile, and matrices large enough for batches of views.
#[test]
fn larger_operands_match_the_oracle() {
    let mut rng = Rng(13);
    let cases: &[(&str, &[&[usize]])] = &[
        ("abi,bj->aij", &[&[3, 20, 40], &[20, 33]]),
        ("iab,bj->aij", &[&[40, 3, 20], &[20, 33]]),
        ("bhqd,bhkd->bhqk", &[&[2, 3, 33, 20], &[2, 3, 40, 20]]),
        ("bqhd,bkhd->bhqk", &[&[2, 33, 3, 20], &[2, 40, 3, 20]]),
        ("bij,bj->bi", &[&[500, 3, 3], &[500, 3]]),
        ("kb,kb->b", &[&[300, 70], &[300, 70]]),
        ("ij,ji->", &[&[70, 90], &[90, 70]]),
        ("ij,ij->", &[&[170, 90], &[170, 90]]),
        ("ijk,jlk->il", &[&[20, 9, 8], &[9, 21, 8]]),
        ("ijkl,klm->mji", &[&[5, 20, 9, 8], &[9, 8, 21]]),
    ];
    for (subscripts, shapes) in cases {
        let operands: Vec<Tensor> = shapes
            .iter()
            .map(|s| random(&mut rng, s, DType::F32))
            .collect();
        check(subscripts, &operands, &EinsumOptions::default());
    }
}

#[test]
fn permutations_and_diagonals_are_views() {
    let x = random(&mut Rng(1), &[3, 4, 3], DType::F32);
    for (subscripts, shape, strides) in [
        ("ijk->kji", &[3, 4, 3][..], &[1, 3, 12][..]),
        ("iji->ij", &[3, 4], &[13, 3]),
        ("iji->ji", &[4, 3], &[3, 13]),
        ("...", &[3, 4, 3], &[12, 3, 1]),
        ("a...b->b...a", &[3, 4, 3], &[1, 3, 12]),
    ] {
        let y = ops::einsum(subscripts, &[&x]).unwrap();
        assert!(y.shares_storage(&x), "{subscripts}");
        assert_eq!((y.shape(), y.strides()), (shape, strides), "{subscripts}");
    }
    // of any dtype, as nothing is computed
    let bools = Tensor::from([[true, false], [true, true]]);
    assert_eq!(
        ops::einsum("ii->i", &[&bools])
            .unwrap()
            .to_vec::<bool>()
            .unwrap(),
        [true, true]
    );
}

#[test]
fn an_ellipsis_broadcasts() {
    let (x, y) = (
        random(&mut Rng(2), &[2, 1, 3], DType::I64),
        random(&mut Rng(3), &[4, 3], DType::I64),
    );
    let sum = ops::einsum("...i,...i", &[&x, &y]).unwrap();
    let expected = ops::sum(&ops::multiply(&x, &y).unwrap(), -1).unwrap();
    assert_eq!(
        (sum.shape(), sum.to_vec::<i64>().unwrap()),
        (&[2, 4][..], expected.to_vec::<i64>().unwrap())
    );
    let first = ops::einsum("...i->i...", &[&y]).unwrap();
    assert_eq!(first.shape(), [3, 4]);
    let ones = Tensor::zeros([1; 100], DType::F32).unwrap();
    assert_eq!(
        ops::einsum("...,...->...", &[&ones, &ones])
            .unwrap()
            .shape(),
        [1; 100]
    );
}

#[test]
fn sixteen_bit_floats_are_rounded_once() {
    // 2048 + 1 + 1 is 2050 in float32, and 2048 in float16 after each addition
    let a = Tensor::from([2048f32, 1.0, 1.0])
        .astype(DType::F16)
        .unwrap();
    let one = Tensor::from([1f32, 1.0, 1.0]).astype(DType::F16).unwrap();
    for (subscripts, count) in [("i->", 1), ("i,i->", 2), ("i,i,i->", 3), ("i,j,k,k->i", 4)] {
        let operands: Vec<&Tensor> = [&a, &one, &one, &one][..count].to_vec();
        let y = ops::einsum(subscripts, &operands).unwrap();
        let expected = [2050.0, 2050.0, 2050.0, 18432.0][count - 1];
        assert_eq!(
            (y.dtype(), floats(&y)[0]),
            (DType::F16, expected),
            "{subscripts}"
        );
    }
}

#[test]
fn a_dtype_is_that_of_products_and_sums() {
    let a = Tensor::from([[100i8, -100]]);
    let options = |dtype| EinsumOptions {
        dtype: Some(dtype),
        ..EinsumOptions::default()
    };
    for (subscripts, expected) in [("ij,ij->", 20_000), ("ij,kj->ik", 20_000)] {
        let y = ops::einsum_with(subscripts, &[&a, &a], &options(DType::I32)).unwrap();
        assert_eq!(y.item::<i32>().unwrap(), expected);
    }
    let y = ops::einsum_with("ij->ji", &[&a], &options(DType::F32)).unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [100.0, -100.0]);
    let mixed = ops::einsum("ij,ij->j", &[&a, &Tensor::from([[0.5f32, 2.0]])]).unwrap();
    assert_eq!(mixed.to_vec::<f32>().unwrap(), [50.0, -200.0]);
    assert!(ops::einsum_with("ij->i", &[&a], &options(DType::Bool)).is_err());
}

#[test]
fn paths() {
    let shapes: [&[usize]; 3] = [&[2, 100], &[100, 100], &[100, 1]];
    let x: Vec<Tensor> = shapes
        .iter()
        .map(|s| Tensor::zeros(*s, DType::F32).unwrap())
        .collect();
    let path = |order| {
        let options = EinsumOptions {
            order,
            ..EinsumOptions::default()
        };
        ops::einsum_path("ij,jk,kl->il", &x, &options)
            .unwrap()
            .steps()
            .to_vec()
    };
    assert_eq!(path(EinsumOrder::Best), [[1, 2], [0, 1]]);
    assert_eq!(path(EinsumOrder::Optimal), [[1, 2], [0, 1]]);
    assert_eq!(path(EinsumOrder::Greedy), [[1, 2], [0, 1]]);
    assert_eq!(path(EinsumOrder::Given), [[0, 1], [0, 1]]);
    assert_eq!(path(EinsumOrder::Path(vec![vec![2, 0, 1]])), [[0, 1, 2]]);
    for wrong in [
        vec![vec![0, 1]],
        vec![vec![0, 3]],
        vec![vec![1, 1]],
        vec![vec![], vec![0, 1, 2]],
        vec![],
    ] {
        let options = EinsumOptions {
            order: EinsumOrder::Path(wrong),
            ..EinsumOptions::default()
        };
        assert!(ops::einsum_with("ij,jk,kl->il", &x, &options).is_err());
    }
}

#[test]
fn many_operands() {
    let x = Tensor::from([[1i64, 1], [0, 1]]);
    let labels: Vec<char> = ('a'..='z').chain('A'..='Z').collect();
    let chain: Vec<String> = labels
        .windows(2)
        .map(|pair| pair.iter().collect())
        .collect();
    let y = ops::einsum(&format!("{}->aZ", chain.join(",")), &vec![&x; 51]).unwrap();
    assert_eq!(y.to_vec::<i64>().unwrap(), [1, 51, 0, 1]);
    let one = Tensor::from([1i64, 1, 1]);
    let y = ops::einsum(&["i"; 300].join(","), &vec![&one; 300]).unwrap();
    assert_eq!(y.item::<i64>().unwrap(), 3);
}

#[test]
fn errors() {
    let x = Tensor::zeros([2, 3], DType::F32).unwrap();
    let y = Tensor::zeros([4, 2], DType::F32).unwrap();
    for (subscripts, operands, message) in [
        (
            "ij,jk->ik",
            &[&x, &y][..],
            "label 'j' is 3 in operand 0, of shape [2, 3], but 4 in operand 1, of shape [4, 2]",
        ),
        (
            "ii->i",
            &[&x],
            "label 'i' is 2 in operand 0, of shape [2, 3], but 3 in operand 0",
        ),
        (
            "...,...",
            &[&x, &y],
            "dimension -2 of '...' is 2 in operand 0",
        ),
        ("ij,jk->ik", &[&x], "subscripts of 2 operands, but 1 given"),
        (
            "ijk",
            &[&x],
            "subscripts \"ijk\" don't name the dimensions of operand 0, whose shape is [2, 3]",
        ),
        ("i", &[&x], "(add '...' for the others)"),
        (
            "ij->ik",
            &[&x],
            "label 'k' of the output occurs in no operand",
        ),
        ("ij->ii", &[&x], "label 'i' occurs twice in the output"),
        (
            "...j->j",
            &[&x],
            "the output lacks '...' for the 1 dimensions",
        ),
        ("i.j", &[&x], "'.' is not part of one '...'"),
        ("......", &[&x], "'.' is not part of one '...'"),
        ("i1", &[&x], "'1' is neither a letter nor '...'"),
        ("ij->i->j", &[&x], "'-' is neither a letter nor '...'"),
        ("é", &[&x], "'é' is neither a letter nor '...'"),
    ] {
        let e = ops::einsum(subscripts, operands).unwrap_err().to_string();
        assert!(
            e.starts_with(&format!("einsum: {subscripts:?}: ")) && e.contains(message),
            "{e}"
        );
    }
    assert!(ops::einsum::<Tensor>("", &[]).is_err());
    let bools = Tensor::from([[true, false]]);
    let e = ops::einsum("ij->i", &[&bools]).unwrap_err().to_string();
    assert!(e.contains("einsum: not defined for bool"), "{e}");
}
