"""Helpers: what a decoder reads next, from the targets or from what it gave itself."""

from __future__ import annotations

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import cond
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal, greater_equal
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.random.functions import categorical, uniform

__all__ = [
    "CustomHelper", "GreedyEmbeddingHelper", "Helper", "InferenceHelper", "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper",
    "bernoulli_sample", "categorical_sample",
]  # fmt: skip


def categorical_sample(logits: TensorLike, dtype: DTypeLike = dtypes.int32, sample_shape=(), seed: int | None = None):
    """Class numbers, drawn with the probabilities of the logits."""
    if sample_shape:
        raise ValueError("sample_shape must be ()")
    return cast(categorical(logits, 1, seed=seed)[:, 0], dtype)


def bernoulli_sample(
    probs: TensorLike | None = None, logits: TensorLike | None = None, dtype: DTypeLike = dtypes.int32,
    sample_shape=(), seed: int | None = None,
):
    """Zeros and ones, drawn with these probabilities."""
    p = convert_to_tensor(probs) if probs is not None else sigmoid(convert_to_tensor(logits))
    wanted = shape(p) if not sample_shape else [*sample_shape, *p.shape.as_list()]
    return cast(uniform(wanted, seed=seed, dtype=p.dtype) < p, dtype)


class Helper:
    """Base: `initialize`, `sample` and `next_inputs`, for a decoder."""

    batch_size: object
    sample_ids_shape = TensorShape([])
    sample_ids_dtype = dtypes.int32

    def initialize(self, name: str | None = None):
        """(finished, the first inputs)."""
        raise NotImplementedError

    def sample(self, time, outputs, state, name: str | None = None):
        """What is sampled from the outputs."""
        raise NotImplementedError

    def next_inputs(self, time, outputs, state, sample_ids, name: str | None = None):
        """(finished, next inputs, state)."""
        raise NotImplementedError


class CustomHelper(Helper):
    """Three functions as a helper."""

    def __init__(
        self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None
    ):  # fmt: skip
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self.sample_ids_shape = TensorShape(sample_ids_shape or [])
        self.sample_ids_dtype = sample_ids_dtype or dtypes.int32
        self._batch_size = None

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    def initialize(self, name: str | None = None):
        finished, inputs = self._initialize_fn()
        if self._batch_size is None:
            self._batch_size = size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name: str | None = None):
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name: str | None = None):
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


def _time_first(x):
    return transpose(x, [1, 0, *range(2, x.shape.rank)])


def _by_time(x: Tensor):
    """The steps of a tensor whose first axis is time, as a TensorArray."""
    return TensorArray(x.dtype, size=shape(x)[0], element_shape=x.shape[1:]).unstack(x)


