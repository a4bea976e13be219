"""What `fit`, `evaluate` and `predict` take as data, as batches: arrays, datasets, generators, Sequences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.data.dataset import INFINITE_CARDINALITY, Dataset
from tapeflow.data.parts import parts_of
from tapeflow.keras import settings
from tapeflow.keras.engine.fitting.class_weights import ClassWeights
from tapeflow.keras.engine.fitting.packing import pack_x_y_sample_weight
from tapeflow.keras.session import get_session
from tapeflow.keras.utils.sequence import Sequence
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.random.functions import shuffle as shuffled
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


def as_tensor(value: np.ndarray | None):
    """A tensor (in graph mode, an array); NumPy's default doubles become floatx, as Keras has it."""
    if value is None or isinstance(value, Tensor) or hasattr(value, "_type_spec"):
        return value
    if is_scipy_sparse(value):
        return _sparse_tensor(value)
    if not context.executing_eagerly():
        if isinstance(value, Variable):
            return convert_to_tensor(value)
        array = np.asarray(value)
        return array.astype(settings.floatx()) if array.dtype == np.float64 else array
    tensor = convert_to_tensor(value)
    if tensor.dtype.name == "float64":
        return cast(tensor, settings.floatx())
    return tensor


def is_scipy_sparse(value: np.ndarray):
    """Whether a value is a sparse matrix or array of SciPy."""
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


def _sparse_tensor(matrix):
    """A matrix of SciPy as a sparse tensor with its indices in order; doubles become floatx."""
    entries = matrix.tocsr().tocoo()
    data = entries.data
    if data.dtype == np.float64:
        data = data.astype(settings.floatx())
    indices = np.stack([entries.row, entries.col], axis=1).astype(np.int64)
    order = np.lexsort((indices[:, 1], indices[:, 0]))  # a row of a CSR matrix may be in any order
    return SparseTensor(indices[order], data[order], entries.shape)


