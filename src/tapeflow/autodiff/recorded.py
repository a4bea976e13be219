"""Operations that a library computed by itself, recorded for the tapes that watch their inputs."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import context
from tapeflow.core.structures import nest
from tapeflow.ops.table import REGISTRY


def record_gradient(op_name: str, inputs: Any, attrs: Any, outputs: Any) -> None:
    """Lets tapes that watch `inputs` know that an operation computed `outputs` from them.

    Args:
      op_name: the type of the operation.
      inputs: its inputs, a flat sequence.
      attrs: its attrs: names and values in turn.
      outputs: its outputs, a flat sequence.

    In a graph the operations are known anyway. Raises KeyError for an op that is not known.
    """
    if not context.executing_eagerly():
        return
    row = REGISTRY[op_name]
    named = dict(zip(attrs[::2], attrs[1::2], strict=True))
    known = {name: value for name, value in named.items() if name in row.attrs}
    inputs, outputs = list(inputs), list(outputs)

    def backward(*gradients: Any) -> Any:
        # The operation is run once more, for a tape that sees its own record of it.
        with GradientTape() as tape:
            for x in inputs:
                tape.watch(x)
            again = nest.flatten(row(*inputs, **known))
        return tape.gradient(again, inputs, output_gradients=list(gradients))

    _native.record_custom(op_name, outputs, inputs, backward)
