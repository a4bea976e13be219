"""`Dataset.padded_batch`: elements padded to one shape and stacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import stacking
from tapeflow.data.transform.batching import Batched, sizes_of
from tapeflow.data.transform.record import record
from tapeflow.ops.signature import integer, shape_list, type_list


class PaddingMethods:
    """Methods of Dataset."""

    def padded_batch(
        self, batch_size: TensorLike, padded_shapes: ShapeLike | None = None, padding_values=None,
        drop_remainder: bool = False, name: str | None = None,
    ):
        """Pad elements to a common shape, and stack them.

        Args:
          batch_size: how many elements a batch has.
          padded_shapes: the shape of an element, None or -1 for the largest size of the batch, in the structure of
            the elements; None for the largest sizes everywhere.
          padding_values: what is added, a scalar for each part; None for 0 and "".
          drop_remainder: whether a last batch that is smaller is left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.

        Raises:
          DataLossError: when it is reached, for an element larger than its shape.

        >>> dataset = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(3)
        >>> print(next(iter(dataset)).numpy())
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        return padded(self, batch_size, padded_shapes, padding_values, drop_remainder)


@record("padded_batch")
def padded(dataset, batch_size: Any, padded_shapes: ShapeLike | None, padding_values, drop_remainder: bool = False):
    """Dataset arguments for elements padded to one shape and stacked."""
    size, drop, _, count = sizes_of(dataset, batch_size, drop_remainder, "PaddedBatchDatasetV2")
    specs = dataset.element_spec
    flat = element.flatten(specs)
    for leaf in flat:
        if isinstance(leaf, element.DatasetSpec):
            raise TypeError(
                f"`padded_batch` is not supported for datasets of datasets, whose elements are of `{leaf}`."
            )
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                f"elements in the input dataset is not a subclass of TensorSpec: `{leaf}`."
            )
    shapes, values = _padding(specs, padded_shapes, padding_values)

    def make(batch: Sequence[Tensor]):
        columns = zip(*[element.flatten(value) for value in batch])
        made = [
            stacking.pad_and_stack(column, shape, value, number)
            for number, (column, shape, value) in enumerate(zip(columns, shapes, values))
        ]
        return element.unflatten(specs, iter(made))

    outer = size if drop else None
    batch_specs = [TensorSpec([outer, *shape], leaf.dtype) for shape, leaf in zip(shapes, flat)]
    spec = element.unflatten(specs, iter(batch_specs))
    return "PaddedBatch", lambda: Batched(parts_of(dataset).start(), size, drop, make), spec, count


def _padding(specs, padded_shapes: ShapeLike | None, padding_values):
    """The shape and the value that each tensor of an element is padded to and with."""
    flat = element.flatten(specs)
    if padded_shapes is None:
        for number, leaf in enumerate(flat):
            if leaf.shape.rank is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component "
                    f"{number} has unknown rank."
                )
        shapes = [leaf.shape.as_list() for leaf in flat]
    else:
        found = _leaves_like(specs, padded_shapes)
        shapes = [_padded_shape(shape, leaf) for shape, leaf in zip(found, flat)]
    found = _leaves_like(specs, padding_values)
    values = [_padding_value(value, leaf) for value, leaf in zip(found, flat)]
    return shapes, values


def _inputs_of(arguments: dict[str, Any]):
    """The inputs of a node for the arguments of the method."""
    specs = arguments["dataset"].element_spec
    with context.eager_mode():
        shapes, values = _padding(specs, arguments["padded_shapes"], arguments["padding_values"])
    sizes = [np.array([-1 if size is None else size for size in shape], np.int64) for shape in shapes]
    kinds = [leaf.dtype for leaf in element.flatten(specs)]
    typed = [convert_to_tensor(value, kind) for value, kind in zip(values, kinds, strict=True)]
    return {**arguments, "padded_shapes": sizes, "padding_values": typed}


_INPUTS = "input_dataset: variant, batch_size: int64, padded_shapes: N>=1*int64, padding_values: Toutput_types"
padded.node(
    "PaddedBatchDataset", f"{_INPUTS} -> handle: variant",
    {"Toutput_types": type_list, "output_shapes": shape_list, "N": integer, "metadata": ""}, written=False,
)  # fmt: skip
padded.node(
    "PaddedBatchDatasetV2", f"{_INPUTS}, drop_remainder: bool -> handle: variant",
    {"parallel_copy": False, "Toutput_types": type_list, "output_shapes": shape_list, "N": integer, "metadata": ""},
    writes=_inputs_of,
)  # fmt: skip


def _leaves_like(specs, structure):
    """The leaves of `structure`, in which lists and shapes are leaves, along `specs`."""
    if not element.is_structure(specs):
        return [structure]
    if structure is None or (
        not element.is_structure(structure) and not isinstance(structure, (list, TensorShape))
    ):
        return [structure for _ in element.flatten(specs)]
    if hasattr(specs, "keys"):
        if not hasattr(structure, "keys"):
            raise TypeError(
                f"The two structures don't have the same sequence type. First: {specs}. Second: {structure}."
            )
        return [leaf for key in sorted(specs) for leaf in _leaves_like(specs[key], structure[key])]
    if isinstance(structure, (list, TensorShape)) and not all(
        item is None or isinstance(item, int) for item in structure
    ):
        structure = tuple(structure)
    if not isinstance(structure, tuple):
        raise TypeError(
            f"The two structures don't have the same sequence type. First: {specs}. Second: {structure}."
        )
    if len(specs) != len(structure):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {specs}. Second structure: {structure}."
        )
    return [leaf for s, part in zip(specs, structure) for leaf in _leaves_like(s, part)]


def _padded_shape(given: Any, leaf: TensorSpec):
    shape = _shape_given(given)
    known = leaf.shape
    if known.rank is not None:
        fits = len(shape) == known.rank and all(
            want is None or have is None or have <= want
            for want, have in zip(shape, known.as_list())
        )
        if not fits:
            raise ValueError(
                f"The padded shape {TensorShape(shape)} is not compatible with the shape {known} of "
                "the corresponding input component."
            )
    return shape


def _shape_given(given: Any):
    """The sizes that an argument spells, None for those of the largest element."""
    try:
        if not isinstance(given, Tensor):
            return stacking.as_shape([given] if isinstance(given, int) else given).as_list()
    except (TypeError, ValueError):
        pass
    vector = convert_to_tensor(given, dtype_hint=dtypes.int64)
    if vector.shape.rank not in (1, None):
        raise ValueError(
            f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was {vector.shape}."
        )
    if vector.dtype != dtypes.int64:
        raise TypeError(
            f"Padded shape {given} must be a `tf.int64` vector tensor, but its element type was {vector.dtype.name}."
        )
    return stacking.as_shape(vector).as_list()


def _padding_value(value, leaf: TensorSpec):
    if value is None:
        if leaf.dtype == dtypes.string:
            return b""
        if leaf.dtype == dtypes.bool:
            return False
        if leaf.dtype == dtypes.variant:
            raise TypeError("Unable to create padding for field of type 'variant'.")
        return 0
    value = convert_to_tensor(value) if leaf.dtype != dtypes.bfloat16 else convert_to_tensor(value, leaf.dtype)
    if value.shape.rank != 0:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{value.shape}."
        )
    if value.dtype != leaf.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {value.dtype} does not match "
            f"type {leaf.dtype} of the corresponding input component."
        )
    return value.numpy()


boundaries(globals())
