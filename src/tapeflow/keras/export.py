"""`tf.keras.export`: models as SavedModels for serving."""

from __future__ import annotations

import os

from tapeflow.core import nest
from tapeflow.core.module import Module
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.function.function import function as compile_function


def export_model(model, filepath, format="tf_saved_model", verbose=True, input_signature=None):
    """Writes a SavedModel whose `serve` runs the model, for any batch size.

    Raises ValueError for other formats, and for a model that has not been called or built.
    """
    if format != "tf_saved_model":
        raise ValueError(
            f"Unrecognized format={format}. Supported formats are: ['tf_saved_model']."
        )
    specs = input_signature if input_signature is not None else [_specs(model)]

    def serve(*inputs):
        return model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

    archive = ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", serve, specs)
    archive.write_out(filepath, verbose=verbose)


def _specs(model):
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
    """Functions and what they use, written together as a SavedModel."""

    def __init__(self):
        self._module = Module()
        self._functions = {}

    def track(self, resource):
        """Keeps an object for the file."""
        tracked = self._module.__dict__.setdefault("_tracked_resources", [])
        setattr(self._module, f"resource_{len(tracked)}", resource)
        tracked.append(resource)

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        """Adds a function under a name, for inputs of this signature; returns it compiled."""
        made = compile_function(fn, input_signature=input_signature)
        self._functions[name] = made
        setattr(self._module, name, made)
        return made

    def write_out(self, filepath, options=None, verbose=True):
        """Writes the SavedModel, with the `SaveOptions` given. Raises ValueError without an endpoint."""
        from tapeflow.saved_model import save

        if not self._functions:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        first = next(iter(self._functions.values()))
        save(self._module, os.fspath(filepath), {"serving_default": first, **self._functions}, options)
        if verbose:
            print(f"Saved artifact at '{filepath}'.")
