"""A linear classifier over features that kernel maps make of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib import layers, learn
from tapeflow.contrib.kernel_methods.dense_kernel_mapper import DenseKernelMapper
from tapeflow.contrib.layers.columns.numeric import _RealValuedColumn
from tapeflow.core.annotations import TensorLike

__all__ = ["KernelLinearClassifier"]

_Maps = Mapping[Any, Sequence[DenseKernelMapper]]


class KernelLinearClassifier(learn.LinearClassifier):
    """A linear classifier of columns and of what kernel maps make of real-valued ones.

    Args:
      feature_columns: the columns that the model reads as they are.
      model_dir: the folder of checkpoints.
      n_classes: how many classes there are.
      weight_column_name: the feature with the weights of the examples.
      optimizer: an optimizer or its name; Ftrl by default.
      kernel_mappers: by column, the maps whose features the model reads too.
      config: a RunConfig.

    Raises ValueError where there are neither columns nor maps, for invalid maps, and for fewer than two classes.
    """

    def __init__(
        self, feature_columns: Iterable[Any] | None = None, model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: Any = None, kernel_mappers: _Maps | None = None,
        config: Any = None,
    ):  # fmt: skip
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        maps = dict(kernel_mappers or {})
        if not all(isinstance(each, DenseKernelMapper) for of_column in maps.values() for each in of_column):
            raise ValueError("Invalid kernel mappers.")
        mapped = {column: each for column, each in maps.items() if _is_mapped(column)}
        columns = [*(feature_columns or ()), *(_mapped_column(column, each) for column, each in mapped.items())]

        def with_mapped(features: dict[str, Any], labels: TensorLike):
            made = {
                _name(column): v1.concat([each.map(features[column.name]) for each in of_column], 1)
                for column, of_column in mapped.items()
            }
            return {**features, **made}, labels

        super().__init__(
            columns, model_dir, n_classes, weight_column_name, optimizer, config=config,
            feature_engineering_fn=with_mapped,
        )  # fmt: skip


def _name(column: Any) -> str:
    return f"{column.name}_MAPPED"


def _is_mapped(column: Any) -> bool:
    if isinstance(column, _RealValuedColumn):
        return True
    v1.logging.warning(
        f"Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn {column.name} will not "
        "be updated."
    )
    return False


def _mapped_column(column: Any, maps: Sequence[DenseKernelMapper]) -> Any:
    return layers.real_valued_column(_name(column), sum(each.output_dim for each in maps))
