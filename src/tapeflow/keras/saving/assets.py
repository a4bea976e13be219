"""Files that layers keep in a `.keras` file besides their variables, such as vocabularies."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.saving.weights_store import walk

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.model import Functional
    from tapeflow.keras.engine.sequential import Sequential

_FOLDER = "assets"


def save(model: Any, write: Callable[..., Any]):
    """Write the assets of a model and of all that it holds, by write(name, content)."""
    owners = list(_owners(model))
    if not owners:
        return
    with tempfile.TemporaryDirectory() as root:
        for number, (path, item) in enumerate(owners):
            folder = pathlib.Path(root, str(number))
            folder.mkdir()
            item.save_assets(str(folder))
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    write("/".join([_FOLDER, *path, *file.relative_to(folder).parts]), file.read_bytes())


def load(model: Any, names: Sequence[str], read: Callable[..., Any]):
    """Give a model and all that it holds their assets.

    Args:
      names: the names of the files in the archive.
      read: a function of such a name that returns the content.

    Raises:
      ValueError: for names that lead out of a folder.
    """
    if not any(name.startswith(f"{_FOLDER}/") for name in names):
        return
    with tempfile.TemporaryDirectory() as root:
        for number, (path, item) in enumerate(_owners(model)):
            prefix = "/".join([_FOLDER, *path, ""])
            folder = pathlib.Path(root, str(number))
            for name in names:
                if name.startswith(prefix) and not name.endswith("/"):
                    file = pathlib.Path(os.path.normpath(folder / name[len(prefix) :]))
                    if folder not in file.parents:
                        raise ValueError(f"The name {name!r} leads out of its folder.")
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(read(name))
            if folder.exists():
                item.load_assets(str(folder))


def _owners(model: Functional | Sequential):
    """(path, object) pairs of what has assets."""
    for path, item in walk(model):
        if isinstance(item, Tracked) and hasattr(item, "save_assets"):
            yield [part for part in path.split("/") if part], item
