"""The linear operators made of others: products, adjoints, inverses, blocks, Kronecker products, low-rank updates."""

from __future__ import annotations

from itertools import pairwise

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import arithmetic, layout, shapes
from tapeflow.ops.array import Shape
from tapeflow.ops.broadcasting import BroadcastTo
from tapeflow.ops.construction import zeros
from tapeflow.ops.joining import concat, split
from tapeflow.ops.linear_operator import LinearOperator, as_matrix_tensor, parameters_of
from tapeflow.ops.linear_operator_matrix import LinearOperatorDiag, LinearOperatorIdentity
from tapeflow.ops.matmul import matmul
from tapeflow.ops.matrix_function import adjoint as adjoint_of
from tapeflow.ops.static import size_of


def _checked(operators):
    operators = list(operators)
    if not operators:
        raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
    if any(o.dtype != operators[0].dtype for o in operators):
        raise TypeError(
            "Expected all operators to have the same dtype. Found: "
            + ", ".join(f"{o.name}: {o.dtype.name}" for o in operators)
        )
    return operators


def _all(operators, hint):
    return True if all(getattr(o, hint) for o in operators) else None


def _batch(operators):
    batch: shapes.Shape = ()
    for o in operators:
        batch = shapes.broadcast(batch, tuple(o.batch_shape.as_list()))
    return TensorShape(batch)


class _One(LinearOperator):
    """An operator made of one other."""

    def __init__(self, operator, hints, name, parameters):
        self._operator = operator
        super().__init__(operator.dtype, None, *hints, name, parameters)

    @property
    def operator(self):
        return self._operator


def _inherited(operator, given):
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
    for name, hint in zip(names, given, strict=True):
        own = getattr(operator, name)
        if None not in (hint, own) and hint != own:
            raise ValueError(f"The operator has {name}={own}, in contradiction to the hint {hint}.")
        yield own if hint is None else hint


class LinearOperatorAdjoint(_One):
    """The conjugate transpose of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        parameters = parameters_of(locals())
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            operator, _inherited(operator, given), name or f"{operator.name}_adjoint", parameters
        )

    def _shape(self):
        shape = self._operator.shape
        return shape[:-2].concatenate(shape[-1:]).concatenate(shape[-2:-1])

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _matmul(self, x, adjoint):
        return self._operator.matmul(x, adjoint=not adjoint)

    def _solve(self, rhs, adjoint):
        return self._operator.solve(rhs, adjoint=not adjoint)

    def adjoint(self, name="adjoint"):
        return self._operator


class LinearOperatorInversion(_One):
    """The inverse of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if is_non_singular is False or operator.is_non_singular is False:
            raise ValueError(f"`is_non_singular` must be `True` or unset. Found: {is_non_singular}")
        parameters = parameters_of(locals())
        given = (True, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            operator, _inherited(operator, given), name or f"{operator.name}_inv", parameters
        )

    def _shape(self):
        return self._operator.shape

    def _to_dense(self):
        return self._operator.solve(self._identity())

    def _matmul(self, x, adjoint):
        return self._operator.solve(x, adjoint=adjoint)

    def _solve(self, rhs, adjoint):
        return self._operator.matmul(rhs, adjoint=adjoint)

    def _determinant(self):
        return arithmetic.RealDiv(1.0, self._operator.determinant())

    def _log_abs_determinant(self):
        return arithmetic.Mul(self._operator.log_abs_determinant(), -1)

    def inverse(self, name="inverse"):
        return self._operator


class _Several(LinearOperator):
    """An operator made of a list of others."""

    def __init__(self, operators, hints, name, parameters):
        self._operators = operators
        super().__init__(operators[0].dtype, None, *hints, name, parameters)

    @property
    def operators(self):
        return self._operators


