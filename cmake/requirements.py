"""Prints requirements of pyproject.toml, one a line: `build`, `run`, or the name of an extra."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
lists = {
    "build": project["build-system"]["requires"],
    "run": project["project"]["dependencies"],
    **project["project"]["optional-dependencies"],
}
for name in sys.argv[1:]:
    print("\n".join(lists[name]))
