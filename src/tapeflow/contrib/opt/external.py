"""Optimizers outside of graphs: the loss and its gradients as functions of one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import extras
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.graph.build.collections import trainable_variables
from tapeflow.graph.build.derivatives import gradients
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]


class ExternalOptimizerInterface:
    """Base: subclasses define `_minimize`, which gets the loss and its gradient as functions of a vector."""

    def __init__(
        self, loss: TensorLike, var_list: Sequence[Any] | None = None, equalities=None, inequalities=None,
        var_to_bounds=None, **optimizer_kwargs,
    ):  # fmt: skip

        self.optimizer_kwargs = optimizer_kwargs
        self._loss, self._equalities, self._inequalities = loss, equalities or [], inequalities or []
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self._sizes = [int(np.prod(var.shape.as_list())) for var in self._vars]
        self._bounds = None
        if var_to_bounds is not None:
            self._bounds = []
            for var in self._vars:
                low, high = next((b for v, b in var_to_bounds.items() if v is var), (-np.inf, np.inf))
                lows = np.broadcast_to(low, var.shape.as_list()).ravel()
                highs = np.broadcast_to(high, var.shape.as_list()).ravel()
                self._bounds += list(zip(lows, highs))

        def flat(value: TensorLike):
            grads = gradients(value, self._vars)
            parts = [reshape(g if g is not None else v * 0, [-1]) for g, v in zip(grads, self._vars)]
            return parts[0] if len(parts) == 1 else concat(parts, 0)

        with get_default_graph().as_default():
            self._gradient = flat(loss)
            self._equality_gradients = [flat(each) for each in self._equalities]
            self._inequality_gradients = [flat(each) for each in self._inequalities]

    def _feeds(self, vector: np.ndarray):
        at, feeds = 0, {}
        for var, size in zip(self._vars, self._sizes):
            feeds[var] = np.reshape(vector[at : at + size], var.shape.as_list())
            at += size
        return feeds

    def minimize(
        self, session: Session | None = None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None,
        **run_kwargs,
    ):  # fmt: skip
        """Moves the variables of the session to where the optimizer ends."""
        session, feed_dict = session or get_default_session(), feed_dict or {}
        fetches = list(fetches or ())

        def set_variables(vector: np.ndarray):
            for var, value in self._feeds(vector).items():
                var.load(value.astype(var.dtype.as_numpy_dtype), session)

        def evaluated(*tensors):
            def at(vector: np.ndarray):
                set_variables(vector)
                values = session.run([*tensors, *fetches], feed_dict, **run_kwargs)
                if fetches and loss_callback is not None:
                    loss_callback(*values[len(tensors) :])
                return [np.asarray(value, np.float64) for value in values[: len(tensors)]]

            return at

        start = np.concatenate([np.ravel(session.run(var)) for var in self._vars]).astype(np.float64)

        def single(tensor: Tensor):
            function = evaluated(tensor)
            return lambda vector: function(vector)[0]

        result = self._minimize(
            initial_val=start,
            loss_grad_func=evaluated(self._loss, self._gradient),
            equality_funcs=[single(each) for each in self._equalities],
            equality_grad_funcs=[single(each) for each in self._equality_gradients],
            inequality_funcs=[single(each) for each in self._inequalities],
            inequality_grad_funcs=[single(each) for each in self._inequality_gradients],
            packed_bounds=self._bounds, step_callback=step_callback or (lambda vector: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )  # fmt: skip
        set_variables(result)

    def _minimize(self, **kwargs):
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement _minimize.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` (by default L-BFGS-B, or SLSQP with constraints)."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
        inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs,
    ):  # fmt: skip
        optimize = extras.load("scipy.optimize", "ScipyOptimizerInterface")
        constraints = [
            {"type": kind, "fun": function, "jac": gradient}
            for kind, functions, gradients in (
                ("eq", equality_funcs, equality_grad_funcs), ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for function, gradient in zip(functions, gradients)
        ]  # fmt: skip
        options = dict(optimizer_kwargs)
        method = options.pop("method", "SLSQP" if constraints else self._DEFAULT_METHOD)

        def both(vector: np.ndarray):
            loss, gradient = loss_grad_func(vector)
            return float(loss), gradient

        return optimize.minimize(
            both, initial_val, jac=True, method=method, callback=step_callback, bounds=packed_bounds,
            **({"constraints": constraints} if constraints else {}), **options,
        ).x  # fmt: skip
