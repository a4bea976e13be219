"""The binder: what the signature of an op makes of the inputs and attrs of a call.

A row has one `Schema`, parsed from its signature when it is made. Nodes, shape inference, XLA, `tf.raw_ops` and
GraphDefs ask it which tensors belong to which input, which dtypes these decide, and which dtypes and how many tensors
the outputs are. Eager calls are bound by the native core, which is given the same schema.

"Flat" inputs and outputs are tensors with the lists among them spread out; "sizes" are the lengths of the inputs that
are lists, in the order of the signature. Where there is one such list the sizes may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.dtypes import DType
from tapeflow.ops import signature
from tapeflow.ops.attr_values import attr_value
from tapeflow.ops.signature import Argument, Kind, Preferring

_Tensor = _native.Tensor
_Variable = _native.Variable
MOST_OUTPUTS = 1 << 20  # of one node; lists of them are made before any size is compared
# (argument, value, dtype or None, place in a list or None) -> tensor
Convert = Callable[[Argument, Any, DType | None, int | None], Any]


class Schema:
    """The signature of an op.

    Attributes:
      name: of the op.
      inputs, outputs: `Argument`s.
      types: the dtypes that each type variable may be.
      attrs: the kind of each attr.
      defaults: the values of attrs that may be left out.
      lists: how many inputs are lists.
      plain: whether neither inputs nor outputs are lists.
    """

    __slots__ = ("attrs", "defaults", "inputs", "lists", "name", "outputs", "plain", "types")

    def __init__(
        self, name: str, text: str, types: Mapping[str, Sequence[DType]], attrs: Mapping[str, Kind]
    ) -> None:
        self.name, self.types, self.attrs = name, types, attrs
        self.inputs, self.outputs = signature.parsed(text, types, attrs)
        self.defaults = {key: kind.default for key, kind in attrs.items() if not kind.required}
        self.lists = sum(a.is_list for a in self.inputs)
        self.plain = not self.lists and not any(a.is_list for a in self.outputs)

    # Calls.

    def bind(
        self, values: Sequence[Any], convert: Convert, known: Mapping[str, DType] | None = None
    ) -> tuple[list[Any], list[int | None]]:
        """Convert the values of the inputs to tensors.

        Args:
          values: one for each input.
          convert: makes a tensor of a value. Tensors and variables keep their dtypes, which `check` compares;
            others are to be of the dtype that it is given.
          known: the dtypes of type variables and attrs that are given.

        Returns:
          The flat tensors, and for each input None, or the length of the list that it is.

        Raises:
          TypeError: for a value that is no list where one is needed, or that cannot be of the dtype that is decided.
          ValueError: for a list that is too short, or not as long as another one that must be.
        """
        bound = self._decided(values, known)
        flat: list[Any] = []
        sizes: list[int | None] = []
        lengths: dict[str, tuple[int, str]] = {}
        for argument, value in zip(self.inputs, values, strict=True):
            if not argument.is_list:
                flat.append(self._converted(argument, value, None, bound, convert))
                sizes.append(None)
                continue
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"Expected list for '{argument.name}' argument to '{self.name}' Op, not {value}.")
            self._check_length(argument, len(value), lengths)
            flat += [self._converted(argument, x, i, bound, convert) for i, x in enumerate(value)]
            sizes.append(len(value))
        return flat, sizes

    def _decided(self, values: Sequence[Any], known: Mapping[str, DType] | None) -> dict[str, DType]:
        """The type variables that tensors and arrays decide; Python values follow."""
        bound = dict(known or ())
        for argument, value in zip(self.inputs, values, strict=True):
            variable = argument.variable
            if not variable or variable in bound:
                continue
            for x in value if argument.is_list and isinstance(value, (list, tuple)) else (value,):
                if isinstance(x, (_Tensor, _Variable)):
                    bound[variable] = x.dtype
                    break
                if not argument.is_list and isinstance(x, (np.ndarray, np.generic)):
                    types, own = self.types.get(variable, ()), dtypes.as_dtype(x.dtype)
                    if own in types or not isinstance(types, Preferring):
                        bound[variable] = own
                    break
        return bound

    def _check_length(self, argument: Argument, length: int, lengths: dict[str, tuple[int, str]]) -> None:
        if length < argument.least:
            raise ValueError(
                f"List argument '{argument.name}' to '{self.name}' Op with length {length} shorter than minimum "
                f"length {argument.least}."
            )
        if not argument.length:
            return
        first, owner = lengths.setdefault(argument.length, (length, argument.name))
        if first != length:
            raise ValueError(
                f"List argument '{argument.name}' to '{self.name}' Op with length {length} must match length {first} "
                f"of argument '{owner}'."
            )

    def _converted(
        self, argument: Argument, value: Any, place: int | None, bound: dict[str, DType], convert: Convert
    ) -> Any:
        variable = argument.variable
        if isinstance(value, (_Tensor, _Variable)):
            tensor = convert(argument, value, None, place)
        else:
            want = bound.get(variable) if variable else argument.fixed
            types = self.types.get(variable, ())
            if want is None and types and (
                (isinstance(value, (list, tuple)) and not value)
                or (isinstance(types, Preferring) and _natural(value) not in types and _fits(value, types[0]))
            ):
                want = types[0]
            try:
                tensor = convert(argument, value, want, place)
            except (TypeError, ValueError) as error:
                if want is None or getattr(value, "dtype", None) is not None:
                    raise
                raise TypeError(
                    f"Expected {want.name} passed to parameter '{argument.name}' of op '{self.name}', got {value!r} of "
                    f"type '{type(value).__name__}' instead. Error: {error}"
                ) from None
        if variable and variable not in bound:
            if place is None:
                self._check_allowed(argument, tensor.dtype)
            bound[variable] = tensor.dtype
        return tensor

    def checked(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Attrs as kernels and shape rules want them. Raises TypeError or ValueError for what cannot be one."""
        return {key: attr_value(self.name, key, self.attrs[key], value) for key, value in attrs.items()}

    def filled(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """All attrs of a call, as kernels take them."""
        full = {**self.defaults, **attrs}
        for key, kind in self.attrs.items():
            if kind.number == signature.dtype.number and not isinstance(full[key], DType):
                full[key] = dtypes.as_dtype(full[key])
        return full

    # Inputs.

    def sizes(self, count: int, given: Sequence[int] | None = None) -> Sequence[int]:
        """The length of each list input; where it was not given, `count` flat inputs are shared out equally."""
        if given is not None or not self.lists:
            return given or ()
        return ((count - len(self.inputs) + self.lists) // self.lists,) * self.lists

    def counts(self, attrs: Mapping[str, Any], total: int = 0) -> list[int]:
        """How many tensors each input is by the attrs; lists of which none says it share what is left of `total`."""
        found = [_count(a, attrs) for a in self.inputs]
        open_ones = found.count(None)
        if not open_ones:
            return found  # type: ignore[return-value]
        rest = max(0, total - sum(n for n in found if n is not None)) // open_ones
        return [rest if n is None else n for n in found]

    def flat_names(self, sizes: Iterable[int]) -> list[str]:
        """The name of the input that each flat input belongs to."""
        rest = iter(sizes)
        return [a.name for a in self.inputs for _ in range(next(rest) if a.is_list else 1)]

    def grouped(self, flat: Iterable[Any], sizes: Iterable[int]) -> list[Any]:
        """The inputs as kernels take them: lists for list inputs."""
        lengths, rest = iter(sizes), iter(flat)
        return [[next(rest) for _ in range(next(lengths))] if a.is_list else next(rest) for a in self.inputs]

    def expected(self, attrs: Mapping[str, Any], most: int) -> list[DType | None]:
        """The dtypes of the flat inputs by the attrs; of a list longer than `most`, None for `most` + 1 of them."""
        found: list[DType | None] = []
        for a in self.inputs:
            if a.length and attrs[a.length] > most:
                found += [None] * (most + 1)
            else:
                found += dtypes_of(a, attrs)
        return found

    def inferred(self, given: Sequence[DType], counts: Iterable[int | None]) -> dict[str, Any]:
        """The attrs that follow from the inputs: their dtypes, and the lengths of lists.

        Args:
          given: the dtypes of the flat inputs.
          counts: how many tensors each input is; None: one.
        """
        found: dict[str, Any] = {}
        at = 0
        for argument, count in zip(self.inputs, counts, strict=True):
            group = given[at : at + (1 if count is None else count)]
            at += 1 if count is None else count
            name = argument.variable
            if argument.kinds:
                found[argument.kinds] = list(group)
            elif name and group:
                found.setdefault(name, group[0])
            if argument.length:
                found.setdefault(argument.length, count)
        return found

    def check(self, given: Sequence[DType], sizes: Sequence[int]) -> dict[str, DType]:
        """The dtype of each type variable, from those of the flat inputs.

        Raises:
          TypeError: inputs that do not fit to each other or to the signature, in TensorFlow's words.
        """
        bound: dict[str, DType] = {}
        owner: dict[str, str] = {}
        at = lists = 0
        for argument in self.inputs:
            if argument.is_list:
                group = given[at : at + sizes[lists]]
                at += sizes[lists]
                lists += 1
                if not group or argument.kinds:
                    continue
                self._check_list(argument, group, bound)
                dtype = group[0]
            else:
                dtype = given[at]
                at += 1
            variable = argument.variable
            if not variable:
                if dtype != argument.fixed:
                    assert argument.fixed is not None
                    raise TypeError(
                        f"Input '{argument.name}' of '{self.name}' Op has type {dtype.name} that does not "
                        f"match expected type of {argument.fixed.name}."
                    )
            elif variable not in bound:
                self._check_allowed(argument, dtype)
                bound[variable] = dtype
                owner[variable] = argument.name
            elif bound[variable] != dtype:
                raise TypeError(
                    f"Input '{argument.name}' of '{self.name}' Op has type {dtype.name} that does not match "
                    f"type {bound[variable].name} of argument '{owner[variable]}'."
                )
        return bound

    def _check_list(self, argument: Argument, group: Sequence[DType], bound: Mapping[str, DType]) -> None:
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
                f"Tensors in list passed to '{argument.name}' of '{self.name}' Op have types [{names}] {problem}."
            )

    def _check_allowed(self, argument: Argument, dtype: DType) -> None:
        types = self.types.get(argument.variable)
        if types is not None and dtype not in types:
            allowed = ", ".join(t.name for t in types)
            raise TypeError(
                f"Value passed to parameter '{argument.name}' has DataType {dtype.name} not in "
                f"list of allowed values: {allowed}"
            )

    # Outputs.

    def output_counts(self, attrs: Mapping[str, Any], sizes: Sequence[int] | None = None, count: int = 0) -> list[int]:
        """How many tensors each output is. `count`: of flat inputs, where the sizes of lists are not given."""
        if self.plain:
            return [1] * len(self.outputs)
        known = self.sizes(count, sizes)
        return [self._length(a, attrs, known) if a.is_list else 1 for a in self.outputs]

    def _length(self, output: Argument, attrs: Mapping[str, Any], sizes: Sequence[int]) -> int:
        name = output.kinds or output.length
        if name not in attrs and name not in self.attrs:
            return sizes[0] if sizes else 0
        value = attrs[name] if name in attrs else self.defaults[name]
        if output.kinds:
            return len(value)
        count = int(value)
        if count > MOST_OUTPUTS:
            raise ValueError(f"Number of outputs is too big: {count}")
        if count < output.least:
            raise ValueError(f"Attr '{name}' of '{self.name}' Op passed {count} less than minimum {output.least}.")
        return count

    def split(self, flat: Sequence[Any], counts: Iterable[int]) -> list[Any]:
        """The flat outputs by output: a list for one that is a list. `counts`: those of `output_counts`."""
        parts: list[Any] = []
        at = 0
        for argument, count in zip(self.outputs, counts, strict=True):
            parts.append(list(flat[at : at + count]) if argument.is_list else flat[at])
            at += count
        return parts

    def output_dtypes(
        self, given: Sequence[DType], attrs: Mapping[str, Any], sizes: Sequence[int] | None = None
    ) -> list[DType]:
        """The dtypes of the flat outputs, for those of the flat inputs, which are checked as `check` does."""
        known = self.sizes(len(given), sizes) if self.lists else ()
        bound = self.check(given, known)
        result: list[DType] = []
        for output in self.outputs:
            if output.kinds:
                result += attrs[output.kinds]
                continue
            name = output.variable
            if not name:
                assert output.fixed is not None
                dtype = output.fixed
            elif name in bound:
                dtype = bound[name]
            elif name in self.types:
                dtype = self.types[name][0]
            else:
                dtype = attrs[name] if name in attrs else self.defaults[name]
                if not isinstance(dtype, DType):
                    dtype = dtypes.as_dtype(dtype)
            if output.is_list:
                result += [dtype] * self._length(output, attrs, known)
            else:
                result.append(dtype)
        return result


def dtypes_of(argument: Argument, attrs: Mapping[str, Any]) -> list[Any]:
    """The dtypes of an input or output, one for each tensor, where the attrs have these values."""
    if argument.kinds:
        return list(attrs[argument.kinds])
    kind = attrs[argument.variable] if argument.variable else argument.fixed
    return [kind] * (attrs[argument.length] if argument.length else 1)


def _count(argument: Argument, attrs: Mapping[str, Any]) -> int | None:
    """How many tensors an input is; None if the attrs do not say it."""
    if argument.kinds:
        kinds = attrs.get(argument.kinds)
        return None if kinds is None else len(kinds)
    if argument.length:
        count = attrs.get(argument.length)
        return None if count is None else int(count)
    return 1


def holds_tensors(value: Any) -> bool:
    """Whether a value has tensors or variables inside of it."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(x, (_Tensor, _Variable)) or holds_tensors(x) for x in value)
    return type(value).__name__ == "IndexedSlices"


def _natural(value: Any) -> DType | None:
    """The dtype that a value without tensors in it has by itself; None where it cannot be a tensor."""
    if holds_tensors(value):
        return None
    with context.eager_mode():
        try:
            return _native.convert(value, None).dtype
        except (TypeError, ValueError):
            return None


def _fits(value: Any, dtype: DType) -> bool:
    """Whether a value without tensors in it can be a tensor of `dtype`."""
    if holds_tensors(value):
        return False
    with context.eager_mode():
        try:
            _native.convert(value, dtype)
        except (TypeError, ValueError):
            return False
    return True
