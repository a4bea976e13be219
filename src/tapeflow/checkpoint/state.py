"""The file `checkpoint` of a folder, which says which checkpoint is the latest, and what follows from it."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from tapeflow.checkpoint.bundle import index_path
from tapeflow.checkpoint.first_format import files_of_version_1
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.files.paths import folder_of, local_path, writable_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import boundaries


class CheckpointState:
    """The latest checkpoint of a folder, all that are kept, and when they were written."""

    def __init__(
        self,
        model_checkpoint_path: str = "",
        all_model_checkpoint_paths: Any = (),
        all_model_checkpoint_timestamps: Any = (),
        last_preserved_timestamp: float = 0.0,
    ):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp

    def __str__(self) -> str:
        lines = [f"model_checkpoint_path: {_quoted(self.model_checkpoint_path)}"]
        lines += [
            f"all_model_checkpoint_paths: {_quoted(path)}"
            for path in self.all_model_checkpoint_paths
        ]
        lines += [
            f"all_model_checkpoint_timestamps: {stamp!r}"
            for stamp in self.all_model_checkpoint_timestamps
        ]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp!r}")
        return "\n".join(lines) + "\n"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CheckpointState) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


_SHARD = re.compile(r"-[\d?]+-of-\d+$")  # behind the prefix in the names of sharded checkpoints of version 1
_LINE = re.compile(r'\s*(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\w]+)\s*$')


def parse_state(text: str) -> CheckpointState:
    """The state in a file's text. Raises ValueError for malformed lines."""
    state = CheckpointState()
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.match(line)
        if match is None:
            raise ValueError(f"not a line of a checkpoint state: {line!r}")
        field, value = match.groups()
        if value.startswith('"'):
            value = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value[1:-1])
        if field == "model_checkpoint_path":
            state.model_checkpoint_path = value
        elif field == "all_model_checkpoint_paths":
            state.all_model_checkpoint_paths.append(value)
        elif field == "all_model_checkpoint_timestamps":
            state.all_model_checkpoint_timestamps.append(float(value))
        elif field == "last_preserved_timestamp":
            state.last_preserved_timestamp = float(value)
        else:
            raise ValueError(f"a checkpoint state has no field {field!r}")
    return state


def _state_path(folder: Any, latest_filename: str | None) -> str:
    return os.path.join(os.fspath(folder), latest_filename or "checkpoint")


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Any = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """A CheckpointState with paths relative to `save_dir` where they are in it."""
    latest = os.fspath(model_checkpoint_path)
    given = all_model_checkpoint_paths if isinstance(all_model_checkpoint_paths, list) else None
    paths = [os.fspath(path) for path in all_model_checkpoint_paths or ()]
    if not paths or paths[-1] != latest:
        paths.append(latest)
        if given:  # callers see what was added, as they do with TensorFlow
            given.append(latest)
    stamps = list(all_model_checkpoint_timestamps or ())
    if stamps and len(stamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {stamps})"
        )

    folder = os.fspath(save_dir)

    def relative(path: str) -> str:
        if not os.path.isabs(folder) and not os.path.isabs(path):
            return os.path.relpath(path, folder or ".")
        return path

    return CheckpointState(
        relative(latest),
        [relative(path) for path in paths],
        stamps,
        last_preserved_timestamp or 0.0,
    )


def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Notes the latest checkpoint of a folder; the file is replaced as a whole.

    Raises RuntimeError where the file would be named as the checkpoint.
    """
    folder = os.fspath(save_dir)
    state = generate_checkpoint_state_proto(
        folder,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    if save_relative_paths:

        def relative(path: str) -> str:
            return os.path.relpath(path, folder or ".") if os.path.isabs(path) else path

        state.model_checkpoint_path = relative(state.model_checkpoint_path)
        state.all_model_checkpoint_paths = [
            relative(path) for path in state.all_model_checkpoint_paths
        ]
    target = _state_path(folder, latest_filename)
    if target == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    replace_file(writable_path(target), str(state).encode())


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """Read which checkpoints are in a folder.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that lists them; None: "checkpoint".

    Returns:
      A `CheckpointState` message with whole paths, or None where there is no file that can be read.

    Raises:
      ValueError: where the file names no checkpoint.
    """
    path = _state_path(checkpoint_dir, latest_filename)
    try:
        with open(local_path(path)) as file:
            state = parse_state(file.read())
    except (OSError, ValueError, UnimplementedError):
        return None
    if not state.model_checkpoint_path:
        raise ValueError(
            f"Invalid checkpoint state loaded from {os.fspath(checkpoint_dir)}: model_checkpoint_path "
            "is empty"
        )
    folder = folder_of(path)

    def whole(name: str) -> str:
        return name if os.path.isabs(local_path(name)) else os.path.join(folder, name)

    state.model_checkpoint_path = whole(state.model_checkpoint_path)
    state.all_model_checkpoint_paths = [whole(name) for name in state.all_model_checkpoint_paths]
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Find the latest checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that lists the checkpoints; None: "checkpoint".

    Returns:
      Its prefix, or None where there is none.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    return None


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint with this prefix."""
    prefix = local_path(checkpoint_prefix)
    return os.path.exists(index_path(prefix)) or bool(files_of_version_1(prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """When the checkpoints that there are were written, in seconds."""
    times = []
    for prefix in checkpoint_prefixes:
        for path in (index_path(local_path(prefix)), local_path(prefix)):
            if os.path.exists(path):
                times.append(os.stat(path).st_mtime)
                break
    return times


def remove_checkpoint(
    checkpoint_prefix: Any, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Removes all files of a checkpoint; of version 1 they have the prefix as their name, or as a pattern of it."""
    prefix = local_path(checkpoint_prefix)
    own = files_of_version_1(prefix) if checkpoint_format_version == 1 else []
    for path in [*files_of(prefix, meta_graph_suffix), *own]:
        if os.path.exists(path):
            os.unlink(path)


def files_of(prefix: str, meta_graph_suffix: str = "meta") -> list[str]:
    """The files of a checkpoint that there are; the index first, so that it never points to nothing."""
    folder, name = os.path.split(prefix)
    pattern = re.compile(re.escape(name) + r"\.data-\d{5}-of-\d{5}")
    entries = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    whole = _SHARD.sub("", prefix)
    found = [index_path(prefix), f"{whole}.{meta_graph_suffix}"]
    return found + [os.path.join(folder, entry) for entry in entries if pattern.fullmatch(entry)]


def checkpoints_iterator(
    checkpoint_dir: Any, min_interval_secs: float = 0, timeout: Any = None, timeout_fn: Any = None
) -> Any:
    """Yield the prefixes of new checkpoints as they appear.

    Args:
      checkpoint_dir: the folder of the checkpoints.
      min_interval_secs: how many seconds lie between two of them at least.
      timeout: after how many seconds without a new one the iteration ends; None: never.
      timeout_fn: called then, it ends the iteration by returning true (optional).

    Returns:
      A generator of str; checkpoints between two steps are left out.
    """
    last = None
    while True:
        started = time.time()
        found = latest_checkpoint(checkpoint_dir)
        while found is None or found == last:
            if timeout is not None and time.time() - started >= timeout:
                if timeout_fn is None or timeout_fn():
                    return
                started = time.time()
            time.sleep(min(1.0, timeout or 1.0))
            found = latest_checkpoint(checkpoint_dir)
        last = found
        yield found
        time.sleep(max(0.0, min_interval_secs - (time.time() - started)))


boundaries(globals())
