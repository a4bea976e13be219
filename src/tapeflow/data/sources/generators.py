"""`Dataset.from_generator`: the elements of Python generators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries, boundary
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.iteration.passes import Counted
from tapeflow.data.transform.record import record
from tapeflow.data.transform.tracing import translated


class GeneratorMethods:
    """Static methods of Dataset."""

    @staticmethod
    @boundary
    def from_generator(
        generator: Callable[..., Any] | type, output_types: DType | None = None, output_shapes=None, args=None,
        output_signature: Sequence[Any] | TensorSpec | None = None, name: str | None = None,
    ):
        """Give the elements of a Python generator, called anew for every pass.

        Args:
          generator: a function that gives an iterable.
          output_types: the dtypes of an element, where there is no signature.
          output_shapes: the shapes of an element; None for unknown ones.
          args: tensors that are passed to the function, as arrays.
          output_signature: `tf.TypeSpec`s of an element.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.

        Raises:
          InvalidArgumentError: when it is reached, for an element of another type or shape.

        >>> def count():
        ...     yield from (1, 2, 3)
        >>> dataset = tf.data.Dataset.from_generator(count, output_signature=tf.TensorSpec([], tf.int32))
        >>> print([int(x) for x in dataset])
        [1, 2, 3]
        """
        return from_generator(generator, output_types, output_shapes, args, output_signature)


@record("from_generator")
def from_generator(
    generator: Callable[..., Any] | type, output_types: DType | None, output_shapes, args,
    output_signature: Sequence[Any] | TensorSpec | None,
):
    """Dataset arguments for the values of a generator function."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments are mutually exclusive with "
                "`output_signature`."
            )
        spec = _tuples_for_lists(output_signature)
    elif output_types is None:
        raise TypeError("Either `output_signature` or `output_types` must be specified.")
    else:
        types = element.map_leaves(dtypes.as_dtype, _tuples_for_lists(output_types))
        if output_shapes is None:
            spec = element.map_leaves(lambda t: TensorSpec(None, t), types)
        else:
            spec = _with_shapes(types, output_shapes)
    arguments = () if args is None else tuple(convert_to_tensor(a).numpy() for a in args)

    return "FlatMap", lambda: Generated(lambda: generator(*arguments), spec), spec


class Generated(Counted):
    """The values of a generator. After an unfit one the pass goes on with the next."""

    __slots__ = ("_spec",)

    def __init__(self, begin: Callable[..., Any], spec: Sequence[Any] | TensorSpec):
        super().__init__(begin)
        self._spec = spec

    def __next__(self):
        try:
            value = super().__next__()
        except StopIteration:
            raise
        except Exception as error:
            raise translated(error, "from_generator", self._count - 1) from error
        return _checked(value, self._spec)


def _tuples_for_lists(structure):
    if isinstance(structure, list):
        return tuple(_tuples_for_lists(item) for item in structure)
    if element.is_structure(structure):
        items = [_tuples_for_lists(item) for item in element.children(structure)]
        return element.rebuild(structure, items)
    return structure


def _with_shapes(types, shapes):
    if not element.is_structure(types):
        return TensorSpec(TensorShape(shapes), types)
    if hasattr(types, "keys"):
        return element.rebuild(types, [_with_shapes(types[k], shapes[k]) for k in types])
    return element.rebuild(types, [_with_shapes(t, s) for t, s in zip(types, shapes, strict=True)])


def _checked(value: Sequence[np.ndarray] | float, spec: Sequence[Any] | TensorSpec):
    """A generator's value as an element; raises InvalidArgumentError where it breaks its promise."""
    if isinstance(value, list) and isinstance(spec, tuple):
        value = tuple(value)
    if not element.is_structure(spec):
        return _checked_leaf(value, spec)
    try:
        return element.map_leaves(lambda s, leaf: _checked_leaf(leaf, s), spec, value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            None,
            None,
            "TypeError: `generator` yielded an element that did not match the expected structure. "
            f"The expected structure was {element.map_leaves(lambda s: s.dtype, spec)}, but the "
            f"yielded element was {value}. [Op:IteratorGetNext]",
        ) from None


def _checked_leaf(value, spec):
    if not isinstance(spec, TensorSpec):
        found = element.to_element(value)
        if spec is not None and not spec.is_compatible_with(found):
            raise InvalidArgumentError(
                None,
                None,
                "TypeError: `generator` yielded an element that did not match the expected structure. "
                f"The expected structure was {spec}, but the yielded element was {value}. [Op:IteratorGetNext]",
            )
        return found
    try:
        given = value if isinstance(value, Tensor) else np.asarray(value)
        if (
            spec.dtype != dtypes.string
            and isinstance(given, np.ndarray)
            and given.dtype.kind in "OSU"
        ):
            raise TypeError
        tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            None,
            None,
            "TypeError: `generator` yielded an element that could not be converted to the expected "
            f"type. The expected type was {spec.dtype.name}, but the yielded element was {value}. "
            "[Op:IteratorGetNext]",
        ) from None
    if not spec.shape.is_compatible_with(tensor.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"TypeError: `generator` yielded an element of shape {tensor.shape} where an element of "
            f"shape {spec.shape} was expected. [Op:IteratorGetNext]",
        )
    return tensor


boundaries(globals())
