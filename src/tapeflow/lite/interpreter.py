"""`tf.lite.Interpreter`: runs models by PyPI's ai-edge-litert."""

from __future__ import annotations

import ctypes
import os
import warnings
from typing import Any

from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public, public_methods
from tapeflow.lite.experimental_types import OpResolverType
from tapeflow.lite.importing import load
from tapeflow.lite.verifying import verify


@public
def load_delegate(library, options=None):
    """Load a library that takes over parts of models.

    Args:
      library: the path of the shared library.
      options: dict of the options that it is made with; keys and values become strings.

    Returns:
      A delegate, for `Interpreter(experimental_delegates=[...])`.

    Raises:
      ValueError: the delegate could not be made.
      OSError: there is no such library.
      UnimplementedError: the extra `lite` is not installed.
    """
    runtime = load("ai_edge_litert.interpreter")
    ctypes.CDLL(library)  # the runtime's object would complain of itself once more when it is deleted
    return runtime.load_delegate(library, options)


@public_methods
class Interpreter:
    """A model of TensorFlow Lite that can be run. Needs the extra `lite`.

    Args:
      model_path: the file of the model, or
      model_content: its bytes.
      experimental_delegates: list of what `load_delegate` returned.
      num_threads: how many threads kernels may use; None: the runtime's choice.
      experimental_op_resolver_type: which kernels to use, a `tf.lite.experimental.OpResolverType`.
      experimental_preserve_all_tensors: whether intermediate results can be read after a run.
      experimental_disable_delegate_clustering: whether operations keep the order that the model has.
      experimental_default_delegate_latest_features: whether the default delegate uses what it calls experimental.

    Raises:
      ValueError: the bytes are no model, the file cannot be opened, or neither or both are given.
      UnimplementedError: the extra `lite` is not installed.
    """

    def __init__(
        self, model_path=None, model_content=None, experimental_delegates=None, num_threads: int | None = None,
        experimental_op_resolver_type=OpResolverType.AUTO, experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
    ):
        if not model_path and not model_content:
            raise ValueError("`model_path` or `model_content` must be specified.")
        if model_path and model_content:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        if not isinstance(experimental_op_resolver_type, OpResolverType):
            raise ValueError(f"Unrecognized passed in op resolver type: {experimental_op_resolver_type}")
        runtime = load("ai_edge_litert.interpreter")
        content = _read(model_path) if model_path else _bytes(model_content)
        verify(content)
        with warnings.catch_warnings():
            # It says that tensors take memory when they are kept, which was asked for.
            warnings.filterwarnings("ignore", "(?s).*experimental_preserve_all_tensors", UserWarning)
            self._runtime: Any = runtime.Interpreter(
                model_content=content,
                experimental_delegates=experimental_delegates,
                num_threads=num_threads,
                experimental_op_resolver_type=runtime.OpResolverType[experimental_op_resolver_type.name],
                experimental_preserve_all_tensors=experimental_preserve_all_tensors,
                experimental_disable_delegate_clustering=experimental_disable_delegate_clustering,
                experimental_default_delegate_latest_features=experimental_default_delegate_latest_features,
            )

    def allocate_tensors(self):
        """Prepare a run: plan the memory for the shapes that the inputs have now.

        Raises:
          RuntimeError: an operation cannot run with these shapes.
        """
        return self._runtime.allocate_tensors()

    def get_input_details(self):
        """What is known of the inputs.

        Returns:
          List of dicts: `name`, `index`, `shape` now, `shape_signature` with -1 for sizes that may change, `dtype`,
          `quantization` (scale and zero point), `quantization_parameters`, `sparsity_parameters`.
        """
        return self._runtime.get_input_details()

    def get_output_details(self):
        """What is known of the outputs.

        Returns:
          List of dicts as of `get_input_details`.
        """
        return self._runtime.get_output_details()

    def get_tensor_details(self, subgraph_index: int = 0):
        """What is known of all tensors of a subgraph.

        Args:
          subgraph_index: its number.

        Returns:
          List of dicts as of `get_input_details`.

        Raises:
          ValueError: there is no such subgraph.
        """
        return self._runtime.get_tensor_details(subgraph_index)

    def num_subgraphs(self):
        """The number of subgraphs.

        Returns:
          An int.
        """
        return self._runtime.num_subgraphs()

    def resize_tensor_input(self, input_index, tensor_size, strict: bool = False):
        """Give an input another shape; `allocate_tensors` has to be called after it.

        Args:
          input_index: its `index` in the details.
          tensor_size: the shape.
          strict: whether only sizes that the model leaves open may change.

        Raises:
          ValueError: the input cannot have this shape.
        """
        self._runtime.resize_tensor_input(input_index, tensor_size, strict)

    def set_tensor(self, tensor_index: int, value):
        """Set an input.

        Args:
          tensor_index: its `index` in the details.
          value: an array of its dtype and shape.

        Raises:
          ValueError: the index, dtype or shape is wrong.
        """
        self._runtime.set_tensor(tensor_index, value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0):
        """A copy of the value of a tensor.

        Args:
          tensor_index: its `index` in the details.
          subgraph_index: the number of its subgraph.

        Returns:
          An array.

        Raises:
          ValueError: there is no such tensor, or it has no value.
        """
        return self._runtime.get_tensor(tensor_index, subgraph_index)

    def tensor(self, tensor_index: int):
        """A function that gives a view of the memory of a tensor.

        A view that is still held makes `allocate_tensors` and `invoke` raise RuntimeError.

        Args:
          tensor_index: its `index` in the details.

        Returns:
          A function without arguments that returns an array.
        """
        return self._runtime.tensor(tensor_index)

    def invoke(self):
        """Run the model.

        Raises:
          RuntimeError: `allocate_tensors` was not called, or an operation failed.
        """
        self._runtime.invoke()

    def reset_all_variables(self):
        """Give variables the values that they began with."""
        return self._runtime.reset_all_variables()

    def get_signature_list(self):
        """The signatures.

        Returns:
          Dict by their keys of dicts with the lists `inputs` and `outputs` of names.
        """
        return self._runtime.get_signature_list()

    def get_signature_runner(self, signature_key: str | None = None):
        """What runs a signature.

        Args:
          signature_key: its key; None: the only one.

        Returns:
          A function of the inputs by their names that returns a dict of the outputs. Inputs may have other shapes
          where the model leaves sizes open.

        Raises:
          ValueError: there is no such signature, or without a key not one.
        """
        return self._runtime.get_signature_runner(signature_key)


def _read(path: Any) -> bytes:
    try:
        with open(local_path(path), "rb") as file:
            return file.read()
    except OSError:
        raise ValueError(f"Could not open '{os.fspath(path)}'.") from None


def _bytes(content: Any) -> bytes:
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"model_content must be bytes, not {type(content).__name__}")
    return bytes(content)
