//! Burn's operations as those of a stream: one row each.

use crate::convert::{bound, integer, number, truth, wrapped};
use burn_backend::{BoolStore, DType, Scalar};
use burn_ir::{
    BaseOperationIr as Base, BinaryOpIr, BoolOperationIr as Bool, FloatOperationIr as Float,
    IntOperationIr as Int, NumericOperationIr as Numeric, OperationIr, ReduceDimOpIr, ReduceOpIr,
    ScalarIr, ScalarOpIr, TensorIr, UnaryOpIr,
};
use core::slice;
use flex::stream::{Kind, Op};

/// An operation that a stream has, and its result.
pub(super) struct Call<'a> {
    pub what: What<'a>,
    pub out: &'a TensorIr,
}

pub(super) enum What<'a> {
    Apply(Op, Vec<Operand<'a>>),
    /// To the dtype of the result.
    Convert(&'a TensorIr),
    /// Along these axes, which stay, or of all elements.
    Reduce(Kind, &'a TensorIr, Option<&'a [usize]>),
    View(View<'a>, &'a TensorIr),
    /// A number everywhere.
    Fill(&'a ScalarIr),
}

pub(super) enum View<'a> {
    Reshape,
    Expand,
    Swap(usize, usize),
    Permute(&'a [usize]),
    Flip(&'a [usize]),
}

#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    Tensor(&'a TensorIr),
    Number(&'a ScalarIr),
}

impl<'a> Call<'a> {
    /// Whether it computes elements.
    pub fn computes(&self) -> bool {
        !matches!(self.what, What::View(..) | What::Fill(_))
    }
    pub fn inputs(&self) -> impl Iterator<Item = &'a TensorIr> {
        let (one, all) = match &self.what {
            What::Convert(x) | What::Reduce(_, x, _) | What::View(_, x) => (Some(*x), &[][..]),
            What::Apply(_, operands) => (None, &operands[..]),
            What::Fill(_) => (None, &[][..]),
        };
        let tensors = all.iter().filter_map(|x| match x {
            Operand::Tensor(x) => Some(*x),
            Operand::Number(_) => None,
        });
        one.into_iter().chain(tensors)
    }
}

/// The call of an operation, if streams have it. What looks at elements before it computes, such as
/// a division of integers, they would not queue.
pub(super) fn call(operation: &OperationIr) -> Option<Call<'_>> {
    let found = match operation {
        OperationIr::BaseFloat(x) | OperationIr::BaseInt(x) | OperationIr::BaseBool(x) => base(x),
        OperationIr::NumericFloat(_, x) => numeric(x).or_else(|| numeric_float(x)),
        OperationIr::NumericInt(_, x) => numeric(x),
        OperationIr::Float(_, x) => float(x),
        OperationIr::Int(x) => int(x),
        OperationIr::Bool(x) => bool(x),
        _ => None,
    }?;
    let known = |x: &TensorIr| !matches!(x.dtype, DType::QFloat(_) | DType::Bool(BoolStore::U32));
    (known(found.out) && found.inputs().all(known)).then_some(found)
}

static ZERO: ScalarIr = ScalarIr::Float(0.0);
static ONE: ScalarIr = ScalarIr::Float(1.0);

/// A number as the operand of an operation on a tensor of this dtype, as the methods of the backend
/// have it.
pub(super) fn operand(x: Scalar, op: Op, dtype: flex::DType) -> flex::Scalar {
    match op {
        _ if dtype.is_float() => number(x),
        _ if dtype.is_bool() => truth(x),
        Op::Clip => bound(x, dtype),
        Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            flex::Scalar::Int(integer(x))
        }
        _ => wrapped(x, dtype),
    }
}

