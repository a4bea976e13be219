"""Prints requirements of pyproject.toml, one a line: `build`, `run`, or the name of an extra."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
lists = {
    "build": project["build-system"]["requires"],
    "run": project["project"]["dependencies"],
    **project["project"]["optional-dependencies"],
}


def requirements(name: str) -> Iterator[str]:
    """Those of a list; `tapeflow[extra]` in it stands for the extra's."""
    own = project["project"]["name"] + "["
    for each in lists[name]:
        if each.startswith(own):
            for extra in each.removeprefix(own).rstrip("]").split(","):
                yield from requirements(extra)
        else:
            yield each


for name in sys.argv[1:]:
    print("\n".join(requirements(name)))
