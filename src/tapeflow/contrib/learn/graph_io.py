"""Batches of the records of files, from queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import IntLike, Tensor
from tapeflow.core.files import file_system

__all__ = [
    "queue_parsed_features", "read_batch_examples", "read_batch_features", "read_batch_record_features",
    "read_keyed_batch_examples", "read_keyed_batch_features",
]  # fmt: skip

_KEY = "__key__"


def read_batch_examples(
    file_pattern: str | Sequence[str], batch_size: IntLike, reader: Callable[[], Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1, read_batch_size: int = 1,
    parse_fn: Callable[..., Any] | None = None, name: str | None = None, seed: int | None = None,
) -> Any:  # fmt: skip
    """Read batches of records; see `read_keyed_batch_examples`.

    Returns:
      A string tensor `[batch]`, or what `parse_fn` makes of the records.
    """
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
        parse_fn, name, seed,
    )[1]  # fmt: skip


def read_keyed_batch_examples(
    file_pattern: str | Sequence[str], batch_size: IntLike, reader: Callable[[], Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1, read_batch_size: int = 1,
    parse_fn: Callable[..., Any] | None = None, name: str | None = None, seed: int | None = None,
) -> tuple[Tensor, Any]:  # fmt: skip
    """Read batches of records with their keys; queue runners and, with epochs, local variables have to be started.

    Args:
      file_pattern: a pattern of files, or a list of patterns.
      batch_size: how many records a batch has; less than `queue_capacity`.
      reader: makes a reader, such as `tf.TFRecordReader`.
      randomize_input: whether files and records are shuffled.
      num_epochs: how often each record is read, the last batch being smaller; None: without end.
      queue_capacity: how many records wait at most.
      num_threads: how many readers there are.
      read_batch_size: how many records a reader reads at once.
      parse_fn: a function of the records that are read at once, which returns tensors or a dict of them; None: the
        records are not parsed.
      name: a name for the operations (optional).
      seed: an integer that makes the order repeatable (optional).

    Returns:
      (keys, records or what `parse_fn` makes of them).

    Raises:
      ValueError: for no files, and numbers that are not positive.
    """
    files = _files(file_pattern, randomize_input)
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (isinstance(batch_size, int) and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    for label, value in (("read_batch_size", read_batch_size), ("num_threads", num_threads)):
        if not value or value <= 0:
            raise ValueError(f"Invalid {label} {value}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")
    with v1.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        names = v1.train.string_input_producer(
            v1.constant(files), num_epochs, randomize_input, seed, name="file_name_queue"
        )
        with v1.name_scope("read"):
            read = [_read(names, reader, read_batch_size, parse_fn) for _ in range(num_threads)]
        words = {
            "capacity": queue_capacity, "enqueue_many": read_batch_size > 1, "name": scope,
            "allow_smaller_final_batch": num_epochs is not None,
        }  # fmt: skip
        if randomize_input:
            least = max(queue_capacity - 3 * batch_size, batch_size) if isinstance(batch_size, int) else 0
            words.update(min_after_dequeue=least or int(queue_capacity * 0.4), seed=seed)
            found = v1.train.shuffle_batch_join(read, batch_size, **words)
        else:
            found = v1.train.batch_join(read, batch_size, **words)
    if isinstance(found, dict):
        return found.pop(_KEY), found
    keys, examples = found
    return keys, examples


def _files(patterns: str | Sequence[str], any_order: bool) -> list[str]:
    if isinstance(patterns, (list, tuple)) and not patterns:
        raise ValueError("No files given to dequeue_examples.")
    found = [
        name for each in ([patterns] if isinstance(patterns, str) else patterns) for name in file_system.glob(each)
    ]
    if not found:
        raise ValueError(f"No files match {patterns}.")
    return found if any_order else sorted(found)


def _read(names: Any, reader: Callable[[], Any], count: int, parse_fn: Callable[..., Any] | None) -> Any:
    keys, records = reader().read_up_to(names, count) if count > 1 else reader().read(names)
    parsed = records if parse_fn is None else parse_fn(records)
    return {**parsed, _KEY: keys} if isinstance(parsed, dict) else (keys, parsed)


def queue_parsed_features(
    parsed_features: Mapping[str, Any], keys: Tensor | None = None, feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2, name: str | None = None,
) -> tuple[Tensor | None, dict[str, Any]]:  # fmt: skip
    """Let parsed batches wait in a queue.

    Args:
      parsed_features: tensors and SparseTensors by name.
      keys: a tensor of keys, or None.
      feature_queue_capacity: how many batches wait at most.
      num_enqueue_threads: how many threads fill the queue.
      name: a name for the operations (optional).

    Returns:
      (keys, features) of the next batch.
    """
    with v1.name_scope(name, "queue_parsed_features"):
        named = sorted(parsed_features.items())
        given = [parsed_features[key] for key, _ in named] + ([] if keys is None else [keys])
        flat = [
            part
            for each in given
            for part in (
                (each.indices, each.values, each.dense_shape) if isinstance(each, v1.SparseTensor) else (each,)
            )
        ]
        queue = v1.FIFOQueue(feature_queue_capacity, [part.dtype for part in flat])
        v1.train.add_queue_runner(
            v1.train.QueueRunner(
                queue, [queue.enqueue(flat) for _ in range(num_enqueue_threads)],
                queue_closed_exception_types=(v1.errors.OutOfRangeError, v1.errors.CancelledError),
            )
        )  # fmt: skip
        found = queue.dequeue()
        parts = list(found) if isinstance(found, (list, tuple)) else [found]
        for part, like in zip(parts, flat, strict=True):
            part.set_shape(like.shape)
        taken = iter(parts)
        features = {
            key: v1.SparseTensor(next(taken), next(taken), next(taken))
            if isinstance(value, v1.SparseTensor)
            else next(taken)
            for key, value in named
        }
        return next(taken, None), features


def read_keyed_batch_features(
    file_pattern: str | Sequence[str], batch_size: int, features: Mapping[str, Any], reader: Callable[[], Any],
    randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
    reader_num_threads: int = 1, feature_queue_capacity: int = 100, num_enqueue_threads: int = 2,
    parse_fn: Callable[..., Any] | None = None, name: str | None = None, read_batch_size: int | None = None,
) -> tuple[Tensor | None, dict[str, Any]]:  # fmt: skip
    """Read batches of serialized `tf.train.Example`s, and parse them.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, parse_fn, name,
        read_batch_size: see `read_keyed_batch_examples`.
      features: what to parse; see `tf.io.parse_example`.
      reader_num_threads: how many readers there are.
      feature_queue_capacity, num_enqueue_threads: of the queue of parsed batches.

    Returns:
      (keys, a dict of features).
    """
    with v1.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
            read_batch_size or batch_size, parse_fn, scope,
        )  # fmt: skip
        parsed = v1.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, scope)


def read_batch_features(
    file_pattern: str | Sequence[str], batch_size: int, features: Mapping[str, Any], reader: Callable[[], Any],
    randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
    feature_queue_capacity: int = 100, reader_num_threads: int = 1, num_enqueue_threads: int = 2,
    parse_fn: Callable[..., Any] | None = None, name: str | None = None, read_batch_size: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """`read_keyed_batch_features` without the keys."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
        feature_queue_capacity, num_enqueue_threads, parse_fn, name, read_batch_size,
    )[1]  # fmt: skip


def read_batch_record_features(
    file_pattern: str | Sequence[str], batch_size: int, features: Mapping[str, Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> dict[str, Any]:  # fmt: skip
    """`read_batch_features` of files of TFRecords."""
    return read_batch_features(
        file_pattern, batch_size, features, v1.TFRecordReader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip
