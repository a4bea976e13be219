"""Vocabularies: tokens to numbers and back."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.context import init_scope
from tapeflow.core.deserialization import refuse_unsafe
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.layers.preprocessing.base import (
    OUTPUT_MODES,
    AdaptiveLayer,
    as_tensor,
    encode,
    encoded_shape,
    newer,
)
from tapeflow.keras.layers.preprocessing.encoding import check_output_mode
from tapeflow.keras.old_names import takes_old_names
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.lookup.initializers import KeyValueTensorInitializer, TableInitializerBase
from tapeflow.ops.lookup.rows import LookupTableExportV2
from tapeflow.ops.lookup.tables import StaticHashTable
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.sparse import functions as sparse_ops
from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong
from tapeflow.ops.string.numbers import as_string

_MODES = (*OUTPUT_MODES, "tf_idf")


class IndexLookup(AdaptiveLayer):
    """Tokens to their numbers in a vocabulary: first the mask, then the unknown ones, then the known.

    The vocabulary is given, or `adapt` learns it: the most frequent tokens come first.
    """

    supports_jit = False

    def __init__(
        self, max_tokens: int | None, num_oov_indices: int, mask_token: str | None, oov_token: Any,
        vocabulary_dtype: str, vocabulary: Sequence[str] | str | None = None, idf_weights=None, invert: bool = False,
        output_mode: str = "int", sparse: bool = False, pad_to_max_tokens: bool = False, oov_method: str = "floormod",
        name: str | None = None, salt=None, **kwargs,
    ):
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(
                f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}"
            )
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError(
                "If pad_to_max_tokens is True, must set `max_tokens`. Received: "
                f"max_tokens={max_tokens}"
            )
        if num_oov_indices < 0:
            raise ValueError(
                "`num_oov_indices` must be greater than or equal to 0. Received: "
                f"num_oov_indices={num_oov_indices}"
            )
        output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        check_output_mode(type(self).__name__, output_mode, sparse, _MODES)
        if invert and output_mode != "int":
            raise ValueError(
                "`output_mode` must be `'int'` when `invert` is true. Received: "
                f"output_mode={output_mode}"
            )
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError(
                "`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: "
                f"idf_weights={idf_weights} and output_mode={output_mode}"
            )
        if output_mode == "tf_idf" and vocabulary is not None and idf_weights is None:
            raise ValueError(
                "When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` "
                "argument must also be provided."
            )
        self_size = kwargs.pop("vocabulary_size", None)
        kwargs.pop("has_input_vocabulary", None)
        kwargs.pop("dtype", None)
        super().__init__(name=name, **kwargs)
        self.invert, self.max_tokens, self.num_oov_indices = invert, max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.output_mode, self.sparse = output_mode, sparse
        self.pad_to_max_tokens = pad_to_max_tokens
        self.vocabulary_dtype = dtypes.as_dtype(vocabulary_dtype).name
        self.oov_method = oov_method
        self.salt = [salt, salt] if isinstance(salt, int) else None if salt is None else list(salt)
        attributes = self.__dict__
        attributes["input_vocabulary"] = None if isinstance(vocabulary, str) else vocabulary
        attributes["input_idf_weights"] = idf_weights
        attributes["_given"] = vocabulary is not None
        attributes["_tokens"] = []
        attributes["_frozen_size"] = self_size
        attributes["_table"] = attributes["_idf"] = None
        self.reset_state()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    # The vocabulary

    def _oov_start(self):
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _token_start(self):
        return self._oov_start() + self.num_oov_indices

    def get_vocabulary(self, include_special_tokens=True):
        """The tokens, by number; without those for masked and unknown ones if `include_special_tokens` is False."""
        if not include_special_tokens:
            return list(self._tokens)
        special = [self.oov_token] * self._token_start()
        if self._oov_start():
            special[0] = self.mask_token
        return [*special, *self._tokens]

    def vocabulary_size(self):
        """The number of tokens, with those for masked and unknown ones."""
        return len(self._tokens) + self._token_start()

    def set_vocabulary(self, vocabulary: Sequence[str] | str, idf_weights: np.ndarray | None = None):
        """Set the vocabulary.

        Args:
          vocabulary: a list, an array or a file with one token per line; it may begin with the special tokens.
          idf_weights: the inverse document frequency of each token, for "tf_idf".

        Raises:
          ValueError: for an empty one, repeated tokens, and special tokens in the wrong place.
        """
        if self.output_mode == "tf_idf" and idf_weights is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'.")
        if self.output_mode != "tf_idf" and idf_weights is not None:
            raise ValueError(
                "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: "
                f"output_mode={self.output_mode} and idf_weights={idf_weights}"
            )
        if isinstance(vocabulary, str):
            refuse_unsafe(f"the vocabulary file {vocabulary!r}")
            with open(local_path(vocabulary), encoding="utf-8") as file:
                vocabulary = file.read().splitlines()
        tokens = self._plain(vocabulary)
        if not tokens:
            raise ValueError(f"Cannot set an empty vocabulary. Received: vocabulary={vocabulary}")
        count = len(tokens)
        start = self._token_start()
        special = [self.mask_token] * self._oov_start() + [self.oov_token] * self.num_oov_indices
        has_special = tokens[:start] == special
        tokens = tokens[start:] if has_special else tokens
        repeated = [token for token, n in collections.Counter(tokens).items() if n > 1]
        if repeated:
            raise ValueError(
                "The passed vocabulary has at least one repeated term. Please uniquify your dataset. "
                f"The repeated terms are: {repeated}"
            )
        for kind, token in (("mask", self.mask_token), ("OOV", self.oov_token)):
            if token is not None and token in tokens and (kind == "mask" or self.invert):
                raise ValueError(
                    f"Found reserved {kind} token at unexpected location in `vocabulary`. Note that "
                    "passed `vocabulary` does not need to include the OOV and mask tokens. Either "
                    "remove all mask and OOV tokens, or include them only at the start of the "
                    f"vocabulary in precisely this order: {special}. Received: {kind.lower()}_token="
                    f"{token} at vocabulary index {tokens.index(token)}"
                )
        size = start + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                "Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary "
                f"size is {size}; `max_tokens` is {self.max_tokens}."
            )
        self._use(tokens)
        if idf_weights is not None:
            weights = np.asarray(idf_weights, settings.floatx())
            if weights.ndim != 1 or len(weights) != count:
                raise ValueError(
                    "`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                    f"{np.size(weights)}; len(vocabulary) is {count}"
                )
            front = 0 if has_special else start
            self._set_idf(np.pad(weights, (front, 0), constant_values=weights.mean()))

    def _plain(self, vocabulary):
        """A vocabulary as a list of strings or ints."""
        values = vocabulary.numpy() if hasattr(vocabulary, "numpy") else vocabulary
        if self.vocabulary_dtype == "string":
            return [
                x.decode("utf-8") if isinstance(x, bytes) else x if x is None else str(x)
                for x in (values.tolist() if isinstance(values, np.ndarray) else values)
            ]
        return [None if x is None else int(x) for x in values]

    def _set_idf(self, weights: np.ndarray):
        if self.pad_to_max_tokens and self.max_tokens is not None:
            weights = np.pad(weights, (0, self.max_tokens - len(weights)))
        self.__dict__["_idf"] = np.asarray(weights, settings.floatx())

    @property
    def idf_weights(self):
        """The inverse document frequencies by number, for "tf_idf"."""
        return None if self._idf is None else as_tensor(self._idf)

    def _use(self, tokens):
        """Makes the table of the tokens."""
        frozen = self._frozen_size
        free = self.output_mode == "int" or self.pad_to_max_tokens
        size = len(tokens) + self._token_start()
        if not free and frozen is not None and frozen != size and self._tokens:
            raise RuntimeError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, the "
                "vocabulary size cannot be changed after the layer is called. Old vocab size is "
                f"{frozen}, new vocab size is {size}"
            )
        self.__dict__["_tokens"] = list(tokens)
        self.__dict__["_frozen_size"] = size
        self.__dict__["_table"] = None

    @property
    def lookup_table(self):
        """The table behind the layer, which is not initialized before there is a vocabulary."""
        if self._table is None:
            with init_scope():
                start = self._token_start()
                numbers = np.arange(start, start + len(self._tokens), dtype="int64")
                dtype = dtypes.as_dtype(self.vocabulary_dtype)
                tokens = np.array(
                    self._tokens, object if dtype == dtypes.string else dtype.as_numpy_dtype
                )
                pair = (numbers, tokens) if self.invert else (tokens, numbers)
                kinds = (dtypes.int64, dtype) if self.invert else (dtype, dtypes.int64)
                default = self.oov_token if self.invert else self._default()
                known = self._frozen_size is not None
                initializer = KeyValueTensorInitializer(*pair, *kinds) if known else _Nothing(*kinds)
                self.__dict__["_table"] = StaticHashTable(initializer, default)
        return self._table

    def _default(self):
        return self._oov_start() if self.num_oov_indices == 1 else -1

    # Learning

    def reset_state(self):
        """Forgets the counts of tokens."""
        attributes = self.__dict__
        attributes["_counts"] = collections.Counter()
        attributes["_document_counts"] = collections.Counter()
        attributes["_documents"] = 0

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None):
        """Learn the vocabulary from data, the most frequent tokens first.

        Args:
          data: an array, a tensor or a list, or batches: a dataset or another iterable.
          batch_size: accepted as in Keras; arrays are one batch.
          steps: how many batches are looked at; None for all.

        Raises:
          ValueError: for a layer whose vocabulary was given.
        """
        if isinstance(data, (list, tuple)) or (
            isinstance(data, np.ndarray) or hasattr(data, "numpy")
        ):
            data = as_tensor(data)
            if data.shape.rank == 1:
                data = expand_dims(data, -1)
        super().adapt(data, batch_size, steps)

    def update_state(self, data):
        """Counts the tokens of a batch."""
        if self._given:
            raise ValueError(
                f"Cannot adapt layer '{self.name}' after setting a static vocabulary via `vocabulary` "
                "argument or `set_vocabulary()` method."
            )
        data = as_tensor(data)
        documents = _documents(data)
        for document in documents:
            tokens = self._plain(document)
            self._counts.update(tokens)
            if self.output_mode == "tf_idf":
                self._document_counts.update(set(tokens))
        self.__dict__["_documents"] += len(documents)

    def finalize_state(self):
        """Makes the vocabulary from the counts."""
        if self._given or not self._counts:
            return
        counts = self._counts
        for token in (self.mask_token, self.oov_token):
            counts.pop(token, None)
        key = (lambda t: t.encode()) if self.vocabulary_dtype == "string" else (lambda t: t)
        tokens = sorted(counts, key=lambda t: (counts[t], key(t)), reverse=True)
        if self.max_tokens:
            tokens = tokens[: self.max_tokens - self._token_start()]
        self._use(tokens)
        if self.output_mode == "tf_idf":
            known = np.array([self._document_counts[token] for token in tokens], "float64")
            weights = np.log(1 + self._documents / (1 + known))
            front = np.full(self._token_start(), weights.mean())
            self._set_idf(np.concatenate([front, weights]))
        self.reset_state()

    # Calls

    @property
    def compute_dtype(self):
        """The dtype of the tokens, by name."""
        return self.vocabulary_dtype

    variable_dtype = compute_dtype

    def _key_dtype(self):
        return dtypes.int64 if self.invert else dtypes.as_dtype(self.vocabulary_dtype)

    def call(self, inputs):
        free = self.output_mode == "int" or self.pad_to_max_tokens
        if not free and self._frozen_size is None:
            raise RuntimeError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you must "
                "set the layer's vocabulary before calling it. Either pass a `vocabulary` argument to "
                "the layer, or call `adapt` with some sample data."
            )
        inputs = as_tensor(inputs, self._key_dtype())
        scalar = getattr(inputs.shape, "rank", None) == 0
        if scalar:
            inputs = expand_dims(inputs, -1)
        if isinstance(inputs, SparseTensor):
            numbers = inputs.with_values(self._lookup(inputs.values))
        elif hasattr(inputs, "flat_values"):
            numbers = inputs.with_flat_values(self._lookup(inputs.flat_values))
        else:
            numbers = self._lookup(inputs)
        if self.output_mode == "int":
            return squeeze(numbers, [-1]) if scalar else numbers
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        if self.output_mode != "tf_idf":
            return encode(numbers, self.output_mode, depth, "int64", self.sparse)
        weights = self.idf_weights
        if weights is None:  # a file's model is built before its weights are read
            weights = as_tensor(np.zeros(depth, settings.floatx()))
        result = cast(encode(numbers, "count", depth, weights.dtype), weights.dtype) * weights
        if not self.sparse:
            return result

        return sparse_ops.from_dense(result)

    def _lookup(self, inputs: Tensor):
        numbers = self.lookup_table.lookup(inputs)
        if self.mask_token is not None:
            key = 0 if self.invert else self.mask_token
            value = self.mask_token if self.invert else 0 if self.output_mode == "int" else -2
            masked = equal(inputs, as_tensor(key, inputs.dtype))
            numbers = where(masked, as_tensor(value, numbers.dtype), numbers)
        if self.invert:
            return numbers
        if self.num_oov_indices == 0:
            Assert(
                reduce_all(numbers != -1),
                [
                    "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values, "
                    "consider setting `num_oov_indices=1`. Values:",
                    inputs,
                ],
            )
        elif self.num_oov_indices > 1:
            hashed = self._oov_numbers(inputs) + self._oov_start()
            unknown = equal(numbers, fill(shape_of(numbers), as_tensor(-1, numbers.dtype)))
            numbers = where(unknown, hashed, numbers)
        return numbers

    def _oov_numbers(self, inputs: Tensor):
        if inputs.dtype.is_integer and self.oov_method != "farmhash":
            return floormod(inputs, as_tensor(self.num_oov_indices, inputs.dtype))
        text = as_string(inputs) if inputs.dtype.is_integer else inputs
        if self.salt is not None:
            return to_hash_bucket_strong(text, self.num_oov_indices, key=self.salt)
        return to_hash_bucket_fast(text, self.num_oov_indices)

    def compute_output_shape(self, input_shape):
        depth = self.max_tokens if self.pad_to_max_tokens else self._frozen_size
        return TensorShape(
            encoded_shape(TensorShape(input_shape).as_list(), self.output_mode, depth)
        )

    # Files

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        # The functions of a SavedModel look the tokens up in it.
        return {**found, "lookup_table": self.lookup_table} if save_type == "savedmodel" and self._tokens else found

    def save_assets(self, dir_path):
        """Writes the vocabulary, where `adapt` learned it, to vocabulary.txt in a folder."""
        if self.input_vocabulary is None:
            text = "\n".join(str(token) for token in self.get_vocabulary())
            replace_file(f"{dir_path}/vocabulary.txt", text.encode())

    def load_assets(self, dir_path):
        """Reads what save_assets wrote."""
        if self.input_vocabulary is None:
            with open(f"{dir_path}/vocabulary.txt", encoding="utf-8") as file:
                lines = file.read().splitlines()
            while lines and not lines[-1]:
                lines.pop()
            self.set_vocabulary(lines, None if self._idf is None else self._idf)

    def take_learned(self, saved):
        """Takes the tokens out of the layer's table in a SavedModel of Keras 2."""
        if self._given:
            return
        if not hasattr(saved, "lookup_table"):
            raise ValueError(f"The SavedModel has no table of the layer {self.name!r}, which learned its tokens")
        key, number = self._key_dtype(), dtypes.as_dtype(self.vocabulary_dtype) if self.invert else dtypes.int64
        parts = LookupTableExportV2(saved.lookup_table.resource_handle, Tkeys=key, Tvalues=number)
        keys, numbers = reversed(parts) if self.invert else parts
        order = np.argsort(numbers.numpy())
        self._use(self._plain(keys.numpy()[order]))
        if self.output_mode == "tf_idf":
            self.__dict__["_idf"] = saved.idf_weights.numpy()

    def save_own_variables(self, store):
        """Puts the inverse document frequencies into a store."""
        if self._idf is not None:
            store["idf_weights"] = self._idf

    def load_own_variables(self, store: dict[str, Any]):
        """Takes the inverse document frequencies out of a store."""
        if self.output_mode == "tf_idf":
            self.__dict__["_idf"] = np.asarray(store["idf_weights"])

    def get_config(self):
        return {
            **super().get_config(),
            "invert": self.invert,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "oov_token": self.oov_token,
            "mask_token": self.mask_token,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "pad_to_max_tokens": self.pad_to_max_tokens,
            "vocabulary_dtype": self.vocabulary_dtype,
            "idf_weights": _listed(self.input_idf_weights),
            "vocabulary": _listed(self.input_vocabulary),
            "vocabulary_size": self._frozen_size,
            **newer(oov_method=self.oov_method, salt=self.salt),
        }


