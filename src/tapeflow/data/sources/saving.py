"""Datasets on disk: `save`, `load` and `snapshot`.

A directory holds `dataset_spec.pb` (what elements are like), `snapshot.metadata` (the run that counts, and how many
elements it wrote), and of each run a directory of shards, which are TFRecord files of elements. The metadata are
written last, under another name first, so that a crash leaves what was there before.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import context
from tapeflow.core.annotations import Tensor
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.files.paths import local_path, plain_text
from tapeflow.core.files.tf_record import TFRecordWriter, records
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import boundaries, boundary
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import spec_coding
from tapeflow.data.building import build
from tapeflow.data.dataset_class import dataset_class, with_inputs
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration import state_coding
from tapeflow.data.iteration.passes import Counted, Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.asserting import asserted
from tapeflow.data.transform.tracing import Traced, of_elements
from tapeflow.data.transform.windows import in_memory
from tapeflow.graph.nodes import python_ops

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.data.transform.mapped_pass import Mapped

_SPEC = "dataset_spec.pb"
_METADATA = "snapshot.metadata"


class SavingMethods:
    """Methods of Dataset."""

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Keep the elements of the first whole pass in a directory, for this and later programs.

        Args:
          path: the directory.
          compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
          reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after
            another.
          shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return snapshot(self, path, compression, reader_func, shard_func)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Write the elements to a directory, for `Dataset.load`.

        Args:
          path: the directory.
          compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
          shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.
          checkpoint_args: arguments of a `tf.train.CheckpointManager` that keeps how far it got: a dict; None for
            none.

        Returns:
          In a graph the operation that writes; otherwise None.
        """
        return save(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    @boundary
    def load(
        path: str, element_spec=None, compression: str | None = None, reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ):
        """Read the dataset that `save` wrote.

        Args:
          path: the directory.
          element_spec: the structure of an element; None for what was saved with it.
          compression: that of `save`.
          reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after
            another.
          wait: whether to wait for a dataset that is still being written.

        Returns:
          A dataset.

        Raises:
          NotFoundError: where there is none.
          DataLossError: with its elements, for damaged files.
        """
        return load(path, element_spec, compression, reader_func, wait)


def _text(value: str):
    if hasattr(value, "numpy"):
        value = value.numpy()
    return plain_text(value)


def _kind(compression: str | None):
    """The compression of the files: SNAPPY, TensorFlow's default, is not there, and stands for none."""
    found = "" if compression is None else _text(compression)
    if found in ("AUTO", "NONE", "SNAPPY", ""):
        return ""
    if found != "GZIP":
        raise InvalidArgumentError(None, None, f"Unsupported compression: {found!r}; use 'GZIP', 'AUTO' or None.")
    return found


class _Run:
    """One writing of a dataset to a directory. Until `finish` it counts for nothing."""

    def __init__(self, path, spec, compression, shard_func):
        self._path = path
        self._spec = spec
        self._compression = compression
        self._name = str(uuid.uuid4().int >> 64)
        self._shard = None if shard_func is None else of_elements(shard_func)
        self._writers = {}
        self._count = 0
        os.makedirs(os.path.join(path, self._name), exist_ok=True)

    def write(self, value: Tensor | dict[str, Any]):
        number = 0 if self._shard is None else int(self._shard(value))
        writer = self._writers.get(number)
        if writer is None:
            folder = os.path.join(self._path, self._name, f"{number:08d}.shard")
            os.makedirs(folder, exist_ok=True)
            name = os.path.join(folder, "00000000.snapshot")
            writer = self._writers[number] = TFRecordWriter(name, self._compression)
        # The number of the element lets a reader have them in order.
        writer.write(state_coding.encode([self._count, value]))
        self._count += 1

    def finish(self):
        for writer in self._writers.values():
            writer.close()
        spec = state_coding.encode(spec_coding.plain(self._spec))
        replace_file(os.path.join(self._path, _SPEC), spec)
        found = {
            "run": self._name,
            "count": self._count,
            "shards": sorted(self._writers),
            "compression": self._compression,
            "made": time.time(),
        }
        replace_file(os.path.join(self._path, _METADATA), state_coding.encode(found))

    def drop(self):
        for writer in self._writers.values():
            with contextlib.suppress(OSError):  # a full disk, which was reported already
                writer.close()
        shutil.rmtree(os.path.join(self._path, self._name), ignore_errors=True)


def _metadata(path: str):
    try:
        with open(os.path.join(path, _METADATA), "rb") as file:
            found = state_coding.decode(file.read())
    except FileNotFoundError:
        return None
    if not isinstance(found, dict) or not {"run", "count", "shards", "compression"} <= set(found):
        raise DataLossError(None, None, f"{path}: damaged {_METADATA}")
    return found


def traced_shards(dataset: Dataset, shard_func: Callable[..., Any] | None):
    """The traced function from elements to numbers of shards. Raises TypeError for another result."""
    if shard_func is None:
        return None
    spec = dataset.element_spec
    spread = type(spec) is tuple
    traced = Traced(shard_func, list(spec) if spread else [spec], "save", spread)
    if not isinstance(traced.spec, TensorSpec) or not traced.spec.dtype.is_integer:
        raise TypeError(f"`shard_func` must return an integer scalar, but returned {traced.spec}.")
    return traced


def save(
    dataset: Dataset, path: str, compression: str | None, shard_func: Callable[..., Any] | None, checkpoint_args
):
    """Writes all elements of a dataset."""
    path, kind = local_path(_text(path)), _kind(compression)
    shards = traced_shards(dataset, shard_func)

    def write(*values):
        made = with_inputs(dataset, values)
        run = _Run(path, made.element_spec, kind, shards)
        try:
            for value in parts_of(made).start():
                run.write(value)
            run.finish()
        except BaseException:
            run.drop()
            raise
        return []

    if not context.executing_eagerly():
        return python_ops.node("PyFunc", write, list(parts_of(dataset).captured), (), "SaveDataset")
    if checkpoint_args is None:
        write()
    else:
        _write_with_checkpoints(dataset, _Run(path, dataset.element_spec, kind, shards), dict(checkpoint_args))
    return None


def _write_with_checkpoints(dataset: Dataset, run: _Run, arguments: dict[str, Any]):
    """Writes all elements, and has a `tf.train.CheckpointManager` keep how far it got."""
    from tapeflow.checkpoint.manager import CheckpointManager
    from tapeflow.checkpoint.objects import Checkpoint

    if "checkpoint" in arguments:
        raise ValueError("Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'.")
    elements = iter(dataset)
    manager = CheckpointManager(Checkpoint(iterator=elements), **arguments)
    counter = arguments.get("step_counter")
    try:
        for value in elements:
            run.write(value)
            if counter is not None:
                counter.assign_add(1)
            manager.save(check_interval=True)
        run.finish()
    except BaseException:
        run.drop()
        raise


def load(path: str, element_spec, compression: str | None, reader_func: Callable[..., Any] | None, wait: bool):
    """The dataset that `save` wrote. Its files say how they are compressed; another `compression` is an error."""
    path, kind = local_path(_text(path)), None if compression in (None, "AUTO") else _kind(compression)
    while wait and not os.path.exists(os.path.join(path, _METADATA)):
        time.sleep(0.2)
    if element_spec is None:
        name = os.path.join(path, _SPEC)
        try:
            with open(name, "rb") as file:
                element_spec = spec_coding.from_plain(state_coding.decode(file.read()))
        except FileNotFoundError:
            raise NotFoundError(
                None, None, f"tf.data snapshot element_spec file not found: {name}."
            ) from None
    found = _metadata(path)
    if found is None:
        raise NotFoundError(None, None, f"Could not find metadata file: {path}/{_METADATA}")
    if kind not in (None, found["compression"]):
        raise DataLossError(
            None, None, f"{path} was saved with compression {found['compression'] or None!r}, not {kind or None!r}."
        )
    return _reading(path, found, element_spec, reader_func, "Load")


def _shard(path: str, found: dict[str, Any], number: int):
    """(number, element) pairs of one shard."""
    name = os.path.join(path, found["run"], f"{number:08d}.shard", "00000000.snapshot")
    for record in records(name, found["compression"]):
        pair = state_coding.decode(record)
        if not isinstance(pair, list) or len(pair) != 2:
            raise DataLossError(None, None, f"{name}: a record that is no element")
        yield pair


def _in_order(path, found):
    """The elements in the order in which they were written."""
    sources = [_shard(path, found, number) for number in found["shards"]]
    heads = [next(source, None) for source in sources]
    read = 0
    while any(head is not None for head in heads):
        slot = min((i for i, head in enumerate(heads) if head is not None), key=lambda i: heads[i][0])
        yield heads[slot][1]
        read += 1
        heads[slot] = next(sources[slot], None)
    if read != found["count"]:
        raise DataLossError(None, None, f"{path} holds {read} elements of {found['count']}.")


def _interleaved(shards: Any):
    """The elements of as many shards in turn as there are processors."""
    return shards.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1)


