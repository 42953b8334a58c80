//! Right operands that are used repeatedly: their panels are cached with their storage.

#[cfg(feature = "std")]
use super::operands::Matrices;
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::products::{ProductOperands, ProductSizes, Right, products};
use crate::kernel::gemm::{self, Epilogue, MatElement, Panels};
use crate::storage::Bytes;
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{
    kernel::gemm::Scratch,
    storage::{PackedForm, PackedKey, packs_weights},
};

/// [`products`] with a single B, which is the whole of `weight` and may be used again.
///
/// # Safety
/// As for [`products`].
pub(crate) unsafe fn product_of_weight<'a, A, B, C>(
    sizes: ProductSizes,
    weight: &Tensor,
    operands: ProductOperands<'_, 'a, A, B, C>,
    epilogue: Epilogue<'a, C>,
) -> Result<()>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
    C: Element + MatElement<Acc = A::Acc>,
{
    let kept = match const { C::SAME && !B::SAME && B::BYTE.is_none() } {
        // the bits of a weight that was converted before, whose panels live for one product
        true => worth_keeping::<C, C>(sizes).then_some(None),
        false => kept_panels::<A, B>(sizes, weight),
    };
    let right = match &kept {
        None => Right::Once,
        Some(kept) => Right::Reused(kept.as_ref().map(|packed| {
            let blocks = gemm::blocks::<A, B>(sizes.k);
            Panels::of(blocks, sizes.n, gemm::packed_slice(packed))
        })),
    };
    // SAFETY: the caller's promise about the operands; the panels are those of this weight, by
    // their key.
    unsafe { products(sizes, 1, operands, right, epilogue) }
}

/// The panels of a weight, which are cached with its storage from the second product on (so
/// `Some(None)` in the first); `None` if they would not be worth it. Whether a product uses panels
/// depends on its shape and the kind of storage, never on what happened before, which would show in
/// the bits of floats.
#[cfg(feature = "std")]
pub(crate) fn kept_panels<A, B>(sizes: ProductSizes, weight: &Tensor) -> Option<Option<Bytes>>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
{
    kept_as::<A, B>(sizes, weight, PackedForm::Panels, || {
        let ProductSizes { n, k, .. } = sizes;
        let mut packed = Scratch::new(Panels::<B::Acc>::len(gemm::blocks::<A, B>(k), n))?;
        gemm::pack::<A, B>(Matrices::<B>::new(weight).get(0), &mut packed);
        Ok(packed.into_bytes())
    })
}
/// The same in a form that `pack` makes.
#[cfg(feature = "std")]
pub(crate) fn kept_as<A, B>(
    sizes: ProductSizes,
    weight: &Tensor,
    form: PackedForm,
    pack: impl FnOnce() -> Result<Bytes>,
) -> Option<Option<Bytes>>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
{
    /// With more rows than this, packing is less than a fiftieth of the work.
    const MOST_ROWS: usize = 1024;
    let ProductSizes { m, n, k } = sizes;
    if !(worth_keeping::<A, B>(sizes) && weight.storage().caches_packed()) {
        return None;
    }
    let key = PackedKey {
        first: weight.layout().offset().wrapping_mul(size_of::<B>()),
        sizes: [k, n],
        strides: [weight.strides()[0], weight.strides()[1]],
        dtypes: [A::DTYPE, B::DTYPE],
        form,
    };
    Some(weight.storage().packed(key, m <= MOST_ROWS, pack))
}
/// Whether products of these sizes would keep the panels of a weight in owned memory.
#[cfg(feature = "std")]
fn worth_keeping<A, B>(ProductSizes { m, n, k }: ProductSizes) -> bool
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
{
    // A product with one row of floats is bound by reading the weight, and its panels are no
    // smaller.
    let floats = B::SAME && B::DTYPE.is_float() || gemm::bf16_pairs::<A, B>();
    let fits = gemm::bytes::<A, B>() || floats && m > 1;
    fits && n.min(k) >= 16 && packs_weights()
}
/// `None`: memory is scarce without the standard library.
#[cfg(not(feature = "std"))]
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "as callers name them with the standard library"
)]
pub(crate) fn kept_panels<A, B>(_: ProductSizes, _: &Tensor) -> Option<Option<Bytes>> {
    None
}
#[cfg(not(feature = "std"))]
#[allow(clippy::extra_unused_type_parameters, reason = "as above")]
fn worth_keeping<A, B>(_: ProductSizes) -> bool {
    false
}
