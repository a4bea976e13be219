"""The process that runs steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.core.processes import ray_runtime
from tapeflow.core.processes.arrays import as_tensor
from tapeflow.data.iteration.elsewhere import iterator_handle
from tapeflow.data.shipping import from_bytes
from tapeflow.distribute.parameter_servers import calls, current_worker
from tapeflow.distribute.parameter_servers.connection import Connection, step
from tapeflow.distribute.parameter_servers.shipping import Program
from tapeflow.distribute.parameter_servers.variables import Description, described


class Kept(NamedTuple):
    """Something that a worker makes once, of what is in Ray's store, and makes anew after it was restarted.

    Attributes:
      key: its number.
      reference: where Ray has what it is made of.
    """

    key: int
    reference: Any


class Worker:
    """Runs functions, whose variables parameter servers hold.

    Args:
      index: its number.
    """

    def __init__(self, index: int):
        self._index = index
        self._variables: dict[tuple[Connection, int], Any] = {}
        self._kept: dict[int, Any] = {}
        calls.install()

    def run(self, program: Kept, arguments: Sequence[Any]) -> tuple[None, list[Any]]:
        """Run a function.

        Args:
          program: made of a `shipping.Message`.
          arguments: arrays, and for iterators a `Kept` of their datasets.

        Returns:
          None, whose arrival says that it is done, and the outputs as arrays.
        """
        if program.key not in self._kept:
            with current_worker.at(self._index):
                self._kept[program.key] = Program(_got(program.reference), self._variable)
        made = self._kept[program.key]
        given = [self._iterator(x) if isinstance(x, Kept) else as_tensor(x) for x in arguments]
        with current_worker.at(self._index), step(made.reads):
            return None, made(given)

    def forget(self, keys: Sequence[int]) -> None:
        """Drop functions and iterators that nobody uses any more."""
        for key in keys:
            self._kept.pop(key, None)

    def held(self) -> int:
        """How many functions and iterators it keeps."""
        return len(self._kept)

    def _variable(self, known: Description, connection: Connection) -> Any:
        key = connection, known.key
        if key not in self._variables:
            self._variables[key] = described(known, connection)
        return self._variables[key]

    def _iterator(self, kept: Kept) -> Any:
        if kept.key not in self._kept:
            with current_worker.at(self._index):
                self._kept[kept.key] = iterator_handle(from_bytes(_got(kept.reference)))
        return self._kept[kept.key]


def _got(reference: Any) -> Any:
    return ray_runtime.started().get(reference)
