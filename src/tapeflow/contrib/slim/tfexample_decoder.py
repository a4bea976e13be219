"""`slim.tfexample_decoder`: items of a data set, out of the features of `Example` messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.contrib.slim.data_decoder import DataDecoder
from tapeflow.core import dtypes, sparse_tensor
from tapeflow.core.annotations import DTypeLike, ShapeLike, TensorLike
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.image.decoding import decode_image
from tapeflow.ops.image.jpeg import decode_jpeg, is_jpeg
from tapeflow.ops.io.example_features import FixedLenFeature
from tapeflow.ops.io.parsing import parse_single_example
from tapeflow.ops.io.raw_bytes import decode_raw
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.sparse import functions as sparse
from tapeflow.ops.sparse import shaping

if TYPE_CHECKING:
    from tapeflow.ops.lookup.tables import StaticHashTable

__all__ = [
    "BackupHandler", "BoundingBox", "Image", "ItemHandler", "ItemHandlerCallback", "LookupTensor", "SparseTensor",
    "TFExampleDecoder", "Tensor",
]  # fmt: skip


def _is_sparse(value):
    return isinstance(value, sparse_tensor.SparseTensor)


def _dense(value, default=None):
    return sparse.to_dense(value, default) if _is_sparse(value) else value


class ItemHandler(ABC):
    """Base: makes an item of the features that it names by their `keys`."""

    def __init__(self, keys: Sequence[str]):
        self._keys = list(keys) if isinstance(keys, (list, tuple)) else [keys]

    @property
    def keys(self):
        """The keys of the features."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, of a dict of features."""


class ItemHandlerCallback(ItemHandler):
    """A function as a handler."""

    def __init__(self, keys: Sequence[str], func: Callable[..., Any]):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes [n, 4] of four features, by default "ymin", "xmin", "ymax" and "xmax".

    Raises ValueError for other numbers of keys.
    """

    def __init__(self, keys=None, prefix: str = ""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors):
        sides = [keys_to_tensors[key] for key in self._keys]
        return transpose(stack([side.values if _is_sparse(side) else side for side in sides]))


class Tensor(ItemHandler):
    """A feature as a dense tensor, with a shape that is given or is in other features.

    Raises ValueError for both.
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: ShapeLike | None = None, default_value: TensorLike = 0
    ):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key, self._shape_keys, self._shape = tensor_key, shape_keys, shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            shape = reshape(stack([_dense(keys_to_tensors[key]) for key in self._shape_keys]), [-1])
        if _is_sparse(tensor):
            tensor = tensor if shape is None else shaping.reshape(tensor, shape)
            return sparse.to_dense(tensor, self._default_value)
        return tensor if shape is None else reshape(tensor, shape)


class LookupTensor(Tensor):
    """A feature, looked up in a table."""

    def __init__(
        self, tensor_key: str, table: StaticHashTable, shape_keys=None, shape: ShapeLike | None = None,
        default_value: str = "",
    ):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """What one handler gives, or another where that is empty. Raises ValueError for what is no handler."""

    def __init__(self, handler, backup):
        for name, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError(f"{name} handler is of type {type(each)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        empty = equal(reduce_prod(shape_of(item)), 0)
        return cond_v1(empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature of the last indices and one of values; `densify` makes it dense.

    Its shape is given, is in another feature, or is that of the indices.
    """

    def __init__(
        self, indices_key=None, values_key=None, shape_key=None, shape: ShapeLike | None = None,
        densify: bool = False, default_value: int = 0,
    ):
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape = self._shape or indices.dense_shape
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        last = reshape(cast(indices.values, dtypes.int64), [-1, 1])
        places = concat([indices.indices[:, :-1], last], 1)
        made = sparse_tensor.SparseTensor(places, values.values, shape)
        return sparse.to_dense(made, self._default_value) if self._densify else made


class Image(ItemHandler):
    """A decoded image, or several with `repeated`, of a feature of bytes and one of their format ("raw", or any other).

    Args:
      image_key: the key of the bytes, by default "image/encoded".
      format_key: the key of the format, by default "image/format".
      shape: the shape of the images.
      channels: the number of channels.
      dtype: the dtype of the images, and of raw bytes.
      repeated: whether there are several images.
      dct_method: how JPEG images are transformed.
    """

    def __init__(
        self, image_key=None, format_key=None, shape: ShapeLike | None = None, channels: int = 3,
        dtype: DTypeLike = dtypes.uint8, repeated: bool = False, dct_method: str = "",
    ):  # fmt: skip
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors):
        image, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn(lambda each: self._decoded(each, kind), _dense(image, ""), dtype=self._dtype)
        return self._decoded(image, kind)

    def _decoded(self, image, kind):
        def by_jpeg():
            return cast(decode_jpeg(image, self._channels, dct_method=self._dct_method), self._dtype)

        def by_content():
            return cast(decode_image(image, self._channels), self._dtype)

        raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        made = cond_v1(
            raw, lambda: decode_raw(image, self._dtype), lambda: cond_v1(is_jpeg(image), by_jpeg, by_content)
        )
        if self._shape is not None:
            return reshape(made, self._shape)
        made.set_shape([None, None, self._channels])
        return made


class TFExampleDecoder(DataDecoder):
    """Items of serialized `Example` messages: features are parsed, and handlers make items of them.

    Args:
      keys_to_features: what `tf.io.parse_single_example` needs to know, by key.
      items_to_handlers: a handler for each item, by name.
    """

    def __init__(self, keys_to_features: dict[str, Any], items_to_handlers: dict[str, Any]):
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self):
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        features = parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in self._keys_to_features.items():
            if isinstance(feature, FixedLenFeature):
                features[key] = reshape(features[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self.list_items()]
        return [each.tensors_to_item({key: features[key] for key in each.keys}) for each in handlers]
