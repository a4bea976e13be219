"""Python functions of composite tensors within graphs: called with flat tensors, as operations are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest, structure


class FlatCall:
    """A call of `func` with arguments or results that are composite tensors, or with specs of its results.

    Args:
      func: the function, of eager values.
      inp: its arguments.
      Tout: the dtype or spec of its result, or a list of them; empty or None: nothing.

    Attributes:
      tensors: the tensors in the arguments.
      dtypes: those of the tensors in the results.
    """

    def __init__(self, func: Callable[..., Any], inp: Sequence[Any] | None, Tout: Any):
        self._func = func
        self._inp = list(inp or ())
        self._listed = Tout is None or isinstance(Tout, (list, tuple))
        self._promised = list(Tout or ()) if self._listed else [Tout]
        self.tensors = nest.flatten(self._inp, expand_composites=True)
        self._specs = nest.flatten(self._promised, expand_composites=True)
        self.dtypes = [spec.dtype if isinstance(spec, TensorSpec) else spec for spec in self._specs]

    def __call__(self, *tensors: Any) -> list[Any]:
        """The tensors of the results. Raises InvalidArgumentError for results other than those promised."""
        found = self._func(*nest.pack_sequence_as(self._inp, list(tensors), expand_composites=True))
        if not self._promised:
            return []
        values = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(values) != len(self._promised):
            raise self._broken(values)
        flat: list[Any] = []
        for value, promised in zip(values, self._promised, strict=True):
            if not isinstance(promised, TypeSpec) or isinstance(promised, TensorSpec):
                dtype = promised.dtype if isinstance(promised, TensorSpec) else promised
                if nest.is_nested_or_composite(value) and not isinstance(value, (list, tuple)):
                    raise self._broken(values)
                value = convert_to_tensor(value, dtype_hint=dtype)
            if isinstance(promised, TypeSpec) and not promised.is_compatible_with(value):
                raise self._broken(values)
            flat += nest.flatten(value, expand_composites=True)
        return flat

    def _broken(self, values: list[Any]) -> InvalidArgumentError:
        return InvalidArgumentError(
            None, None,
            f"py_function: func={self._func} returned {values}, which did not match Tout={self._promised}.",
        )  # fmt: skip

    def packed(self, tensors: Sequence[Any]) -> Any:
        """The results whose tensors these are, with the shapes that specs give."""
        for tensor, spec in zip(tensors, self._specs, strict=True):
            if isinstance(spec, TensorSpec):
                tensor.set_shape(spec.shape)
        made = nest.pack_sequence_as(self._promised, list(tensors), expand_composites=True)
        return made if self._listed else made[0]


def is_composite_call(inp: Sequence[Any] | None, Tout: Any) -> bool:
    """Whether a call needs a `FlatCall`."""
    promised = Tout if isinstance(Tout, (list, tuple)) else [Tout]
    return any(isinstance(spec, TypeSpec) for spec in promised) or any(map(structure.is_composite, inp or ()))
