"""`GradientTape`: records operations, and differentiates what it recorded."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.autodiff import arguments, explaining, jacobians
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.log import get_logger
from tapeflow.core.public import public_methods
from tapeflow.core.structures import gradient_parts, nest
from tapeflow.core.variables import identity_of
from tapeflow.ops import derived
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.gradient_arguments import UnconnectedGradients, in_shape_of
from tapeflow.ops.state.variable import Variable, variable_behind

_Tensor = _native.Tensor
_LEAVES = (_native.Tensor, _native.Variable)


_NONE = UnconnectedGradients.NONE

ONE_USE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


def trainable(dtype: Any) -> bool:
    """Whether values of a dtype have gradients."""
    base = dtypes.as_dtype(dtype)
    return base.is_floating or base.is_complex or base in (dtypes.resource, dtypes.variant)


@api("GradientTape")
@public_methods
class GradientTape(_native.Tape):
    """Records the operations of its context that depend on watched tensors and trainable variables.

    Args:
      persistent: whether `gradient` may be called more than once.
      watch_accessed_variables: whether trainable variables are watched on their first use.
    """

    # Of the native class's constructor, which Python cannot ask.
    __signature__ = inspect.Signature(
        [
            inspect.Parameter("persistent", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False),
            inspect.Parameter("watch_accessed_variables", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=True),
        ]
    )

    _spent = False
    _kept: Any = None
    # What was recorded while a graph was built; see graph/build/recording.py.
    in_graph: Any = None

    def watch(self, tensor: TensorLike):
        """Record what is computed from now on from tensors.

        Args:
          tensor: a tensor or variable, or a structure of them. Those that are not floating or complex are passed
            over, with a warning.

        Raises:
          ValueError: for anything else.
        """
        parts = [tensor]
        if not isinstance(tensor, _LEAVES):
            parts = nest.flatten(nest.map_structure(gradient_parts.part_of, tensor), expand_composites=True)
        for each in parts:
            each = variable_behind(each)
            if not isinstance(each, _LEAVES):
                raise ValueError(
                    f"Passed in object {each} of type {type(each).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if trainable(each.dtype):
                self._watch_any(each)
            else:
                get_logger().warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    each.dtype,
                )

    def _watch_any(self, x):
        """Watches a tensor or variable without asking whether it has a gradient."""
        if self.in_graph is not None:
            self.in_graph.watch(x)
        if not is_symbolic_tensor(x):
            self._watch(x)

    @contextlib.contextmanager
    def stop_recording(self):
        """Inside its context this tape records nothing."""
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def reset(self):
        """Forgets everything, as if the tape was new."""
        super().reset()
        graph = self.in_graph
        self.in_graph = None
        if graph is not None and self._recording:
            self.in_graph = type(graph)(graph.graph, graph.watch_accessed)
            self.in_graph.begin()
        self._spent = False
        self._kept = None

    def gradient(
        self, target: TensorLike, sources: TensorLike, output_gradients: Sequence[Tensor] | None = None,
        unconnected_gradients: UnconnectedGradients = _NONE,
    ):
        """Compute the gradients of the sum of `target` by `sources`.

        Args:
          target: a tensor or a structure of tensors, ragged ones too.
          sources: a tensor or variable, ragged tensors too, or a structure of them.
          output_gradients: weights of the elements of `target`, in its structure; None: ones.
          unconnected_gradients: "none" or "zero", what a source gets that `target` does not depend on.

        Returns:
          Tensors, `tf.IndexedSlices`, ragged tensors or None, in the structure of `sources`.

        Raises:
          RuntimeError: at the second use of a tape that is not persistent.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.gradient(y, x)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
        """
        if self._spent:
            self._check_unused()
        zero = False
        if unconnected_gradients is not _NONE:
            try:
                zero = UnconnectedGradients(unconnected_gradients) is not _NONE
            except ValueError:
                raise ValueError(
                    f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
                ) from None
        if self._persistent:
            return self._computed(target, sources, output_gradients, zero)
        if self._recording:
            self.__exit__(None, None, None)
        result = self._computed(target, sources, output_gradients, zero)
        self._spend()
        return result

    def _spend(self):
        """Lets go of what was recorded: a tape that is not persistent was used."""
        self._spent = True
        self._kept = super().watched_variables()
        self._release()

    def _check_unused(self):
        # A tape that was entered again has something to differentiate again.
        if not self._recording and not self._entries():
            raise RuntimeError(ONE_USE)
        self._spent = False
        self._kept = None

    def watched_variables(self):
        """The variables that this tape watches, a tuple in the order in which they were made."""
        kept = self._kept
        known = super().watched_variables() if kept is None or self._recording else kept
        if self.in_graph is not None:
            known = {id(v): v for v in (*known, *self.in_graph.variables())}.values()
        return tuple(sorted(known, key=identity_of))

    def _derived(self, targets: Sequence[Tensor], sources: Any, weights, zero: bool, again: bool = False):
        """The gradients of flat targets by flat sources: played back at once, or as nodes of a graph.

        `again`: what was recorded is asked once more after this.
        """
        if self.in_graph is not None and any(is_symbolic_tensor(t) for t in targets):
            return self.in_graph.gradient(targets, sources, weights, zero)
        return self._gradient(targets, sources, weights, zero, again)

    def _computed(
        self, target: TensorLike, sources: TensorLike, output_gradients: Sequence[Tensor] | None, zero: bool
    ):
        if self.in_graph is not None:
            return self._structured(target, sources, output_gradients, zero)
        if output_gradients is None and isinstance(target, _Tensor):
            if isinstance(sources, _LEAVES) and _native.are_sources([sources]):
                return self._gradient([target], [sources], None, zero)[0]
            if type(sources) is list and _native.are_sources(sources):
                return self._gradient([target], sources, None, zero)
        return self._structured(target, sources, output_gradients, zero)

    def _structured(
        self, target: TensorLike, sources: TensorLike, output_gradients: Sequence[Tensor] | None, zero: bool
    ):
        apart = gradient_parts.taken_apart(sources)
        if apart is not None:
            found = self._structured(target, apart, output_gradients, zero)
            return gradient_parts.put_together(sources, found, zeros_like)
        target = gradient_parts.taken_apart(target) or target
        flat_sources, composites = arguments.flat_sources(sources)
        targets = arguments.flat_targets(target)
        weights = None
        if output_gradients is not None:
            flat = nest.flatten(output_gradients)
            if len(targets) == 1 and not nest.is_nested(target) and not any(isinstance(w, _Tensor) for w in flat):
                flat = [output_gradients]  # which may be a list of numbers
            if len(flat) != len(targets):
                raise ValueError(
                    f"output_gradients has {len(flat)} elements, but the target has {len(targets)}"
                )
            weights = [
                None if w is None
                else in_shape_of(t, convert_to_tensor(gradient_parts.part_of(w) if of_part else w, t.dtype))
                for w, t, of_part in zip(flat, targets, map(gradient_parts.is_registered, nest.flatten(target)))
            ]  # fmt: skip
        if not targets:
            results = [None] * len(flat_sources)
        else:
            results = self._derived(targets, flat_sources, weights, zero)
            for i, each in enumerate(nest.flatten(target)):
                if isinstance(each, Variable) and len(flat_sources) == len(results):
                    for k, source in enumerate(flat_sources):  # a variable by itself
                        if source is each and results[k] is None:
                            results[k] = _ones(targets[i]) if weights is None else weights[i]
        if composites:
            results = list(map(gradient_parts.gradient_by, nest.flatten(sources), results))
        return nest.pack_sequence_as(sources, results)

    def _check_persistent(self, what: str, at_once: bool):
        """A Jacobian is one use of a tape, unless a program wants it row by row."""
        if not at_once and not self._persistent and context.executing_eagerly():
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {what} with eager execution "
                "enabled and with experimental_use_pfor set to False."
            )

    def _check_parts(self, what: str, count: int, rows: int | None):
        """Parts of a Jacobian, `count` rows each, are one use of a tape each, unless one part has all `rows`."""
        whole = rows is not None and rows < count
        if count > 1 and not whole and not self._persistent and what == "batch_jacobian":
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {what} with parallel_iterations."
            )
        if count <= 1 or (not whole and not self._persistent):
            raise ValueError(
                f"Encountered an exception while vectorizing the {what} computation. Vectorization can be disabled "
                "by setting experimental_use_pfor to False."
            )

    def jacobian(
        self, target: Tensor, sources: TensorLike, unconnected_gradients: UnconnectedGradients = _NONE,
        parallel_iterations=None, experimental_use_pfor: bool = True,
    ):
        """Compute the derivatives of each element of `target` by each element of `sources`.

        Args:
          target: a tensor.
          sources: a tensor or variable, or a structure of them.
          unconnected_gradients: "none" or "zero", what a source gets that `target` does not depend on.
          parallel_iterations: how many rows TensorFlow computes at once: above 1. A tape must be persistent where it
            is not above the number of rows.
          experimental_use_pfor: without it, a tape outside of a `tf.function` must be persistent.

        Returns:
          Tensors of shape `target.shape + source.shape`, in the structure of `sources`.

        Raises:
          RuntimeError: at the second use of a tape that is not persistent.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x)
        <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
        array([[2., 0.],
               [0., 4.]], dtype=float32)>
        """
        self._check_persistent("jacobian", experimental_use_pfor)
        target, zero = self._begin_jacobian(target, unconnected_gradients)
        flat_sources, _ = arguments.flat_sources(sources)
        if parallel_iterations is not None and experimental_use_pfor:
            self._check_parts("jacobian", parallel_iterations, target.shape.num_elements())
        play = lambda weight: self._derived([target], flat_sources, [weight], zero, True)  # noqa: E731
        results = jacobians.jacobian(play, target, flat_sources)
        if not self._persistent:
            self._spend()
        return nest.pack_sequence_as(sources, results)

    def batch_jacobian(
        self, target: Tensor, source: Tensor, unconnected_gradients: UnconnectedGradients = _NONE,
        parallel_iterations=None, experimental_use_pfor: bool = True,
    ):
        """Compute the derivatives of each `target[i]` by `source[i]`.

        Args:
          target: a tensor `[batch, ...]`, whose row i depends on row i of the source alone.
          source: a tensor or variable `[batch, ...]`.
          unconnected_gradients: has no effect: the result is zeros where `target` does not depend on `source`.
          parallel_iterations: how many rows TensorFlow computes at once: above 1. A tape must be persistent where it
            is not above the number of rows.
          experimental_use_pfor: without it, a tape outside of a `tf.function` must be persistent.

        Returns:
          A tensor `[batch, *target.shape[1:], *source.shape[1:]]`.

        Raises:
          ValueError: where first dimensions differ.
          RuntimeError: at the second use of a tape that is not persistent.
        """
        self._check_persistent("batch_jacobian", experimental_use_pfor)
        target, zero = self._begin_jacobian(target, unconnected_gradients)
        if parallel_iterations is not None and experimental_use_pfor:
            self._check_parts("batch_jacobian", parallel_iterations, target.shape[1:].num_elements())
        play = lambda weight: self._derived([target], [source], [weight], zero, True)  # noqa: E731
        result = jacobians.batch_jacobian(play, target, source)
        if not self._persistent:
            self._spend()
        return result

    def _begin_jacobian(self, target: Any, unconnected_gradients: Any) -> tuple[Any, bool]:
        """The target as a tensor, and whether sources that it does not depend on get zeros."""
        if self._spent:
            self._check_unused()
        zero = UnconnectedGradients(unconnected_gradients) is not _NONE
        if not isinstance(target, _Tensor):  # slices, whose dense form is computed now
            with contextlib.nullcontext() if self._recording else self:
                target = convert_to_tensor(target)
        if self._recording and not self._persistent:
            self.__exit__(None, None, None)
        return target, zero

    def explain(self, target: Tensor, source: Tensor) -> str:
        """Says how `target` depends on `source`, or where the path between them broke."""
        return explaining.explain(self, target, source)


def _ones(tensor):
    return ones_like(tensor)


derived.register_tape(GradientTape)
