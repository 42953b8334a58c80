"""Named tuples of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flex import Tensor


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


class AMinMaxResult(NamedTuple):
    """The result of `aminmax`."""

    min: Tensor
    max: Tensor


class KthValueResult(NamedTuple):
    """The result of `kthvalue`."""

    values: Tensor
    indices: Tensor


class ModeResult(NamedTuple):
    """The result of `mode`."""

    values: Tensor
    indices: Tensor


class SlogdetResult(NamedTuple):
    """The result of `linalg.slogdet`."""

    sign: Tensor
    logabsdet: Tensor


class LUResult(NamedTuple):
    """The result of `linalg.lu`."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactorResult(NamedTuple):
    """The result of `linalg.lu_factor`."""

    LU: Tensor
    pivots: Tensor


class LstsqResult(NamedTuple):
    """The result of `linalg.lstsq`."""

    x: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class QRResult(NamedTuple):
    """The result of `linalg.qr`."""

    Q: Tensor
    R: Tensor


class EigResult(NamedTuple):
    """The result of `linalg.eig`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The result of `linalg.eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """The result of `linalg.svd`."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class ConvPlan(NamedTuple):
    """The result of `nn.conv_plan`."""

    algorithm: str
    scratch: int
    flops: int
