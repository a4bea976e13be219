"""What is known of a call's outputs before it runs: `infer` their shapes, `output_dtypes` their dtypes.

Both see a call as rows do: inputs are flat, each list input spread out at its place. `list_sizes` has the
length of each list input, in the order of the signature; with one list it may be left out, as its length
then follows from the number of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.ops import partial_values

Shape = tuple[int | None, ...] | None


class Call:
    """A call of a row as its shape rule sees it."""

    __slots__ = ("_attrs", "_list_sizes", "count", "inputs", "row")

    def __init__(
        self, row: Any, inputs: Sequence[Any], attrs: Mapping[str, Any],
        list_sizes: Sequence[int] | None = None,
    ):
        self.row = row
        self.inputs = inputs
        self._attrs = attrs
        self._list_sizes = list_sizes
        self.count = len(inputs)

    def shape(self, i: int) -> Shape:
        """The shape of input `i`; None where its rank is unknown."""
        return self.inputs[i].shape_tuple

    def value(self, i: int) -> np.ndarray | None:
        """The value of input `i` if it is a constant."""
        return self.inputs[i].constant_value()

    def value_as_shape(self, i: int) -> Shape:
        """What is known of the shape that the vector `i` spells: -1 and unknown elements are None."""
        return partial_values.as_shape(self.inputs[i])

    def elements(self, i: int) -> list[int | None] | None:
        """The elements of the integer vector `i`, None for each unknown one; None if no length is known."""
        return partial_values.elements(self.inputs[i])

    def dtype(self, i: int) -> DType:
        """The dtype of input `i`."""
        return self.inputs[i].dtype

    def variable(self, i: int) -> Shape:
        """The shape of the variable that the handle `i` stands for."""
        return getattr(self.inputs[i], "handle_shape", None)

    def attr(self, name: str) -> Any:
        attrs = self._attrs
        return attrs[name] if name in attrs else self.row.defaults[name]

    @property
    def list_sizes(self) -> Sequence[int]:
        if self._list_sizes is None:
            self._list_sizes = sizes_of_lists(schema(self.row), len(self.inputs), None)
        return self._list_sizes


def infer(
    row: Any,
    inputs: Sequence[Any],
    attrs: Mapping[str, Any],
    list_sizes: Sequence[int] | None = None,
) -> list[Shape]:
    """The shapes of the outputs, list outputs spread out; None stands for an unknown size or rank.

    Args:
      inputs: objects with `.shape_tuple` (a tuple of int or None; None: unknown rank) and
        `.constant_value()` (an array, or None where it is no constant).
      attrs: those that were given; the others have their defaults.

    Raises:
      InvalidArgumentError: the shapes that are known already cannot be right.
    """
    rule = row.shape_rule
    if rule is None:
        return [None] * output_count(row, attrs, list_sizes, len(inputs))
    return rule(Call(row, inputs, attrs, list_sizes))


# Dtypes.


class _Input(NamedTuple):
    name: str
    variable: str  # the type variable, or "" where the dtype is fixed
    fixed: DType | None
    is_list: bool
    least: int  # how long a list is at least


class _Output(NamedTuple):
    variable: str  # of the inputs' type variables
    attr: str  # or the attr that names the dtype
    fixed: DType | None
    is_list: bool
    count_attr: str  # of a list: the attr that is its length; "" for that of the first list input
    least: int


class Schema(NamedTuple):
    """A row's signature, taken apart."""

    inputs: tuple[_Input, ...]
    outputs: tuple[_Output, ...]
    lists: int  # how many inputs are lists
    plain: bool  # no lists, neither in nor out


_schemas: dict[str, Schema] = {}


def schema(row: Any) -> Schema:
    found = _schemas.get(row.name)
    if found is None:
        found = _schemas[row.name] = _parse(row)
    return found


def _parse(row: Any) -> Schema:
    inputs = []
    for a in row.arguments[0]:
        known = a.type in row.types
        fixed = None if known else dtypes.as_dtype(a.type)
        inputs.append(_Input(a.name, a.type if known else "", fixed, bool(a.times), a.least))
    outputs = []
    for a in row.arguments[1]:
        variable = a.type if a.type in row.types else ""
        attr = a.type if not variable and a.type in row.attrs else ""
        fixed = None if variable or attr else dtypes.as_dtype(a.type)
        count = a.times if a.times in row.attrs else ""
        outputs.append(_Output(variable, attr, fixed, bool(a.times), count, a.least))
    lists = sum(a.is_list for a in inputs)
    return Schema(
        tuple(inputs), tuple(outputs), lists, not lists and not any(a.is_list for a in outputs)
    )