class LinearOperatorComposition(_Several):
    """The product of operators: the last is applied first."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        parameters = parameters_of(locals())
        operators = _checked(operators)
        if is_non_singular is None:
            is_non_singular = _all(operators, "is_non_singular")
        name = name or "_o_".join(o.name for o in operators)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        for left, right in pairwise(operators):
            if not left.domain_dimension.is_compatible_with(right.range_dimension):
                raise ValueError(
                    f"Operators are incompatible: shapes {left.shape} and {right.shape}"
                )
        super().__init__(operators, hints, name, parameters)

    def _shape(self):
        ends = self._operators[0].shape[-2:-1].concatenate(self._operators[-1].shape[-1:])
        return _batch(self._operators).concatenate(ends)

    def _to_dense(self):
        dense = self._operators[-1].to_dense()
        for operator in reversed(self._operators[:-1]):
            dense = operator.matmul(dense)
        return dense

    def _matmul(self, x, adjoint):
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs, adjoint):
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self):
        return _combined(self._operators, "determinant", arithmetic.Mul)

    def _log_abs_determinant(self):
        return _combined(self._operators, "log_abs_determinant", arithmetic.AddV2)


def _combined(operators, method, combine):
    total = getattr(operators[0], method)()
    for operator in operators[1:]:
        total = combine(total, getattr(operator, method)())
    return total


class LinearOperatorKronecker(_Several):
    """The Kronecker product of operators."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        parameters = parameters_of(locals())
        operators = _checked(operators)
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
        hints = [_all(operators, n) if g is None else g for n, g in zip(names, given, strict=True)]
        super().__init__(
            operators, hints, name or "_x_".join(o.name for o in operators), parameters
        )

    def _shape(self):
        rows = columns = 1
        for o in self._operators:
            m, n = o.shape.as_list()[-2:]
            rows = None if None in (rows, m) else rows * m
            columns = None if None in (columns, n) else columns * n
        return _batch(self._operators).concatenate([rows, columns])

    def _to_dense(self):
        from tapeflow.ops.einsum import Einsum

        dense = self._operators[0].to_dense()
        for operator in self._operators[1:]:
            product = Einsum([dense, operator.to_dense()], "...ij,...kl->...ikjl")
            *batch, i, k, j, l = product.shape.as_list()
            dense = layout.Reshape(product, [*batch, i * k, j * l])
        return dense


