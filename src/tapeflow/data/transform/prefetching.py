"""`Dataset.prefetch`: elements made ahead of their use."""

from __future__ import annotations

from tapeflow.core.public import boundaries
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.threads import read_ahead
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record, same_spec


class PrefetchingMethods:
    """Methods of Dataset."""

    def prefetch(self, buffer_size: int, name: str | None = None):
        """Make elements ahead, in a thread, where making them takes long.

        Args:
          buffer_size: how many; `tf.data.AUTOTUNE` for as many as are useful.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return prefetched(self, buffer_size)


@record("prefetch", spec=same_spec)
def prefetched(dataset, buffer_size: int):
    """Dataset arguments for elements made ahead of their use."""
    op = "PrefetchDataset"
    size = -1 if buffer_size is None else integer(buffer_size, op)
    message = f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, but got {size}"
    require(size >= -1, message, op)
    spec = lambda: dataset.element_spec  # noqa: E731
    if size == 0:
        return "Prefetch", parts_of(dataset).start, spec, parts_of(dataset).size
    ahead = 8 if size == -1 else size
    start = lambda: read_ahead(parts_of(dataset).start, ahead, parts_of(dataset).has_effects)  # noqa: E731
    return "Prefetch", start, spec, parts_of(dataset).size, parts_of(dataset).rows


prefetched.node(
    "PrefetchDataset", "input_dataset: variant, buffer_size: int64 -> handle: variant",
    {**ELEMENTS, "slack_period": 0, "legacy_autotune": True, "buffer_size_min": 0, "metadata": ""},
    absent={"buffer_size": -1},
)  # fmt: skip


boundaries(globals())
