//! Operands of elementwise operations in every order, borrowed and passed by value.

use crate::common::*;
use flex::DType;
use flex::op::Op;
use flex::ops::{self, Arg};

/// Few elements are brought into the order of one operand, whose buffer, or another's of the same
/// order, takes the result.
#[test]
fn operands_of_any_order_that_are_passed_by_value_agree_with_borrowed_ones() {
    let mut rng = Rng(12);
    for (sa, sb) in [
        (&[3, 4][..], &[3, 4][..]),
        (&[16, 8], &[8]),
        (&[8], &[16, 8]),
        (&[5, 1], &[1, 6]),
        (&[2, 3, 4], &[3, 1]),
        (&[30, 40], &[30, 40]),
    ] {
        for d in [DType::F32, DType::Bool] {
            let (a, b) = (random(&mut rng, sa, d), random(&mut rng, sb, d));
            let count = layouts(&a).len();
            for (i, j) in (0..count * layouts(&b).len()).map(|k| (k % count, k / count)) {
                // in storage of its own
                let x = || layouts(&a).swap_remove(i).1;
                let y = || layouts(&b).swap_remove(j).1;
                for op in [Op::Maximum, Op::LogicalXor, Op::Less] {
                    let row = op.row();
                    let Ok(want) = ops::apply(row, [Arg::Ref(&a), Arg::Ref(&b)]) else {
                        continue;
                    };
                    let (p, q) = (x(), y());
                    let all = [
                        ops::apply(row, [Arg::Ref(&p), Arg::Ref(&q)]),
                        ops::apply(row, [Arg::Own(x()), Arg::Ref(&q)]),
                        ops::apply(row, [Arg::Ref(&p), Arg::Own(y())]),
                        ops::apply(row, [Arg::Own(x()), Arg::Own(y())]),
                    ];
                    for (k, found) in all.into_iter().enumerate() {
                        let found = found.unwrap();
                        assert_eq!(
                            values(&found),
                            values(&want),
                            "{op:?} {sa:?} {sb:?} {i} {j} {k}"
                        );
                    }
                    let mut z = x();
                    if z.shape() == want.shape() && z.dtype() == want.dtype() {
                        ops::apply_in_place(row, &mut z, Some(Arg::Ref(&q))).unwrap();
                        assert_eq!(values(&z), values(&want), "{op:?} in place, {i} {j}");
                    }
                }
            }
        }
    }
}
