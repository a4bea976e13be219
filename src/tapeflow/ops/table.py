"""The op table: `op` makes a row from a signature and a Python kernel; `REGISTRY` holds all rows by name.

A row is a `_native.Op`: called, it converts its inputs, runs a kernel and tells the tapes. The decorators
`gradient`, `samples` and `reference` hang on it what else is known of the op.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from types import MethodType
from typing import Any, Unpack

import numpy as np

from tapeflow import _native
from tapeflow.api import providers
from tapeflow.core import (
    binding,  # noqa: F401 (rows are made of the dtypes that it registers)
    dtypes,
    promotion,
)
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import input_ranks
from tapeflow.ops.binder import Schema
from tapeflow.ops.row_facts import SEEDS, Facts, all_facts
from tapeflow.ops.signature import Argument, Preferring, kind_of

# Sets of dtypes that signatures use. The first one is what an empty list becomes.
FLOATING = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
COMPLEX = (dtypes.complex64, dtypes.complex128)
INTEGER = (
    dtypes.int32, dtypes.int64, dtypes.int8, dtypes.int16,
    dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
)  # fmt: skip
INDEX = (dtypes.int32, dtypes.int64)
FLOATING_OR_COMPLEX = FLOATING + COMPLEX
REAL = FLOATING + INTEGER
NUMERIC = REAL + COMPLEX
_QUANTIZED = (dtypes.qint8, dtypes.quint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)
_NARROW = (dtypes.float8_e5m2, dtypes.float8_e4m3fn, dtypes.int4, dtypes.uint4)
ANY = (
    *NUMERIC, dtypes.bool, dtypes.string, *_QUANTIZED, *_NARROW, dtypes.resource, dtypes.variant,
)  # fmt: skip


class _Registry(dict[str, Any]):
    """Every row by the name of its op. One that is not loaded is looked for in all modules of rows."""

    def __missing__(self, name: str) -> Any:
        providers.load("all_rows").load_all_rows()
        if name in self:
            return self[name]
        raise KeyError(name)


REGISTRY = _Registry()


class Sample:
    """One call of a row for its tests: inputs, attrs, and what is to come of it.

    Args:
      inputs: what the row is called with.
      expect: the result (a tuple for several), where that is clearer than the reference.
      raises: the exception it ends with.
      differentiable: whether the numeric gradient is to be compared, or the positions of the inputs
        in which it is.
      attrs: by keyword.
    """

    def __init__(
        self,
        *inputs: Any,
        expect: Any = None,
        raises: type[BaseException] | None = None,
        differentiable: bool | tuple[int, ...] = True,
        **attrs: Any,
    ):
        self.inputs = inputs
        self.attrs = attrs
        self.expect = expect
        self.raises = raises
        self.differentiable = differentiable


@cache
def _mask(allowed: tuple[DType, ...]) -> int:
    return sum(1 << int(t) for t in allowed)


def _native_row(schema: Schema, broadcast: bool, rounds: bool) -> Any:
    """The native core's definition of an op."""
    types, kinds = schema.types, schema.attrs
    variables, attr_names = list(types), list(kinds)

    def type_of(argument: Argument) -> tuple[int, int, int]:
        """Index of a type variable, index of a dtype attr, fixed dtype: what there is of these."""
        if argument.fixed is not None:
            return -1, -1, int(argument.fixed)
        if argument.variable in variables:
            return variables.index(argument.variable), -1, 0
        return -1, attr_names.index(argument.variable), 0

    return _native.Op(
        schema.name,
        [
            (key, _mask(tuple(allowed)), int(allowed[0]), isinstance(allowed, Preferring))
            for key, allowed in types.items()
        ],
        [(a.name, type_of(a)[0], type_of(a)[2], a.is_list, a.least) for a in schema.inputs],
        [
            (
                a.name,
                *type_of(a),
                a.is_list,
                a.least,
                attr_names.index(a.length) if a.length in kinds else -1,
            )
            for a in schema.outputs
        ],
        [(key, k.number, k.required, k.default, k.choices) for key, k in kinds.items()],
        broadcast,
        rounds,
    )