def _reading(
    path: str, found: dict[str, Any], spec: dict[str, Any] | TensorSpec, reader_func: Callable[..., Any] | None,
    kind: str,
):
    count = found["count"]
    if reader_func is None and len(found["shards"]) > 1:
        return asserted(_reading(path, found, spec, _interleaved, kind), count)
    if reader_func is None:
        return build((kind, lambda: Counted(lambda: _in_order(path, found)), spec, count))
    shards = []
    for number in found["shards"]:
        shards.append(
            build(
                (
                    "Shard",
                    lambda number=number: Counted(lambda: (value for _, value in _shard(path, found, number))),
                    spec,
                )
            )
        )
    made = reader_func(in_memory(shards, DatasetSpec(spec)))
    if not isinstance(made, dataset_class()):
        raise TypeError(f"`reader_func` must return a `Dataset` object, but returned {type(made)}.")
    return made


def snapshot(
    dataset: Dataset, path: str, compression: str, reader_func: Callable[..., Any] | None,
    shard_func: Callable[..., Any] | None,
):
    """A dataset that is written to disk by its first whole pass, and read from there afterwards."""
    path, kind = local_path(_text(path)), _kind(compression)
    spec = dataset.element_spec
    shards = traced_shards(dataset, shard_func)
    # Datasets of other elements may share the directory, as TensorFlow lets them.
    key = hashlib.sha256(repr(spec_coding.plain(spec)).encode()).hexdigest()[:16]
    folder = os.path.join(path, str(int(key, 16)))

    def start():
        found = _metadata(folder)
        if found is not None:
            return parts_of(_reading(folder, found, spec, reader_func, "Snapshot")).start()
        return _Snapshot(parts_of(dataset).start(), lambda: _Run(folder, spec, kind, shards))

    return build(("Snapshot", start, spec, parts_of(dataset).size), dataset)


class _Snapshot(Over):
    """Elements, as they are also written."""

    __slots__ = ("_begin", "_done", "_run")

    def __init__(self, values: Mapped, begin: Callable[..., Any]):
        super().__init__(values)
        self._begin = begin
        self._run = None
        self._done = False

    def __next__(self):
        try:
            value = next(self._input)
        except StopIteration:
            if not self._done:
                self._done = True
                run = self._run or self._begin()
                run.finish()
            raise
        if not self._done:
            if self._run is None:
                self._run = self._begin()
            self._run.write(value)
        return value

    def save(self):
        return self._input.save()

    def restore(self, state):
        # What follows alone is not the whole dataset: nothing is written.
        self._done = True
        self._input.restore(state)

    def close(self):
        if self._run is not None and not self._done:
            self._run.drop()
            self._run = None
            self._done = True
        super().close()


boundaries(globals())
