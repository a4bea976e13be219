"""Old names of ops: rows that are what another row is, which old graphs still hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tapeflow.core.dtypes import DType
from tapeflow.ops.table import op


def old_spelling(row: Any, name: str, types: Mapping[str, tuple[DType, ...]] | None = None) -> Any:
    """Make the row `name`, which computes what `row` does and is tested with its samples.

    It has no gradient, as TensorFlow has none for these names.

    Args:
      row: complete, with its samples and its reference.
      types: the dtypes of the old op, where they are fewer; a variable with one is no variable.
    """
    signature, allowed = row.signature, {**row.types, **(types or {})}
    for variable, choices in list(allowed.items()):
        if len(choices) == 1:
            signature = re.sub(rf"\b{variable}\b", choices[0].name, signature)
            del allowed[variable]
    made = op(
        name, signature, types=allowed, attrs=row.attrs, shape=row.shape_rule, stateful=row.stateful
    )(row.kernel)
    made.compiled_kernel, made.static, made.not_compiled = row.compiled_kernel, row.static, row.not_compiled
    made.sample_source, made.formula = row.sample_source, row.formula
    return made
