"""`tf.keras.Model`: a layer of layers that can be trained."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.core.annotations import Tensor
from tapeflow.core.deserialization import deserializing
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine import calling, summary
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.fitting.training import Training
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.network_config import tensors_of
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.model_services import services
from tapeflow.keras.engine.protocol import quantization_mode
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.tracking import Node, listed, unique
from tapeflow.keras.quantizers import Float8QuantizationConfig, Int4QuantizationConfig

if TYPE_CHECKING:
    from tapeflow.keras.layers.core.dense import Dense
    from tapeflow.keras.layers.einsum_dense import EinsumDense


def _chosen(layer: Dense | EinsumDense, filters):
    """Whether filters of `Model.quantize` let a layer through."""
    if filters is None:
        return True
    if callable(filters):
        return bool(filters(layer))
    patterns = [filters] if isinstance(filters, str) else filters
    return any(re.search(pattern, layer.name) for pattern in patterns)


_CONFIG_OF_LAYERS = {"name", "trainable", "layers", "input_layers", "output_layers"}  # of functional models


@public_methods
class Model(Training, Layer):
    """Layers grouped into one, with training, evaluation and prediction.

    Either subclassed, with layers made in `__init__` and used in `call`, or made of symbolic tensors: `Model(inputs,
    outputs)`.

    Args:
      *args, **kwargs: of a subclass `name`, `trainable` and `dtype`; of a functional model `inputs` and `outputs`,
        symbolic tensors or structures of them, and `name`.

    Raises:
      ValueError: for positional arguments that are not symbolic tensors.

    >>> inputs = tf.keras.Input(shape=(3,))
    >>> outputs = tf.keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    >>> model = tf.keras.Model(inputs, outputs)
    >>> print(model(tf.constant([[1.0, 2.0, 3.0]])).numpy())
    [[6. 6.]]
    """

    _keras_module: ClassVar[str | None] = "keras"
    _may_set_early = False
    _is_graph_network = False  # whether it was made of symbolic tensors; programs ask for it

    def __new__(cls, *args, **kwargs):
        if cls is Model and _are_symbolic(args, kwargs):
            return object.__new__(services().functional.Functional)
        made = object.__new__(cls)
        if _are_plain((args, kwargs)):
            made.__dict__["_made_by"] = args, kwargs
        return made

    def __init__(self, *args, **kwargs):
        if _are_symbolic(args, kwargs):
            functional = services().functional
            functional.make_functional(type(self))
            functional.Functional.__init__(self, *args, **kwargs)
            return
        if len(args) == 1 and type(self) is not Model and "name" not in kwargs:
            # The first argument of a subclass's constructor is its name; programs pass other things too.
            kwargs["name"], args = (args[0] if isinstance(args[0], str) else None), ()
        if args:
            raise ValueError(
                f"{type(self).__name__} takes symbolic inputs and outputs, or no positional "
                f"arguments; got {args}"
            )
        super().__init__(**kwargs)
        self._start_training_state()

    def build(self, input_shape):
        """Makes the weights by a call on zeros of this shape."""
        if calling.state.depth or self._is_being_built:
            self.built = True
            return
        if input_shape is None:
            raise ValueError(
                "Input shape must be defined when calling `build()` on a `Model` subclass."
            )
        if not isinstance(input_shape, (tuple, list, dict, TensorShape)):
            raise ValueError(
                "Specified input shape is not one of the valid types. Please specify a batch input "
                "shape of type tuple or list of input shapes. User provided input type: "
                f"{type(input_shape)}."
            )
        required = calling.signature_of(self).required[1:]
        if any(name not in ("training", "mask") for name in required):
            raise ValueError(
                "Currently, you cannot build your model if it has positional or keyword arguments that are "
                "not inputs to the model, but are required for its `call` method. Instead, in order to "
                "instantiate and build your model, `call` your model on real tensor data with all expected "
                "call arguments."
            )
        shapes = as_shapes(input_shape)
        inputs = nest.map_structure(lambda s: KerasTensor.unnamed(s, self.compute_dtype), shapes)
        for layer in self.layers if isinstance(inputs, dict) else ():
            # Features by name have the dtypes that their columns say.
            for name, dtype in getattr(layer, "_feature_dtypes", {}).items():
                if name in inputs:
                    inputs[name] = KerasTensor.unnamed(shapes[name], dtype)
        given = {"training": False} if "training" in required else {}
        self.__dict__["_is_being_built"] = True
        try:
            infer(self._call_plainly, inputs, (), given)
        except (InvalidArgumentError, TypeError, ValueError) as error:
            raise ValueError(
                "You cannot build your model by calling `build` if your layers do not support float "
                "type inputs. Instead, in order to instantiate and build your model, call your model "
                "on real tensor data (of the correct dtype).\n\nThe actual error from `call` is: "
                f"{error}."
            ) from error
        finally:
            self.__dict__["_is_being_built"] = False
        self.built = True

    _is_being_built = False

    def call(self, inputs: Tensor, *args, **kwargs):
        raise NotImplementedError(
            "Unimplemented `tf.keras.Model.call()`: if you intend to create a `Model` with the "
            "Functional API, please provide `inputs` and `outputs` arguments. Otherwise, subclass "
            "`Model` with an overridden `call()` method."
        )

    @property
    def inputs(self):
        """The symbolic inputs: none, of a subclass, but in a graph of 1.x, where it has been called on tensors."""
        return self.__dict__.get("_called_on")

    @property
    def outputs(self):
        """The symbolic outputs: none, of a subclass."""

    @property
    def layers(self):
        """The layers held directly."""
        return self._sublayers()

    def get_layer(self, name: str | None = None, index: int | None = None):
        """Find a layer.

        Args:
          name: its name.
          index: its position, instead of the name.

        Returns:
          The layer.

        Raises:
          ValueError: when there is none, and for both arguments.
        """
        if index is not None and name is not None:
            raise ValueError(
                f"Provide only a layer name or a layer index. Received: index={index}, name={name}."
            )
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(layers)} "
                    "layers."
                )
            return layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(
            f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}."
        )

    def _gather(self, trainable: bool):
        """As Layer's, but in Keras 2 the layers' variables before the model's own."""
        if not keras_2():
            return super()._gather(trainable)
        found = self._gather_held("trainable_weights" if trainable else "non_trainable_weights", trainable)
        return found + [weight for weight in self._own_weights if weight.trainable is trainable]

    @property
    def weights(self):
        """All variables, layer by layer; the model's own come last in Keras 2, and first in Keras 3."""
        if not keras_2():
            return super().weights
        found, own = self._gather_held("weights"), self._own_weights
        found += [weight for weight in own if weight.trainable]
        found += [weight for weight in own if not weight.trainable]
        return unique(found)

    def quantize(self, mode=None, config=None, filters=None, **kwargs):
        """Make the weights of all layers that can have them integers with scales.

        Args:
          mode: "int8", "int4" or "float8"; None for that of the config. "float8" is for training: weights stay as they
            are, and products are computed as if their factors, and gradients, were floats of 8 bits.
          config: an `Int8QuantizationConfig`, `Int4QuantizationConfig` or `Float8QuantizationConfig`, or None for the
            default one, which for "int4" has groups of 128.
          filters: which layers, by a regular expression that their names match, a list of these, or a function of a
            layer; None for all.
          **kwargs: `type_check`, as in Keras 3.

        Raises:
          ValueError: for other arguments.
        """
        mode = quantization_mode(mode, config)
        if kwargs.pop("type_check", True) and kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if config is None:
            config = {"int4": Int4QuantizationConfig, "float8": Float8QuantizationConfig}.get(mode, lambda: None)()
        for layer in self._all_layers():
            if layer is self or layer._sublayers() or not layer.weights or not _chosen(layer, filters):
                continue
            try:
                layer.quantize(mode, config=config)
            except NotImplementedError as error:
                warnings.warn(str(error), stacklevel=2)
        self.__dict__.update(dict.fromkeys(self._traced()))

    def summary(
        self, line_length=None, positions=None, print_fn=None, expand_nested: bool = False,
        show_trainable: bool = False, layer_range=None,
    ):
        """Print the layers with their output shapes and numbers of parameters.

        Args:
          line_length: the length of the lines in characters; None for one that fits.
          positions: where the columns end, as parts of the line or in characters.
          print_fn: a function that gets the lines instead of `print`.
          expand_nested: whether the layers of models inside are listed.
          show_trainable: whether a column says which layers are trainable.
          layer_range: a pair of patterns of names: the first and the last layer to be listed.
        """
        summary.print_summary(
            self, line_length, print_fn, positions, expand_nested, show_trainable, layer_range
        )

    def _repr_html_(self):
        return summary.to_html(self)

    def _shape_of_layer(self, layer: Layer):
        """The output shape of a layer of the model, as far as it is known."""
        return summary.shape_of_calls(layer)

    def get_config(self):
        """The arguments that a subclass was made with, where they are plain; other models have their own.

        Raises NotImplementedError for a subclass that was given other objects.
        """
        if "_made_by" not in self.__dict__:
            raise NotImplementedError(
                f"{type(self).__name__} does not have a `get_config()` method, and was made with arguments that "
                "a config cannot hold: it has to say itself how it is made again."
            )
        args, kwargs = self._made_by
        parameters = inspect.signature(type(self).__init__)
        bound = parameters.bind(self, *args, **kwargs)
        bound.apply_defaults()
        config: dict[str, Any] = {}
        for (name, value), kind in zip(
            bound.arguments.items(), parameters.parameters.values(), strict=True
        ):
            if kind.kind is kind.VAR_KEYWORD:
                config |= value
                config.setdefault("name", self.name)
            elif kind.kind is not kind.VAR_POSITIONAL:
                config[name] = value
        config.pop(next(iter(parameters.parameters)))
        if "name" in config:
            config["name"] = self.name
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make a model from its config.

        Args:
          config: what `get_config` gave.
          custom_objects: a dict of the program's own classes and functions by name.

        Returns:
          A model with new weights.
        """
        with deserializing():
            if not {"name", "layers", "input_layers", "output_layers"} <= set(config):
                return cls(**config)
            inputs, outputs, sides = tensors_of(config, custom_objects)
        made = services().functional.Functional if cls is Model else cls
        own = {}
        if cls is not Model and not keras_2():  # what the class adds to the config
            own = {name: value for name, value in config.items() if name not in _CONFIG_OF_LAYERS}
        model = made(inputs=inputs, outputs=outputs, name=config["name"], **own)
        for side in sides:
            model._add_side(side)
        return model

    def to_json(self, **kwargs):
        """The config as JSON, from which `model_from_json` makes an equal model; kwargs for json.dumps."""
        return services().saving.to_json(self, **kwargs)

    def _tracked_objects(self):
        found = {} if self.optimizer is None else {"optimizer": self.optimizer}
        return super()._tracked_objects() | found

    def _saved_model_functions(self):
        """The functions that a SavedModel of the model has."""
        from tapeflow.keras.engine.files.saved_functions import functions_of

        return functions_of(self)

    def _operations(self):
        """The layers in order, as a node that checkpoints follow."""
        return self.__dict__.setdefault("_operations_node", Node(self._numbered_operations))

    def _numbered_operations(self):
        return listed(self.layers)

    def _layers_by_number(self):
        """Layers as checkpoints of functional and Sequential models of Keras 2 know them."""
        found, count = {}, 0
        for number, layer in enumerate(self.layers):
            if layer.weights:
                found[f"layer_with_weights-{count}"] = layer
                count += 1
            found[f"layer-{number}"] = layer
        return found

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size=None, save_format: str | None = None, options=None
    ):
        """Save the weights: as a TensorFlow checkpoint, or as HDF5 for names that end in .h5, .hdf5 or .keras.

        Args:
          filepath: the file, or the prefix of a checkpoint's files; ".weights.h5" at the end chooses the format of
            Keras 3.
          overwrite: whether a file that exists is replaced without asking.
          max_shard_size: the size of files of which there may be several, in GB of 1024**3 bytes; `filepath` then
            ends in ".weights.json" and lists them. None for one file. Under Keras 2 `save_format` has this place.
          save_format: "tf" or "h5", instead of what the name says.
          options: the `tf.train.CheckpointOptions` of a checkpoint.

        Raises:
          ValueError: for a model without weights yet, an unknown format, and a variable larger than a file.
        """
        if isinstance(max_shard_size, str):  # the order of Keras 2
            max_shard_size, save_format, options = None, max_shard_size, save_format or options
        services().weight_files.save(self, filepath, overwrite, save_format, options, max_shard_size)

    def save(self, filepath: Any, overwrite: bool = True, save_format: str | None = None, **kwargs):
        """Save the whole model: layers, weights, and the optimizer with its state. See `tf.keras.models.save_model`.

        Args:
          filepath: the file, whose name says the format: ".keras", or ".h5" and ".hdf5" for HDF5. Other names are
            folders of a SavedModel.
          overwrite: whether a file that exists is replaced without asking.
          save_format: "keras", "h5" or "tf", instead of what the name says.
          **kwargs: further arguments of `save_model`.
        """

        services().model_files.save_model(self, filepath, overwrite, save_format=save_format, **kwargs)

    def load_weights(self, filepath: Any, skip_mismatch: bool = False, by_name: bool = False, options=None):
        """Load what `save_weights` has saved.

        Args:
          filepath: the file, or the prefix of a checkpoint's files.
          skip_mismatch: whether layers whose weights have other shapes are left as they are.
          by_name: whether layers of HDF5 files are found by their names instead of their order.
          options: the `tf.train.CheckpointOptions` of a checkpoint.

        Returns:
          For checkpoints a status with assertions, otherwise None.
        """
        return services().weight_files.load(self, filepath, skip_mismatch, by_name, options)

    def export(
        self, filepath: Any, format: str = "tf_saved_model", verbose: bool = True, input_signature=None, **kwargs
    ):
        """Write a SavedModel with a function `serve`, for serving.

        Args:
          filepath: its folder.
          format: "tf_saved_model".
          verbose: whether the function's signature is printed.
          input_signature: `tf.TensorSpec`s of the inputs; None for those of the model.
          **kwargs: accepted as in Keras 3.

        Raises:
          ValueError: for other formats.
        """
        from tapeflow.keras.export import export_model

        export_model(self, filepath, format, verbose, input_signature)

    def build_from_config(self, config: dict[str, Any]):
        """Builds the model for the shapes that it was built for when it was saved."""
        if config and config.get("input_shape") is not None:
            self.build(_shapes(config["input_shape"]))

    def reset_states(self):
        """Lets every stateful layer begin anew."""
        for layer in self._all_layers()[1:]:
            if layer.stateful and hasattr(layer, "reset_states"):
                layer.reset_states()


def _shapes(shape: Sequence[int | None] | dict[str, Any]):
    """Shapes of a config: lists of sizes as tuples."""
    if isinstance(shape, dict):
        return {name: _shapes(value) for name, value in shape.items()}
    if shape and isinstance(shape[0], (list, tuple)):
        return [_shapes(value) for value in shape]
    return tuple(shape)


def _are_symbolic(args: Sequence[Any], kwargs: dict[str, Any]):
    candidates = [*args[:2], kwargs.get("inputs"), kwargs.get("outputs")]
    return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(candidates))


def _are_plain(value: Any) -> bool:
    """Whether a config can hold a value as it is: numbers, strings, and containers of them."""
    if isinstance(value, (list, tuple)):
        return all(map(_are_plain, value))
    if isinstance(value, dict):
        return all(map(_are_plain, value.values()))
    return value is None or isinstance(value, (bool, int, float, str))
