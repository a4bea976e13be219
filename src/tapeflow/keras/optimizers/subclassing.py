"""Optimizers that programs write as Keras 2 had it: `_create_slots`, `_prepare_local`, `_resource_apply_dense`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.variables import dtype_of
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.rows import identity


class Subclassed:
    """What such a class finds in its base, and how the walk over gradients calls its methods."""

    # Whether a subclass is written in this way.
    _by_resources = False
    # What it passes on to ops: updates are exact without being asked for.
    _use_locking = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_resource_apply_dense" in cls.__dict__:
            cls._by_resources = True
            cls._apply_dense = _apply_dense
        if "_resource_apply_sparse" in cls.__dict__:
            cls._apply_sparse = _apply_sparse
            cls._adds_up = False

    @property
    def _initial_decay(self):
        """The decay of the learning rate that the constructor was given, for `_set_hyper("decay", ...)`."""
        return self._decay

    def _decayed_lr(self, var_dtype):
        """The learning rate of the moment, in a dtype."""
        return self._rate(dtypes.as_dtype(var_dtype).base_dtype)

    def _serialize_hyperparameter(self, hyperparameter_name):
        """A setting as a number, or a schedule as its config."""
        return self._config_value(hyperparameter_name)

    def _create_slots(self, var_list: Sequence[Variable]):
        """Makes the slots of variables, by add_slot."""

    def _prepare_local(self, var_device, var_dtype, apply_state):
        """Puts what all variables of a dtype share in a step in `apply_state[var_device, var_dtype]`."""
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device, var_dtype):
        """What `_prepare_local` gives for one kind of variables."""
        state = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _resource_scatter_add(self, x, i: int, v):
        """Adds values to the rows `i` of a variable."""
        x.scatter_nd_add(expand_dims(i, -1), v)
        return x.read_value()

    def _begin_step(self, variables):
        """Makes the slots, and what is shared, before the updates of a step."""
        with context.init_scope():
            self._create_slots(variables)
        shared = {}
        for var in variables:
            kind = (var.device, dtype_of(var).base_dtype)
            if kind not in shared:
                shared[kind] = {}
                self._prepare_local(*kind, shared)
        self.__dict__["_apply_state"] = shared


def _call(self, method: Callable[..., Any], *args):
    if "apply_state" in inspect.signature(method).parameters:
        return method(*args, apply_state=self.__dict__["_apply_state"])
    return method(*args)


def _apply_dense(self, grad: Tensor, var: Variable):
    _call(self, self._resource_apply_dense, grad, var)


def _apply_sparse(self, values: Tensor, indices: Tensor, var: Variable):
    _call(self, self._resource_apply_sparse, values, var, indices)
