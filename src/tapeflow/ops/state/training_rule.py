"""An optimizer's rule for one element, and the rows that apply it to variables and their slots, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.dtypes import DType
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.table import INDEX, op
from tapeflow.ops.validate import invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

_TYPES = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


# The rules by the names of their dense rows.
RULES: dict[str, Rule] = {}


class Rule:
    """What one element of a variable, its slots and the gradient become.

    Attributes:
      dense: the row ResourceApply<name>: one variable.
      many: the row ResourceMultiApply<name>: several variables, as if one after the other. It takes all variables,
        then all first slots, all second ones...; the scalars; all gradients. Nothing changes if one of them is bad.
      sparse: the row ResourceSparseApply<name>: the rows given by `indices`; one that comes twice counts twice.
      rows: the row ResourceRowsApply<name>: a gradient that is zero but for the rows given by `indices`; those
        of an index that comes twice are added up.
    `sparse` and `rows` are None where there is no such row.

    Args:
      slots: their names, separated by spaces.
      inputs: what follows the slots, in TensorFlow's order; `grad` or `delta` is the gradient.
      update: (xp, var, *slots, gradient, **scalars and attrs) -> new var, new slots.
      sparse: whether there is `sparse`.
      rows: whether there is `rows`.
      only_here: whether TensorFlow does not know `dense` and `sparse` either: it has no op for `many` and `rows`.
    """

    def __init__(
        self,
        name: str,
        slots: str,
        inputs: str,
        update: Callable[..., tuple],
        sparse: bool = False,
        rows: bool = False,
        only_here: bool = False,
        **attrs: Any,
    ):
        self.slots = slots.split()
        self.names = inputs.split(", ")
        self.gradient = "delta" if "delta" in self.names else "grad"
        self.at = self.names.index(self.gradient)
        self.update = update
        self.attrs = attrs
        variables = ["var", *self.slots]
        resources = [f"{n}: resource" for n in variables]
        values = [f"{n}: int64" if n == "global_step" else f"{n}: T" for n in self.names]
        by_rows = [*values[: self.at], "grad: T", "indices: Tindices", *values[self.at + 1 :]]
        scalars = [*values[: self.at], *values[self.at + 1 :]]
        self.dense: Any = self._row(
            "ResourceApply" + name, [*resources, *values], self._dense, only_here, self._dense_shapes
        )
        self.many: Any = self._row(
            "ResourceMultiApply" + name,
            ["variables: M*resource", *scalars, "gradients: N*T"],
            self._many,
        )
        self.many.separated = self._separated
        RULES["ResourceApply" + name] = self
        self.sparse: Any = None
        if sparse:
            self.sparse = self._row(
                "ResourceSparseApply" + name, [*resources, *by_rows], self._sparse, only_here
            )
        self.rows: Any = None
        if rows:
            self.rows = self._row("ResourceRowsApply" + name, [*resources, *by_rows], self._rows)

    def _dense_shapes(self, call: ShapeCall) -> list:
        """The slots and the gradient have the variable's shape; the rest are scalars."""
        whole = 1 + len(self.slots)
        shape = None
        for i in range(whole):
            shape = shapes.merge(shape, call.variable(i))
        for i, name in enumerate(self.names):
            expected = shape if name == self.gradient else ()
            shapes.merge(expected, call.shape(whole + i))
        return []

    def _row(
        self, name: str, inputs: list[str], kernel: Callable[..., None], composed: bool = True,
        shape: Callable[[ShapeCall], list] | None = None,
    ) -> Any:  # fmt: skip
        types: dict[str, tuple[DType, ...]] = {"T": _TYPES}
        if "indices: Tindices" in inputs:
            types["Tindices"] = INDEX
        row = op(
            name,
            ", ".join(inputs) + " ->",
            types=types,
            attrs={"use_locking": False, **self.attrs},
            shape=shape or shapes.fixed(),
            composed_in="training" if composed else "",
        )(kernel)
        row.gradient(None)
        return row

    def _separated(self, inputs: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """The calls of `dense` that do the same as one of `many`: the row and the inputs of each."""
        variables, *values, gradients = inputs
        n = len(gradients)
        for i, grad in enumerate(gradients):
            yield self.dense, [*variables[i::n], *values[: self.at], grad, *values[self.at :]]

    # Calls

    def apply(
        self, var: Any, slots: Sequence[Variable], scalars: Sequence[Tensor | Variable], grad: Tensor, **attrs
    ) -> None:
        """Changes a variable and its slots."""
        self.dense(var, *slots, *scalars[: self.at], grad, *scalars[self.at :], **attrs)

    def apply_many(
        self, variables: Sequence[Variable], slots: Sequence[Any], scalars: Sequence[Tensor],
        gradients: Sequence[Tensor], **attrs,
    ) -> None:
        """Changes several variables; `slots` are a list for each kind, of the slots of all variables."""
        self.many([*variables, *chain.from_iterable(slots)], *scalars, gradients, **attrs)

    def apply_sparse(
        self, row: Callable[..., Any], var: Variable, slots: Sequence[Variable],
        scalars: Sequence[Tensor | Variable], values: Tensor, indices: Tensor, **attrs,
    ) -> None:
        """Changes a variable by values for its rows `indices`; `row` is `sparse` or `rows` of the rule."""
        row(var, *slots, *scalars[: self.at], values, indices, *scalars[self.at :], **attrs)

    # Kernels

    def _scalars(self, values: Sequence[np.ndarray]) -> dict[str, Any]:
        names = [n for n in self.names if n != self.gradient]
        for name, value in zip(names, values, strict=True):
            if np.ndim(value):
                raise invalid(f"{name} is not a scalar: {shape_text(np.shape(value))}")
        return dict(zip(names, values, strict=True))

    def _check(self, var: np.ndarray, slots: Sequence[np.ndarray], grad: np.ndarray | None = None) -> None:
        others = dict(zip(self.slots, slots, strict=True))
        if grad is not None:
            others[self.gradient] = grad
        for name, other in others.items():
            if other.shape != var.shape:
                raise invalid(
                    f"var and {name} do not have the same shape{shape_text(var.shape)} {shape_text(other.shape)}"
                )

    def _store(self, xp: ModuleType, variables, arrays, grad, named) -> None:
        with np.errstate(all="ignore"):
            results = self.update(xp, *arrays, grad, **named)
        for variable, result in zip(variables, results, strict=True):
            variable.assign(xp.asarray(result, arrays[0].dtype))

    def split(self, inputs: Any):
        """Variables, scalars by name and the rest (gradient, and indices if there are any) of a row's inputs."""
        n = len(self.slots) + 1
        more = len(inputs) - n - len(self.names) + 1
        variables, values = inputs[:n], list(inputs[n:])
        rest = values[self.at : self.at + more]
        del values[self.at : self.at + more]
        return variables, values, rest

    def _dense(self, xp: ModuleType, *inputs, use_locking: bool, **attrs):
        variables, values, (grad,) = self.split(inputs)
        arrays = [xp.array(v.numpy()) for v in variables]
        self._check(arrays[0], arrays[1:])
        named = self._scalars(values)
        self._check(arrays[0], arrays[1:], grad)
        self._store(xp, variables, arrays, grad, {**named, **attrs})

    def _many(self, xp: ModuleType, variables, *inputs, use_locking: bool, **attrs):
        *values, gradients = inputs
        n, kinds = len(gradients), len(self.slots) + 1
        if len(variables) != n * kinds:
            raise invalid(
                f"For {n} gradients there must be as many variables{', each with its slots' if self.slots else ''}"
                f": {n * kinds}, got {len(variables)}"
            )
        each = [variables[i::n] for i in range(n)]
        for mine, grad in zip(each, gradients, strict=True):
            var, *slots = (v.numpy() for v in mine)
            self._check(var, slots, grad)
        named = {**self._scalars(values), **attrs}
        for mine, grad in zip(each, gradients, strict=True):
            self._store(xp, mine, [xp.array(v.numpy()) for v in mine], grad, named)

    def _of_rows(self, xp: ModuleType, inputs: Any):
        variables, values, (grad, indices) = self.split(inputs)
        arrays = [xp.array(v.numpy()) for v in variables]
        self._check(arrays[0], arrays[1:])
        if arrays[0].ndim < 1:
            raise invalid("var must be at least 1 dimensional")
        named = self._scalars(values)
        _check_rows(arrays[0], grad, indices)
        return variables, arrays, grad, indices, named

    def _sparse(self, xp: ModuleType, *inputs, use_locking: bool, **attrs):
        variables, arrays, grad, indices, named = self._of_rows(xp, inputs)
        named |= attrs
        if xp is np:
            with np.errstate(all="ignore"):
                for row, i in enumerate(indices.tolist()):
                    results = self.update(np, *(a[i] for a in arrays), grad[row], **named)
                    for a, result in zip(arrays, results, strict=True):
                        a[i] = result
        else:
            arrays = self._sparse_by_jax(arrays, grad, indices, named)
        for variable, a in zip(variables, arrays, strict=True):
            variable.assign(a)

    def _sparse_by_jax(self, arrays: Sequence[Any], grad, indices, named) -> list:
        """The arrays with the rows `indices` updated, one after the other: one may come twice."""
        import jax

        def update(row, now):
            i = indices[row]
            results = self.update(jax.numpy, *(a[i] for a in now), grad[row], **named)
            return [a.at[i].set(r.astype(a.dtype)) for a, r in zip(now, results, strict=True)]

        return jax.lax.fori_loop(0, indices.size, update, arrays)

    def _rows(self, xp: ModuleType, *inputs, use_locking: bool, **attrs):
        variables, arrays, grad, indices, named = self._of_rows(xp, inputs)
        dense = xp.zeros(arrays[0].shape, arrays[0].dtype)
        if xp is np:
            fold_at(np.add, dense, indices, grad)
        else:
            dense = dense.at[indices].add(grad)
        self._store(xp, variables, arrays, dense, {**named, **attrs})


def _check_rows(var, grad, indices) -> None:
    if indices.ndim != 1:
        raise invalid("indices must be one-dimensional")
    if grad.ndim != var.ndim:
        raise invalid(
            f"var and grad do not have the same rank: {shape_text(var.shape)} {shape_text(grad.shape)}"
        )
    for i in range(1, var.ndim):
        if var.shape[i] != grad.shape[i]:
            raise invalid(f"var and grad must match in dimension {i}")
    if grad.shape[0] != indices.size:
        raise invalid("grad must be the same size as indices in the first dimension.")
    for offset, i in enumerate(indices.tolist() if known(indices) else ()):
        if not 0 <= i < var.shape[0]:
            raise invalid(f"Index {i} at offset {offset} in indices is out of range")
