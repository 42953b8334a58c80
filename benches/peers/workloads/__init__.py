"""The workloads, one row each, by family."""

from . import (
    attention,
    conv,
    elementwise,
    fft,
    fusion,
    grad,
    grad_conv,
    grad_saved,
    index,
    layers,
    linalg,
    losses,
    matmul,
    model,
    onnx,
    pool,
    python,
    quant,
    recurrent,
    reduce,
    resample,
    sizes,
)

FAMILIES = {
    family.name: family
    for module in (
        elementwise,
        fusion,
        python,
        reduce,
        index,
        matmul,
        linalg,
        attention,
        conv,
        grad_conv,
        grad,
        grad_saved,
        layers,
        losses,
        model,
        onnx,
        pool,
        quant,
        recurrent,
        resample,
        fft,
    )
    for family in module.FAMILIES
}
# those of `sizes` belong to no family of the comparison
WORKLOADS = [workload for family in FAMILIES.values() for workload in family.rows] + sizes.ROWS
