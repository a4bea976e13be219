"""`tf.test.Benchmark`."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.public import boundaries


def benchmark_config() -> protos.ConfigProto:
    """The configuration of sessions whose time is measured: nodes that others depend on are not taken together."""
    options = protos.GraphOptions(
        rewrite_options=protos.RewriterConfig(dependency_optimization=protos.RewriterConfig.OFF)
    )
    return protos.ConfigProto(graph_options=options)


class Benchmark:
    """Base of benchmarks: methods whose names begin with "benchmark"."""

    def report_benchmark(
        self, iters: Any = None, cpu_time: Any = None, wall_time: Any = None, throughput: Any = None,
        extras: Any = None, name: str | None = None, metrics: Any = None,
    ) -> None:  # fmt: skip
        """Prints what was measured. Raises TypeError for a metric without a name or a value."""
        for metric in metrics or ():
            for field in ("name", "value"):
                if not isinstance(metric, dict) or field not in metric:
                    raise TypeError(f"metric must has a '{field}' field")
        print(
            f"{name or type(self).__name__}: iters={iters} wall_time={wall_time} cpu_time={cpu_time} "
            f"throughput={throughput} extras={extras} metrics={metrics}"
        )


class ParameterizedBenchmark(type):
    """The class of benchmarks whose methods run for each row of `_benchmark_parameters`.

    That is a list of arguments, or of (name, *arguments); each makes a method of its own.
    """

    def __new__(mcls, clsname: str, base: tuple[type, ...], attrs: dict[str, Any]) -> Any:
        rows = attrs.get("_benchmark_parameters")
        if not rows:
            raise ValueError(
                "Benchmark parameters for `ParameterizedBenchmark` must be set as `_benchmark_parameters`."
            )
        for name in [n for n in attrs if n.startswith("benchmark")]:
            method = attrs.pop(name)
            for place, row in enumerate(rows):
                row = row if isinstance(row, (tuple, list)) else (row,)
                named = bool(row) and isinstance(row[0], str)
                label = row[0] if named else place
                attrs[f"{name}__{label}"] = _with_arguments(method, row[1:] if named else row)
        return super().__new__(mcls, clsname, base, attrs)


def _with_arguments(method: Any, arguments: Any) -> Any:
    def run(self: Any) -> Any:
        return method(self, *arguments)

    return run


boundaries(globals())