class _Nothing(TableInitializerBase):
    """Leaves a table without contents, so that lookups raise FailedPreconditionError."""

    def initialize(self, table):
        return None


def _listed(values):
    values = values.numpy() if hasattr(values, "numpy") else values
    return values.tolist() if isinstance(values, np.ndarray) else values


def _documents(data):
    """The rows of a batch as arrays."""
    if isinstance(data, SparseTensor):
        rows = data.indices.numpy()[:, 0]
        values = data.values.numpy()
        count = int(data.dense_shape.numpy()[0])
        return [values[rows == i] for i in range(count)]
    if hasattr(data, "flat_values"):
        return [np.asarray(row.flat_values if hasattr(row, "flat_values") else row).reshape(-1)
                for row in (data[i] for i in range(int(data.nrows())))]  # fmt: skip
    values = data.numpy()
    if np.ndim(values) < 2:
        return [np.asarray(values, object if data.dtype == dtypes.string else None).reshape(-1)]
    return [row.reshape(-1) for row in values]


class StringLookup(IndexLookup):
    """Maps strings to their numbers in a vocabulary, which is given or learned by `adapt`.

    For "int" the number 0 is the mask token's, if there is one, the next `num_oov_indices` are those of unknown
    strings, then come the known ones.

    Args:
      max_tokens: the largest size of the vocabulary, with the numbers of masked and unknown tokens; None for no
        limit.
      num_oov_indices: how many numbers unknown tokens are spread over, by hash; with 0 they are an error.
      mask_token: the string that stands for padding, number 0 of "int"; None for none.
      oov_token: what `get_vocabulary` and `invert` give for unknown strings.
      vocabulary: the known tokens in order, a list, an array, or a text file with one token per line; None to learn
        them by `adapt`.
      idf_weights: for "tf_idf" with a `vocabulary`: the inverse document frequency of each token.
      invert: map numbers to tokens instead.
      output_mode: "int" for the numbers; "one_hot", "multi_hot", "count" or "tf_idf" for vectors of the vocabulary's
        size.
      pad_to_max_tokens: whether those vectors have `max_tokens` numbers even if the vocabulary is smaller.
      sparse: whether those vectors are given as a `SparseTensor`.
      encoding: the encoding of the strings, kept for the config.
      name: the name of the layer.
      salt: one or two integers that change the hash of unknown tokens, to SipHash instead of FarmHash.
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for settings that contradict each other, and for repeated or misplaced tokens.

    >>> layer = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    >>> print(layer(tf.constant([["a", "z"], ["b", "a"]])).numpy())
    [[1 0]
     [2 1]]
    >>> layer.get_vocabulary()
    ['[UNK]', 'a', 'b']
    """

    def __init__(
        self, max_tokens: int | None = None, num_oov_indices: int = 1, mask_token: str | None = None,
        oov_token: str = "[UNK]", vocabulary: Sequence[str] | str | None = None, idf_weights=None,
        invert: bool = False, output_mode: str = "int", pad_to_max_tokens: bool = False, sparse: bool = False,
        encoding: str = "utf-8", name: str | None = None, salt=None, **kwargs,
    ):
        kwargs.pop("vocabulary_dtype", None)
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            "string",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
            sparse=sparse,
            name=name,
            salt=salt,
            **kwargs,
        )
        self.encoding = encoding

    def get_config(self):
        config = {**super().get_config(), "encoding": self.encoding}
        del config["vocabulary_dtype"]
        if keras_2() and self.output_mode == "int" and not self.invert:
            config["dtype"] = "int64"  # that of the numbers, which it insists on
        return config


