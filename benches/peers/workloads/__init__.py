"""The workloads: a row each, by family."""

from . import elementwise, index, layers, matmul, model, python, reduce

FAMILIES = {
    family.name: family
    for module in (elementwise, python, reduce, index, matmul, layers, model)
    for family in module.FAMILIES
}
WORKLOADS = [workload for family in FAMILIES.values() for workload in family.rows]
