"""Optimizers that programs define: TensorFlow's protocol of `_create_slots`, `_prepare`, `_resource_apply_dense` and
the like, spoken by the optimizers here.
"""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import zeros
from tapeflow.train.slots import make_own, make_slot
from tapeflow.train.sparse import is_sparse, without_duplicates

_NAMES = ("_create_slots", "_resource_apply_dense", "_resource_apply_sparse", "_apply_dense", "_prepare", "_finish")

# Where the optimizers are that speak it from inside.
_OURS = ("tapeflow.train", "tapeflow.contrib.opt")


class Protocol:
    """The methods that programs override or call; what an optimizer here does by itself stands behind them."""

    _slots: Any
    _non_slots: Any
    _name: str
    _applied_in: str

    @classmethod
    def _overrides(cls) -> set[str]:
        """Those of the methods that a program has defined."""
        found = cls.__dict__.get("_overridden")
        if found is None:
            found = set()
            for base in cls.__mro__:
                if not base.__module__.startswith(_OURS):
                    found.update(name for name in _NAMES if name in base.__dict__)
            cls._overridden = found  # type: ignore[attr-defined]
        return found

    def _create_slots(self, var_list: Any) -> None:
        """Makes the slots; those of the optimizers here are made when they are first needed."""

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)  # type: ignore[attr-defined]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: TensorLike) -> Any:
        return self._apply_sparse(grad, indices, handle)  # type: ignore[attr-defined]

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: TensorLike) -> Any:
        return self._resource_apply_sparse(grad, handle, indices)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """The slot of that name, which begins with `val`."""
        return self._slot_beginning_with(var, lambda: convert_to_tensor(val), slot_name, op_name)

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        return self._slot_beginning_with(
            var, lambda: initializer(shape.as_list() if hasattr(shape, "as_list") else shape, dtype=dtype),
            slot_name, op_name,
        )  # fmt: skip

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """The slot of that name, which begins with zeros."""
        dtype = var.dtype.base_dtype
        return self._slot_beginning_with(var, lambda: zeros(var.shape.as_list(), dtype), slot_name, op_name)

    def _slot_beginning_with(self, var: Any, start: Any, slot_name: str, op_name: str) -> Any:
        slots = self._slots.of(var)
        if slot_name not in slots:
            slots[slot_name] = make_slot(start, var, op_name, var.dtype)
        return slots[slot_name]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """The variable of the optimizer itself of that name."""
        own = self._non_slots.here()
        if name not in own:
            own[name] = make_own(lambda: initial_value, name, None, self._applied_in)
        return own[name]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slots.here().get(name)

    def _non_slot_variables(self) -> Any:
        return list(self._non_slots.here().values())

    def _call_if_callable(self, param: Any) -> Any:
        """What a function gives, anything else as it is."""
        return param() if callable(param) and not hasattr(param, "dtype") else param

    def _assert_valid_dtypes(self, tensors: Any) -> None:
        for tensor in tensors:
            if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
                raise ValueError(f"Invalid type {tensor.dtype!r} for {tensor.name}.")

    def _update_by_protocol(self, pairs: Any) -> None:
        """Changes the variables as TensorFlow has an optimizer do it."""
        pairs = [(grad, var) for grad, var in pairs if grad is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        with context.init_scope():
            self._create_slots([var for _, var in pairs])
        _own_prepare(type(self))(self, pairs[0][1])
        if "_prepare" in self._overrides():
            self._prepare()  # type: ignore[attr-defined]
        dense_by_old_name = "_apply_dense" in self._overrides() and "_resource_apply_dense" not in self._overrides()
        for grad, var in pairs:
            if is_sparse(grad):
                if "_resource_apply_sparse" in self._overrides():
                    values, indices = without_duplicates(grad)
                    self._resource_apply_sparse(values, var, indices)
                else:
                    self._apply_sparse(*without_duplicates(grad), var)  # type: ignore[attr-defined]
            else:
                grad = convert_to_tensor(grad, var.dtype.base_dtype)
                if dense_by_old_name:
                    self._apply_dense(grad, var)  # type: ignore[attr-defined]
                else:
                    self._resource_apply_dense(grad, var)
            if var.constraint is not None:
                var.assign(var.constraint(var))

    def _finish_by_protocol(self, update_ops: Any, name: str) -> None:
        """What comes after the updates."""
        if "_finish" in self._overrides() and _takes(self._finish) >= 2:  # type: ignore[attr-defined]
            self._finish(update_ops, name)  # type: ignore[attr-defined]
        else:
            self._finish()  # type: ignore[attr-defined]


def _own_prepare(cls: type) -> Any:
    """The `_prepare` of the first base that is one of the optimizers here."""
    for base in cls.__mro__:
        if base.__module__.startswith(_OURS) and "_prepare" in base.__dict__:
            return base.__dict__["_prepare"]
    return lambda self, var: None


def _takes(method: Any) -> int:
    """How many arguments a method takes."""
    return len(inspect.signature(method).parameters)
