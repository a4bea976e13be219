"""`CompiledByXla`: a `FuncGraph` that XLA compiles, for `tf.function(jit_compile=True)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native, xla
from tapeflow.function.compiled import Compiled
from tapeflow.graph.tensor import SymbolicTensor


class CompiledByXla(Compiled):
    """As `Compiled`, with XLA's executables in place of plans; so are the graphs of its gradients."""

    drops_checks = True

    def make_plan(self, outputs: Sequence[SymbolicTensor]) -> Any:
        run = xla.compile_graph(self.graph, outputs, self.constants())
        # One step that calls it: so the fast path of functions serves it as it does other plans.
        first, last = self.n_arguments, self.n_arguments + len(outputs)
        inputs, results = list(range(first)), list(range(first, last))
        return _native.Plan(
            self.graph.name, last, inputs, [], [("python", run.__call__, inputs, results, None)], results
        )

    def program_text(self, stage: str) -> str | bytes:
        """What XLA makes of the graph at a stage of its compilation."""
        return xla.compiler_ir(self.graph, self.constants(), stage)
