"""How optimizers apply a rule: to one variable, to rows of it, and to all variables of a step by one call."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import defines
from tapeflow.core.tensor_shape import as_shape
from tapeflow.core.variables import dtype_of
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.state.training_rule import Rule
from tapeflow.ops.state.variable import Variable, VariableV1
from tapeflow.train.sparse import without_duplicates


class Update(NamedTuple):
    """What a step does to every variable of a dtype.

    Attributes:
      rule: a rule of `ops.training`.
      slots: (name, first value) of each slot, in the rule's order.
      scalars: those of the rule, in its order.
      attrs: those of the rule.
    """

    rule: Rule
    slots: tuple[tuple[str, Any], ...]
    scalars: tuple[Any, ...]
    attrs: Mapping[str, Any] = MappingProxyType({})


class ByRule:
    """Optimizers whose updates are those of a rule; subclasses define `_update_of`.

    Others override `_apply_dense`, and `_apply_sparse` if they have a way for rows.
    """

    # Whether `_apply_sparse` adds up the values of an index that comes twice; else they are before.
    _adds_up = False
    # Whether slots decay in the rows without a gradient too, where the rule has both.
    _decays = True
    _slot: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_apply_sparse" in cls.__dict__ and "_adds_up" not in cls.__dict__:
            cls._adds_up = False

    def _update_of(self, dtype: Any) -> Update:
        """The update of the variables of a dtype in this step."""
        raise TypeError(f"{type(self).__name__} does not say how a gradient changes a variable")

    @classmethod
    def _has_rule(cls) -> bool:
        return defines(cls, ByRule, "_update_of")

    def _slots_for(self, update: Update, var: Any) -> list[Any]:
        return [self._slot(var, *slot) for slot in update.slots]

    def _apply_dense(self, grad: Any, var: Any) -> None:
        """Changes a variable by its gradient."""
        update = self._update_of(dtype_of(var))
        slots = self._slots_for(update, var)
        update.rule.apply(var, slots, update.scalars, grad, **update.attrs)

    def _apply_sparse(self, values: Any, indices: Any, var: Any) -> None:
        """Changes a variable by the gradients of rows. Where there is no way for rows, they are made dense."""
        if self._has_rule():
            update = self._update_of(dtype_of(var))
            rule = update.rule
            row = (rule.rows or rule.sparse) if self._decays else (rule.sparse or rule.rows)
            if row is not None:
                slots = self._slots_for(update, var)
                rule.apply_sparse(row, var, slots, update.scalars, values, indices, **update.attrs)
                return
        dense = scatter_nd(expand_dims(indices, -1), values, shape(var, out_type=indices.dtype))
        self._apply_dense(dense, var)

    def _apply_slices(self, grad: Any, var: Any) -> None:
        """Changes a variable by IndexedSlices."""
        if self._adds_up:
            self._apply_sparse(grad.values, grad.indices, var)
        else:
            values, indices = without_duplicates(grad)
            self._apply_sparse(values, indices, var)

    def _apply_together(self, pairs: list[Any]) -> list[Any]:
        """Changes the variables that share a rule and its scalars; returns the other pairs, in their order.

        Eagerly that is one call. Graphs get the updates one by one, as TensorFlow has them, which plans join.
        """
        if (
            len(pairs) < 2
            or defines(type(self), ByRule, "_apply_dense")
            or not self._has_rule()
        ):
            return pairs
        eager = context.executing_eagerly()
        rest = []
        gradients, variables = zip(*pairs)
        if not eager or set(map(type, gradients)) != {EagerTensor}:
            fits = [_fits(*pair) for pair in pairs]
            rest = [pair for pair, fit in zip(pairs, fits) if not fit]
            pairs = [pair for pair, fit in zip(pairs, fits) if fit]
            if len(pairs) < 2:
                return [*pairs, *rest]
            gradients, variables = zip(*pairs)
        groups = self.__dict__.get("_groups")
        if groups is None or groups.key != tuple(map(id, variables)):
            groups = self.__dict__["_groups"] = Groups(variables)
        for group in groups.groups:
            self._apply_group(group, group.of(variables), group.of(gradients), eager)
        return [*(pairs[i] for i in groups.single), *rest]

    def _apply_group(self, group: Group, variables: Any, gradients: Any, eager: bool) -> None:
        rule, slots, scalars, attrs = update = self._update_of(group.dtype)
        if group.slots_of != (rule, slots):
            group.slots = list(zip(*(self._slots_for(update, var) for var in variables)))
            group.slots_of = (rule, slots)
        if eager:
            rule.apply_many(variables, group.slots, scalars, gradients, **attrs)
            return
        # Read once, not for each variable.
        scalars = tuple(convert_to_tensor(scalar) for scalar in scalars)
        each = zip(*group.slots) if slots else itertools.repeat(())
        for var, own, grad in zip(variables, each, gradients):
            rule.apply(var, own, scalars, grad, **attrs)


def name_wrong_gradient(pairs: Any, error: Exception) -> None:
    """Raises an error that names the variable whose gradient has another shape, if `error` may come from one."""
    for grad, var in pairs:
        given, wanted = (as_shape(getattr(x, "shape", None)) for x in (grad, var))
        if not given.is_compatible_with(wanted):
            text = f"The gradient of variable {var.name!r}, whose shape is {wanted}, has shape {given}: {error}"
            raise InvalidArgumentError(None, None, text) from None


def _fits(grad: Any, var: Any) -> bool:
    return isinstance(grad, Tensor) and grad.dtype == getattr(var, "_dtype", None)


class Group:
    """Variables of one dtype, by their places in a step (perhaps all), and their slots, a list for each kind."""

    def __init__(self, dtype: Any):
        self.dtype = dtype
        self.places: list[int] = []
        self.is_all = False
        self.slots: list[Any] = []
        self.slots_of: Any = None

    def of(self, items: Any) -> Any:
        """Those of a step's items that are at the places."""
        return items if self.is_all else [items[i] for i in self.places]


class Groups:
    """Which variables of a step one call can change. It holds as long as the same variables come.

    Attributes:
      key: the ids of the variables; None once one of them is gone.
      groups: of those of one dtype.
      single: the places of those that want a call of their own: with constraints, of other kinds, in two places.
    """

    def __init__(self, variables: tuple[Any, ...]):
        self.key: tuple[int, ...] | None = tuple(map(id, variables))
        self.single: list[int] = []
        by_dtype: dict[Any, Group] = {}
        several = len(set(self.key)) < len(variables)
        for i, var in enumerate(variables):
            if several or type(var) not in (Variable, VariableV1) or var.constraint is not None:
                self.single.append(i)
            else:
                by_dtype.setdefault(dtype_of(var), Group(dtype_of(var))).places.append(i)
        self.groups = list(by_dtype.values())
        for group in self.groups:
            group.is_all = len(group.places) == len(variables)
        this = weakref.ref(self)

        def forget(_: Any) -> None:
            groups = this()
            if groups is not None:
                groups.key = None

        self._watched = [weakref.ref(var, forget) for var in variables]
