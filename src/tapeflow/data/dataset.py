"""`tf.data.Dataset`: what it is. The methods that make datasets are with their records in `sources` and `transform`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.specs.protocol import type_spec_of
from tapeflow.core.structures import nest
from tapeflow.data import dataset_class, display, element, leaves, options
from tapeflow.data.fingerprint import fingerprint
from tapeflow.data.iteration import iterating
from tapeflow.data.iteration.graph_iterating import GraphIterator
from tapeflow.data.nodes import results
from tapeflow.data.parts import UNKNOWN_CARDINALITY, Parts
from tapeflow.data.sources.files import FileMethods
from tapeflow.data.sources.generators import GeneratorMethods
from tapeflow.data.sources.saving import SavingMethods
from tapeflow.data.sources.values import SourceMethods
from tapeflow.data.transform import mapping
from tapeflow.data.transform.batching import BatchingMethods
from tapeflow.data.transform.caching import CachingMethods
from tapeflow.data.transform.choosing import ChoosingMethods
from tapeflow.data.transform.combining import CombiningMethods
from tapeflow.data.transform.flattening import FlatteningMethods
from tapeflow.data.transform.grouping import GroupingMethods
from tapeflow.data.transform.mapping import MappingMethods
from tapeflow.data.transform.optioning import OptionsMethods
from tapeflow.data.transform.padding import PaddingMethods
from tapeflow.data.transform.prefetching import PrefetchingMethods
from tapeflow.data.transform.resampling import ResamplingMethods
from tapeflow.data.transform.selecting import SelectingMethods
from tapeflow.data.transform.shuffling import ShufflingMethods
from tapeflow.data.transform.unbatching import UnbatchingMethods
from tapeflow.data.transform.windows import WindowMethods
from tapeflow.graph.graph import Graph

INFINITE_CARDINALITY = -1
AUTOTUNE = -1


class DatasetV2:
    """The name and the module of the base class by which libraries tell TensorFlow's datasets from other data."""

    __module__ = "tensorflow.python.types.data"


