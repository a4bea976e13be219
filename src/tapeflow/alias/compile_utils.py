"""`tensorflow.python.keras.engine.compile_utils`: the losses and metrics of a model, for loops of libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.alias.losses_utils import squeeze_or_expand_dimensions
from tapeflow.core.structures import nest
from tapeflow.keras.engine.fitting.compiled import CompiledLoss, CompiledMetrics
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.math.casting import cast

__all__ = [
    "LossesContainer", "MetricsContainer", "apply_mask", "create_pseudo_input_names", "create_pseudo_output_names",
    "get_mask", "match_dtype_and_rank",
]  # fmt: skip

LossesContainer = CompiledLoss


class MetricsContainer(CompiledMetrics):
    """The metrics of all outputs.

    Args:
      metrics: as for `compile`.
      weighted_metrics: those that see sample weights.
      output_names: the names of the outputs; None: as they come.
    """

    def __init__(self, metrics: Any = None, weighted_metrics: Any = None, output_names: Sequence[str] | None = None):
        super().__init__(metrics, weighted_metrics, output_names)


def create_pseudo_input_names(inputs: Any) -> list[str]:
    """A name for each input of a structure: its keys, or `input_1` and so on."""
    return _names(inputs, "input_")


def create_pseudo_output_names(outputs: Any) -> list[str]:
    """A name for each output of a structure: its keys, or `output_1` and so on."""
    return _names(outputs, "output_")


def _names(tensors: Any, prefix: str) -> list[str]:
    names = []
    for path, _ in nest.flatten_with_tuple_paths(tensors):
        if not path:
            names.append(f"{prefix}1")
            continue
        name = "_".join(str(part + 1 if isinstance(part, int) else part) for part in path)
        names.append(f"{prefix}{name}" if isinstance(path[0], int) else name)
    return names


def match_dtype_and_rank(y_t: Any, y_p: Any, sw: Any) -> tuple[Any, Any, Any]:
    """(targets, outputs, weights): vectors beside a matrix get an axis, numbers of one kind the type of the outputs."""
    if y_p.shape.rank == 2:
        y_t = expand_dims(y_t, -1) if y_t.shape.rank == 1 else y_t
        sw = expand_dims(sw, -1) if sw is not None and sw.shape.rank == 1 else sw
    kinds = (y_t.dtype, y_p.dtype)
    if all(each.is_floating for each in kinds) or all(each.is_integer for each in kinds):
        y_t = cast(y_t, y_p.dtype)
    return y_t, y_p, None if sw is None else cast(sw, y_p.dtype)


def get_mask(y_p: Any) -> Any:
    """The mask of an output; None where it has none."""
    return getattr(y_p, "_keras_mask", None)


def apply_mask(y_p: Any, sw: Any, mask: Any) -> Any:
    """The weights of samples without what a mask leaves out."""
    if mask is None:
        return sw
    mask = cast(mask, y_p.dtype)
    if sw is None:
        return mask
    mask, _, sw = squeeze_or_expand_dimensions(mask, sample_weight=sw)
    return sw * mask