def op(
    name: str,
    signature: str,
    types: Mapping[str, tuple[DType, ...]] | None = None,
    attrs: Mapping[str, Any] | None = None,
    shape: Callable[[Any], list[Any]] | None = None,
    ranks: str = "",
    broadcast: bool = False,
    rounds: bool = False,
    promotes: str = "",
    **facts: Unpack[Facts],
) -> Callable[[Callable[..., Any]], Any]:
    """Make the row `name` of the decorated Python kernel.

    Args:
      signature: "x: T, axis: int32 -> out: T"; `N*T` is a list, `N>=2*T` one of two tensors at least.
      types: the dtypes that each type variable may be; `Preferring` ones where TensorFlow has a default.
      attrs: the default of each attr, or its kind if it has none.
      shape: the shape rule, for graphs.
      ranks: of inputs that may not have any, for graphs: "x: 2, axis: 0-1, y: 1+".
      broadcast: whether inputs broadcast, so that gradients are summed to their shapes.
      rounds: whether float16 and bfloat16 are rounded between steps, so that what float32 gives is not the result.
      promotes: its part in implicit promotion of dtypes: "operands" that take one dtype together, with a weak result
        where both are weak; a "choice" between such operands, whose result is never weak; "weakness" of the input,
        which the result keeps.
      **facts: see `row_facts.Facts`.
    """
    kinds = {key: kind_of(value) for key, value in (attrs or {}).items()}
    schema = Schema(name, signature, types or {}, kinds)
    row = _native_row(schema, broadcast, rounds)
    row.schema, row.signature = schema, signature
    row.inputs = tuple(a.name for a in schema.inputs)
    row.outputs = tuple(a.name for a in schema.outputs)
    row.types, row.attrs, row.defaults = schema.types, kinds, schema.defaults
    if ranks:
        assert shape is not None, name
        shape = input_ranks.checked(shape, ranks, {a.name: a.is_list for a in schema.inputs})
    row.shape_rule = shape
    row.draws = kinds.keys() >= SEEDS  # from a stream of random numbers
    for key, fact in all_facts(name, facts, [*schema.inputs, *schema.outputs], row.draws).items():
        setattr(row, key, fact)
    if promotes:
        promotion.PARTS[name] = promotes
    row.broadcasts = broadcast
    row.gradient = MethodType(_gradient, row)
    row.samples = MethodType(_samples, row)
    row.reference = MethodType(_reference, row)
    row.compiled = MethodType(_compiled, row)
    row.batching = MethodType(_batching, row)
    row.flops, row.flops_formula = MethodType(_flops, row), None
    row.compiled_kernel, row.static, row.not_compiled, row.checks = None, frozenset(), "", False
    row.sample_source = row.formula = row.batching_rule = None
    row.none_gradients = row.gradient_known = False
    # For a row that TensorFlow does not know: a function, made of ops that it knows, which GraphDefs hold a call of.
    row.composite = None
    row.written_as, row.spelling = MethodType(_written_as, row), None
    if len(schema.outputs) > 1:
        row.result_type = namedtuple(name, row.outputs, rename=True)  # type: ignore[misc]

    def with_kernel(kernel: Callable[..., Any]) -> Any:
        if broadcast:
            kernel = _naming_shapes(kernel)
        row._kernel = row.kernel = kernel
        row.__doc__ = kernel.__doc__
        REGISTRY[name] = row
        return row

    return with_kernel


def _naming_shapes(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that says of inputs that do not broadcast what every kernel says of them."""

    @wraps(kernel)
    def run(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        try:
            return kernel(xp, *inputs, **attrs)
        except ValueError:
            shapes = [np.shape(x) for x in inputs]
            try:
                np.broadcast_shapes(*shapes)
            except ValueError:
                listed = " vs. ".join(f"[{','.join(map(str, s))}]" for s in shapes)
                raise InvalidArgumentError(None, None, f"Incompatible shapes: {listed}") from None
            raise

    return run


def _gradient(
    row: Any, function: Any = ..., needs: str | Iterable[str] | None = None, none: bool = False
) -> Any:
    """Register the gradient of a row: `row.gradient(None)`, `row.gradient(f)` or a decorator.

    Args:
      needs: names of the inputs and outputs that it reads; None for all.
      none: whether outputs without a gradient come as None, not as zeros.
    """

    def register(given: Any) -> Any:
        names = (*row.inputs, *row.outputs) if needs is None else needs
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        unknown = set(names) - {*row.inputs, *row.outputs}
        if unknown:
            raise ValueError(f"{row.name} has no {', '.join(sorted(unknown))} for its gradient")
        masks = [
            sum(1 << i for i, name in enumerate(own) if name in names)
            for own in (row.inputs, row.outputs)
        ]
        row._set_gradient(given, *masks, none)
        row.gradient_known = True
        row.none_gradients = none
        return given

    return register if function is ... else register(function)


def _samples(row: Any, source: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Register what generates the `Sample`s of a row."""
    row.sample_source = source
    return source


def _reference(row: Any, formula: Callable[..., Any]) -> Callable[..., Any]:
    """Register what computes the row's result independently of its kernels."""
    row.formula = formula
    return formula


def _batching(row: Any, rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Register the rule, of `ops.batching`, by which one call does what the row does for each element of a batch."""
    row.batching_rule = rule
    return rule


def _flops(row: Any, formula: Callable[[Any], float]) -> None:
    """Register the formula, of `ops.flops`, for the number of operations on floats that a node of the row makes."""
    row.flops_formula = formula


def _written_as(row: Any, kind: str) -> Callable[[Any], Any]:
    """Decorate what gives the inputs and attrs of TensorFlow's op `kind`, for operations of a row that it lacks.

    That op has the same outputs, and GraphDefs hold it in place of the row.
    """

    def register(given: Callable[[Any], tuple[list[Any], dict[str, Any]]]) -> Callable[[Any], Any]:
        row.spelling = kind, given
        return given

    return register


def _compiled(
    row: Any, kernel: Callable[..., Any] | None = None, static: str = "", never: str = "", checks: bool = False
) -> Any:
    """Say how a row is compiled by XLA where that differs from running its kernel under `jax.numpy`.

    Args:
      kernel: what runs in place of the row's kernel; `row.compiled()` is a decorator for it.
      static: names of inputs whose values the kernel needs while it is compiled, besides those that the
        shape rule reads.
      never: why the row cannot be compiled.
      checks: whether the row is there to raise, which compiled code cannot; eager calls then run on the host.
    """
    row.checks = checks
    row.static = frozenset(static.replace(",", " ").split())
    row.not_compiled = never

    def register(given: Callable[..., Any]) -> Callable[..., Any]:
        row.compiled_kernel = given
        return given

    return register if kernel is None else register(kernel)