fn base(x: &Base) -> Option<Call<'_>> {
    Some(match x {
        Base::Equal(x) => binary(Op::Equal, x),
        Base::NotEqual(x) => binary(Op::NotEqual, x),
        Base::EqualElem(x) => scalar(Op::Equal, x),
        Base::NotEqualElem(x) => scalar(Op::NotEqual, x),
        Base::MaskWhere(x) => apply(
            Op::Where,
            [&x.mask, &x.value, &x.tensor].map(Operand::Tensor),
            &x.out,
        ),
        Base::MaskFill(x) => {
            let [mask, tensor] = [&x.mask, &x.tensor].map(Operand::Tensor);
            apply(Op::Where, [mask, Operand::Number(&x.value), tensor], &x.out)
        }
        Base::Cast(x) => return convert(&x.input, &x.out),
        Base::Zeros(x) => fill(&ZERO, &x.out),
        Base::Ones(x) => fill(&ONE, &x.out),
        Base::All(x) => whole(Kind::All, x),
        Base::Any(x) => whole(Kind::Any, x),
        Base::AllDim(x) => along(Kind::All, x),
        Base::AnyDim(x) => along(Kind::Any, x),
        Base::Reshape(x) => view(View::Reshape, &x.input, &x.out),
        Base::Expand(x) => view(View::Expand, &x.input, &x.out),
        Base::SwapDims(x) => view(View::Swap(x.dim1, x.dim2), &x.input, &x.out),
        Base::Permute(x) => view(View::Permute(&x.axes), &x.input, &x.out),
        Base::Flip(x) => view(View::Flip(&x.axes), &x.input, &x.out),
        _ => return None,
    })
}

fn numeric(x: &Numeric) -> Option<Call<'_>> {
    Some(match x {
        Numeric::Add(x) => binary(Op::Add, x),
        Numeric::Sub(x) => binary(Op::Subtract, x),
        Numeric::Mul(x) => binary(Op::Multiply, x),
        Numeric::AddScalar(x) => scalar(Op::Add, x),
        Numeric::SubScalar(x) => scalar(Op::Subtract, x),
        Numeric::MulScalar(x) => scalar(Op::Multiply, x),
        Numeric::Abs(x) => unary(Op::Abs, x),
        Numeric::Full(x) => fill(&x.value, &x.out),
        Numeric::Clamp(x) => {
            let [min, max] = [&x.min, &x.max].map(Operand::Number);
            apply(Op::Clip, [Operand::Tensor(&x.tensor), min, max], &x.out)
        }
        Numeric::Greater(x) => binary(Op::Greater, x),
        Numeric::GreaterEqual(x) => binary(Op::GreaterEqual, x),
        Numeric::Lower(x) => binary(Op::Less, x),
        Numeric::LowerEqual(x) => binary(Op::LessEqual, x),
        Numeric::GreaterElem(x) => scalar(Op::Greater, x),
        Numeric::GreaterEqualElem(x) => scalar(Op::GreaterEqual, x),
        Numeric::LowerElem(x) => scalar(Op::Less, x),
        Numeric::LowerEqualElem(x) => scalar(Op::LessEqual, x),
        Numeric::Max(x) => whole(Kind::Max, x),
        Numeric::Min(x) => whole(Kind::Min, x),
        Numeric::MaxDim(x) => along(Kind::Max, x),
        Numeric::MinDim(x) => along(Kind::Min, x),
        _ => return None,
    })
}

fn numeric_float(x: &Numeric) -> Option<Call<'_>> {
    Some(match x {
        Numeric::Div(x) => binary(Op::Divide, x),
        Numeric::Rem(x) => binary(Op::Remainder, x),
        Numeric::DivScalar(x) => scalar(Op::Divide, x),
        Numeric::RemScalar(x) => scalar(Op::Remainder, x),
        Numeric::Sum(x) => whole(Kind::Sum, x),
        Numeric::Prod(x) => whole(Kind::Prod, x),
        Numeric::Mean(x) => whole(Kind::Mean, x),
        Numeric::SumDim(x) => along(Kind::Sum, x),
        Numeric::ProdDim(x) => along(Kind::Prod, x),
        Numeric::MeanDim(x) => along(Kind::Mean, x),
        Numeric::SumDims(x) => {
            let what = What::Reduce(Kind::Sum, &x.input, Some(&x.axes));
            Call { what, out: &x.out }
        }
        _ => return None,
    })
}

