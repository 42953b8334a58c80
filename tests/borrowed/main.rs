//! Operands in foreign memory: allocations of exactly their bytes, at every alignment that a dtype
//! allows, in several layouts. Each operation gives the same result as for an owned copy. Small
//! enough for Miri, the purpose of this program: `scripts/sanitize.sh miri`.
#![cfg(all(feature = "std", feature = "i64"))]

mod layers;

use flex::ops::{self, Cumulative, Index, ScatterMode, Side, Sort};
use flex::{Axes, DType, Layout, Result, Tensor, nn};
use std::alloc;

/// An allocation aligned to a cache line.
struct Owner(*mut u8, alloc::Layout);
// SAFETY: the owner has the memory to itself, and it is only read.
unsafe impl Send for Owner {}
// SAFETY: as above: nobody writes to it.
unsafe impl Sync for Owner {}
impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: allocated by `borrowed` with this layout, and freed only here.
        unsafe { alloc::dealloc(self.0, self.1) }
    }
}

/// The elements of `x` at the end of an allocation, starting `lead` bytes after a cache line.
fn borrowed(x: &Tensor, lead: usize) -> Tensor {
    let x = x.contiguous().unwrap();
    let bytes = x.len() * x.dtype().size();
    let layout = alloc::Layout::from_size_align(lead + bytes, 64).unwrap();
    // SAFETY: the size is not zero; the source is the bytes of a contiguous tensor (TENSOR1), the
    // destination this allocation.
    unsafe {
        let memory = alloc::alloc_zeroed(layout);
        let first = memory.add(lead);
        std::ptr::copy_nonoverlapping(x.as_ptr(), first, bytes);
        Tensor::from_foreign(
            first,
            bytes,
            Box::new(Owner(memory, layout)),
            Layout::contiguous(x.shape()).unwrap(),
            x.dtype(),
        )
        .unwrap()
    }
}

/// Small whole numbers, so that sums are exact in any order.
fn numbers(shape: &[usize], dtype: DType) -> Tensor {
    let values: Vec<i64> = (0..shape.iter().product::<usize>() as i64)
        .map(|k| k * 37 % 11 % if dtype.is_bool() { 2 } else { 11 })
        .collect();
    Tensor::from_slice(&values, shape)
        .unwrap()
        .astype(dtype)
        .unwrap()
}
fn bytes(t: &Tensor) -> Vec<u8> {
    let t = t.contiguous().unwrap();
    if t.is_empty() {
        return vec![];
    }
    // SAFETY: contiguous, inside the storage (TENSOR1), initialised (STORAGE1).
    unsafe { std::slice::from_raw_parts(t.as_ptr(), t.len() * t.dtype().size()) }.to_vec()
}

/// Whole, transposed, reversed, sliced, strided, broadcast.
fn views(x: &Tensor) -> Vec<Tensor> {
    vec![
        x.clone(),
        x.transpose(0, 1).unwrap(),
        x.flip([0, 1]).unwrap(),
        x.narrow(1, 1, x.shape()[1] - 1).unwrap(),
        x.slice_axis(1, None, None, 2).unwrap(),
        x.narrow(0, 1, 1).unwrap().broadcast_to(x.shape()).unwrap(),
    ]
}

type Operation = fn(&Tensor, &Tensor, &Tensor) -> Result<Vec<Tensor>>;

