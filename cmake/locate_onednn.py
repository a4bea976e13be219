"""Prints where pip put oneDNN, as CMake's list "include folder;library"; nothing without it."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def find(package: str, name: str) -> Path | None:
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        return None
    for file in installed.files or ():
        if file.name == name:
            path = Path(str(installed.locate_file(file))).resolve()
            if path.exists():
                return path
    return None


header = find("onednn-devel-cpu-gomp", "dnnl.hpp")
library = find("onednn-cpu-gomp", "libdnnl.so.3")
if header and library:
    print(f"{header.parent};{library}", end="")
