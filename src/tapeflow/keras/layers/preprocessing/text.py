"""Text to numbers."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.preprocessing.base import AdaptiveLayer, as_tensor, batches_of
from tapeflow.keras.layers.preprocessing.lookup import StringLookup
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.string.code_points import unicode_split
from tapeflow.ops.string.ngrams import ngrams as ngrams_of
from tapeflow.ops.string.regex import regex_replace
from tapeflow.ops.string.rows import lower
from tapeflow.ops.string.split import split as split_words

_PUNCTUATION = r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']'
_STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLIT = ("whitespace", "character")


class TextVectorization(AdaptiveLayer):
    """Maps strings to the numbers of their words, or to vectors that say which words are there.

    The words are given, or learned by `adapt`, the most frequent first. For "int" the number 0 is padding and 1 is
    for unknown words.

    Input shape: strings `(batch,)` or `(batch, 1)`.
    Output shape: `(batch, words)` for "int", `(batch, size of the vocabulary)` otherwise.

    Args:
      max_tokens: the largest size of the vocabulary, with the numbers of padding and unknown words; None for no
        limit.
      standardize: "lower_and_strip_punctuation", "lower", "strip_punctuation", None, or a function of a string
        tensor.
      split: "whitespace", "character", None, or a function that gives ragged words.
      ngrams: the longest runs of words that count as words, or a tuple of lengths.
      output_mode: "int", "multi_hot", "count" or "tf_idf".
      output_sequence_length: the number of numbers per string for "int"; longer strings are cut, shorter padded with
        0.
      pad_to_max_tokens: whether vectors have `max_tokens` numbers even if the vocabulary is smaller.
      vocabulary: the words in order, a list, an array, or a text file with one per line.
      idf_weights: for "tf_idf" with a `vocabulary`: the inverse document frequency of each word.
      sparse: whether vectors are given as a `SparseTensor`.
      ragged: give ragged numbers instead of padding them, for "int".
      encoding: the encoding of the strings, kept for the config.
      name: the name of the layer.
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for unknown modes, and for settings that contradict each other.

    >>> layer = tf.keras.layers.TextVectorization(vocabulary=["earth", "moon"], output_sequence_length=3)
    >>> print(layer(tf.constant(["Moon, earth!", "sun"])).numpy())
    [[3 2 0]
     [1 0 0]]
    """

    supports_jit = False

    def __init__(
        self, max_tokens: int | None = None, standardize: str = "lower_and_strip_punctuation",
        split: str = "whitespace", ngrams=None, output_mode: str = "int", output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False, vocabulary=None, idf_weights=None, sparse: bool = False,
        ragged: bool = False, encoding: str = "utf-8", name: str | None = None, **kwargs,
    ):
        output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        if output_mode not in ("int", "multi_hot", "count", "tf_idf"):
            raise ValueError(
                "Unknown value for `output_mode` argument of layer TextVectorization. Expected one of "
                f"('int', 'multi_hot', 'count', 'tf_idf'). Received: output_mode={output_mode}"
            )
        for what, value, names in (
            ("standardize", standardize, _STANDARDIZE), ("split", split, _SPLIT)
        ):  # fmt: skip
            if value is not None and not callable(value) and value not in names:
                raise ValueError(
                    f"Unknown value for `{what}` argument of layer TextVectorization. Expected one of "
                    f"{names}, None or a callable. Received: {what}={value}"
                )
        if output_mode == "int":
            if output_sequence_length is not None and not (
                isinstance(output_sequence_length, int) and output_sequence_length > 0
            ):
                raise ValueError(
                    "`output_sequence_length` must be either None or an integer when `output_mode` is "
                    f"'int'. Received: output_sequence_length={output_sequence_length}"
                )
            if pad_to_max_tokens:
                pad_to_max_tokens = False
        elif output_sequence_length is not None:
            raise ValueError(
                "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                f"output_sequence_length={output_sequence_length}."
            )
        if ragged and output_mode != "int":
            raise ValueError(
                "`ragged` must not be true if `output_mode` is `'int'`. Received: "
                f"ragged={ragged} and output_mode={output_mode}"
            )
        if not (ngrams is None or isinstance(ngrams, int)
                or (isinstance(ngrams, (list, tuple)) and all(isinstance(n, int) for n in ngrams))):  # fmt: skip
            raise ValueError(
                "`ngrams` must be None, an integer, or a tuple of integers. Received: "
                f"ngrams={ngrams}"
            )
        size = kwargs.pop("vocabulary_size", None)
        kwargs.pop("dtype", None)
        super().__init__(name=name, **kwargs)
        self.standardize, self.split = standardize, split
        self.ngrams = ngrams
        self.output_mode, self.output_sequence_length = output_mode, output_sequence_length
        self.ragged, self.encoding = ragged, encoding
        lengths = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        attributes = self.__dict__
        attributes["_ngram_lengths"] = None if lengths is None else list(lengths)
        attributes["_lookup_layer"] = StringLookup(
            max_tokens=max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            pad_to_max_tokens=pad_to_max_tokens,
            mask_token="",
            output_mode=output_mode,
            sparse=sparse,
            encoding=encoding,
            vocabulary_size=size,
        )

    @property
    def _held_in_files(self):
        """The table, which is no layer of its own but in files of Keras 3."""
        return {"_lookup_layer": self._lookup_layer}

    def get_vocabulary(self, include_special_tokens=True):
        """The words, by number."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """The number of words, with those for padding and unknown ones."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the words.

        Args:
          vocabulary: a list, an array or a file with one word per line.
          idf_weights: the inverse document frequency of each word, for "tf_idf".

        Raises:
          ValueError: for an empty one, and repeated words.
        """
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def adapt(self, data: TensorLike, batch_size: int | None = None, steps: int | None = None):
        """Learn the words from data, the most frequent first.

        Args:
          data: an array or a list of strings, or batches: a dataset or another iterable.
          batch_size: accepted as in Keras; arrays are one batch.
          steps: how many batches are looked at; None for all.

        >>> layer = tf.keras.layers.TextVectorization()
        >>> layer.adapt(["a cat", "a dog", "a cat sleeps"])
        >>> layer.get_vocabulary()[:4]
        ['', '[UNK]', 'a', 'cat']
        """
        self.reset_state()
        for batch in batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def reset_state(self):
        """Forgets the counts of words."""
        self._lookup_layer.reset_state()

    def update_state(self, data):
        """Counts the words of a batch."""
        self._lookup_layer.update_state(self._words(data))

    def finalize_state(self):
        """Makes the vocabulary from the counts."""
        self._lookup_layer.finalize_state()

    @property
    def compute_dtype(self):
        """The dtype of the inputs, by name."""
        return "string"

    variable_dtype = compute_dtype

    def _words(self, inputs):
        inputs = as_tensor(inputs, dtypes.string)
        if self.standardize in ("lower", "lower_and_strip_punctuation"):
            inputs = lower(inputs)
        if self.standardize in ("strip_punctuation", "lower_and_strip_punctuation"):
            inputs = regex_replace(inputs, _PUNCTUATION, "")
        if callable(self.standardize):
            inputs = self.standardize(inputs)
        if self.split is not None:
            if inputs.shape.rank > 1:
                if inputs.shape.as_list()[-1] != 1:
                    raise ValueError(
                        "When using `TextVectorization` to tokenize strings, the input rank must be 1 or "
                        f"the last shape dimension must be 1. Received: inputs.shape={inputs.shape} with "
                        f"rank={inputs.shape.rank}"
                    )
                inputs = squeeze(inputs, [-1])
            if self.split == "whitespace":
                inputs = split_words(inputs)
            elif self.split == "character":
                inputs = unicode_split(inputs, "UTF-8")
            else:
                inputs = self.split(inputs)
        if self._ngram_lengths is not None:
            inputs = ngrams_of(inputs, ngram_width=self._ngram_lengths, separator=" ")
        return inputs

    def call(self, inputs):
        numbers = self._lookup_layer.call(self._words(inputs))
        length = self.output_sequence_length
        if self.output_mode != "int":
            return numbers
        if hasattr(numbers, "flat_values"):
            if self.ragged:
                return numbers if length is None else numbers[..., :length]
            shape = [None] * (numbers.shape.rank - 1) + [length]
            return numbers.to_tensor(default_value=0, shape=shape)
        if length is None:
            return numbers
        numbers = numbers[..., :length]
        known = numbers.shape.as_list()[-1]
        missing = length - (shape_of(numbers)[-1] if known is None else known)
        padded = pad(numbers, [[0, 0]] * (numbers.shape.rank - 1) + [[0, missing]])
        padded.set_shape([*numbers.shape.as_list()[:-1], length])
        return padded

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        if self.output_mode == "int":
            return TensorShape([sizes[0], self.output_sequence_length])
        return TensorShape([sizes[0], self._lookup_layer._frozen_size])

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        # The functions of a SavedModel look the words up in its table.
        return {**found, "_lookup_layer": self._lookup_layer} if save_type == "savedmodel" else found

    def take_learned(self, saved):
        """Takes the words out of the layer's object in a SavedModel of Keras 2."""
        self._lookup_layer.take_learned(vars(saved)["_lookup_layer"])

    def save_assets(self, dir_path):
        """Writes the vocabulary into a folder."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path):
        """Reads what save_assets wrote."""
        self._lookup_layer.load_assets(dir_path)

    def save_own_variables(self, store):
        """Puts the inverse document frequencies into a store."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store):
        """Takes the inverse document frequencies out of a store."""
        self._lookup_layer.load_own_variables(store)

    def get_config(self):
        of_lookup = self._lookup_layer.get_config()
        return {
            **super().get_config(),
            **({"dtype": "string"} if keras_2() else {}),  # it takes no other
            "max_tokens": of_lookup["max_tokens"],
            "standardize": self.standardize,
            "split": self.split,
            "ngrams": self.ngrams,
            "output_mode": self.output_mode,
            "output_sequence_length": self.output_sequence_length,
            "pad_to_max_tokens": of_lookup["pad_to_max_tokens"],
            "sparse": of_lookup["sparse"],
            "ragged": self.ragged,
            "vocabulary": of_lookup["vocabulary"],
            "idf_weights": of_lookup["idf_weights"],
            "encoding": self.encoding,
            "vocabulary_size": of_lookup["vocabulary_size"],
        }
