"""`slim.parallel_reader`: several readers of files that fill one queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow.core import dtypes as _dtypes
from tapeflow.core.context import name_scope
from tapeflow.core.files.file_system import glob
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.casting import cast
from tapeflow.ops.queue import queues as queues
from tapeflow.train.queue_runner import QueueRunner, add_queue_runner
from tapeflow.train.queues.producers import add_summary, string_input_producer

if TYPE_CHECKING:
    from tapeflow.ops.queue.queues import FIFOQueue, RandomShuffleQueue

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]


class ParallelReader:
    """Several readers of one class, each in a thread of its own, whose records go through a queue.

    Args:
      reader_class: the class of the readers, such as `tf.TFRecordReader`.
      common_queue: a queue of two strings, the keys and the records.
      num_readers: the number of readers.
      reader_kwargs: the arguments of the readers.
    Raises:
      TypeError: for a queue of other dtypes.
    """

    def __init__(
        self, reader_class: type, common_queue: FIFOQueue | RandomShuffleQueue, num_readers: int = 4,
        reader_kwargs=None,
    ):
        if list(common_queue.dtypes) != [_dtypes.string] * 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self):
        """The number of readers."""
        return len(self._readers)

    @property
    def common_queue(self):
        """The queue of the records."""
        return self._common_queue

    def read(self, queue: FIFOQueue, name: str | None = None):
        """(key, record) of one of the files whose names are in a queue."""
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name: str | None = None):
        """`read` of that many records, or of those that are left."""
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill_from(self, queue: FIFOQueue):
        filling = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, filling))

    def num_records_produced(self, name: str | None = None):
        """How many records all readers have read."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None):
        """How many files all readers have read."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True, dtypes=None,
    capacity=256, min_after_dequeue=128, seed=None, scope=None,
):  # fmt: skip
    """(key, record), another one from run to run, of files.

    Args:
      data_sources: a path, a pattern of paths, or a list of these.
      reader_class: the class of the readers.
      num_epochs: how often each file is read; None: without end.
      num_readers: the number of readers.
      reader_kwargs: the arguments of the readers.
      shuffle: whether files and records are mixed.
      dtypes: those of keys and records.
      capacity: how many records the queue holds.
      min_after_dequeue: how many records stay behind to be mixed.
      seed: the seed of mixing.
      scope: the name of the scope of operations.
    Raises:
      ValueError: for patterns that no file fits.
    """
    files = get_data_files(data_sources)
    with name_scope(scope or "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [_dtypes.string, _dtypes.string]
        if shuffle:
            common = queues.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, seed=seed, name="common_queue")
        else:
            common = queues.FIFOQueue(capacity, dtypes, name="common_queue")
        add_summary(f"fraction_of_{capacity}_full", cast(common.size(), _dtypes.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, common, num_readers, reader_kwargs).read(names)


def single_pass_read(data_sources: str, reader_class: type, reader_kwargs=None, scope=None):
    """(key, record) of files, in their order, once; see `parallel_read`."""
    files = get_data_files(data_sources)
    with name_scope(scope or "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Sequence[str] | str):
    """The paths that a path, a pattern, or a list of these stand for. Raises ValueError for none."""
    if isinstance(data_sources, (list, tuple)):
        files = [path for source in data_sources for path in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