/// Operations on a 2-dimensional operand, positions in its second dimension, and a mask of its
/// shape; each uses another driver or kernel.
const OPERATIONS: [(&str, Operation); 26] = [
    ("copy", |x, _, _| Ok(vec![x.copy()?])),
    ("astype", |x, _, _| {
        Ok(vec![x.astype(DType::F32)?, x.astype(DType::Complex128)?])
    }),
    ("add", |x, _, _| Ok(vec![ops::add(x, x)?, ops::add(x, 1)?])),
    ("multiply", |x, _, _| {
        Ok(vec![ops::multiply(x, x.narrow(0, 0, 1)?)?])
    }),
    ("equal", |x, _, _| Ok(vec![ops::equal(x, x.flip([0])?)?])),
    ("exp", |x, _, _| Ok(vec![ops::exp(x)?])),
    ("where", |x, _, m| {
        Ok(vec![ops::where_(m, x, x.flip([1])?)?])
    }),
    ("sum", |x, _, _| {
        Ok(vec![
            ops::sum(x, ())?,
            ops::sum(x, 0)?,
            ops::sum(x, Axes::from(1).keepdims())?,
        ])
    }),
    ("max", |x, _, _| Ok(vec![ops::max(x, 0)?, ops::max(x, 1)?])),
    ("argmin", |x, _, _| Ok(vec![ops::argmin(x, 1)?])),
    ("any", |x, _, _| Ok(vec![ops::any(x, 1)?])),
    ("cumulative_sum", |x, _, _| {
        Ok(vec![
            ops::cumulative_sum(x, 1)?,
            ops::cumulative_sum(
                x,
                Cumulative {
                    include_initial: true,
                    ..0.into()
                },
            )?,
        ])
    }),
    ("sort", |x, _, _| {
        Ok(vec![
            ops::sort(x, 1)?,
            ops::sort(
                x,
                Sort {
                    axis: 0,
                    descending: true,
                },
            )?,
        ])
    }),
    ("argsort", |x, _, _| Ok(vec![ops::argsort(x, 1)?])),
    ("topk", |x, _, _| Ok(vec![ops::topk(x, 2, 1)?.0])),
    ("unique_values", |x, _, _| Ok(vec![ops::unique_values(x)?])),
    ("searchsorted", |x, _, _| {
        let row = x.slice(&[Index::from(0)])?;
        Ok(vec![ops::searchsorted(
            &ops::sort(&row, 0)?,
            x,
            Side::Right,
            None,
        )?])
    }),
    ("take", |x, p, _| {
        Ok(vec![
            ops::take(x, &p.slice(&[Index::from(0)])?, 1)?,
            ops::take_along_axis(x, p, 1)?,
        ])
    }),
    ("scatter", |x, p, _| {
        Ok(vec![
            ops::scatter(x, p, x, 1, ScatterMode::Set)?,
            ops::scatter_add(x, p, x, 1)?,
        ])
    }),
    ("index_add", |x, p, _| {
        Ok(vec![ops::index_add(x, &p.slice(&[Index::from(0)])?, x, 1)?])
    }),
    ("masks", |x, _, m| {
        Ok(vec![
            ops::masked_select(x, m)?,
            ops::masked_fill(x, m, true)?,
        ])
    }),
    ("argwhere", |x, _, _| Ok(vec![ops::argwhere(x)?])),
    ("concat", |x, _, _| {
        Ok(vec![ops::concat(&[x, x], 0)?, ops::concat(&[x, x], 1)?])
    }),
    ("matmul", |x, _, _| {
        Ok(vec![ops::matmul(x, &x.transpose(0, 1)?)?])
    }),
    ("softmax", |x, _, _| Ok(vec![nn::softmax(x, 1)?])),
    ("write", |x, p, m| {
        let mut y = x.clone();
        ops::set(
            &mut y,
            &[Index::from(p.slice(&[Index::from(0)])?.narrow(0, 0, 1)?)],
            &x.slice(&[Index::from(0)])?,
        )?;
        y.copy_from(&x.flip([0])?)?;
        ops::set(
            &mut y,
            &[Index::from(m.clone())],
            &Tensor::zeros([], x.dtype())?,
        )?;
        Ok(vec![y])
    }),
];

fn check(dtypes: &[DType]) {
    let shape = if cfg!(miri) { [2, 5] } else { [5, 67] };
    for dtype in dtypes.iter().filter(|d| d.is_available()) {
        let align = dtype.size().min(8); // TENSOR2
        let leads: Vec<usize> = (0..64)
            .step_by(align)
            .filter(|lead| !cfg!(miri) || *lead == align)
            .collect();
        for lead in leads {
            let own = numbers(&shape, *dtype);
            for (lent, own) in views(&borrowed(&own, lead)).into_iter().zip(views(&own)) {
                let own = own.copy().unwrap();
                let columns = own.shape()[1];
                let each: Vec<i64> = (0..own.len() as i64)
                    .map(|k| (k / columns as i64 + k) % columns as i64)
                    .collect();
                let positions = Tensor::from_slice(&each, own.shape()).unwrap();
                let mask = ops::equal(numbers(own.shape(), DType::I64), 3).unwrap();
                for (name, operation) in OPERATIONS {
                    let given = (borrowed(&positions, 8), borrowed(&mask, 1));
                    match (
                        operation(&lent, &given.0, &given.1),
                        operation(&own, &positions, &mask),
                    ) {
                        (Ok(a), Ok(b)) => {
                            let same = a.iter().zip(&b).all(|(a, b)| {
                                a.shape() == b.shape()
                                    && a.dtype() == b.dtype()
                                    && bytes(a) == bytes(b)
                            });
                            assert!(
                                same,
                                "{name} {dtype}, {lead} bytes behind a line, {:?} by {:?}",
                                lent.shape(),
                                lent.strides()
                            );
                        }
                        (Err(_), Err(_)) => {}
                        (a, b) => panic!("{name} {dtype}: {:?} and {:?}", a.err(), b.err()),
                    }
                }
            }
        }
    }
}

#[test]
fn dtypes_of_one_and_two_bytes_read_borrowed_memory() {
    check(if cfg!(miri) {
        &[DType::I8, DType::BF16]
    } else {
        &[
            DType::Bool,
            DType::I8,
            DType::U8,
            DType::I16,
            DType::F16,
            DType::BF16,
        ]
    });
}
#[test]
fn dtypes_of_four_bytes_read_borrowed_memory() {
    check(if cfg!(miri) {
        &[DType::F32]
    } else {
        &[DType::I32, DType::U32, DType::F32]
    });
}
#[test]
fn dtypes_of_eight_bytes_read_borrowed_memory() {
    check(if cfg!(miri) {
        &[DType::I64]
    } else {
        &[DType::I64, DType::U64, DType::F64]
    });
}
#[test]
fn complex_dtypes_read_borrowed_memory() {
    check(&[DType::Complex64, DType::Complex128]);
}
