"""`Dataset.list_files`: the names of files that match patterns."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.globbing import matching_paths
from tapeflow.core.public import boundaries, boundary
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Counted
from tapeflow.data.transform.record import record


class FileMethods:
    """Static methods of Dataset."""

    @staticmethod
    @boundary
    def list_files(file_pattern: str, shuffle: bool | None = None, seed: int | None = None, name: str | None = None):
        """List the names of the files that match patterns.

        Args:
          file_pattern: a glob pattern, or several.
          shuffle: whether names are shuffled anew for each pass; None for True.
          seed: an integer for the shuffling; None for other orders each time.
          name: the name of the dataset in a graph.

        Returns:
          A dataset of strings.

        Raises:
          InvalidArgumentError: where no file matches.
        """
        if isinstance(file_pattern, os.PathLike):
            file_pattern = os.fspath(file_pattern)
        late = not context.executing_eagerly()
        return listed(convert_to_tensor(file_pattern, dtypes.string), shuffle, seed, late)


@record("list_files")
def listed(given: Tensor, shuffle: bool | None, seed: int | None, late: bool):
    """The dataset of the names of the files that match one pattern or several."""
    patterns = [bytes(p) for p in np.asarray(given.numpy(), object).ravel()]

    def names():
        found = matching(patterns)
        if not found:
            raise InvalidArgumentError(
                None, None, f"No files matched pattern: {', '.join(p.decode() for p in patterns)}"
            )
        return convert_to_tensor(np.array(found, object), dtypes.string)

    size = -2
    if not late:  # a graph looks for files when it runs
        size = len(names())
    made = build(("TensorSlice", lambda: Counted(names), TensorSpec([], dtypes.string), size))
    return made.shuffle(max(size, 1) if size != -2 else size, seed) if shuffle in (None, True) else made


def matching(patterns: Sequence[bytes | str]):
    """The names of the files that match glob patterns, sorted, as bytes."""
    return sorted(os.fsencode(name) for pattern in patterns for name in matching_paths(pattern))


boundaries(globals())
