"""Definitions of the ops on references to variables: those of the ops on resources, with references in their place."""

from __future__ import annotations

import re
from typing import Any

from tapeflow.ops.state.rows import AssignAddVariableOp, AssignSubVariableOp, AssignVariableOp

# By the op on references: the op on resources that does the same.
_ASSIGNMENTS = {
    "Assign": AssignVariableOp.name,
    "AssignAdd": AssignAddVariableOp.name,
    "AssignSub": AssignSubVariableOp.name,
}
_SCATTERS = (
    "ScatterAdd", "ScatterDiv", "ScatterMax", "ScatterMin", "ScatterMul", "ScatterSub", "ScatterUpdate",
    "ScatterNdAdd", "ScatterNdMax", "ScatterNdMin", "ScatterNdSub", "ScatterNdUpdate",
)  # fmt: skip
_RULES = (
    "AdaMax", "Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "Adam", "AddSign", "CenteredRMSProp", "Ftrl", "FtrlV2",
    "GradientDescent", "Momentum", "PowerSign", "ProximalAdagrad", "ProximalGradientDescent", "RMSProp",
)  # fmt: skip
_DENSE_ONLY = ("AdaMax", "Adam", "AddSign", "GradientDescent", "PowerSign")
# The ops on references that change a variable.
UPDATES = (
    *_ASSIGNMENTS, "StridedSliceAssign", *_SCATTERS, *(f"Apply{rule}" for rule in _RULES),
    *(f"SparseApply{rule}" for rule in _RULES if rule not in _DENSE_ONLY),
)  # fmt: skip


def counterpart(kind: str) -> str:
    """The op on resources that does what an op on references does; "" if it changes no variable."""
    return _ASSIGNMENTS.get(kind) or (f"Resource{kind}" if kind in UPDATES else "")


def signature_and_types(kind: str, row: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """(signature, types, attrs) of an op on references, which have `&` before them, from its counterpart's row."""
    before = row.signature.partition("->")[0].replace("resource: resource", "ref: &T")
    before = re.sub(r": resource\b", ": &T", before)
    before = re.sub(r": dtype\b", ": T", before).strip()
    after = "out: &T" if "Apply" in kind else "output_ref: &T"
    types = {"T" if key == "dtype" else key: allowed for key, allowed in row.types.items()}
    attrs = {key: value for key, value in row.attrs.items() if key not in ("dtype", "validate_shape")}
    if kind in _ASSIGNMENTS:
        attrs |= {"validate_shape": True} if kind == "Assign" else {}
        attrs["use_locking"] = kind == "Assign"
    elif kind.startswith("Scatter"):
        attrs["use_locking"] = kind.endswith("Update")
    return f"{before} -> {after}", types, attrs
