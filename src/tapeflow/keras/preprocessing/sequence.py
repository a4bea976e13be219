"""`tf.keras.preprocessing.sequence`: lists of numbers as arrays, and windows of series."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.keras.utils.sequence import Sequence


def pad_sequences(
    sequences: Any, maxlen: int | None = None, dtype="int32", padding: str = "pre", truncating: str = "pre",
    value: float = 0.0,
):
    """Make one array of lists of numbers, padded or cut to one length.

    Args:
      sequences: a list of lists.
      maxlen: the length; None for that of the longest.
      dtype: the dtype of the array.
      padding: on which side short lists are filled up, "pre" or "post".
      truncating: on which side long lists are cut, "pre" or "post".
      value: what they are filled up with.

    Returns:
      An array `(lists, maxlen)`.

    Raises:
      ValueError: for what are not lists, or an unknown side.

    >>> print(tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3, 4]], maxlen=2))
    [[0 1]
     [3 4]]
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths, sample_shape = [], None
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(
                f"`sequences` must be a list of iterables. Found non-iterable: {each!s}"
            )
        lengths.append(len(each))
        if sample_shape is None and len(each):
            sample_shape = np.asarray(each).shape[1:]
    if maxlen is None:
        maxlen = max(lengths, default=0)
    text = np.issubdtype(np.dtype(dtype) if dtype is not object else object, np.str_)
    if isinstance(value, str) and dtype is not object and not text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
            "`dtype=object` for variable length strings."
        )
    found = np.full((len(lengths), maxlen, *(sample_shape or ())), value, dtype=dtype)
    for i, each in enumerate(sequences):
        if not len(each):
            continue
        if truncating == "pre":
            kept = each[-maxlen:] if maxlen else each[:0]
        elif truncating == "post":
            kept = each[:maxlen]
        else:
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(kept, dtype=dtype)
        if kept.shape[1:] != sample_shape:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from "
                f"expected shape {sample_shape}"
            )
        if padding == "post":
            found[i, : len(kept)] = kept
        elif padding == "pre":
            found[i, maxlen - len(kept) :] = kept
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return found


def make_sampling_table(size: int, sampling_factor: float = 1e-5):
    """Compute how likely the word of each rank is to be kept, by Zipf's law, as word2vec samples.

    Args:
      size: the number of words.
      sampling_factor: how frequent words may be.

    Returns:
      An array of probabilities, by rank.
    """
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    frequency = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    scaled = sampling_factor * frequency
    return np.minimum(1.0, scaled / np.sqrt(scaled))


def skipgrams(
    sequence, vocabulary_size: int, window_size: int = 4, negative_samples: float = 1.0, shuffle: bool = True,
    categorical: bool = False, sampling_table=None, seed: int | None = None,
):
    """Make pairs of words that are near each other, and of words and random ones.

    Args:
      sequence: the numbers of the words; 0 is no word.
      vocabulary_size: the numbers are below it.
      window_size: how far apart words near each other are at most.
      negative_samples: how many random pairs there are for each other one.
      shuffle: whether the pairs are shuffled.
      categorical: whether labels are `[0, 1]` and `[1, 0]` instead of 1 and 0.
      sampling_table: how likely each word is to be kept; None for all.
      seed: an integer for the shuffling; None for a random one.

    Returns:
      (pairs, labels): 1 for words near each other, 0 for a word and a random one.
    """
    pairs, labels = [], []
    for i, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                pairs.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        pairs += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        if seed is None:
            seed = random.randint(0, 10**6)
        random.seed(seed)
        random.shuffle(pairs)
        random.seed(seed)
        random.shuffle(labels)
    return pairs, labels


class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, each with the target after its end.

    Args:
      data: the series, an array or a list whose first axis is time.
      targets: what belongs to each time, of the same length.
      length: how many times a window spans.
      sampling_rate: the distance of the times in a window.
      stride: the distance of the windows.
      start_index: the first time that is used.
      end_index: the last time that is used; None for all.
      shuffle: whether windows are drawn at random.
      reverse: whether windows run backwards.
      batch_size: the number of windows in a batch.
      **kwargs: arguments of `keras.utils.Sequence`.

    Raises:
      ValueError: for lengths that differ, and where no window is left.

    >>> data = np.arange(6)
    >>> x, y = tf.keras.preprocessing.sequence.TimeseriesGenerator(data, data, length=2, batch_size=2)[0]
    >>> print(x, y)
    [[0 1]
     [1 2]] [2 3]
    """

    _keras_module = "keras._legacy.preprocessing.sequence"

    def __init__(
        self, data: np.ndarray, targets: np.ndarray, length: int, sampling_rate: int = 1, stride: int = 1,
        start_index: int = 0, end_index=None, shuffle: bool = False, reverse: bool = False, batch_size: int = 128,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while "
                f"target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, "
                "as no part of the sequence would be left to be used as current step."
            )

    def __len__(self):
        span = self.batch_size * self.stride
        return (self.end_index - self.start_index + span) // span

    def __getitem__(self, index: int):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            last = min(first + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(first, last, self.stride)
        samples = np.array(
            [self.data[row - self.length : row : self.sampling_rate] for row in rows]
        )
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self):
        """The constructor's arguments; the data as JSON. Raises TypeError where that is not possible."""
        data, targets = (v.tolist() if isinstance(v, np.ndarray) else v
                         for v in (self.data, self.targets))  # fmt: skip
        names = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle",
                 "reverse", "batch_size")  # fmt: skip
        try:
            kept = {"data": json.dumps(data), "targets": json.dumps(targets)}
        except TypeError as error:
            raise TypeError(f"Data not JSON Serializable: {data!r}") from error
        return {**kept, **{name: getattr(self, name) for name in names}}

    def to_json(self, **kwargs):
        """The config as JSON."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def _remove_long_seq(maxlen: int, seq, label: str):
    """The sequences shorter than maxlen, and their labels."""
    kept = [(s, y) for s, y in zip(seq, label) if len(s) < maxlen]
    return [s for s, _ in kept], [y for _, y in kept]

boundaries(globals())
