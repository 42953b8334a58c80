//! Right operands that are used again: they stay in panels with their storage.

use super::driver::{Sizes, products};
#[cfg(feature = "std")]
use super::{driver::by_panels, operands::Matrices};
use crate::dtype::Element;
use crate::error::Result;
use crate::kernel::gemm::{Mat, MatMut, Product, Stages};
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{
    kernel::gemm::{self, Panels, Scratch},
    storage::{Bytes, PackedKey},
};

/// One of [`products`], of a B that is all of `weight` and may be used again.
///
/// # Safety
/// That of [`products`].
pub(crate) unsafe fn product_of_weight<'a, A, B, C>(
    sizes: Sizes,
    weight: &Tensor,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    stages: Stages<C>,
) -> Result<()>
where
    A: Element + Product,
    B: Element + Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    #[cfg(feature = "std")]
    if let Some(kept) = panels::<A, B>(sizes, weight) {
        let panels = kept
            .as_ref()
            .map(|lanes| Panels::of(gemm::blocks::<A, B>(sizes.k), sizes.n, gemm::lanes(lanes)));
        // SAFETY: what the caller promises of the operands; the panels are of this weight, by their
        // key.
        return unsafe { by_panels(sizes, operands, panels, stages) };
    }
    _ = weight;
    // SAFETY: what the caller promises of the operands is what `products` asks for.
    unsafe { products(sizes, 1, operands, stages) }
}

/// The weight as panels, which stay with its storage from the second product on (none in the first
/// one); nothing where they would not be worth it. Whether a product is one of panels follows from
/// its shape and the storage's kind, never from what happened before: it would show in the bits of
/// floats.
#[cfg(feature = "std")]
fn panels<A, B>(Sizes { m, n, k }: Sizes, weight: &Tensor) -> Option<Option<Bytes>>
where
    A: Element + Product,
    B: Element + Product<Lane = A::Lane>,
{
    /// Rows for which packing is less than a fiftieth of the work.
    const MOST_ROWS: usize = 1024;
    // One row of floats is bound by memory, of which the weight itself is no more.
    let fits = gemm::bytes::<A, B>() || B::SAME && B::DTYPE.is_float() && m > 1;
    if !(fits && n.min(k) >= 16 && weight.storage().caches_packed()) {
        return None;
    }
    let key = PackedKey {
        first: weight.layout().offset().wrapping_mul(size_of::<B>()),
        sizes: [k, n],
        strides: [weight.strides()[0], weight.strides()[1]],
        dtypes: [A::DTYPE, B::DTYPE],
    };
    Some(weight.storage().packed(key, m <= MOST_ROWS, || {
        let mut lanes = Scratch::new(Panels::<B::Lane>::len(gemm::blocks::<A, B>(k), n))?;
        gemm::pack::<A, B>(Matrices::<B>::new(weight).get(0), &mut lanes);
        Ok(lanes.into_bytes())
    }))
}