def _as_array(value: np.ndarray | None):
    """NumPy arrays as they are, but for doubles; all else as a tensor."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.dtype.isnative:
        return value.astype(settings.floatx()) if value.dtype == np.float64 else value
    return as_tensor(value)


class Batches:
    """An iterable of batches, and how many there are, if that is known.

    `varies` says whether the last batch is known to be smaller, or the sizes are not known; `tensors` are
    (x, y, sample_weight) where those are tensors of a graph.
    """

    tensors = None
    part = None  # what takes this process's part of a batch

    def __init__(
        self, make: Callable[..., Any], length: int | None = None, class_weight: Mapping[Any, Any] | None = None,
        on_epoch_end=None, varies: bool = False, on_epoch_begin=None,
    ):
        self._make, self._length, self.varies = make, length, varies
        self._weights: Any = None if class_weight is None else ClassWeights(class_weight)
        self.on_epoch_end = on_epoch_end or (lambda: None)
        self.on_epoch_begin = on_epoch_begin or (lambda: None)

    def __iter__(self):
        source = iter(self._make())
        weighted = source if self._weights is None else map(self._weighted, source)
        return weighted if self.part is None else map(self.part, weighted)

    def __len__(self):
        if self._length is None:
            raise TypeError("the number of batches is not known")
        return self._length

    def _weighted(self, data: Tensor):
        return self._weights(data)


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
        count = len(x) if keras_2() else x.num_batches
        return Batches(
            lambda: _sequence(x, count, shuffle), count, class_weight, x.on_epoch_end, varies=True,
            on_epoch_begin=getattr(x, "on_epoch_begin", None),
        )  # fmt: skip
    if isinstance(x, Dataset):
        if steps is None and parts_of(x).size == INFINITE_CARDINALITY:
            raise ValueError(
                "When providing an infinite dataset, you must specify the number of steps to run (if "
                "you did not intend to create an infinite dataset, make sure to not call `repeat()` on "
                "the dataset)."
            )
        return Batches(lambda: _of_dataset(x), _length(x), class_weight, varies=_varies(x))
    if isinstance(x, Generator) and not keras_2():
        return _of_generator(x, class_weight)
    if _is_source(x):
        return Batches(lambda: map(_tensors, x), _length(x), class_weight, varies=True)
    return _of_arrays(x, y, sample_weight, batch_size, shuffle, steps, class_weight)


def _varies(dataset: Dataset):
    specs = nest.flatten(dataset.element_spec, expand_composites=True)
    shapes = [getattr(spec, "shape", None) for spec in specs]
    return any(s is None or s.rank is None or (s.rank and s[0] is None) for s in shapes)


def _of_dataset(dataset: Dataset):
    """The elements; in graph mode, their values."""
    graph = context.current_graph()
    if graph is None or isinstance(dataset, (list, tuple)):
        return dataset
    return _values_in_session(dataset, graph)


def _values_in_session(dataset: Dataset, graph: Graph):
    iterator = dataset.make_one_shot_iterator()
    element = iterator.get_next()
    flat = nest.flatten(element)
    session = get_session(graph)
    while True:
        try:
            values = session.run(flat)
        except OutOfRangeError:
            return
        yield nest.pack_sequence_as(element, values)


def _is_source(x: dict[str, Any] | np.ndarray):
    """Whether x gives batches one by one, as generators do."""
    plain = (
        isinstance(x, (np.ndarray, Tensor, list, tuple, Mapping))
        or hasattr(x, "__array__")
        or is_scipy_sparse(x)
    )
    return x is not None and not plain and hasattr(x, "__iter__") and not hasattr(x, "_type_spec")


def _tensors(batch):
    return nest.map_structure(as_tensor, tuple(batch) if isinstance(batch, list) else batch)


def _of_generator(generator: Generator[Any, Any, Any], class_weight):
    """The batches of a generator. Keras 3 looks at the first two, and begins every pass with them."""
    first = list(itertools.islice(generator, 2))
    if not first:
        raise ValueError(
            "When passing a Python generator to a Keras model, the generator must yield at least one batch. "
            "Received an empty generator."
        )
    return Batches(lambda: map(_tensors, itertools.chain(first, generator)), None, class_weight, varies=True)


def _sequence(sequence, count: int | None, shuffle: bool):
    order: Any = itertools.count() if count is None else np.arange(count)
    if shuffle and count is not None:
        np.random.shuffle(order)
    for i in order:
        yield _tensors(sequence[int(i)])


def _of_arrays(x, y, sample_weight, batch_size, shuffle, steps, class_weight):
    if x is None and y is None:
        raise ValueError("There is no data: `x` is empty or None.")
    # Arrays that are read in order become tensors batch by batch, without a copy of all of them.
    as_leaf = as_tensor if shuffle is True else _as_array
    parts = tuple(nest.map_structure(as_leaf, listed(part)) for part in (x, y, sample_weight))
    if class_weight is not None:
        parts = ClassWeights(class_weight)(parts)
    parts = parts if parts[2] is not None else parts[:2] if parts[1] is not None else parts[:1]
    leaves = [leaf for leaf in nest.flatten(parts) if leaf is not None]
    if any(isinstance(leaf, Tensor) and not isinstance(leaf, EagerTensor) for leaf in leaves):
        return _of_symbolic(parts, steps)
    sizes = [leaf.shape[0] if len(leaf.shape) else None for leaf in leaves]
    if None in sizes:
        raise ValueError(f"The data must have a first axis for the samples; got {leaves}.")
    if len(set(sizes)) > 1:
        raise ValueError(
            "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples."
            + "".join(_sizes_of(*pair) for pair in zip(("x", "y", "sample_weight"), parts))
        )
    if not batch_size:
        batch_size = -(-sizes[0] // steps) if steps else 32
    if any(hasattr(leaf, "_type_spec") and not isinstance(leaf, Tensor) for leaf in leaves):
        dataset = Dataset.from_tensor_slices(parts)
        dataset = (dataset.shuffle(max(sizes[0], 1)) if shuffle else dataset).batch(batch_size)
        return Batches(lambda: dataset, -(-sizes[0] // batch_size), varies=True)
    return Batches(
        lambda: _slices(parts, sizes[0], int(batch_size), shuffle),
        -(-sizes[0] // batch_size),
        varies=sizes[0] % batch_size != 0,
    )


def _of_symbolic(parts, steps):
    """Tensors of the graph as data: every step reads them again."""
    if steps is None:
        raise ValueError(
            "When using data tensors as input to a model, you should specify the `steps_per_epoch` "
            "argument."
        )
    batches = Batches(lambda: (parts for _ in range(steps)), steps)
    batches.tensors = (*parts, None, None)[:3]
    return batches


def _slices(parts, count: int, size: int, shuffle: bool):
    """Batches of arrays (or eager tensors), in order or in a new random one."""
    flat = all(part is None or not isinstance(part, (tuple, list, Mapping)) for part in parts)
    leaves = list(parts) if flat else nest.flatten(parts)
    order: Any = None
    eager = context.executing_eagerly()
    starts: Any = range(0, count, size)
    if shuffle == "batch":
        starts = [starts[int(i)] for i in np.random.permutation(len(starts))]
    elif shuffle:
        order = (
            shuffled(convert_to_tensor(np.arange(count))) if eager
            else np.random.permutation(count)
        )  # fmt: skip
    for start in starts:
        end = min(start + size, count)
        if order is None:
            batch = [None if a is None else a[start:end] for a in leaves]
            if eager:
                batch = [convert_to_tensor(a) if type(a) is np.ndarray else a for a in batch]
        elif isinstance(order, np.ndarray):
            batch = [None if a is None else a[order[start:end]] for a in leaves]
        else:
            rows = order[start:end]
            batch = [None if a is None else gather(a, rows) for a in leaves]
        yield pack_x_y_sample_weight(*(batch if flat else nest.pack_sequence_as(parts, batch)))


def listed(part):
    """A list of arrays is several inputs, a list of numbers is one."""
    several = isinstance(part, list) and part and (
        isinstance(part[0], (np.ndarray, Tensor, Variable)) or is_scipy_sparse(part[0])
        or hasattr(part[0], "_type_spec")
    )  # fmt: skip
    return tuple(part) if several else _array_like(part)


def _array_like(part: dict[str, Any] | np.ndarray | None):
    """Frames and series of pandas, and lists of numbers, as arrays."""
    if hasattr(part, "__array__") and not isinstance(part, (np.ndarray, Tensor, Variable)):
        array = np.asarray(part)
        # A frame whose columns have several dtypes is an array of objects.
        if array.dtype == object and all(isinstance(value, (Real, np.bool_)) for value in array.flat):
            return array.astype(settings.floatx())
        return array
    if isinstance(part, list):
        return np.asarray(part) if part and not isinstance(part[0], (dict, tuple)) else part
    if isinstance(part, Mapping):
        return {name: _array_like(value) for name, value in part.items()}
    return part


def _sizes_of(label: str, part: Tensor):
    """The numbers of samples of an argument, for the error that says that arguments differ in them."""
    sizes = ", ".join(str(leaf.shape[0]) for leaf in nest.flatten(part) if leaf is not None)
    return f"'{label}' sizes: {sizes}\n" if sizes else ""


def _length(batches: Dataset):
    try:
        return len(batches)
    except TypeError:
        return None


def split_validation(x: np.ndarray, y: np.ndarray, sample_weight, fraction: float):
    """((x, y, weights), (x, y, weights)): the last `fraction` of the samples are kept for validation."""
    if not 0 < fraction < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {fraction}")
    leaves = nest.flatten(listed(x))
    if not all(
        isinstance(leaf, (np.ndarray, Tensor)) or hasattr(leaf, "__array__") or is_scipy_sparse(leaf)
        for leaf in leaves
    ):
        raise ValueError(
            "`validation_split` is only supported for Tensors or NumPy arrays, found following types "
            f"in the input: {[type(leaf) for leaf in leaves]}"
        )
    count = leaves[0].shape[0] if is_scipy_sparse(leaves[0]) else len(leaves[0])
    at = int(count * (1.0 - fraction))
    if at in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a "
            f"validation and training set as specified by `validation_split={fraction}`. Either "
            "provide more data, or a different value for the `validation_split` argument."
        )

    def parts(window):
        return tuple(
            None if part is None
            else nest.map_structure(lambda a: (a.tocsr() if is_scipy_sparse(a) else a)[window], listed(part))
            for part in (x, y, sample_weight)
        )

    return parts(slice(at)), parts(slice(at, None))