fn float(x: &Float) -> Option<Call<'_>> {
    Some(match x {
        Float::Exp(x) => unary(Op::Exp, x),
        Float::Log(x) => unary(Op::Log, x),
        Float::Log1p(x) => unary(Op::Log1p, x),
        Float::Erf(x) => unary(Op::Erf, x),
        Float::Sqrt(x) => unary(Op::Sqrt, x),
        Float::Recip(x) => unary(Op::Reciprocal, x),
        Float::Cos(x) => unary(Op::Cos, x),
        Float::Sin(x) => unary(Op::Sin, x),
        Float::Tan(x) => unary(Op::Tan, x),
        Float::Cosh(x) => unary(Op::Cosh, x),
        Float::Sinh(x) => unary(Op::Sinh, x),
        Float::Tanh(x) => unary(Op::Tanh, x),
        Float::ArcCos(x) => unary(Op::Acos, x),
        Float::ArcSin(x) => unary(Op::Asin, x),
        Float::ArcTan(x) => unary(Op::Atan, x),
        Float::ArcCosh(x) => unary(Op::Acosh, x),
        Float::ArcSinh(x) => unary(Op::Asinh, x),
        Float::ArcTanh(x) => unary(Op::Atanh, x),
        Float::ArcTan2(x) => binary(Op::Atan2, x),
        Float::Hypot(x) => binary(Op::Hypot, x),
        Float::Powf(x) => binary(Op::Pow, x),
        Float::PowfScalar(x) => scalar(Op::Pow, x),
        Float::Round(x) => unary(Op::Round, x),
        Float::Floor(x) => unary(Op::Floor, x),
        Float::Ceil(x) => unary(Op::Ceil, x),
        Float::Trunc(x) => unary(Op::Trunc, x),
        Float::IsNan(x) => unary(Op::Isnan, x),
        Float::IsInf(x) => unary(Op::Isinf, x),
        Float::IntoInt(x) => return convert(&x.input, &x.out),
        _ => return None,
    })
}

fn int(x: &Int) -> Option<Call<'_>> {
    Some(match x {
        Int::IntoFloat(x) => return convert(&x.input, &x.out),
        Int::BitwiseAnd(x) => binary(Op::BitwiseAnd, x),
        Int::BitwiseOr(x) => binary(Op::BitwiseOr, x),
        Int::BitwiseXor(x) => binary(Op::BitwiseXor, x),
        Int::BitwiseAndScalar(x) => scalar(Op::BitwiseAnd, x),
        Int::BitwiseOrScalar(x) => scalar(Op::BitwiseOr, x),
        Int::BitwiseXorScalar(x) => scalar(Op::BitwiseXor, x),
        Int::BitwiseNot(x) => unary(Op::BitwiseInvert, x),
        _ => return None,
    })
}

fn bool(x: &Bool) -> Option<Call<'_>> {
    Some(match x {
        Bool::Not(x) => unary(Op::LogicalNot, x),
        Bool::And(x) => binary(Op::LogicalAnd, x),
        Bool::Or(x) => binary(Op::LogicalOr, x),
        Bool::Xor(x) => binary(Op::LogicalXor, x),
        Bool::IntoFloat(x) | Bool::IntoInt(x) => return convert(&x.input, &x.out),
    })
}

fn apply<'a, const N: usize>(op: Op, x: [Operand<'a>; N], out: &'a TensorIr) -> Call<'a> {
    let what = What::Apply(op, x.to_vec());
    Call { what, out }
}
fn unary(op: Op, x: &UnaryOpIr) -> Call<'_> {
    apply(op, [Operand::Tensor(&x.input)], &x.out)
}
fn binary(op: Op, x: &BinaryOpIr) -> Call<'_> {
    apply(op, [&x.lhs, &x.rhs].map(Operand::Tensor), &x.out)
}
fn scalar(op: Op, x: &ScalarOpIr) -> Call<'_> {
    let operands = [Operand::Tensor(&x.lhs), Operand::Number(&x.rhs)];
    apply(op, operands, &x.out)
}
fn fill<'a>(number: &'a ScalarIr, out: &'a TensorIr) -> Call<'a> {
    let what = What::Fill(number);
    Call { what, out }
}
/// Between two names of bool there is nothing to compute.
fn convert<'a>(x: &'a TensorIr, out: &'a TensorIr) -> Option<Call<'a>> {
    let what = What::Convert(x);
    (!x.dtype.is_bool() || !out.dtype.is_bool()).then_some(Call { what, out })
}
fn whole(kind: Kind, x: &ReduceOpIr) -> Call<'_> {
    let what = What::Reduce(kind, &x.input, None);
    Call { what, out: &x.out }
}
fn along(kind: Kind, x: &ReduceDimOpIr) -> Call<'_> {
    let what = What::Reduce(kind, &x.input, Some(slice::from_ref(&x.axis)));
    Call { what, out: &x.out }
}
fn view<'a>(view: View<'a>, x: &'a TensorIr, out: &'a TensorIr) -> Call<'a> {
    let what = What::View(view, x);
    Call { what, out }
}
