"""A computation that XLA compiles as a whole, in graphs and in eager programs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.function.function import function

__all__ = ["check_function_argument_count", "compile", "estimator_model_fn"]


@public
def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """The results of a function, whose operations XLA compiles.

    In graphs the operations are marked, and compiled where they run; what XLA cannot compile raises UnimplementedError
    then. Variables that the function makes are resources.

    Args:
      computation: a function that builds operations and returns tensors, and operations after these.
      inputs: its arguments; each may be a structure of values.

    Returns:
      A list of tensors, which are computed when the operations have run; an operation where there are only operations;
      for a nested structure of tensors one of the same form.

    Raises:
      TypeError: if `inputs` is no list.
      ValueError: for results that are neither, for tensors after operations, or operations in a nested structure.
    """
    if context.executing_eagerly():
        return function(lambda: _compiled(computation, inputs), autograph=False, jit_compile=True)()
    return _compiled(computation, inputs)


def _compiled(computation: Callable[..., Any], inputs: Sequence[Any] | None) -> Any:
    if inputs is None:
        inputs = []
    if not isinstance(inputs, Sequence):
        raise TypeError("inputs must be a list")
    graph = v1.get_default_graph()
    given = [v1.convert_to_tensor(x) for x in nest.flatten(inputs)]
    with graph.attr_scope({"_xla_compile_id": graph.unique_name("cluster").encode()}):
        given = [v1.identity(x, name=f"input_{i}") for i, x in enumerate(given)]
        scope = v1.get_variable_scope()
        stated = scope.use_resource
        scope.set_use_resource(True)
        try:
            outputs = computation(*nest.pack_sequence_as(inputs, given))
        finally:
            scope.set_use_resource(stated)
        flat = _is_flat(outputs)
        tensors, operations = _parts(outputs) if flat else (_nested(outputs), [])
    if not tensors:
        return v1.group(*operations, name="output_0")
    with v1.control_dependencies(operations):
        tensors = [v1.identity(x, name=f"output_{i}") for i, x in enumerate(tensors)]
    return tensors if flat else nest.pack_sequence_as(outputs, tensors)


def _is_flat(outputs: Any) -> bool:
    """Whether a function returned nothing, one thing, or a list of things."""
    if isinstance(outputs, Mapping):
        return False
    return not isinstance(outputs, (list, tuple)) or not any(isinstance(x, (list, tuple, Mapping)) for x in outputs)


def _converted(value: Any) -> Any:
    if isinstance(value, v1.Operation):
        return value
    try:
        return v1.convert_to_tensor(value)
    except Exception as error:
        raise ValueError(
            "XLA computation function return values must all either be Operations or convertible to Tensors. "
            f'Got error: "{error}"'
        ) from error


def _parts(outputs: Any) -> tuple[list[Any], list[Any]]:
    """The tensors and the operations of a list of both."""
    if outputs is None:
        outputs = ()
    found = [_converted(x) for x in (outputs if isinstance(outputs, (list, tuple)) else (outputs,))]
    operations = [x for x in found if isinstance(x, v1.Operation)]
    tensors = found[: len(found) - len(operations)]
    if any(isinstance(x, v1.Operation) for x in tensors):
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed by zero or more Operations."
        )
    return tensors, operations


def _nested(outputs: Any) -> list[Any]:
    tensors = []
    for value in nest.flatten(outputs):
        if isinstance(value, v1.Operation):
            raise ValueError(
                "xla.compile does not support Operation as return value in non-flat output structure. You can set "
                "returned Operations as control dependencies of returned Tensors so Operations are triggered when "
                f'Tensors are evaluated. Operation found: "{value.name}"'
            )
        tensors.append(_converted(value))
    return tensors


def check_function_argument_count(func: Callable[..., Any], input_arity: int, infeed_queue: Any) -> str | None:
    """None where a function takes so many arguments (and those of a queue), else how many it takes, as a text."""
    count = input_arity + (0 if infeed_queue is None else infeed_queue.number_of_tuple_elements)
    spec = inspect.getfullargspec(func)
    most = len(spec.args)
    least = most - len(spec.defaults or ())
    if least <= count and (spec.varargs is not None or count <= most):
        return None
    few = count < least
    exactly = spec.varargs is None and not spec.defaults if few else not spec.defaults
    number = least if few else most
    word = "exactly" if exactly else "at least" if few else "at most"
    return f"{word} {number} argument{'' if number == 1 else 's'}"


class _CompiledModel:
    """A model_fn whose steps of training and of evaluation are compiled."""

    def __init__(self, model_fn: Callable[..., Any]):
        self._model_fn = model_fn
        functools.update_wrapper(self, model_fn)

    def __call__(self, features: Any, labels: TensorLike, mode: str, params: Mapping[str, Any]) -> Any:
        if params.get("use_tpu"):
            return self._spec(features, labels, mode, params)
        if mode == v1.estimator.ModeKeys.TRAIN:
            return self._trained(features, labels, params)
        if mode == v1.estimator.ModeKeys.EVAL:
            return self._evaluated(features, labels, params)
        raise NotImplementedError(f"{mode} is not implemented, only TRAIN and EVAL are supported")

    def _trained(self, features: Any, labels: TensorLike, params: Any) -> Any:
        made = []

        def step():
            spec = self._spec(features, labels, v1.estimator.ModeKeys.TRAIN, params)
            made.append(getattr(spec, "scaffold_fn", None))
            with v1.control_dependencies([spec.train_op]):
                return v1.identity(spec.loss)

        (loss,) = compile(step)
        train_op: Any = v1.identity(loss)
        return v1.estimator.EstimatorSpec(
            v1.estimator.ModeKeys.TRAIN, loss=loss, train_op=train_op, scaffold=_scaffold(made[0])
        )

    def _evaluated(self, features: Any, labels: TensorLike, params: Any) -> Any:
        made: list[Any] = []

        def step():
            spec = self._spec(features, labels, v1.estimator.ModeKeys.EVAL, params)
            metric_fn, tensors = getattr(spec, "eval_metrics", None) or (None, [])
            if isinstance(tensors, Mapping):
                tensors = [tensors[name] for name in inspect.getfullargspec(metric_fn).args]
            made[:] = [metric_fn, getattr(spec, "scaffold_fn", None)]
            return (spec.loss, *tensors)

        loss, *tensors = compile(step)
        metric_fn, scaffold_fn = made
        return v1.estimator.EstimatorSpec(
            v1.estimator.ModeKeys.EVAL, loss=loss, eval_metric_ops=metric_fn(*tensors) if metric_fn else None,
            scaffold=_scaffold(scaffold_fn),
        )  # fmt: skip

    def _spec(self, features: Any, labels: TensorLike, mode: str, params: Any) -> Any:
        names = inspect.getfullargspec(self._model_fn).args
        known = {"mode": mode, "params": params}
        given = {name: value for name, value in known.items() if name in names}
        if "labels" in names:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        spec = self._model_fn(features=features, **given)
        if getattr(spec, "scaffold", None):
            v1.logging.warning(
                "EstimatorSpec.scaffold is ignored with XLA compilation. Please use TPUEstimatorSpec.scaffold_fn "
                "instead."
            )
        if getattr(spec, "eval_metric_ops", None):
            raise ValueError(
                "EstimatorSpec.eval_metric_ops is not supported with XLA compilation. Please use "
                "TPUEstimatorSpec.eval_metrics instead."
            )
        if mode == v1.estimator.ModeKeys.EVAL and getattr(spec, "eval_metrics", None):
            _check_metrics(*spec.eval_metrics)
        return spec


def _check_metrics(metric_fn: Callable[..., Any], tensors: Any) -> None:
    """Raises ValueError for a dict of other tensors than a function of metrics takes."""
    if not isinstance(tensors, Mapping):
        return
    names = inspect.getfullargspec(metric_fn).args
    missing = [name for name in names if name not in tensors]
    if missing:
        raise ValueError(
            f"Arguments {missing} are needed by metric_fn (first element of TPUEstimatorSpec.eval_metrics) but they "
            "are not provided by evaluation tensors (second element of TPUEstimatorSpec.eval_metrics)."
        )
    extra = [name for name in tensors if name not in names]
    if extra:
        raise ValueError(
            f"Arguments {extra} are provided by evaluation tensors (second element of TPUEstimatorSpec.eval_metrics) "
            "but they are not needed by metric_fn (first element of TPUEstimatorSpec.eval_metrics)."
        )


def _scaffold(scaffold_fn: Callable[[], Any] | None) -> Any:
    if not scaffold_fn:
        return None
    scaffold = scaffold_fn()
    if scaffold is None:
        raise ValueError("TPUEstimatorSpec.scaffold_fn returns None, which is not allowed")
    return scaffold


def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Any:
    """A model_fn whose steps are compiled; without one, a decorator of such."""
    return _CompiledModel if target_model_fn is None else _CompiledModel(target_model_fn)