@dataset_class.register
@public_methods
class Dataset(
    SourceMethods, GeneratorMethods, FileMethods, SavingMethods, MappingMethods, PrefetchingMethods, SelectingMethods,
    ShufflingMethods, CachingMethods, BatchingMethods, PaddingMethods, UnbatchingMethods, WindowMethods,
    GroupingMethods, FlatteningMethods, CombiningMethods, ChoosingMethods, ResamplingMethods, OptionsMethods, DatasetV2,
):  # fmt: skip
    """A sequence of elements, each a nested structure of tensors, made anew on every pass.

    Args:
      variant_tensor: a scalar variant tensor that holds a dataset, such as `tf.data.experimental.to_variant` gives.
    """

    _parts: Parts

    def __init__(self, variant_tensor):
        self.__dict__.update(leaves.unboxed(variant_tensor).__dict__)

    def _as_serialized_graph(
        self, allow_stateful=None, strip_device_assignment=None, external_state_policy=None
    ):
        """A GraphDef with the nodes that make this dataset, as a string tensor."""
        from tapeflow.data.nodes.writing import variant

        with Graph().as_default() as graph:
            made = variant(self)
        definition = graph.as_graph_def()
        returned = definition.node.add(name="dataset", op="_Retval", input=[made.op.name])
        returned.attr["T"].type = made.dtype.as_datatype_enum
        returned.attr["index"].i = 0
        return convert_to_tensor(definition.SerializeToString())

    def _inputs(self):
        """The datasets that this one is made of."""
        return list(self._parts.parents)

    def __debug_string__(self) -> str:
        """This dataset and those that it is made of, a line for each, with two dashes for each step away from it."""
        lines = [repr(self)]
        for each in reversed(self._inputs()):
            lines += [f"--{line}" for line in each.__debug_string__().splitlines()]
        return "\n".join(lines)

    # Results

    def reduce(self, initial_state: TensorLike, reduce_func: Callable[..., Any], name: str | None = None):
        """Fold the elements into one value.

        Args:
          initial_state: the state to start from, a structure of tensors.
          reduce_func: a function of the state and an element that gives the next state.
          name: the name of the operation in a graph.

        Returns:
          The last state.

        Raises:
          TypeError: for a function whose states are of another structure or dtype.

        >>> print(int(tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x)))
        10
        """
        if not context.executing_eagerly():
            return results.reduce(self, initial_state, reduce_func)
        state, traced = results.fold(self, initial_state, reduce_func)
        return mapping.reduced(self, state, traced)

    def get_single_element(self, name: str | None = None):
        """The only element; raises InvalidArgumentError when there are none or several."""
        if not context.executing_eagerly():
            return results.single_element(self, iterating.single_element)
        return iterating.single_element(self)

    def apply(self, transformation_func: Callable[..., Any]):
        """Apply a function to the dataset.

        Args:
          transformation_func: a function of a dataset that gives a dataset.

        Returns:
          What it gives.

        Raises:
          TypeError: for something else.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    def options(self):
        """The options of this dataset and of those it is made of, which cannot be changed."""
        found = self._parts.options
        return options.frozen(options.Options() if found is None else found)

    # Iteration and type

    def __iter__(self):
        graph = context.current_graph()
        if graph is not None and not graph.building_function:
            raise RuntimeError(
                "`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function."
            )
        return iterating.Iterator(self)

    def _staged_pass(self):
        """A pass over the elements by nodes of the graph that is being built."""
        from tapeflow.data.iteration import staged_passes

        return staged_passes.begin(self)

    def make_one_shot_iterator(self):
        """An iterator with `get_next()`, as in TensorFlow 1.x."""
        return self._iterator(True)

    def make_initializable_iterator(self, shared_name: str | None = None):
        """An iterator with `get_next()` and an `initializer` that starts it again."""
        return self._iterator(False, shared_name)

    def _iterator(self, started: bool, shared_name: str | None = None):
        if context.executing_eagerly():
            if not started:
                raise RuntimeError(
                    "`tf.compat.v1.data.make_initializable_iterator()` is not supported when eager execution is "
                    "enabled. Consider using `for element in dataset` instead."
                )
            return iterating.Iterator(self)

        return GraphIterator.over(self, started, None, shared_name)

    def as_numpy_iterator(self):
        """An iterator of elements with NumPy values in place of tensors.

        Raises RuntimeError while a graph is built, TypeError for elements without such values.
        """
        if not context.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        for spec in leaves.of_spec(self.element_spec):
            element.check_numpy(spec)
        return iterating.NumpyIterator(self)

    @property
    def element_spec(self):
        """The structure of TensorSpecs of an element."""
        parts = self._parts
        if callable(parts.spec):
            parts.spec = parts.spec()
        return parts.spec

    @property
    def _type_spec(self):
        return element.DatasetSpec(self.element_spec, self._parts.outer)

    @property
    def _variant_tensor(self):
        return leaves.boxed_dataset(self)

    @property
    def _trace_key(self):
        return repr(self._type_spec)

    @property
    def output_types(self):
        """The structure of dtypes of an element (1.x)."""
        return element.map_leaves(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_shapes(self):
        """The structure of shapes of an element (1.x)."""
        return element.map_leaves(lambda spec: spec.shape, self.element_spec)

    @property
    def output_classes(self):
        """The structure of Python classes of an element (1.x)."""
        return element.map_leaves(iterating.class_of, self.element_spec)

    def fingerprint(self):
        """A scalar uint64 tensor, equal for datasets made by the same steps of equal values."""

        return fingerprint(self)

    def cardinality(self):
        """The number of elements as an int64 scalar; -1: infinite, -2: unknown."""
        if self._parts.captured:
            return results.cardinality(self)
        return convert_to_tensor(self._parts.size, dtypes.int64)

    def __len__(self):
        if not context.executing_eagerly():
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead."
            )
        size = self._parts.size
        if size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self):
        return True  # also when it has no elements, or an unknown number

    def __repr__(self):
        return f"<{self._shown_kind()} element_spec={self.element_spec}>"

    def _repr_html_(self):
        return display.to_html(self._shown_kind(), self._parts.size, self.element_spec)

    _shown_as = ""  # the name that TensorFlow shows for a class, where that is not its own

    def _shown_kind(self):
        if type(self) is not Dataset:
            return vars(type(self)).get("_shown_as") or type(self).__name__
        kind = self._parts.kind
        return _NAMES.get(kind, f"_{kind}Dataset")


# Where the name that is shown is not made of the kind.
_NAMES = {"Cache": "CacheDataset", "Window": "_VariantDataset", "Windows": "_WindowDataset", "CSV": "CsvDatasetV2"}


nest.register_composite(
    Dataset,
    lambda dataset: [leaves.boxed_dataset(dataset)],
    lambda dataset, found: leaves.from_tensors(type_spec_of(dataset), found),
)
