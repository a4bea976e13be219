"""`tf.contrib.learn.preprocessing`: documents as arrays of the numbers of their words."""

from __future__ import annotations

import collections
import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core.files import file_system

__all__ = ["ByteProcessor", "CategoricalProcessor", "CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]

# Runs of capitals, the parts of CamelCase, and words with their hyphens and apostrophes.
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|['\w\-]+")


def tokenizer(iterator):
    """The words of each document, a list for each."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers for words, from 1 on; 0 stands for all unknown ones."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._mapping = {unknown_token: 0}
        self._reverse_mapping = [unknown_token]
        self._freq: dict[Any, int] = collections.defaultdict(int)
        self._freeze = False

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze: bool = True):
        """From now on words that are not known get the number 0."""
        self._freeze = freeze

    def get(self, category: str):
        """The number of a word; one that is new gets the next, unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1):
        """Counts a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1):
        """Keeps words seen more than `min_frequency` times (and less than `max_frequency`), numbered by frequency."""
        by_name = sorted(self._freq.items(), key=lambda entry: (isinstance(entry[0], str), entry[0]))
        kept = sorted(by_name, key=lambda entry: -entry[1])
        kept = [
            (word, count)
            for word, count in kept
            if count > min_frequency and (max_frequency <= 0 or count < max_frequency)
        ]
        words = [self._unknown_token, *(word for word, _ in kept)]
        self._mapping = {word: i for i, word in enumerate(words)}
        self._reverse_mapping = words if self._support_reverse else [self._unknown_token]
        self._freq = collections.defaultdict(int, kept)

    def reverse(self, class_id: int):
        """The word of a number. Raises ValueError where these are not kept."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Documents as int64 arrays of `max_document_length` numbers of words, cut or filled with zeros.

    `tokenizer_fn` gives the lists of words of an iterator of documents; `min_frequency` is how often a word may be
    seen and still count as unknown.
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Sequence[str], unused_y=None):
        """Learns the words of the documents, and no others from then on."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Sequence[str], unused_y=None):
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """The array of each document, one after another."""
        for words in self._tokenizer(raw_documents):
            numbers = np.zeros(self.max_document_length, np.int64)
            for i, word in enumerate(words[: self.max_document_length]):
                numbers[i] = self.vocabulary_.get(word)
            yield numbers

    def reverse(self, documents: Sequence[Any]):
        """The words of each array, joined by spaces."""
        for numbers in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in numbers)

    def save(self, filename):
        """Writes all this to a file, as a pickle."""
        with file_system.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """Reads what `save` wrote. As with all pickles, read only files that you trust."""
        with file_system.GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Documents as uint8 arrays of the first bytes of their UTF-8, filled with zeros.

    Args:
      max_document_length: the size of the arrays.
    """

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[str | bytes]) -> None:
        """Do nothing: there is nothing to learn."""

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """`transform`."""
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """Yield the array of each document."""
        for document in x:
            data = document.encode() if isinstance(document, str) else bytes(document)
            kept = np.frombuffer(data[: self.max_document_length], np.uint8)
            yield np.pad(kept, (0, self.max_document_length - len(kept)))

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """Yield the document of each array; "" where the bytes are not UTF-8."""
        for numbers in x:
            data = np.trim_zeros(np.asarray(numbers).astype(np.uint8), "b").tobytes()
            try:
                yield data.decode()
            except UnicodeDecodeError:
                yield ""


class CategoricalProcessor:
    """Rows of categories as int64 arrays of their numbers; 0 for unknown ones and NaN.

    Args:
      min_frequency: how often a category may be seen and still count as unknown.
      share: whether all columns share a vocabulary.
      vocabularies: a CategoricalVocabulary for each column; None: those that `fit` makes.
    """

    def __init__(
        self, min_frequency: int = 0, share: bool = False,
        vocabularies: Sequence[CategoricalVocabulary] | None = None,
    ):  # fmt: skip
        self.min_frequency, self.share, self.vocabularies_ = min_frequency, share, vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """From now on categories that are not known get the number 0."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> CategoricalProcessor:
        """Learn the categories of rows, and no others from then on."""
        for row in x:
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=True):
                if value == value:  # not NaN
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Sequence[Any], unused_y: Any = None) -> Iterator[np.ndarray]:
        """`fit`, then `transform`."""
        return self.fit(x).transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yield the array of each row."""
        self.freeze()
        for row in x:
            pairs = zip(self.vocabularies_ or (), row, strict=True)
            yield np.array([each.get(value) if value == value else 0 for each, value in pairs], np.int64)
