"""`tf.data.Dataset`: the public methods. What each does stands in the module named after it."""

from __future__ import annotations

from types import FunctionType

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.data import (
    batching,
    combining,
    deferring,
    element,
    iterating,
    mapping,
    selecting,
    sources,
    threads,
)
from tapeflow.graph.tensor import SymbolicTensor

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
AUTOTUNE = -1


def _in_graphs(cls):
    """The class, whose methods also take tensors of a graph: see `deferring`."""
    own = {
        "make_one_shot_iterator",
        "make_initializable_iterator",
        "reduce",
        "get_single_element",
        "cardinality",
        "apply",
        "enumerate",
        "rebatch",
        "as_numpy_iterator",
        "options",
        "from_recipe",
        "with_inputs",
    }
    for name, method in list(vars(cls).items()):
        static = isinstance(method, staticmethod)
        function = method.__func__ if static else method
        if name.startswith("_") or name in own or not isinstance(function, FunctionType):
            continue
        wrapped = deferring.deferred(function)
        setattr(cls, name, staticmethod(wrapped) if static else wrapped)
    return cls


@public_methods
@_in_graphs
class Dataset:
    """A sequence of elements, each a nested structure of tensors, made anew on every pass.

    start: starts a pass; returns an iterator of elements.
    spec: the structure of specs of an element, or a function that finds it out when asked for.
    size: the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
    rows: the same dataset as a RowStream, where it is one.
    """

    def __init__(self, kind, start, spec, size=UNKNOWN_CARDINALITY, rows=None, options=None):
        self._kind = kind
        self._start = start
        self._spec = spec
        self._size = size
        self._rows = rows
        self._options = options
        self._inputs = ()
        self._make = None

    @classmethod
    def from_recipe(cls, kind, inputs, make, spec):
        """What `make(*values)` gives, once the values of the tensors `inputs` of a graph are known."""
        made = Dataset(kind, deferring.not_yet, spec)
        made._inputs = tuple(inputs)
        made._make = make
        return made

    def with_inputs(self, values):
        """This dataset, for the values (or other tensors) in place of what it is made of."""
        if not self._inputs:
            return self
        if any(isinstance(x, SymbolicTensor) for x in values):
            return Dataset.from_recipe(self._kind, values, self._make, self._spec)
        return self._make(*values)

    # Sources

    @staticmethod
    def from_tensors(tensors, name=None):
        """A dataset of one element, `tensors`."""
        return Dataset(*sources.from_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The slices of `tensors` along their first axis, whose sizes must agree (ValueError)."""
        return Dataset(*sources.from_tensor_slices(tensors))

    @staticmethod
    def from_generator(
        generator,
        output_types=None,
        output_shapes=None,
        args=None,
        output_signature=None,
        name=None,
    ):
        """The elements of `generator(*args)`, called anew for every pass.

        Raises InvalidArgumentError, when it is reached, for an element of another type or shape.
        """
        return Dataset(
            *sources.from_generator(generator, output_types, output_shapes, args, output_signature)
        )

    @staticmethod
    def range(*args, **kwargs):
        """int64 (or `output_type`) scalars: range(stop), range(start, stop[, step])."""
        return Dataset(*sources.range_of(args, **kwargs))

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """start, start + step, ... without end."""
        return Dataset(*sources.counter(start, step, dtype))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, until the shortest ends."""
        if datasets is None:
            datasets = args[0] if len(args) == 1 and not isinstance(args[0], Dataset) else args
        return Dataset(*combining.zipped(datasets))

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """The next element of datasets[i] for every int64 scalar i of `choice_dataset`."""
        return Dataset(*combining.chosen(datasets, choice_dataset, stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets,
        weights=None,
        seed=None,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=None,
    ):
        """Elements of datasets chosen at random, with the probabilities `weights`."""
        return Dataset(*combining.sampled(datasets, weights, seed, stop_on_empty_dataset))

    # One element at a time

    def map(
        self,
        map_func,
        num_parallel_calls=None,
        deterministic=None,
        synchronous=None,
        use_unbounded_threadpool=False,
        name=None,
    ):
        """map_func(*element) for a tuple, map_func(element) otherwise."""
        return Dataset(*mapping.mapped(self, map_func, num_parallel_calls, deterministic))

    def filter(self, predicate, name=None):
        """The elements for which `predicate` returns a true scalar bool."""
        return Dataset(*mapping.filtered(self, predicate))

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func returns, one dataset after another."""
        return Dataset(*mapping.flat_mapped(self, map_func))

    def interleave(
        self,
        map_func,
        cycle_length=None,
        block_length=None,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """Like flat_map, but takes block_length elements in turn from cycle_length datasets."""
        return Dataset(*mapping.interleaved(self, map_func, cycle_length, block_length))

    def scan(self, initial_state, scan_func, name=None):
        """The outputs of `state, output = scan_func(state, element)`."""
        return Dataset(*mapping.scanned(self, initial_state, scan_func))

    def enumerate(self, start=0, name=None):
        """(int64 number, element) pairs."""
        numbers = Dataset.counter(start)
        return Dataset.zip((numbers, self))

    def prefetch(self, buffer_size, name=None):
        """Makes up to buffer_size elements ahead, in a thread, where making them takes long."""
        return Dataset(*mapping.prefetched(self, buffer_size))

    # Which elements, in which order

    def take(self, count, name=None):
        """The first `count` elements; all when count is -1."""
        return Dataset(*selecting.taken(self, count))

    def skip(self, count, name=None):
        """All but the first `count` elements; none when count is -1."""
        return Dataset(*selecting.skipped(self, count))

    def take_while(self, predicate, name=None):
        """Elements until `predicate` is false for the first time."""
        return Dataset(*selecting.taken_while(self, predicate))

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from `index` on."""
        return Dataset(*selecting.sharded(self, num_shards, index))

    def repeat(self, count=None, name=None):
        """`count` passes over the dataset; without end for None or -1."""
        return Dataset(*selecting.repeated(self, count))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Elements drawn at random from a buffer that the next buffer_size elements fill."""
        return Dataset(*selecting.shuffled(self, buffer_size, seed, reshuffle_each_iteration))

    def cache(self, filename="", name=None):
        """Keeps the elements of the first whole pass, in memory, for later ones."""
        return Dataset(*selecting.cached(self, filename))

    def unique(self, name=None):
        """The elements without repetitions; they must be single tensors."""
        return Dataset(*selecting.unique(self))

    def concatenate(self, dataset, name=None):
        """The elements of this dataset, then those of `dataset`."""
        return Dataset(*combining.concatenated(self, dataset))

    # Several elements at once

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """batch_size elements stacked along a new first axis; shapes must be equal."""
        return Dataset(*batching.batched(self, batch_size, drop_remainder))

    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ):
        """batch_size elements padded to a common shape and stacked."""
        return Dataset(
            *batching.padded(self, batch_size, padded_shapes, padding_values, drop_remainder)
        )

    def unbatch(self, name=None):
        """The slices of every element along its first axis."""
        return Dataset(*batching.unbatched(self))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The same rows in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements, `stride` apart, every `shift` elements."""
        return Dataset(*batching.windows(self, size, shift, stride, drop_remainder))

    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
    ):
        """reduce_func(key, dataset) of up to window_size elements with the same key."""
        return Dataset(
            *batching.grouped(self, key_func, reduce_func, window_size, window_size_func)
        )

    def bucket_by_sequence_length(
        self,
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes=None,
        padding_values=None,
        pad_to_bucket_boundary=False,
        no_padding=False,
        drop_remainder=False,
        name=None,
    ):
        """Padded batches of elements of similar length."""
        return batching.bucketed(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )

    # Results

    def reduce(self, initial_state, reduce_func, name=None):
        """The last state of state = reduce_func(state, element)."""
        if not context.executing_eagerly():
            return deferring.reduce(self, initial_state, reduce_func)
        return mapping.reduced(self, initial_state, reduce_func)

    def get_single_element(self, name=None):
        """The only element; raises InvalidArgumentError when there are none or several."""
        if not context.executing_eagerly():
            return deferring.single_element(self, iterating.single_element)
        return iterating.single_element(self)

    def apply(self, transformation_func):
        """transformation_func(self), which must be a dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    def with_options(self, options, name=None):
        """The same dataset, remembering `options`."""
        start = self._start
        if False in (options.deterministic, options.experimental_deterministic):
            start = lambda: threads.unordered(self._start)  # noqa: E731
        return Dataset("Options", start, self._spec, self._size, self._rows, options)

    def options(self):
        """The options given by with_options, or default ones."""
        return self._options if self._options is not None else iterating.Options()

    # Iteration and type

    def __iter__(self):
        graph = context.current_graph()
        if graph is not None and not graph.building_function:
            raise RuntimeError(
                "`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function."
            )
        return iterating.Iterator(self)

    def make_one_shot_iterator(self):
        """An iterator with `get_next()`, as in TensorFlow 1.x."""
        return self._iterator(True)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator with `get_next()` and an `initializer` that starts it again."""
        return self._iterator(False, shared_name)

    def _iterator(self, started, shared_name=None):
        if context.executing_eagerly():
            return iterating.Iterator(self)
        from tapeflow.data.graph_iterating import GraphIterator

        return GraphIterator(self, started, None, shared_name)

    def as_numpy_iterator(self):
        """An iterator of elements with NumPy values in place of tensors."""
        return iterating.NumpyIterator(self)

    @property
    def element_spec(self):
        """The structure of TensorSpecs of an element."""
        if callable(self._spec):
            self._spec = self._spec()
        return self._spec

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

    def cardinality(self):
        """The number of elements as an int64 scalar; -1: infinite, -2: unknown."""
        if self._inputs:
            return deferring.cardinality(self)
        return convert_to_tensor(self._size, dtypes.int64)

    def __len__(self):
        if self._size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if self._size == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return self._size

    def __bool__(self):
        return True  # also when it has no elements, or an unknown number

    def __repr__(self):
        return f"<_{self._kind}Dataset element_spec={self.element_spec}>"
