"""`ForwardAccumulator`: Jacobian-vector products, derived from the gradients that tapes use.

The gradient g(u) = Jᴴu of a recorded computation is linear in u, so that the gradient of <t, g(u)> with
respect to u is J t, whatever u is. No op needs a rule of its own for this direction.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from tapeflow.autodiff.tape import GradientTape, UnconnectedGradients, trainable
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.reductions import reduce_sum


class _Active(threading.local):
    """How the accumulators of a thread go on to record after they have ended, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Callable[[], AbstractContextManager[None]]] = []


_active = _Active()


@public_methods
class ForwardAccumulator:
    """Directional derivatives of what its context computes from `primals`.

    Args:
      primals: a tensor or variable, or a structure of them.
      tangents: the direction: a tensor of the same shape and dtype for each of the primals, in their structure.

    Raises ValueError if the structures, shapes or dtypes differ, or if a primal is there twice.
    """

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        self._tangents = []
        for primal, tangent in zip(self._primals, nest.flatten(tangents)):
            tangent = convert_to_tensor(tangent, dtype=primal.dtype.base_dtype)
            if not tangent.shape.is_compatible_with(primal.shape):
                raise ValueError(
                    f"The tangent of a primal of shape {primal.shape} has the shape {tangent.shape}."
                )
            self._tangents.append(tangent)
        if len({id(primal) for primal in self._primals}) < len(self._primals):
            raise ValueError(
                "A tensor was specified as a primal multiple times. This may indicate an error. If it was "
                "intended, please sum the corresponding tangents."
            )
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self._recording = False
        self._around = list(_active.stack)

    def __enter__(self):
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._recording = True
        self._around = list(_active.stack)
        _active.stack.append(self._resumed)
        self._tape.__enter__()
        for primal in self._primals:
            if trainable(primal.dtype):
                self._tape._watch_any(primal)
        return self

    def __exit__(self, typ, value, traceback):
        self._recording = False
        _active.stack.remove(self._resumed)
        self._tape.__exit__(typ, value, traceback)

    @contextlib.contextmanager
    def _resumed(self) -> Iterator[None]:
        """A context that records for an accumulator that has ended."""
        if self._recording:
            yield
        else:
            with self._tape:
                yield

    def jvp(self, primals: Tensor, unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE):
        """The derivatives of `primals` in the direction of the tangents, in the structure of `primals`.

        Args:
          primals: a tensor or variable that was computed in the context, or a structure of them.
          unconnected_gradients: what is returned for those that do not depend on the accumulator's primals: None,
            or zeros.

        Raises ValueError if `unconnected_gradients` is neither.
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        return nest.map_structure(functools.partial(self._derivative, zero=zero), primals)

    def _derivative(self, target: Tensor, zero: bool):
        """The derivative of one tensor."""
        if not trainable(target.dtype):
            return zeros_like(target) if zero else None
        if self._recording:
            with self._tape.stop_recording():
                derivative = self._unrecorded_derivative(target)
        else:
            # What an accumulator around this one would have seen of the derivative, it sees now.
            with contextlib.ExitStack() as stack:
                for resumed in self._around:
                    stack.enter_context(resumed())
                derivative = self._unrecorded_derivative(target)
        return zeros_like(target) if derivative is None and zero else derivative

    def _unrecorded_derivative(self, target: Tensor):
        weights = zeros_like(target)
        with GradientTape(watch_accessed_variables=False) as linear:
            linear.watch(weights)
            gradients = self._tape.gradient(target, self._primals, output_gradients=weights)
            products = [
                reduce_sum(multiply(convert_to_tensor(gradient), conj(tangent)))
                for gradient, tangent in zip(gradients, self._tangents)
                if gradient is not None
            ]
            product = functools.reduce(lambda a, b: a + b, products) if products else None
        if product is None:
            return None
        derivative = linear.gradient(product, weights)
        # The gradient is there and does not depend on the weights: it is zero for all of them.
        return zeros_like(target) if derivative is None else derivative