class TrainingHelper(Helper):
    """Reads the targets themselves, one after another."""

    def __init__(
        self, inputs: TensorLike, sequence_length: TensorLike, time_major: bool = False, name: str | None = None
    ):
        inputs = nest.map_structure(convert_to_tensor, inputs)
        self.inputs = inputs
        if not time_major:
            inputs = nest.map_structure(_time_first, inputs)
        self.sequence_length = convert_to_tensor(sequence_length)
        if self.sequence_length.shape.rank not in (1, None):
            raise ValueError(
                f"Expected sequence_length to be a vector, but received shape: {self.sequence_length.shape}"
            )
        self._arrays = nest.map_structure(_by_time, inputs)
        self._zero_inputs = nest.map_structure(lambda x: zeros_like(x[0]), inputs)
        self.batch_size = size(self.sequence_length)
        self.start_inputs = inputs

    def initialize(self, name: str | None = None):
        finished = equal(0, self.sequence_length)
        first = cond(
            reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda a: a.read(0), self._arrays),
        )
        return finished, first

    def sample(self, time, outputs, state, name: str | None = None):
        return cast(argmax(outputs, -1), dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids=None, name: str | None = None):
        next_time = time + 1
        finished = greater_equal(next_time, self.sequence_length)
        read = cond(
            reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda a: a.read(next_time), self._arrays),
        )
        return finished, read, state


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads the targets, or with some probability what was sampled (Bengio et al. 2015)."""

    def __init__(
        self, inputs: TensorLike, sequence_length: TensorLike, embedding: TensorLike, sampling_probability,
        time_major: bool = False, seed: int | None = None, scheduling_seed=None, name: str | None = None,
    ):  # fmt: skip
        self._embed = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._probability = convert_to_tensor(sampling_probability)
        if self._probability.shape.rank not in (0, 1):
            raise ValueError(
                "sampling_probability must be either a scalar or a vector. saw shape: "
                f"{self._probability.shape}"
            )
        self._seed, self._scheduling_seed = seed, scheduling_seed
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time, outputs, state, name: str | None = None):
        chosen = bernoulli_sample(
            probs=self._probability + zeros_like(outputs[:, 0]), dtype=dtypes.bool, seed=self._scheduling_seed
        )
        ids = categorical_sample(logits=outputs, seed=self._seed)
        return where(chosen, ids, zeros_like(ids) - 1)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished, targets, state = super().next_inputs(time, outputs, state, sample_ids, name)
        sampled = sample_ids > -1
        own = self._embed(where(sampled, sample_ids, zeros_like(sample_ids)))
        return finished, where(expand_dims(sampled, -1), own, targets), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads the targets, or with some probability the outputs themselves, through `next_inputs_fn` if there is one.

    `auxiliary_inputs` are appended to both.
    """

    def __init__(
        self, inputs: TensorLike, sequence_length: TensorLike, sampling_probability, time_major: bool = False,
        seed: int | None = None, next_inputs_fn=None, auxiliary_inputs=None, name: str | None = None,
    ):  # fmt: skip
        self._probability = convert_to_tensor(sampling_probability)
        if self._probability.shape.rank not in (0, 1):
            raise ValueError(
                f"sampling_probability must be either a scalar or a vector. saw shape: {self._probability.shape}"
            )
        self._seed, self._next_inputs_fn = seed, next_inputs_fn
        self._auxiliary = None
        if auxiliary_inputs is not None:
            auxiliary = convert_to_tensor(auxiliary_inputs)
            inputs = concat([convert_to_tensor(inputs), auxiliary], -1)
            self._auxiliary = _by_time(auxiliary if time_major else _time_first(auxiliary))
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time, outputs, state, name: str | None = None):
        return bernoulli_sample(probs=self._probability + zeros_like(outputs[:, 0]), seed=self._seed)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished, targets, state = super().next_inputs(time, outputs, state, sample_ids, name)

        def mixed():
            own = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
            if self._auxiliary is not None:
                own = concat([own, self._auxiliary.read(time + 1)], -1)
            return where(expand_dims(cast(sample_ids, dtypes.bool), -1), own, targets)

        return finished, cond(reduce_all(finished), lambda: targets, mixed), state


class GreedyEmbeddingHelper(Helper):
    """Reads the class of the highest output, as a vector."""

    def __init__(self, embedding: TensorLike, start_tokens, end_token):
        self._embed = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32)
        self._end_token = convert_to_tensor(end_token, dtypes.int32)
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self.batch_size = size(self._start_tokens)
        self._start_inputs = self._embed(self._start_tokens)

    def initialize(self, name: str | None = None):
        return tile([False], [self.batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name: str | None = None):
        return cast(argmax(outputs, -1), dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name: str | None = None):
        finished = equal(sample_ids, self._end_token)
        following = cond(
            reduce_all(finished), lambda: self._start_inputs, lambda: self._embed(sample_ids)
        )
        return finished, following, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads a class that is drawn with the probabilities of the outputs, as a vector."""

    def __init__(
        self, embedding: TensorLike, start_tokens, end_token, softmax_temperature=None, seed: int | None = None
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time, outputs, state, name: str | None = None):
        logits = outputs if self._temperature is None else outputs / self._temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Reads what a function samples from the outputs."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self.sample_ids_shape, self.sample_ids_dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = convert_to_tensor(start_inputs)
        self.batch_size = shape(self._start_inputs)[0]

    def initialize(self, name: str | None = None):
        return tile([False], [self.batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name: str | None = None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name: str | None = None):
        following = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), following, state


