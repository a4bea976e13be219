"""`tf.train.Optimizer` (1.x): gradients of a loss, and updates by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._native import EagerTensor
from tapeflow.autodiff.tape import GradientTape
from tapeflow.checkpoint.following import attached
from tapeflow.core import context, replicas
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import fill, zeros
from tapeflow.ops.control.grouping import group
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable
from tapeflow.train.protocol import Protocol
from tapeflow.train.slots import OwnVariables, Slots, graph_of, make_own, make_slot
from tapeflow.train.sparse import is_sparse
from tapeflow.train.updating import ByRule, name_wrong_gradient


@public_methods
class Optimizer(Protocol, ByRule):
    """Base of the optimizers: subclasses say how one variable changes by one gradient.

    Args:
      use_locking: accepted for compatibility; updates never overlap.
      name: prefix of the names of the variables that the optimizer makes.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    _slot_names: tuple = ()
    _applied_in = ""  # the name scope of the last `apply_gradients`
    _decays = False  # TensorFlow's rows for sparse gradients leave other rows alone

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots = Slots()
        self._non_slots = OwnVariables()
        self._constants = {}

    def get_name(self):
        """The optimizer's name."""
        return self._name

    def minimize(
        self, loss: Tensor, global_step: Any = None, var_list=None, gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: TensorLike | None = None,
    ):
        """One step down: computes the gradients of `loss` (eagerly, a function) and applies them."""
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        variables = [var for grad, var in grads_and_vars if grad is not None]
        if not variables:
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support "
                f"gradients, between variables {[str(var) for _, var in grads_and_vars]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self, loss: Any, var_list=None, gate_gradients: int = GATE_OP, aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ):
        """(gradient, variable) pairs for the variables of var_list, or all that `loss()` reads.

        Raises RuntimeError when `loss` is no function.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        if aggregation_method not in (None, 0, 1, 2):  # they differ in speed only
            raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}.")
        if callable(loss):
            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch(var_list)
                value = loss()
            variables = (
                list(tape.watched_variables()) if var_list is None else nest.flatten(var_list)
            )
            gradients = tape.gradient(value, variables, grad_loss)
            return list(zip(gradients, variables))
        if context.executing_eagerly():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        graph = context.current_graph()
        variables = (
            graph.get_collection("trainable_variables")
            if var_list is None
            else nest.flatten(var_list)
        )
        if not variables:
            raise ValueError("No variables to optimize.")
        weights = None if grad_loss is None else [grad_loss]
        gradients = graph.gradients([loss], variables, weights)
        return list(zip(gradients, variables))

    def apply_gradients(self, grads_and_vars: Sequence[Any], global_step: Any = None, name: str | None = None):
        """Changes the variables by their gradients; pairs without a gradient are left out.

        Adds 1 to global_step. Raises ValueError when there is no gradient at all.
        """
        if replicas.several():
            return replicas.apply_once(
                lambda pairs: self.apply_gradients(pairs, global_step, name), grads_and_vars
            )
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        if global_step is not None and not hasattr(global_step, "assign_add"):
            raise TypeError(f"global_step must be a variable, got {global_step!r}")
        graph = context.current_graph()
        self._applied_in = context.current_name_scope()
        if graph is not None and graph.prunes:
            with context.name_scope(name or self._name) as scope:
                updates = graph.effects_of(lambda: self._update(pairs))
                with graph.control_dependencies(updates):
                    finished = graph.effects_of(lambda: self._finish_by_protocol(updates, scope))
                last = group(
                    *updates, *finished, name="update" if global_step is not None else scope
                )
                if global_step is not None:
                    with graph.control_dependencies([last]):
                        last = global_step.assign_add(1, name=scope).op
            graph.add_to_collection("train_op", last)
            return last
        self._update(pairs)
        self._finish_by_protocol([], self._name)
        if global_step is not None:
            global_step.assign_add(1)
        return None

    def _update(self, pairs: Sequence[Any]):
        """Changes the variables."""
        if self._overrides():
            self._update_by_protocol(pairs)
            return
        given = [pair for pair in pairs if pair[0] is not None]
        for _, var in given:
            if not isinstance(var, Variable):
                what = "update a Tensor" if isinstance(var, Tensor) else "optimize unsupported type"
                raise NotImplementedError(f"Trying to {what} {var!r}")
        if not given:
            raise ValueError(
                f"No gradients provided for any variable: {[repr(var) for _, var in pairs]}."
            )
        self._prepare(given[0][1])
        try:
            self._apply(given)
        except (InvalidArgumentError, ValueError) as error:
            name_wrong_gradient(given, error)
            raise

    def _apply(self, pairs):
        for grad, var in self._apply_together(pairs):
            if type(grad) is EagerTensor:
                self._apply_dense(grad, var)
            elif is_sparse(grad):
                self._apply_slices(grad, var)
            else:
                self._apply_dense(self._as_gradient(grad, var), var)
            if var.constraint is not None:
                var.assign(var.constraint(var))

    @staticmethod
    def _as_gradient(grad: Tensor, var: Any):
        try:
            return convert_to_tensor(grad, var.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad!r}"
            ) from error

    # What subclasses define

    def _prepare(self, var=None):
        """Called before the first update of a step with the first variable."""

    def _finish(self, update_ops: Sequence[Any] | None = None, name_scope: str | None = None):
        """Called after the last update of a step."""

    # Slots and numbers

    def _slot(self, var, name: str, value: float = 0.0):
        """A slot of a variable, filled with `value` (or made by value(var)) at first."""
        slots = self._slots.of(var)
        slot = slots.get(name)
        if slot is None:

            def start():
                if callable(value):
                    return value(var)
                if value:
                    return fill(var.shape.as_list(), cast(value, var.dtype))
                return zeros(var.shape.as_list(), var.dtype)

            slot = slots[name] = make_slot(start, var, self._slot_label(name), var.dtype)
        return slot

    def _slot_label(self, name: str):
        """What the variables of a slot are named, behind their variable's name."""
        return self._name

    def _non_slot(self, name: str, start: Callable[..., Any], dtype: DType, beside: Any = None):
        """A scalar variable of the optimizer itself, which begins with `start()`, on the device of `beside`."""
        own = self._non_slots.here()
        variable = own.get(name)
        if variable is None:
            variable = own[name] = make_own(start, name, dtype, self._applied_in, beside)
            attached(self, name, variable)
        return variable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        return dict(self._non_slots.here())

    def _restore_slot(self, var, name: str):
        """The slot of that name, made for a checkpoint that has it; None where there is no such slot."""
        return self._slot(var, name) if not self._slot_names or name in self._slot_names else None

    def _number(self, value: TensorLike, dtype: DType):
        """A setting as a scalar tensor: a number, a tensor, a variable, or a function of none."""
        if type(value) is float or type(value) is int:
            if not context.executing_eagerly():
                return convert_to_tensor(value, dtype)
            key = (value, dtype)
            found = self._constants.get(key)
            if found is None:
                found = self._constants[key] = convert_to_tensor(value, dtype)
            return found
        if callable(value) and not hasattr(value, "dtype"):
            value = value()
        value = convert_to_tensor(value)
        return value if value.dtype == dtype else cast(value, dtype)

    def get_slot(self, var, name: str):
        """The slot variable of that name, or None."""
        return self._slots.get(var, name)

    def get_slot_names(self):
        """The names of the slots made so far."""
        return self._slots.names()

    def variables(self):
        """All variables that the optimizer has made: in a graph those of that graph."""
        found = [*self._non_slots.here().values(), *self._slots.all()]
        graph = context.current_graph()
        if graph is not None and not graph.building_function:
            found = [variable for variable in found if graph_of(variable) is graph]
        return sorted(found, key=lambda var: var.name)