class IntegerLookup(IndexLookup):
    """Maps integers to their numbers in a vocabulary, which is given or learned by `adapt`.

    For "int" the number 0 is the mask token's, if there is one, the next `num_oov_indices` are those of unknown
    integers, then come the known ones.

    Args:
      max_tokens: the largest size of the vocabulary, with the numbers of masked and unknown tokens; None for no
        limit.
      num_oov_indices: how many numbers unknown tokens are spread over, by hash; with 0 they are an error.
      mask_token: the integer that stands for padding, number 0 of "int"; None for none.
      oov_token: what `get_vocabulary` and `invert` give for unknown integers.
      vocabulary: the known integers in order, a list, an array, or a text file with one per line; None to learn them
        by `adapt`.
      vocabulary_dtype: "int64" or "int32".
      idf_weights: for "tf_idf" with a `vocabulary`: the inverse document frequency of each integer.
      invert: map numbers to the integers instead.
      output_mode: "int" for the numbers; "one_hot", "multi_hot", "count" or "tf_idf" for vectors of the vocabulary's
        size.
      sparse: whether those vectors are given as a `SparseTensor`.
      pad_to_max_tokens: whether those vectors have `max_tokens` numbers even if the vocabulary is smaller.
      oov_method: how unknown integers are spread over several numbers: "floormod", or "farmhash".
      salt: one or two integers that change the hash of unknown tokens, to SipHash instead of FarmHash.
      name: the name of the layer.
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for settings that contradict each other, and for repeated or misplaced tokens.

    >>> layer = tf.keras.layers.IntegerLookup(vocabulary=[12, 36])
    >>> print(layer(tf.constant([36, 5, 12])).numpy())
    [2 0 1]
    """

    @takes_old_names(max_values="max_tokens", mask_value="mask_token", oov_value="oov_token")
    def __init__(
        self, max_tokens=None, num_oov_indices: int = 1, mask_token=None, oov_token=-1, vocabulary=None,
        vocabulary_dtype: str = "int64", idf_weights=None, invert: bool = False, output_mode: str = "int",
        sparse: bool = False, pad_to_max_tokens: bool = False, oov_method: str = "floormod", salt=None,
        name: str | None = None, **kwargs,
    ):
        if dtypes.as_dtype(vocabulary_dtype) not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                "If `vocabulary_dtype` must be one of int32 and int64. Received: "
                f"vocabulary_dtype={vocabulary_dtype}"
            )
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary_dtype,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
            oov_method=oov_method,
            name=name,
            salt=salt,
            **kwargs,
        )

    def get_config(self):
        config = super().get_config()
        del config["dtype"]
        return config
