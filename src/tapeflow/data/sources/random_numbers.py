"""Datasets of random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.iteration.passes import Pass
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.data.transform.shuffling import (
    PhiloxStream,
    SeedGenerator,
    graph_and_op_seed,
    node_seeds,
)


@record("random")
def random_numbers(seed, rerandomize_each_iteration=None):
    """Dataset arguments for endless int64 numbers from 0 to 2**32 - 1."""
    seeds = SeedGenerator(*graph_and_op_seed(seed), bool(rerandomize_each_iteration))
    return "Random", lambda: _Random(seeds), TensorSpec([], dtypes.int64), -1


random_numbers.node(
    "RandomDataset", "seed: int64, seed2: int64 -> handle: variant", {**ELEMENTS, "metadata": ""}, stateful=True,
    reads=node_seeds, written=False,
).also("ExperimentalRandomDataset")


random_numbers.node(
    "RandomDatasetV2", "seed: int64, seed2: int64, seed_generator: resource -> handle: variant",
    {"rerandomize_each_iteration": False, **ELEMENTS, "metadata": ""}, stateful=True, reads=node_seeds, written=False,
)  # fmt: skip


class _Random(Pass):
    __slots__ = ("_seeds", "_stream")

    def __init__(self, seeds: SeedGenerator):
        self._seeds = seeds
        self._stream = PhiloxStream(*seeds.next_seeds())

    def __next__(self):
        return convert_to_tensor(next(self._stream), dtypes.int64)

    def save(self):
        return [*self._stream.save(), self._seeds.position]

    def restore(self, state: Sequence[int]):
        *stream, drawn = state
        self._stream = PhiloxStream.saved(stream)
        self._seeds.seek(drawn)


boundaries(globals())
