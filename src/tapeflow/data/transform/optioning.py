"""`Dataset.with_options`: what a dataset is run with, and the message that holds it in nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.wire import bytes_field, fields, varint_field
from tapeflow.core.public import boundaries
from tapeflow.data.building import build
from tapeflow.data.iteration import passes
from tapeflow.data.options import Options
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record, same_spec
from tapeflow.ops.signature import string

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

# The numbers of these fields in TensorFlow's messages of options.
_DETERMINISTIC, _THREADING = 1, 5
_PRIVATE_THREADS = 2


class OptionsMethods:
    """Methods of Dataset."""

    def with_options(self, options: Options, name: str | None = None):
        """Add options to those of the dataset.

        Args:
          options: a `tf.data.Options`; what it sets counts, the rest stays.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return optioned(self, options)


@record("with_options", spec=same_spec)
def optioned(dataset: Dataset, options: Options):
    """The dataset with these options besides its own."""
    made = _merged(dataset, options)
    parts = parts_of(dataset)
    start = parts.start
    kept, threads = made.deterministic, made.threading.private_threadpool_size
    threads = threads if threads is not None and threads > 0 else None  # else no pool of its own
    if kept is not None or threads is not None:
        inner = start
        start = lambda: passes.under(inner, kept, threads)  # noqa: E731
    found = build(("Options", start, lambda: dataset.element_spec, parts.size, parts.rows), dataset)
    parts_of(found).options = made
    return found


def _merged(dataset, options: Options):
    known = parts_of(dataset).options
    return options.merge(options) if known is None else known.merge(options)


optioned.node(
    "OptionsDataset", "input_dataset: variant -> handle: variant",
    {"serialized_options": string, **ELEMENTS, "metadata": ""},
    reads=lambda attrs, given: {"dataset": given["dataset"], "options": _read_options(attrs["serialized_options"])},
    writes=lambda call: {**call, "serialized_options": written_options(_merged(call["dataset"], call["options"]))},
)  # fmt: skip


def private_threads(size):
    """The options of a dataset with a pool of so many threads."""
    found = Options()
    found.threading.private_threadpool_size = size
    return found


optioned.node(
    "PrivateThreadPoolDataset", "input_dataset: variant, num_threads: int64 -> handle: variant", ELEMENTS,
    reads=lambda attrs, given: {"dataset": given["dataset"], "options": private_threads(given["num_threads"])},
    written=False,
).also("ExperimentalPrivateThreadPoolDataset")  # fmt: skip


def written_options(options: Options):
    """What changes the elements and their threads, of options, as TensorFlow's message."""
    kept, threads = options.deterministic, options.threading.private_threadpool_size
    written = b"" if kept is None else varint_field(_DETERMINISTIC, int(kept))
    if threads is not None:
        written += bytes_field(_THREADING, varint_field(_PRIVATE_THREADS, threads))
    return written


def _read_options(text: bytes):
    """The options that a message holds."""
    found = Options()
    for number, _, value in fields(text.encode() if isinstance(text, str) else text):
        if number == _DETERMINISTIC:
            found.deterministic = bool(value)
        elif number == _THREADING and isinstance(value, bytes):
            threads = {inner: size for inner, _, size in fields(value)}
            size = threads.get(_PRIVATE_THREADS)
            if size is not None and not isinstance(size, int):
                raise InvalidArgumentError(None, None, "The size of a private thread pool is not an integer")
            found.threading.private_threadpool_size = size
    return found


boundaries(globals())