def sizes_of_lists(found: Schema, count: int, given: Sequence[int] | None) -> Sequence[int]:
    """The length of each list input; where it was not given, the inputs are shared out equally."""
    if given is not None or not found.lists:
        return given or ()
    return ((count - len(found.inputs) + found.lists) // found.lists,) * found.lists


def flat_names(row: Any, list_sizes: Sequence[int]) -> list[str]:
    """The name of the input that each flat input belongs to."""
    sizes = iter(list_sizes)
    names = []
    for argument in schema(row).inputs:
        names += [argument.name] * (next(sizes) if argument.is_list else 1)
    return names


def grouped(row: Any, flat: Sequence[Any], list_sizes: Sequence[int]) -> list[Any]:
    """The inputs as kernels take them: lists for list inputs."""
    sizes, rest = iter(list_sizes), iter(flat)
    return [
        [next(rest) for _ in range(next(sizes))] if argument.is_list else next(rest)
        for argument in schema(row).inputs
    ]


def output_count(
    row: Any, attrs: Mapping[str, Any], list_sizes: Sequence[int] | None = None, count: int = 0
) -> int:
    """How many tensors the call returns, lists spread out. `count` is the number of flat inputs."""
    found = schema(row)
    if found.plain:
        return len(found.outputs)
    sizes = sizes_of_lists(found, count, list_sizes)
    return sum(length(row, output, attrs, sizes) for output in found.outputs)


_MOST_OUTPUTS = 1 << 20  # of one node; lists of them are made before any size is compared


def length(row: Any, output: _Output, attrs: Mapping[str, Any], sizes: Sequence[int]) -> int:
    if not output.is_list:
        return 1
    if output.count_attr:
        name = output.count_attr
        count = int(attrs[name] if name in attrs else row.defaults[name])
        if count > _MOST_OUTPUTS:
            raise ValueError(f"Number of outputs is too big: {count}")
        if count < output.least:
            raise ValueError(f"Attr '{name}' of '{row.name}' Op passed {count} less than minimum {output.least}.")
        return count
    return sizes[0] if sizes else 0


def output_dtypes(
    row: Any,
    input_dtypes: Sequence[DType],
    attrs: Mapping[str, Any],
    list_sizes: Sequence[int] | None = None,
) -> list[DType]:
    """The dtypes of the outputs, list outputs spread out.

    Raises:
      TypeError: inputs that do not fit to each other or to the signature, in TensorFlow's words.
    """
    found = _schemas.get(row.name) or schema(row)
    sizes = sizes_of_lists(found, len(input_dtypes), list_sizes) if found.lists else ()
    bound = _bind(row, found, input_dtypes, sizes)
    result: list[DType] = []
    for output in found.outputs:
        if output.variable:
            dtype = bound[output.variable] if output.variable in bound else row.types[output.variable][0]
        elif output.attr:
            name = output.attr
            dtype = attrs[name] if name in attrs else row.defaults[name]
            if not isinstance(dtype, DType):
                dtype = dtypes.as_dtype(dtype)
        else:
            assert output.fixed is not None
            dtype = output.fixed
        if output.is_list:
            result += [dtype] * length(row, output, attrs, sizes)
        else:
            result.append(dtype)
    return result


def _bind(row: Any, found: Schema, given: Sequence[DType], sizes: Sequence[int]) -> dict[str, DType]:
    """The dtype of each type variable."""
    bound: dict[str, DType] = {}
    owner: dict[str, str] = {}
    at = lists = 0
    for argument in found.inputs:
        if argument.is_list:
            group = given[at : at + sizes[lists]]
            at += sizes[lists]
            lists += 1
            if not group:
                continue
            expected = argument.fixed or bound.get(argument.variable)
            problem = ""
            if any(t != group[0] for t in group):
                problem = "that don't all match"
                if argument.fixed is not None:
                    problem = f"that do not match expected type {argument.fixed.name}"
            elif expected is not None and group[0] != expected:
                problem = f"that do not match expected type {expected.name}"
                if argument.fixed is None:
                    problem = f"that do not match type {expected.name} inferred from earlier arguments"
            if problem:
                names = ", ".join(t.name for t in group)
                raise TypeError(
                    f"Tensors in list passed to '{argument.name}' of '{row.name}' Op have types "
                    f"[{names}] {problem}."
                )
            dtype = group[0]
        else:
            dtype = given[at]
            at += 1
        variable = argument.variable
        if not variable:
            if dtype != argument.fixed:
                assert argument.fixed is not None
                raise TypeError(
                    f"Input '{argument.name}' of '{row.name}' Op has type {dtype.name} that does not "
                    f"match expected type of {argument.fixed.name}."
                )
        elif variable not in bound:
            if dtype not in row.types[variable]:
                allowed = ", ".join(t.name for t in row.types[variable])
                raise TypeError(
                    f"Value passed to parameter '{argument.name}' has DataType {dtype.name} not in "
                    f"list of allowed values: {allowed}"
                )
            bound[variable] = dtype
            owner[variable] = argument.name
        elif bound[variable] != dtype:
            raise TypeError(
                f"Input '{argument.name}' of '{row.name}' Op has type {dtype.name} that does not match "
                f"type {bound[variable].name} of argument '{owner[variable]}'."
            )
    return bound
