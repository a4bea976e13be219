"""What `tf.profiler.profile` of 1.x shows, and where."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.public import public_methods

TRAINABLE_VARIABLES = "_trainable_variables"

_LEAST = {
    "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
}  # fmt: skip
_DEFAULTS: dict[str, Any] = {
    "max_depth": 100, **_LEAST, "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"],
    "trim_name_regexes": [], "show_name_regexes": [".*"], "hide_name_regexes": [],
    "account_displayed_op_only": False, "select": ["micros"], "step": -1, "output": "stdout",
}  # fmt: skip


def _with(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(_DEFAULTS), "max_depth": 10000, "account_displayed_op_only": True, **changes}


@api(v1="profiler.ProfileOptionBuilder")
@public_methods
class ProfileOptionBuilder:
    """The options of a profile, a dict, which methods change and `build` returns.

    Args:
      options: the options to begin with; None: the times of all operations.
    """

    def __init__(self, options: Mapping[str, Any] | None = None):
        self._options = copy.deepcopy(dict(_DEFAULTS if options is None else options))

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """The options that show the numbers of elements of variables that are trained."""
        return _with(account_type_regexes=[TRAINABLE_VARIABLES], select=["params"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """The options that show the numbers of operations on floats."""
        return _with(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(
        min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0, min_cpu_micros: int = 0,
        min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """The options that show times and memory of a run.

        Args:
          min_micros, min_accelerator_micros, min_cpu_micros: the least times to show.
          min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes: the least amounts of memory to show.
        """
        return _with(
            min_micros=min_micros, min_bytes=min_bytes, min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes, order_by="micros", select=["micros", "bytes"],
        )  # fmt: skip

    def build(self) -> dict[str, Any]:
        """The options."""
        return copy.deepcopy(self._options)

    def _set(self, **changes: Any) -> ProfileOptionBuilder:
        self._options.update(copy.deepcopy(changes))
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show scopes down to a depth."""
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """Show what takes at least this memory.

        Args:
          min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes: numbers of bytes.
        """
        return self._set(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )  # fmt: skip

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Show what takes at least this time.

        Args:
          min_micros, min_accelerator_micros, min_cpu_micros: microseconds.
        """
        return self._set(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Show variables of at least so many elements."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Show types of which there are at least so many operations."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Show what makes at least so many operations on floats."""
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Count operations of which a type matches."""
        return self._set(account_type_regexes=account_type_regexes)

    def with_node_names(
        self, start_name_regexes: Sequence[str] | None = None, show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None, trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:  # fmt: skip
        """Choose by names; an argument that is None changes nothing.

        Args:
          start_name_regexes: of scopes to begin with.
          show_name_regexes: of what is shown.
          hide_name_regexes: of what is not shown, though what is in it may be.
          trim_name_regexes: of what is left out, with all that is in it.
        """
        given = {
            "start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes,
        }  # fmt: skip
        return self._set(**{name: value for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Let totals be of what is shown."""
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Print nothing."""
        return self._set(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Print to the standard output."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Write to a file."""
        return self._set(output=f"file:outfile={outfile}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sort by "name", "depth", or, the largest first, by "bytes", "micros", "params", "float_ops", "occurrence"."""
        return self._set(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Show these: "micros", "bytes", "params", "float_ops", "occurrence", "op_types", "device", "input_shapes"."""
        return self._set(select=attributes)

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Choose the step; -1: the mean of all. There is one here."""
        return self._set(step=step)
