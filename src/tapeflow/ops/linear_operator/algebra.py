"""The linear operators made of others: products, adjoints, inverses, blocks, Kronecker products, low-rank updates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeflow.api import api
from tapeflow.core.annotations import Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array import layout
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_static_shape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.grouping import group
from tapeflow.ops.linalg.einsum import Einsum
from tapeflow.ops.linalg.matrix_function import adjoint as adjoint_of
from tapeflow.ops.linear_operator.arguments import parameters_of, static_size
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.linear_operator.slicing import OPERATORS
from tapeflow.ops.math import arithmetic, casting, division, reductions
from tapeflow.ops.math.conjugate import conj

if TYPE_CHECKING:
    from tapeflow.ops.linear_operator.matrix import (
        LinearOperatorFullMatrix,
        LinearOperatorLowerTriangular,
    )


def checked(operators: Sequence[Any]):
    operators = list(operators)
    if not operators:
        raise ValueError(f"Expected a non-empty list: >=1 operators. Found: {operators}")
    if any(o.dtype != operators[0].dtype for o in operators):
        raise TypeError(
            "Expected all operators to have the same dtype. Found: "
            + ", ".join(f"{o.name}: {o.dtype.name}" for o in operators)
        )
    return operators


HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite")


def implied_hint(operators: Sequence[Any], hint: str, given, what: str):
    """A hint of an operator that has it if all `operators` do. Raises ValueError for a contradiction."""
    if not all(getattr(o, hint) for o in operators):
        return given
    if given is False:
        word = hint.removeprefix("is_").replace("_", "-")
        raise ValueError(
            f"The {what} of {word} operators is always {word}. Expected argument `{hint}` to be True. Received: False."
        )
    return True


def batch_of(operators: Sequence[Any]):
    batch = operators[0].batch_shape
    for o in operators[1:]:
        batch = broadcast_static_shape(batch, o.batch_shape)
    return batch


def batch_tensor_of(operators: Sequence[Any]):
    batch = operators[0].batch_shape_tensor()
    for o in operators[1:]:
        batch = broadcast_dynamic_shape(batch, o.batch_shape_tensor())
    return batch


def together(operators, method: str):
    """The assertions `method` of several operators as one."""
    return group(*[getattr(o, method)() for o in operators])


class _One(LinearOperator):
    """An operator made of one other."""

    _matrix_dimensions = MappingProxyType({"operator": OPERATORS})

    def __init__(self, operator, hints, name, parameters):
        self._operator = operator
        super().__init__(operator.dtype, None, *hints, name, parameters)

    @property
    def operator(self):
        return self._operator

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()

    def _cond(self):
        return self._operator.cond()


def _inherited(operator: LinearOperatorFullMatrix | LinearOperatorLowerTriangular, given: Sequence[Any]):
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
    for name, hint in zip(names, given, strict=True):
        own = getattr(operator, name)
        if None not in (hint, own) and hint != own:
            word = name.removeprefix("is_").replace("_", "-")
            raise ValueError(f"The operator is {'' if own else 'not '}{word}, in contradiction to the hint {hint}.")
        yield own if hint is None else hint


@api("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_One):
    """The conjugate transpose of an operator."""

    def __init__(
        self, operator: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None,
    ):
        parameters = parameters_of(locals())
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            operator, _inherited(operator, given), name or f"{operator.name}_adjoint", parameters
        )

    def _shape(self):
        shape = self._operator.shape
        return shape[:-2].concatenate(shape[-1:]).concatenate(shape[-2:-1])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _determinant(self):
        return conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        return conj(self._operator.trace())

    def _eigvals(self):
        return conj(self._operator.eigvals())

    def _matmul(self, x: Tensor, adjoint: bool):
        return self._operator.matmul(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool):
        return self._operator.solve(rhs, adjoint=not adjoint)

    def _adjoint(self):
        return self._operator


@api("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_One):
    """The inverse of an operator."""

    def __init__(
        self, operator: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None,
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

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _to_dense(self):
        return self._operator.solve(self._identity())

    def _eigvals(self):
        return division.RealDiv(1.0, self._operator.eigvals())

    def _matmul(self, x: Tensor, adjoint: bool):
        return self._operator.solve(x, adjoint=adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool):
        return self._operator.matmul(rhs, adjoint=adjoint)

    def _determinant(self):
        return division.RealDiv(1.0, self._operator.determinant())

    def _log_abs_determinant(self):
        return arithmetic.Mul(self._operator.log_abs_determinant(), -1)

    def _inverse(self):
        return self._operator

    def _simple_quotient(self, other):
        return self._operator.matmul(other)


class Several(LinearOperator):
    """An operator made of a list of others."""

    _matrix_dimensions = MappingProxyType({"operators": OPERATORS})

    def __init__(self, operators, hints, name, parameters):
        self._operators = operators
        super().__init__(operators[0].dtype, None, *hints, name, parameters)

    @property
    def operators(self):
        return self._operators


@api("linalg.LinearOperatorComposition")
class LinearOperatorComposition(Several):
    """The product of operators: the last is applied first."""

    def __init__(
        self, operators: Sequence[Any], is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None,
    ):
        parameters = parameters_of(locals())
        operators = checked(operators)
        is_non_singular = implied_hint(operators, HINTS[0], is_non_singular, "composition")
        name = name or "_o_".join(o.name for o in operators)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        for left, right in pairwise(operators):
            if not left.domain_dimension.is_compatible_with(right.range_dimension):
                raise ValueError(
                    f"Operators are incompatible: shapes {left.shape} and {right.shape}"
                )
        super().__init__(operators, hints, name, parameters)

    def _shape(self):
        ends = [
            static_size(self._operators[0].shape, -2),
            static_size(self._operators[-1].shape, -1),
        ]
        return batch_of(self._operators).concatenate(ends)

    def _shape_tensor(self):
        first, last = self._operators[0], self._operators[-1]
        ends = [first.range_dimension_tensor(), last.domain_dimension_tensor()]
        return concat([batch_tensor_of(self._operators), stack(ends)], 0)

    def _to_dense(self):
        dense = self._operators[-1].to_dense()
        for operator in reversed(self._operators[:-1]):
            dense = operator.matmul(dense)
        return dense

    def _matmul(self, x: Tensor, adjoint: bool):
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Tensor, adjoint: bool):
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self):
        return functools.reduce(arithmetic.Mul, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(
            arithmetic.AddV2, [o.log_abs_determinant() for o in self._operators]
        )

    def _assert_non_singular(self):
        if all(o.is_square for o in self._operators):
            return together(self._operators, "assert_non_singular")
        return super()._assert_non_singular()


@api("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(Several):
    """The Kronecker product of operators."""

    def __init__(
        self, operators: Sequence[Any], is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None,
    ):
        parameters = parameters_of(locals())
        operators = checked(operators)
        given = (is_non_singular, is_self_adjoint, is_positive_definite)
        hints = [
            implied_hint(operators, *pair, "Kronecker product")
            for pair in zip(HINTS, given, strict=True)
        ]
        if is_square is None and all(o.is_square for o in operators):
            is_square = True
        name = name or "_x_".join(o.name for o in operators)
        super().__init__(operators, [*hints, is_square], name, parameters)

    def _shape(self):
        rows = columns = 1
        for o in self._operators:
            m, n = static_size(o.shape, -2), static_size(o.shape, -1)
            rows = None if None in (rows, m) else rows * m
            columns = None if None in (columns, n) else columns * n
        return batch_of(self._operators).concatenate([rows, columns])

    def _shape_tensor(self):
        sizes = [o.shape_tensor()[-2:] for o in self._operators]
        return concat([batch_tensor_of(self._operators), reductions.reduce_prod(stack(sizes), 0)], 0)

    def _to_dense(self):
        dense = self._operators[0].to_dense()
        for operator in self._operators[1:]:
            product = Einsum([dense, operator.to_dense()], "...ij,...kl->...ikjl")
            sizes = Shape(product)
            both = stack([sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])
            dense = layout.Reshape(product, concat([sizes[:-4], both], 0))
        dense.set_shape(self.shape)
        return dense

    def _determinant(self):
        return functools.reduce(arithmetic.Mul, self._powers("determinant", arithmetic.Pow))

    def _log_abs_determinant(self):
        return functools.reduce(
            arithmetic.AddV2, self._powers("log_abs_determinant", arithmetic.Mul)
        )

    def _powers(self, method: str, raised: Callable[..., Any]):
        """What `method` says of each factor, `raised` to the number of times that it is in the product."""
        total = self.domain_dimension_tensor()
        for o in self._operators:
            value = getattr(o, method)()
            times = casting.cast(total // o.domain_dimension_tensor(), value.dtype)
            yield raised(value, times)

    def _diag_part(self):
        return self._outer("diag_part")

    def _eigvals(self):
        return self._outer("eigvals")

    def _outer(self, method: str):
        """The products of all elements of the factors' vectors."""
        total = getattr(self._operators[0], method)()
        for o in self._operators[1:]:
            part = layout.ExpandDims(getattr(o, method)(), -2)
            pairs = arithmetic.Mul(layout.ExpandDims(total, -1), part)
            total = layout.Reshape(pairs, concat([Shape(pairs)[:-2], [-1]], 0))
        return total

    def _trace(self):
        return functools.reduce(arithmetic.Mul, [o.trace() for o in self._operators])

    def _like(self, operators: Sequence[Any]):
        return LinearOperatorKronecker(operators, *self._hints)

    def _adjoint(self):
        return self._like([o.adjoint() for o in self._operators])

    def _inverse(self):
        return self._like([o.inverse() for o in self._operators])

    def _cholesky(self):
        factors = [o.cholesky() for o in self._operators]
        return LinearOperatorKronecker(factors, True, None, None, True)

    def _of_squares(self, method: str):
        if not all(o.is_square for o in self._operators):
            raise InvalidArgumentError(
                None, None, "All Kronecker factors must be square for the product to be invertible."
            )
        return together(self._operators, method)

    def _assert_non_singular(self):
        return self._of_squares("assert_non_singular")

    def _assert_self_adjoint(self):
        return self._of_squares("assert_self_adjoint")
