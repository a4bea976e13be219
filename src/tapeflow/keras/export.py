"""`tf.keras.export`: models as SavedModels for serving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.files.paths import local_path
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tracking.trackable import AutoTrackable
from tapeflow.function.function import function as compile_function
from tapeflow.keras.engine.autocast import plain
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.state.variable import Variable
from tapeflow.saved_model import save

if TYPE_CHECKING:
    from tapeflow.keras.engine.sequential import Sequential


def export_model(model, filepath: Any, format: str = "tf_saved_model", verbose: bool = True, input_signature=None):
    """Writes a SavedModel whose `serve` runs the model, for any batch size.

    Raises ValueError for other formats, and for a model that has not been called or built.
    """
    if format != "tf_saved_model":
        raise ValueError(
            f"Unrecognized format={format}. Supported formats are: ['tf_saved_model']."
        )
    specs = input_signature if input_signature is not None else [_specs(model)]

    archive = ExportArchive()
    archive.track_and_add_endpoint("serve", model, specs)
    archive.write_out(filepath, verbose=verbose)


def _inference(model: Sequential):
    def serve(*inputs):
        return model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

    return serve


def inference_function(model):
    """The concrete function of a model as it runs outside of training, for any batch size.

    Raises ValueError for a model that has not been called or built.
    """
    specs = _specs(model)
    specs = specs if isinstance(specs, (list, tuple)) else [specs]
    return compile_function(_inference(model), autograph=False).get_concrete_function(*specs)


def _traces(function):
    return function._list_all_concrete_functions()


def _concrete(function):
    """The first trace of a function, which an input signature has only one of."""
    traced = _traces(function)
    return traced[0] if traced else function.get_concrete_function()


def _specs(model: Sequential):
    tensors = getattr(model, "inputs", None)
    if tensors:
        specs = [TensorSpec(t.shape, t.dtype, t.name) for t in nest.flatten(tensors)]
        return specs[0] if len(specs) == 1 else specs
    seen = model.__dict__.get("_input_shape_seen")
    if seen is None:
        raise ValueError(
            "The model provided has never been called. It must be called at least once before export."
        )
    return nest.map_structure(
        lambda shape: TensorSpec([None, *shape.as_list()[1:]], model.compute_dtype), seen
    )


class ExportArchive:
    """Functions and what they use, written together as a SavedModel.

    The SavedModel has the lists `variables`, `trainable_variables` and `non_trainable_variables`, and those of
    `add_variable_collection`.
    """

    def __init__(self):
        self._root = AutoTrackable()
        self._resources = []
        self._functions = {}

    def _variables(self, kind):
        found = {}
        for resource in self._resources:
            found |= {id(plain(each)): plain(each) for each in getattr(resource, kind, ())}
        return list(found.values())

    @property
    def variables(self):
        """The variables of what is tracked."""
        return self._variables("variables")

    @property
    def trainable_variables(self):
        """Those that are trained."""
        return self._variables("trainable_variables")

    @property
    def non_trainable_variables(self):
        """Those that are not trained."""
        return self._variables("non_trainable_variables")

    def track(self, resource: Sequential):
        """Keep an object for the file: a layer, a model, a table or another trackable object.

        Raises:
          ValueError: for a layer that has no variables yet because it has not been built.
        """
        if isinstance(resource, Layer) and not resource.built:
            raise ValueError("The layer provided has not yet been built. It must be built before export.")
        setattr(self._root, f"_resource_{len(self._resources)}", resource)
        self._resources.append(resource)

    def add_endpoint(self, name: str, fn, input_signature: Sequence[Any] | None = None, **kwargs):
        """Add a function under a name.

        Args:
          name: the name of the function in the SavedModel.
          fn: a Python function, or a `tf.function`.
          input_signature: the specs of its arguments; not needed for a `tf.function` that has been called.
          **kwargs: accepted as in Keras.

        Returns:
          The function, compiled.

        Raises:
          ValueError: for a name that is taken, and a function whose arguments are not known.
        """
        if name in self._functions:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if input_signature is None:
            if not hasattr(fn, "get_concrete_function"):
                raise ValueError(
                    "If the `fn` argument provided is not a `tf.function`, you must provide an `input_signature` "
                    "argument to specify the shape and dtype of the function arguments."
                )
            if not _traces(fn):
                raise ValueError(
                    f"The provided tf.function '{fn}' has never been called: call it, or pass an `input_signature` "
                    "argument to `add_endpoint`."
                )
            made = fn
        else:
            made = compile_function(fn, input_signature=input_signature)
        self._functions[name] = made
        setattr(self._root, name, made)
        return made

    def track_and_add_endpoint(
        self, name: str, resource: Sequential, input_signature: Sequence[Any], **kwargs
    ):
        """Keep a layer or model for the file, and add its call in inference under a name.

        Args:
          name: the name of the function in the SavedModel.
          resource: the layer or model.
          input_signature: the specs of its inputs.
          **kwargs: accepted as in Keras.
        """
        self.track(resource)
        self.add_endpoint(name, _inference(resource), input_signature)

    def add_variable_collection(self, name: str, variables: Sequence[Any]):
        """Add a list of variables to the SavedModel.

        Args:
          name: the name of the list.
          variables: a list, tuple or set of variables.

        Raises:
          ValueError: for what is not such a list, or holds something else.
        """
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError(f"Expected `variables` to be a list/tuple/set. Received: {type(variables)}")
        wrong = [each for each in variables if not isinstance(plain(each), Variable)]
        if wrong:
            raise ValueError(f"Expected all elements in `variables` to be variables. Found: {wrong[0]!r}")
        setattr(self._root, name, [plain(each) for each in variables])

    def write_out(self, filepath: Any, options=None, verbose: bool = True):
        """Write the SavedModel; its default signature is the first endpoint, unless one is "serving_default".

        Args:
          filepath: the folder.
          options: `tf.saved_model.SaveOptions`.
          verbose: whether to say where it was written.

        Raises:
          ValueError: without an endpoint.
        """
        if not self._functions:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        for kind in ("variables", "trainable_variables", "non_trainable_variables"):
            if not hasattr(self._root, kind):
                setattr(self._root, kind, getattr(self, kind))
        signatures = {name: _concrete(function) for name, function in self._functions.items()}
        signatures.setdefault("serving_default", next(iter(signatures.values())))
        save(self._root, local_path(filepath), signatures, options)
        if verbose:
            print(f"Saved artifact at '{filepath}'.")