class _Blocks(_Several):
    """An operator of blocks; the argument of a product may be one tensor, or a list with a part for each block."""

    def _block_sizes(self, adjoint):
        at = -2 if adjoint else -1
        return [_size(o, at) for o in self._diagonal()]

    def _split(self, x, adjoint):
        return split(x, self._block_sizes(adjoint), axis=-2)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        if isinstance(x, (list, tuple)):
            parts = [adjoint_of(p) if adjoint_arg else p for p in x]
            joined = super().matmul(concat(parts, -2), adjoint)
            return split(joined, self._block_sizes(not adjoint), axis=-2)
        return super().matmul(x, adjoint, adjoint_arg)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        if isinstance(rhs, (list, tuple)):
            parts = [adjoint_of(p) if adjoint_arg else p for p in rhs]
            joined = super().solve(concat(parts, -2), adjoint)
            return split(joined, self._block_sizes(adjoint), axis=-2)
        return super().solve(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return _combined(self._diagonal(), "determinant", arithmetic.Mul)

    def _log_abs_determinant(self):
        return _combined(self._diagonal(), "log_abs_determinant", arithmetic.AddV2)

    def _sum_of_shapes(self):
        sizes = [o.shape.as_list()[-2:] for o in self._diagonal()]
        total = [None if None in axis else sum(axis) for axis in zip(*sizes, strict=True)]
        return _batch(self._everything()).concatenate(total)

    def _shape(self):
        return self._sum_of_shapes()


def _size(operator, at):
    """Rows (-2) or columns (-1) of an operator: an int where it is known, else a scalar tensor."""
    static = operator.shape
    size = static.as_list()[at] if static.rank is not None else None
    return Shape(operator.to_dense())[at] if size is None else size


def _zero_block(like_rows, like_columns, batch, kind):
    return zeros([*batch, like_rows, like_columns], kind)


def _to_batch(x, batch):
    return BroadcastTo(x, concat([batch, Shape(x)[-2:]], 0)) if len(batch) else x


class LinearOperatorBlockDiag(_Blocks):
    """The operator with others on its diagonal and zeros elsewhere."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        parameters = parameters_of(locals())
        operators = _checked(operators)
        given = (is_non_singular, is_self_adjoint, is_positive_definite)
        names = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        hints = [_all(operators, n) if g is None else g for n, g in zip(names, given, strict=True)]
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
        batch = self.batch_shape.as_list()
        columns = self._block_sizes(False)
        rows = []
        for i, o in enumerate(self._operators):
            m = _size(o, -2)
            parts = [_zero_block(m, n, batch, self.dtype) for n in columns]
            parts[i] = _to_batch(o.to_dense(), batch)
            rows.append(concat(parts, -1))
        return concat(rows, -2)

    def _matmul(self, x, adjoint):
        parts = self._split(x, adjoint)
        return _joined(
            [o.matmul(p, adjoint=adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _solve(self, rhs, adjoint):
        parts = self._split(rhs, not adjoint)
        return _joined(
            [o.solve(p, adjoint=adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _diag_part(self):
        return concat([o.diag_part() for o in self._operators], -1)


def _joined(parts):
    batch: shapes.Shape = ()
    for p in parts:
        batch = shapes.broadcast(batch, tuple(p.shape.as_list()[:-2]))
    return concat([_to_batch(p, list(batch or ())) for p in parts], -2)


class LinearOperatorBlockLowerTriangular(_Blocks):
    """The operator of a lower triangle of blocks: `operators` is a list of rows of 1, 2, 3... operators."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ):
        parameters = parameters_of(locals())
        rows = [list(row) for row in operators]
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise ValueError(
                    f"The {i}-th row of blocks must have {i + 1} operators. Found: {len(row)}"
                )
        flat = _checked([o for row in rows for o in row])
        if is_non_singular is None:
            is_non_singular = _all([row[-1] for row in rows], "is_non_singular")
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
        batch, columns = self.batch_shape.as_list(), self._block_sizes(False)
        rows = []
        for row in self._rows:
            m = _size(row[0], -2)
            parts = [_to_batch(o.to_dense(), batch) for o in row]
            parts += [_zero_block(m, n, batch, self.dtype) for n in columns[len(row) :]]
            rows.append(concat(parts, -1))
        return concat(rows, -2)


class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator L + U D V^H: another operator plus a product of thin matrices; `v` is `u` where not given."""

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        parameters = parameters_of(locals())
        self._base = base_operator
        self._u = as_matrix_tensor(u, "u")
        self._v = self._u if v is None else as_matrix_tensor(v, "v")
        self._diag_update = (
            None if diag_update is None else as_matrix_tensor(diag_update, "diag_update", 1)
        )
        self._positive = True if diag_update is None else is_diag_update_positive
        if v is None and self._positive and base_operator.is_positive_definite:
            is_positive_definite = True if is_positive_definite is None else is_positive_definite
        if v is None and base_operator.is_self_adjoint and not self._u.dtype.is_complex:
            is_self_adjoint = True if is_self_adjoint is None else is_self_adjoint
        super().__init__(
            base_operator.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def base_operator(self):
        return self._base

    @property
    def u(self):
        return self._u

    @property
    def v(self):
        return self._v

    @property
    def diag_update(self):
        return self._diag_update

    @property
    def is_diag_update_positive(self):
        return self._positive

    @property
    def diag_operator(self):
        if self._diag_update is None:
            return LinearOperatorIdentity(size_of(self._u, -1), dtype=self.dtype)
        return LinearOperatorDiag(self._diag_update, is_positive_definite=self._positive)

    def _shape(self):
        batch = shapes.broadcast(
            tuple(self._base.batch_shape.as_list()), tuple(self._u.shape.as_list()[:-2])
        )
        return TensorShape(batch).concatenate(self._base.shape[-2:])

    def _to_dense(self):
        scaled = matmul(self._u, self.diag_operator.matmul(adjoint_of(self._v)))
        return arithmetic.AddV2(self._base.to_dense(), scaled)

    def _matmul(self, x, adjoint):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self.diag_operator.matmul(matmul(right, x, adjoint_a=True), adjoint=adjoint)
        return arithmetic.AddV2(self._base.matmul(x, adjoint=adjoint), matmul(left, inner))
