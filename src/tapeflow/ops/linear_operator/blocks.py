"""The linear operators made of blocks: block diagonal and block triangular ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.api import api
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.ops.array import layout
from tapeflow.ops.array.broadcasting import BroadcastTo, broadcast_dynamic_shape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linalg.matrix_function import adjoint as adjoint_of
from tapeflow.ops.linear_operator.algebra import (
    HINTS,
    Several,
    batch_of,
    batch_tensor_of,
    checked,
    implied_hint,
    together,
)
from tapeflow.ops.linear_operator.arguments import parameters_of, static_size
from tapeflow.ops.linear_operator.matrix import LinearOperatorFullMatrix
from tapeflow.ops.math import arithmetic, reductions

if TYPE_CHECKING:
    from tapeflow.ops.linear_operator.matrix import LinearOperatorDiag


class _Blocks(Several):
    """An operator of blocks; the argument of a product may be one tensor, or a list with a part for each block."""

    def _block_sizes(self, adjoint):
        at = -2 if adjoint else -1
        return [_size(o, at) for o in self._diagonal()]

    def _split(self, x: Tensor, adjoint: bool):
        return split(x, self._block_sizes(adjoint), axis=-2)

    def matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"):
        if isinstance(x, (list, tuple)):
            parts = [adjoint_of(p) if adjoint_arg else p for p in x]
            joined = super().matmul(concat(parts, -2), adjoint)
            return split(joined, self._block_sizes(not adjoint), axis=-2)
        return super().matmul(x, adjoint, adjoint_arg)

    def solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"):
        if isinstance(rhs, (list, tuple)):
            parts = [adjoint_of(p) if adjoint_arg else p for p in rhs]
            joined = super().solve(concat(parts, -2), adjoint)
            return split(joined, self._block_sizes(adjoint), axis=-2)
        return super().solve(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return functools.reduce(arithmetic.Mul, [o.determinant() for o in self._diagonal()])

    def _log_abs_determinant(self):
        return functools.reduce(
            arithmetic.AddV2, [o.log_abs_determinant() for o in self._diagonal()]
        )

    def _shape(self):
        sizes = [[static_size(o.shape, at) for o in self._diagonal()] for at in (-2, -1)]
        total = [None if None in axis else sum(axis) for axis in sizes]
        return batch_of(self._everything()).concatenate(total)

    def _shape_tensor(self):
        sizes = [o.shape_tensor()[-2:] for o in self._diagonal()]
        total = reductions.reduce_sum(stack(sizes), 0)
        return concat([batch_tensor_of(self._everything()), total], 0)

    def _diag_part(self):
        if not all(o.is_square for o in self._diagonal()):
            return super()._diag_part()
        return _joined([layout.ExpandDims(o.diag_part(), -1) for o in self._diagonal()])[..., 0]

    def _trace(self):
        if not all(o.is_square for o in self._diagonal()):
            return super()._trace()
        return functools.reduce(arithmetic.AddV2, [o.trace() for o in self._diagonal()])

    def _eigvals(self):
        if not all(o.is_square for o in self._diagonal()):
            raise NotImplementedError(
                "`eigvals` not implemented for an operator whose blocks are not square."
            )
        return _joined([layout.ExpandDims(o.eigvals(), -1) for o in self._diagonal()])[..., 0]

    def _assert_non_singular(self):
        return together(self._diagonal(), "assert_non_singular")


def _size(operator: LinearOperatorDiag | LinearOperatorFullMatrix, at: int):
    """Rows (-2) or columns (-1) of an operator: an int where it is known, else a scalar tensor."""
    size = static_size(operator.shape, at)
    return operator.shape_tensor()[at] if size is None else size


def _zero_block(rows: int, columns: int, batch: Tensor, kind: DType):
    return zeros(concat([batch, stack([rows, columns])], 0), kind)


def _tobatch_of(x: Tensor, batch: Tensor):
    return BroadcastTo(x, concat([batch, Shape(x)[-2:]], 0))


@api("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Blocks):
    """The operator with others on its diagonal and zeros elsewhere."""

    def __init__(
        self, operators: Sequence[Any], is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool = True, name: str | None = None,
    ):
        parameters = parameters_of(locals())
        operators = checked(operators)
        given = (is_non_singular, is_self_adjoint, is_positive_definite)
        hints = [
            implied_hint(operators, *pair, "direct sum") for pair in zip(HINTS, given, strict=True)
        ]
        super().__init__(
            operators,
            [*hints, is_square],
            name or "_ds_".join(o.name for o in operators),
            parameters,
        )

    def _diagonal(self):
        return self._operators

    def _everything(self):
        return self._operators

    def _to_dense(self):
        batch = self.batch_shape_tensor()
        columns = self._block_sizes(False)
        rows = []
        for i, o in enumerate(self._operators):
            m = _size(o, -2)
            parts = [_zero_block(m, n, batch, self.dtype) for n in columns]
            parts[i] = _tobatch_of(o.to_dense(), batch)
            rows.append(concat(parts, -1))
        dense = concat(rows, -2)
        dense.set_shape(self.shape)
        return dense

    def _matmul(self, x: Tensor, adjoint: bool):
        parts = self._split(x, adjoint)
        return _joined(
            [o.matmul(p, adjoint=adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _solve(self, rhs: Tensor, adjoint: bool):
        parts = self._split(rhs, not adjoint)
        return _joined(
            [o.solve(p, adjoint=adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _like(self, operators):
        return LinearOperatorBlockDiag(operators, *self._hints)

    def _adjoint(self):
        return self._like([o.adjoint() for o in self._operators])

    def _inverse(self):
        return self._like([o.inverse() for o in self._operators])

    def _cholesky(self):
        factors = [o.cholesky() for o in self._operators]
        return LinearOperatorBlockDiag(factors, True, None, None, True)

    def _assert_self_adjoint(self):
        return together(self._operators, "assert_self_adjoint")

    def _assert_positive_definite(self):
        return together(self._operators, "assert_positive_definite")


def _joined(parts: Sequence[Tensor]):
    """Matrices above each other, broadcast to one batch shape."""
    batches = [p.shape[:-2] for p in parts]
    if all(b.is_fully_defined() and b == batches[0] for b in batches):
        return concat(parts, -2)
    batch = functools.reduce(broadcast_dynamic_shape, [Shape(p)[:-2] for p in parts])
    return concat([_tobatch_of(p, batch) for p in parts], -2)


def _check_triangle(rows: Sequence[Any]):
    """Raise ValueError unless the operators of these rows fit into a lower triangle."""
    for i, row in enumerate(rows):
        if len(row) != i + 1:
            raise ValueError(f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} blocks.")
        if row[-1].is_square is False:
            raise ValueError(f"Matrices on the diagonal must be square, but `operators[{i}][{i}]` is not.")
    pairs = [
        *(("domain", i, j, i - 1, j, -1) for i in range(1, len(rows)) for j in range(i)),
        *(("range", i, j, i, j + 1, -2) for i in range(1, len(rows)) for j in range(i)),
    ]
    for what, i, j, k, m, at in pairs:
        one, other = static_size(rows[i][j].shape, at), static_size(rows[k][m].shape, at)
        if None not in (one, other) and one != other:
            raise ValueError(
                f"Argument `operators[{i}][{j}].{what}_dimension` ({one}) must be the same as "
                f"`operators[{k}][{m}].{what}_dimension` ({other})."
            )


@api("linalg.LinearOperatorBlockLowerTriangular")
class LinearOperatorBlockLowerTriangular(_Blocks):
    """The operator of a lower triangle of blocks: `operators` is a list of rows of 1, 2, 3... operators."""

    def __init__(
        self, operators: Sequence[Any], is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ):
        parameters = parameters_of(locals())
        rows = [list(row) for row in operators]
        if not rows:
            raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {operators}.")
        flat = checked([o for row in rows for o in row])
        _check_triangle(rows)
        diagonal = [row[-1] for row in rows]
        is_non_singular = implied_hint(diagonal, HINTS[0], is_non_singular, "block triangle")
        if any(o.is_non_singular is False for o in diagonal):
            if is_non_singular:
                raise ValueError("A block triangle with a singular operator on its diagonal is always singular.")
            is_non_singular = False
        if is_square is False:
            raise ValueError("`LinearOperatorBlockLowerTriangular` must be square.")
        is_square = True
        self._rows = rows
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(flat, hints, name, parameters)

    @property
    def operators(self):
        return self._rows

    def _diagonal(self):
        return [row[-1] for row in self._rows]

    def _everything(self):
        return self._operators

    def _to_dense(self):
        batch, columns = self.batch_shape_tensor(), self._block_sizes(False)
        rows = []
        for row in self._rows:
            m = _size(row[0], -2)
            parts = [_tobatch_of(o.to_dense(), batch) for o in row]
            parts += [_zero_block(m, n, batch, self.dtype) for n in columns[len(row) :]]
            rows.append(concat(parts, -1))
        dense = concat(rows, -2)
        dense.set_shape(self.shape)
        return dense

    def _inverse(self):
        rows: list[list[Any]] = []
        for *beside, last in self._rows:
            own = last.inverse()
            # What is left of the diagonal: minus its inverse, times the blocks there, times the inverse above.
            row = []
            for j in range(len(beside)):
                terms = [beside[k].matmul(rows[k][j].to_dense()) for k in range(j, len(beside))]
                row.append(LinearOperatorFullMatrix(-own.matmul(functools.reduce(arithmetic.AddV2, terms))))
            rows.append([*row, own])
        return LinearOperatorBlockLowerTriangular(rows, *self._hints)
