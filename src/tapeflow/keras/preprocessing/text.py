"""`tf.keras.preprocessing.text`: words as numbers."""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=FILTERS, lower: bool = True, split: str = " "):
    """Split a text into words.

    Args:
      input_text: the text, a string.
      filters: characters that count as spaces.
      lower: whether the text is lowered first.
      split: what separates words.

    Returns:
      A list of strings.

    >>> tf.keras.preprocessing.text.text_to_word_sequence("Hello, world!")
    ['hello', 'world']
    """
    text = input_text.lower() if lower else input_text
    text = text.translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


def one_hot(input_text, n: int, filters: TensorLike = FILTERS, lower: bool = True, split: str = " ", analyzer=None):
    """Map the words of a text to numbers in [1, n), by `hash`, which differs from one run to the next.

    Args:
      input_text: the text, a string.
      n: the bound of the numbers.
      filters: characters that count as spaces.
      lower: whether the text is lowered first.
      split: what separates words.
      analyzer: a function that gives the words of a text, instead of the settings above.

    Returns:
      A list of integers.
    """
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(
    text: str, n, hash_function=None, filters: TensorLike = FILTERS, lower: bool = True, split: str = " ",
    analyzer=None,
):
    """Map the words of a text to numbers in [1, n), by a function of words.

    Args:
      text: the text, a string.
      n: the bound of the numbers.
      hash_function: a function of a word that gives an integer, "md5", or None for `hash`, which differs from one run
        to the next.
      filters: characters that count as spaces.
      lower: whether the text is lowered first.
      split: what separates words.
      analyzer: a function that gives the words of a text, instead of the settings above.

    Returns:
      A list of integers.
    """
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":

        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)

    words = (
        text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    )
    return [hash_function(word) % (n - 1) + 1 for word in words]


class Tokenizer:
    """Numbers words by how often they occur in the texts it is fitted on, from 1.

    Args:
      num_words: only words of numbers below it are used; None for all.
      filters: characters that count as spaces.
      lower: whether texts are lowered.
      split: what separates words.
      char_level: whether every character is a word.
      oov_token: a word that stands for words that are not known; None to leave them out.
      analyzer: a function that gives the words of a text.
      **kwargs: `document_count`, how many texts were seen.

    Raises:
      TypeError: for other arguments.

    >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat", "the dog"])
    >>> tokenizer.texts_to_sequences(["the dog sleeps"])
    [[1, 3]]
    """

    _keras_module = "keras._legacy.preprocessing.text"

    def __init__(
        self,
        num_words=None,
        filters=FILTERS,
        lower=True,
        split=" ",
        char_level=False,
        oov_token=None,
        analyzer=None,
        **kwargs,
    ):
        kwargs.pop("nb_words", None)
        document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts = collections.OrderedDict()
        self.word_docs = collections.defaultdict(int)
        self.index_docs = collections.defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.document_count = document_count

    def _words(self, text: str):
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [w.lower() for w in text] if isinstance(text, list) else text.lower()
            return text
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Sequence[str]):
        """Takes the words of texts (or lists of words) into account."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        order = sorted(self.word_counts.items(), key=lambda pair: pair[1], reverse=True)
        words = [word for word, _ in order]
        if self.oov_token is not None:
            words.insert(0, self.oov_token)
        self.word_index = {word: i + 1 for i, word in enumerate(words)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Takes lists of numbers into account, for `sequences_to_matrix`."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts: Sequence[str]):
        """Texts as lists of numbers."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """Texts as lists of numbers, one by one."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = []
            for word in self._words(text):
                i = self.word_index.get(word)
                if i is None or (self.num_words and i >= self.num_words):
                    i = unknown
                if i is not None:
                    numbers.append(i)
            yield numbers

    def sequences_to_texts(self, sequences: Sequence[Any]):
        """Lists of numbers as texts."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Sequence[Any]):
        """Lists of numbers as texts, one by one."""
        unknown = self.oov_token if self.oov_token in self.word_index else None
        for sequence in sequences:
            words = []
            for i in sequence:
                word = self.index_word.get(i)
                if word is None or (self.num_words and i >= self.num_words):
                    word = unknown
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts: Sequence[str], mode: str = "binary"):
        """Make texts rows of a matrix with a column for every word.

        Args:
          texts: a list of texts.
          mode: "binary", "count", "freq" or "tfidf".

        Returns:
          An array `(texts, words)`.
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Any], mode: str = "binary"):
        """Make lists of numbers rows of a matrix.

        Args:
          sequences: lists of numbers.
          mode: "binary" for 1 where a number occurs, "count" for how often, "freq" for its part, "tfidf" for how
            often by how rare it is.

        Returns:
          An array with a column for every number.

        Raises:
          ValueError: where the number of columns is not known, or the mode is not.
        """
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        columns = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError(f"Unknown vectorization mode: {mode}")
        matrix = np.zeros((len(sequences), columns))
        for row, sequence in zip(matrix, sequences):
            for i, count in collections.Counter(j for j in sequence if j < columns).items():
                if mode == "count":
                    row[i] = count
                elif mode == "freq":
                    row[i] = count / len(sequence)
                elif mode == "binary":
                    row[i] = 1
                else:
                    rare = np.log(1 + self.document_count / (1 + self.index_docs.get(i, 0)))
                    row[i] = (1 + np.log(count)) * rare
        return matrix

    def get_config(self):
        """The settings, and what is known of words as JSON."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs):
        """The config as JSON."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def tokenizer_from_json(json_string: str):
    """The Tokenizer that `to_json` described."""
    config = json.loads(json_string)["config"]
    known = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    made = Tokenizer(**config)
    made.word_counts = collections.OrderedDict(known["word_counts"])
    made.word_docs = collections.defaultdict(int, known["word_docs"])
    made.index_docs = collections.defaultdict(
        int, {int(k): v for k, v in known["index_docs"].items()}
    )
    made.word_index = known["word_index"]
    made.index_word = {int(k): v for k, v in known["index_word"].items()}
    return made


boundaries(globals())
