"""`keras.utils.FeatureSpace`: columns of a table, each encoded by a layer, joined to one tensor for a model."""

from __future__ import annotations

from collections.abc import Mapping

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.keras import layers, settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.inputs import make_input
from tapeflow.keras.saving import archive
from tapeflow.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
from tapeflow.ops.array.layout import expand_dims, reshape, squeeze
from tapeflow.ops.ragged.tensor import RaggedTensor

MODULE = "keras.src.layers.preprocessing.feature_space"


class Cross:
    """Features that are combined and hashed: their names, the number of bins, and "int" or "one_hot"."""

    _keras_module = MODULE

    def __init__(self, feature_names, crossing_dim, output_mode: str = "one_hot"):
        _check_mode(output_mode, ("int", "one_hot"))
        self.feature_names = tuple(feature_names)
        self.crossing_dim, self.output_mode = crossing_dim, output_mode

    @property
    def name(self):
        """The names of the features, joined by "_X_"."""
        return "_X_".join(self.feature_names)

    def get_config(self):
        """Return the constructor's arguments."""
        return {
            "feature_names": self.feature_names,
            "crossing_dim": self.crossing_dim,
            "output_mode": self.output_mode,
        }

    @classmethod
    def from_config(cls, config):
        """Return a cross from the constructor's arguments."""
        return cls(**config)


class Feature:
    """A column: the dtype of its values, the layer that encodes them, and "int", "one_hot" or "float"."""

    _keras_module = MODULE

    def __init__(self, dtype: DTypeLike, preprocessor, output_mode):
        _check_mode(output_mode, ("int", "one_hot", "float"))
        self.dtype, self.output_mode = dtype, output_mode
        self.preprocessor = deserialize_keras_object(preprocessor) if isinstance(preprocessor, dict) else preprocessor

    def get_config(self):
        """Return the constructor's arguments."""
        preprocessor = serialize_keras_object(self.preprocessor)
        return {"dtype": self.dtype, "preprocessor": preprocessor, "output_mode": self.output_mode}

    @classmethod
    def from_config(cls, config):
        """Return a feature from the constructor's arguments."""
        return cls(**config)


def _check_mode(mode, known):
    if mode not in known:
        raise ValueError(
            f"Invalid value for argument `output_mode`. Expected one of {{{', '.join(map(repr, known))}}}. "
            f"Received: output_mode={mode}"
        )


