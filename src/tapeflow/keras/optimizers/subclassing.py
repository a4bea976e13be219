"""Optimizers that programs write as Keras 2 had it: `_create_slots`, `_prepare_local`, `_resource_apply_dense`.

They may call these methods of any optimizer, too: of the rule that they extend, and of an optimizer that they wrap.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.variables import dtype_of
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math.segment_functions import unsorted_segment_sum


class Subclassed:
    """What such a class finds in its base, and how the walk over gradients calls its methods."""

    # What optimizers define: the first values of slots, a slot, and what is done before the updates of a step.
    _slot_values: Any
    _slot: Any
    _begin_update: Any
    # Whether a subclass is written in this way.
    _by_resources = False
    # What it passes on to ops: updates are exact without being asked for.
    _use_locking = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # Another base may define them, which is no optimizer itself.
        if _brings(cls, "_resource_apply_dense"):
            cls._by_resources = True
            cls._apply_dense = _apply_dense
        if _brings(cls, "_resource_apply_sparse"):
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

    def _create_slots(self, var_list: Sequence[Any]):
        """Makes the slots of variables: those of the rule, and others by add_slot."""
        for var in var_list:
            for name, value in self._slot_values(var):
                self._slot(var, name, value)

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

    def _create_hypers(self):
        """Makes the variables of the settings, and that of the number of steps."""
        with context.init_scope():
            self._counter  # noqa: B018
            if "learning_rate" in self._hyper and not callable(self._hyper["learning_rate"]):
                self._hyper_variable("learning_rate")

    def _prepare(self, var_list: Sequence[Any]):
        """Computes what the updates of a step share; returns it by device and dtype."""
        self._begin_update(var_list[0])
        shared: dict[Any, Any] = {}
        for var in var_list:
            kind = (var.device, dtype_of(var).base_dtype)
            if kind not in shared:
                shared[kind] = {}
                self._prepare_local(*kind, shared)
        self.__dict__["_apply_state"] = shared
        return shared

    def _resource_apply_dense(self, grad, handle, apply_state=None):
        """Updates a variable; returns what is computed then."""
        _rule(self, "_apply_dense")(grad, handle)
        return handle.read_value()

    def _resource_apply_sparse(self, grad, handle, indices, apply_state=None):
        """Updates rows of a variable; returns what is computed then."""
        _rule(self, "_apply_sparse")(grad, indices, handle)
        return handle.read_value()

    @property
    def _dense_apply_args(self):
        """The names of the arguments of `_resource_apply_dense`."""
        return inspect.getfullargspec(self._resource_apply_dense).args

    @property
    def _sparse_apply_args(self):
        """The names of the arguments of `_resource_apply_sparse`."""
        return inspect.getfullargspec(self._resource_apply_sparse).args

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
        """Updates rows of a variable, some of them by several gradients."""
        rows, positions = unique(indices)
        summed = unsorted_segment_sum(grad, positions, shape(rows)[0])
        return self._resource_apply_sparse(summed, handle, rows, **kwargs)

    def _resource_scatter_update(self, x, i, v):
        """Replaces the rows `i` of a variable."""
        x.scatter_nd_update(expand_dims(i, -1), v)
        return x.read_value()

    def _begin_step(self, variables):
        """Makes the slots, and what is shared, before the updates of a step."""
        with context.init_scope():
            self._create_slots(variables)
        self._prepare(variables)


def _brings(cls: type, name: str) -> bool:
    """Whether a class, or one of its bases, defines a method anew."""
    return getattr(cls, name) is not getattr(Subclassed, name)


def _rule(optimizer, name: str):
    """A method of the update rule itself, below those that a subclass brings."""
    bridges = (_apply_dense, _apply_sparse)
    for cls in type(optimizer).__mro__:
        found = cls.__dict__.get(name)
        if found is not None and found not in bridges:
            return found.__get__(optimizer)
    raise NotImplementedError(f"{type(optimizer).__name__} has no update of its own to call")


def _call(self, method: Callable[..., Any], *args):
    if "apply_state" in inspect.signature(method).parameters:
        return method(*args, apply_state=self.__dict__["_apply_state"])
    return method(*args)


def _apply_dense(self, grad: Tensor, var: Variable):
    _call(self, self._resource_apply_dense, grad, var)


def _apply_sparse(self, values: Tensor, indices: Tensor, var: Variable):
    _call(self, self._resource_apply_sparse, values, var, indices)
