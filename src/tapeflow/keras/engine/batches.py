"""What `fit` and its kin take as data, as batches: arrays, datasets, generators, Sequences."""

from __future__ import annotations

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data.dataset import Dataset
from tapeflow.keras import settings
from tapeflow.keras.utils.sequence import Sequence
from tapeflow.ops.argmax import argmax
from tapeflow.ops.casting import cast
from tapeflow.ops.gather import gather
from tapeflow.ops.layout import reshape


def unpack(data):
    """(x, y, sample_weight) of a batch of one to three parts. Raises ValueError for other batches."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
            f"found: {data}"
        )
    return (*data, None, None)[:3]


def pack(x, y=None, sample_weight=None):
    """The parts that are there, as a batch."""
    if y is None:
        return x if not isinstance(x, (tuple, list)) else (x,)
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def as_tensor(value):
    """A tensor; NumPy's default doubles become floatx, as Keras has it."""
    if value is None or isinstance(value, Tensor):
        return value
    tensor = convert_to_tensor(value)
    if tensor.dtype.name == "float64":
        return cast(tensor, settings.floatx())
    return tensor


class Batches:
    """An iterable of batches, and how many there are, if that is known."""

    def __init__(self, make, length=None, class_weight=None, on_epoch_end=None):
        self._make, self._length = make, length
        self._weights = None if class_weight is None else _table(class_weight)
        self.on_epoch_end = on_epoch_end or (lambda: None)

    def __iter__(self):
        source = iter(self._make())
        return source if self._weights is None else map(self._weighted, source)

    def __len__(self):
        if self._length is None:
            raise TypeError("the number of batches is not known")
        return self._length

    def _weighted(self, data):
        x, y, sample_weight = unpack(data)
        if isinstance(y, (list, tuple, dict)) and len(y) > 1:
            raise ValueError("`class_weight` is only supported for Models with a single output.")
        target = nest.flatten(y)[0]
        if target.shape.rank is not None and target.shape.rank > 2:
            raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
        if target.shape.rank == 2 and target.shape.as_list()[1] > 1:
            classes = argmax(target, axis=1)
        else:
            classes = reshape(cast(target, "int64"), [-1])
        weights = gather(self._weights, classes)
        if sample_weight is not None:
            weights = cast(weights, sample_weight.dtype) * sample_weight
        return x, y, weights


def _table(class_weight):
    classes = list(class_weight)
    if sorted(classes) != list(range(max(classes, default=-1) + 1)):
        raise ValueError(
            "Expected `class_weight` to be a dict with keys from 0 to one less than the number of "
            f"classes, found {class_weight}"
        )
    values = [class_weight[i] for i in range(len(classes))]
    return convert_to_tensor(np.array(values, settings.floatx()))


def as_batches(
    x, y=None, sample_weight=None, batch_size=None, shuffle=False, steps=None, class_weight=None
):
    """Batches of the data. Raises ValueError for arrays that do not fit together."""
    if isinstance(x, Batches):
        return x
    if isinstance(x, (Dataset, Sequence)) or _is_source(x):
        kind = "a dataset" if isinstance(x, Dataset) else "a generator or Sequence"
        if y is not None:
            raise ValueError(f"`y` argument is not supported when using {kind} as input.")
        if sample_weight is not None:
            raise ValueError(
                f"`sample_weight` argument is not supported when using {kind} as input."
            )
    if isinstance(x, Sequence):
        return Batches(lambda: _sequence(x, shuffle), len(x), class_weight, x.on_epoch_end)
    if isinstance(x, Dataset):
        return Batches(lambda: x, _length(x), class_weight)
    if _is_source(x):
        return Batches(lambda: map(_tensors, x), _length(x), class_weight)
    return _of_arrays(x, y, sample_weight, batch_size, shuffle, steps, class_weight)


def _is_source(x):
    """Whether x gives batches one by one, as generators do."""
    plain = isinstance(x, (np.ndarray, Tensor, list, tuple, dict)) or hasattr(x, "__array__")
    return x is not None and not plain and hasattr(x, "__iter__")


def _tensors(batch):
    return nest.map_structure(as_tensor, tuple(batch) if isinstance(batch, list) else batch)


def _sequence(sequence, shuffle):
    order = np.arange(len(sequence))
    if shuffle:
        np.random.shuffle(order)
    for i in order:
        yield _tensors(sequence[int(i)])


def _of_arrays(x, y, sample_weight, batch_size, shuffle, steps, class_weight):
    given = [part for part in (x, y, sample_weight) if part is not None]
    if sample_weight is not None and y is None:
        given = [x, (), sample_weight]
    parts = tuple(nest.map_structure(as_tensor, _listed(part)) for part in given)
    sizes = [leaf.shape.as_list()[0] for leaf in nest.flatten(parts)]
    if len(set(sizes)) > 1:
        raise ValueError(
            "Data cardinality is ambiguous. Make sure all arrays contain the same number of "
            f"samples; got {sorted(set(sizes))}."
        )
    if not sizes:
        raise ValueError("There is no data: `x` is empty or None.")
    dataset = Dataset.from_tensor_slices(parts)
    if shuffle:
        dataset = dataset.shuffle(max(sizes[0], 1))
    if batch_size is None:
        batch_size = -(-sizes[0] // steps) if steps else 32
    dataset = dataset.batch(batch_size)
    return Batches(lambda: dataset, -(-sizes[0] // batch_size), class_weight)


def _listed(part):
    """A list of arrays is several inputs, a list of numbers is one."""
    several = isinstance(part, list) and part and isinstance(part[0], (np.ndarray, Tensor))
    return tuple(part) if several else part


def _length(batches):
    try:
        return len(batches)
    except TypeError:
        return None


def split_validation(x, y, sample_weight, fraction):
    """((x, y, weights), (x, y, weights)): the last `fraction` of the samples are kept for validation."""
    if not 0 < fraction < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {fraction}")
    leaves = nest.flatten(_listed(x))
    if not all(
        isinstance(leaf, (np.ndarray, Tensor)) or hasattr(leaf, "__array__") for leaf in leaves
    ):
        raise ValueError(
            "`validation_split` is only supported for Tensors or NumPy arrays, found following types "
            f"in the input: {[type(leaf) for leaf in leaves]}"
        )
    count = len(leaves[0])
    at = int(count * (1.0 - fraction))
    if at in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a "
            f"validation and training set as specified by `validation_split={fraction}`. Either "
            "provide more data, or a different value for the `validation_split` argument."
        )

    def parts(window):
        return tuple(
            None if part is None else nest.map_structure(lambda a: a[window], _listed(part))
            for part in (x, y, sample_weight)
        )

    return parts(slice(at)), parts(slice(at, None))