@public_methods
class FeatureSpace(Layer):
    """A layer that encodes the columns of a table.

    Args:
      features: a dict of the columns; each a `Feature`, as the class methods make them, or the name of one of these.
      output_mode: "concat" for one tensor of shape (batch, sum of the sizes), "dict" for a tensor of each feature.
      crosses: lists of names of features to be crossed, or what `FeatureSpace.cross` gives.
      crossing_dim: the number of bins of crosses that are given by names.
      hashing_dim: the number of bins of the features "integer_hashed" and "string_hashed".
      num_discretization_bins: that of the feature "float_discretized".
      name: the layer's name.

    Raises ValueError for unknown kinds of features and modes, and for crosses of features that there are not.
    """

    _keras_module = "keras.utils"

    def __init__(
        self, features, output_mode: str = "concat", crosses=None, crossing_dim=32, hashing_dim=32,
        num_discretization_bins: int = 32, name: str | None = None,
    ):  # fmt: skip
        super().__init__(name=name)
        if not features:
            raise ValueError("The `features` argument cannot be None or empty.")
        self.crossing_dim, self.hashing_dim = crossing_dim, hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {key: self._feature(key, value) for key, value in features.items()}
        self.crosses = [self._cross(value) for value in crosses or ()]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        if output_mode not in ("dict", "concat"):
            raise ValueError(
                "Invalid value for argument `output_mode`. Expected one of {'dict', 'concat'}. "
                f"Received: output_mode={output_mode}"
            )
        self.output_mode = output_mode
        self.inputs = {key: make_input((1,), dtype=f.dtype, name=key) for key, f in self.features.items()}
        self.preprocessors = {key: feature.preprocessor for key, feature in self.features.items()}
        self.crossers = {c.name: layers.HashedCrossing(c.crossing_dim, name=c.name) for c in self.crosses}
        self.one_hot_encoders: dict[str, Layer] = {}
        self.concat = self.encoded_features = None
        self._is_adapted = False

    def _feature(self, name: str, value):
        if isinstance(value, Feature):
            return value
        if isinstance(value, dict):
            return deserialize_keras_object(value)
        arguments = {
            "float_discretized": (self.num_discretization_bins,),
            "integer_hashed": (self.hashing_dim,), "string_hashed": (self.hashing_dim,),
        }  # fmt: skip
        if value not in KINDS:
            raise ValueError(f"Invalid feature type: {value}")
        return getattr(self, value)(*arguments.get(value, ()), name=name)

    def _cross(self, value):
        cross = deserialize_keras_object(value) if isinstance(value, dict) else value
        if isinstance(cross, Cross):
            return cross
        if not self.crossing_dim:
            raise ValueError(
                "When specifying `crosses`, the argument `crossing_dim` (dimensionality of the crossing space) should "
                "be specified as well."
            )
        if any(name not in self.features for name in cross):
            raise ValueError(
                "All features referenced in the `crosses` argument should be present in the `features` dict. "
                f"Received unknown features: {cross}"
            )
        return Cross(cross, self.crossing_dim)

    # What features there are

    @classmethod
    def cross(cls, feature_names, crossing_dim, output_mode: str = "one_hot"):
        """Return a cross of features: their values are combined and hashed into `crossing_dim` bins."""
        return Cross(feature_names, crossing_dim, output_mode)

    @classmethod
    def feature(cls, dtype: DTypeLike, preprocessor, output_mode):
        """Return a feature that a layer of one's own encodes; `output_mode` is "int", "one_hot" or "float"."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name=None):
        """Return a feature of numbers that stay as they are."""
        name = name or settings.unique_name("float")
        return Feature("float32", layers.Identity(dtype="float32", name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_rescaled(cls, scale=1.0, offset=0.0, name: str | None = None):
        """Return a feature of numbers times `scale` plus `offset`."""
        name = name or settings.unique_name("float_rescaled")
        return Feature("float32", layers.Rescaling(scale, offset, name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_normalized(cls, name: str | None = None):
        """Return a feature of numbers, of which `adapt` finds mean and variance."""
        name = name or settings.unique_name("float_normalized")
        return Feature("float32", layers.Normalization(axis=-1, name=f"{name}_preprocessor"), "float")

    @classmethod
    def float_discretized(
        cls, num_bins, bin_boundaries=None, output_mode: str = "one_hot", name: str | None = None
    ):
        """Return a feature of numbers of which the bin counts; `adapt` finds bins of equal frequency."""
        name = name or settings.unique_name("float_discretized")
        layer = layers.Discretization(
            num_bins=num_bins, bin_boundaries=bin_boundaries, name=f"{name}_preprocessor"
        )  # fmt: skip
        return Feature("float32", layer, output_mode)

    @classmethod
    def integer_categorical(
        cls, max_tokens=None, num_oov_indices: int = 1, output_mode: str = "one_hot", name: str | None = None
    ):
        """Return a feature of integers that are names; `adapt` finds which there are."""
        return _categorical("integer_categorical", layers.IntegerLookup, "int32", max_tokens, num_oov_indices,
                            output_mode, name)  # fmt: skip

    @classmethod
    def string_categorical(
        cls, max_tokens=None, num_oov_indices: int = 1, output_mode: str = "one_hot", name: str | None = None
    ):
        """Return a feature of strings; `adapt` finds which there are."""
        return _categorical("string_categorical", layers.StringLookup, "string", max_tokens, num_oov_indices,
                            output_mode, name)  # fmt: skip

    @classmethod
    def string_hashed(cls, num_bins, output_mode: str = "one_hot", name: str | None = None):
        """Return a feature of strings, hashed into `num_bins` bins."""
        name = name or settings.unique_name("string_hashed")
        return Feature("string", layers.Hashing(num_bins, name=f"{name}_preprocessor"), output_mode)

    @classmethod
    def integer_hashed(cls, num_bins, output_mode: str = "one_hot", name: str | None = None):
        """Return a feature of integers, hashed into `num_bins` bins."""
        name = name or settings.unique_name("integer_hashed")
        return Feature("int32", layers.Hashing(num_bins, name=f"{name}_preprocessor"), output_mode)

    # Use

    def adapt(self, dataset):
        """Let the layers learn what they have to know of their columns.

        Args:
          dataset: a dataset of dicts of features, batched or not, or one dict of columns.

        Raises ValueError for anything else.
        """
        if isinstance(dataset, dict):
            dataset = Dataset.from_tensor_slices(dataset)
        if not isinstance(dataset, Dataset):
            raise ValueError(
                "`adapt()` can only be called on a tf.data.Dataset or a dict of arrays/lists. "
                f"Received instead: {dataset} (of type {type(dataset)})"
            )
        for name in self._adaptable():
            column = dataset.map(lambda row, name=name: row[name])
            rank = len(next(iter(column)).shape)
            if rank == 0:
                column = column.batch(32)
            if rank < 2:
                column = column.map(lambda values: expand_dims(values, -1))
            self.preprocessors[name].adapt(column)
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True

    def _adaptable(self):
        """The names of the features whose layers have to be adapted."""
        return [
            name
            for name, layer in self.preprocessors.items()
            if hasattr(layer, "adapt")
            and not (isinstance(layer, layers.Normalization) and layer.input_mean is not None)
            and not (isinstance(layer, layers.TextVectorization) and layer.get_config()["vocabulary"] is not None)
        ]

    def get_inputs(self):
        """Return the symbolic inputs by name."""
        self.get_encoded_features()
        return self.inputs

    def get_encoded_features(self):
        """Return what becomes of `get_inputs()`. Raises ValueError before `adapt`, if that is needed."""
        if not self._is_adapted and self._adaptable():
            raise ValueError(
                "You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it."
            )
        self._is_adapted = True
        if self.encoded_features is None:
            self._make_encoders()
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def _make_encoders(self):
        specs = {**self.features, **self.crosses_by_name}
        for name, layer in {**self.preprocessors, **self.crossers}.items():
            if specs[name].output_mode == "one_hot":
                self.one_hot_encoders[name] = layers.CategoryEncoding(_size(name, layer), "multi_hot")
        if self.output_mode == "concat":
            self.concat = layers.Concatenate(axis=-1)

    def _encoded(self, data):
        preprocessed = {name: self.preprocessors[name](data[name]) for name in data}
        crossed = {
            cross.name: self.crossers[cross.name]([preprocessed[name] for name in cross.feature_names])
            for cross in self.crosses
        }
        found = {}
        for name, value in [*sorted(preprocessed.items()), *sorted(crossed.items())]:
            encoder = self.one_hot_encoders.get(name)
            dtype = dtypes.as_dtype(nest.flatten(value)[0].dtype)
            if encoder is not None:
                if not dtype.is_integer:
                    raise ValueError(
                        f"Feature '{name}' has `output_mode='one_hot'`. Thus its preprocessor should return an integer "
                        f"dtype. Instead it returns a {dtype.name} dtype."
                    )
                value = encoder(value)
            elif self.output_mode == "concat" and (dtype.is_integer or dtype == dtypes.string):
                raise ValueError(
                    f"Cannot concatenate features because feature '{name}' has not been encoded (it has dtype "
                    f"{dtype.name}). Consider using `output_mode='dict'`."
                )
            found[name] = value
        if self.output_mode == "dict":
            return found
        values = list(found.values())
        return self.concat(values) if len(values) > 1 else values[0]

    def __call__(self, data):
        """Encode a dict of columns, or of the values of one row."""
        self.get_encoded_features()
        if not isinstance(data, Mapping):
            raise ValueError(
                f"A FeatureSpace can only be called with a dict. Received: data={data} (of type {type(data)}"
            )
        values, one_row = {}, False
        for name, value in data.items():
            made = value if isinstance(value, (SparseTensor, RaggedTensor)) else convert_to_tensor(value)
            rank = len(made.shape)
            one_row = one_row or rank == 0
            values[name] = reshape(made, [1, 1]) if rank == 0 else expand_dims(made, -1) if rank == 1 else made
        found = self._encoded(values)
        if not one_row:
            return found
        if self.output_mode == "concat":
            return squeeze(found, axis=0)
        return {
            name: squeeze(value, axis=0) if len(value.shape) == 2 and value.shape[0] == 1 else value
            for name, value in found.items()
        }

    # Files

    def save(self, filepath):
        """Write the layer to a `.keras` file, which `keras.models.load_model` reads."""

        archive.save(self, filepath)

    def get_config(self):
        return {
            "features": serialize_keras_object(self.features),
            "output_mode": self.output_mode,
            "crosses": serialize_keras_object(self.crosses),
            "crossing_dim": self.crossing_dim,
            "hashing_dim": self.hashing_dim,
            "num_discretization_bins": self.num_discretization_bins,
        }

    def get_build_config(self):
        return {name: layer.get_build_config() for name, layer in self.preprocessors.items()}

    def build_from_config(self, config):
        for name, of_layer in config.items():
            if not self.preprocessors[name].built:
                self.preprocessors[name].build_from_config(of_layer)
        self._is_adapted = True

    def save_own_variables(self, store):
        """Put nothing into a store: the layers keep what they have learned."""

    def load_own_variables(self, store):
        """Take nothing out of a store."""


KINDS = (
    "float", "float_normalized", "float_rescaled", "float_discretized", "integer_categorical", "string_categorical",
    "integer_hashed", "string_hashed",
)  # fmt: skip


def _categorical(kind, layer, dtype: DTypeLike, max_tokens, num_oov_indices, output_mode, name: str | None):
    name = name or settings.unique_name(kind)
    made = layer(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=f"{name}_preprocessor")
    return Feature(dtype, made, output_mode)


def _size(name, layer):
    """The number of integers that a layer gives. Raises ValueError where that is not known."""
    if isinstance(layer, (layers.IntegerLookup, layers.StringLookup)):
        return layer.vocabulary_size()
    if isinstance(layer, layers.CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, layers.Discretization):
        return len(layer.bin_boundaries) + 1 if layer.num_bins is None else layer.num_bins
    if isinstance(layer, (layers.HashedCrossing, layers.Hashing)):
        return layer.num_bins
    raise ValueError(
        f"Feature '{name}' has `output_mode='one_hot'`. However it isn't a standard feature and the dimensionality of "
        "its output space is not known, thus it cannot be one-hot encoded. Try using `output_mode='int'`."
    )
