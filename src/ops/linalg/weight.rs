//! Right operands that are used again: they stay in panels with their storage.

#[cfg(feature = "std")]
use super::operands::Matrices;
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::products::{Right, Sizes, products};
use crate::kernel::gemm::{self, Epilogue, Mat, MatElement, MatMut, Panels};
use crate::storage::Bytes;
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{
    kernel::gemm::Scratch,
    storage::{PackedForm, PackedKey},
};

/// One of [`products`], of a B that is all of `weight` and may be used again.
///
/// # Safety
/// That of [`products`].
pub(crate) unsafe fn product_of_weight<'a, A, B, C>(
    sizes: Sizes,
    weight: &Tensor,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let kept = kept_panels::<A, B>(sizes, weight);
    let right = match &kept {
        None => Right::Once,
        Some(kept) => Right::Reused(kept.as_ref().map(|packed| {
            let blocks = gemm::blocks::<A, B>(sizes.k);
            Panels::of(blocks, sizes.n, gemm::packed_slice(packed))
        })),
    };
    // SAFETY: what the caller promises of the operands; the panels are of this weight, by their key.
    unsafe { products(sizes, 1, operands, right, epilogue) }
}

/// The weight as panels, which stay with its storage from the second product on (none in the first
/// one); nothing where they would not be worth it. Whether a product is one of panels follows from
/// its shape and the storage's kind, never from what happened before: it would show in the bits of
/// floats.
#[cfg(feature = "std")]
pub(crate) fn kept_panels<A, B>(Sizes { m, n, k }: Sizes, weight: &Tensor) -> Option<Option<Bytes>>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
{
    /// Rows for which packing is less than a fiftieth of the work.
    const MOST_ROWS: usize = 1024;
    // One row of floats is bound by memory, of which the weight itself is no more.
    let floats = B::SAME && B::DTYPE.is_float() || gemm::bf16_pairs::<A, B>();
    let fits = gemm::bytes::<A, B>() || floats && m > 1;
    if !(fits && n.min(k) >= 16 && weight.storage().caches_packed()) {
        return None;
    }
    let key = PackedKey {
        first: weight.layout().offset().wrapping_mul(size_of::<B>()),
        sizes: [k, n],
        strides: [weight.strides()[0], weight.strides()[1]],
        dtypes: [A::DTYPE, B::DTYPE],
        form: PackedForm::Panels,
    };
    Some(weight.storage().packed(key, m <= MOST_ROWS, || {
        let mut packed = Scratch::new(Panels::<B::Acc>::len(gemm::blocks::<A, B>(k), n))?;
        gemm::pack::<A, B>(Matrices::<B>::new(weight).get(0), &mut packed);
        Ok(packed.into_bytes())
    }))
}
/// Nothing: memory is kept for other things.
#[cfg(not(feature = "std"))]
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "as callers name them with the standard library"
)]
pub(crate) fn kept_panels<A, B>(_: Sizes, _: &Tensor) -> Option<Option<Bytes>> {
    None
}
