"""`footprint.py PACKAGE`: what importing and installing it costs, as JSON; in a fresh process."""

import importlib
import importlib.metadata
import json
import os
import re
import sys
import time
import tomllib
from pathlib import Path

FOREIGN = ("jax", "keras", "tapeflow.keras", "tapeflow.data", "matplotlib", "google.protobuf")


def closure(package):
    """The installed distributions that `package` needs, itself included, extras not."""
    found, todo = {}, [package]
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for requirement in found[name].requires or ():
            if "extra ==" not in requirement:
                todo.append(re.match(r"[\w.-]+", requirement).group())
    return found


def installed_size(package, module):
    """MB of files. A package run from its sources is its folder and what pyproject.toml needs."""
    folder = Path(module.__file__).parent
    distributions = closure(package)
    files = set()
    if not distributions:
        files |= {p for p in folder.rglob("*") if p.is_file()}
        project = tomllib.loads((folder.parents[1] / "pyproject.toml").read_text())["project"]
        for requirement in project["dependencies"]:
            distributions |= closure(re.match(r"[\w.-]+", requirement).group())
    for distribution in distributions.values():
        files |= {Path(str(distribution.locate_file(f))) for f in distribution.files or ()}
    kept = (file for file in files if "__pycache__" not in file.parts and file.is_file())
    return sum(file.stat().st_size for file in kept) / 1e6


def main(package):
    begin = time.perf_counter()
    module = importlib.import_module(package)
    seconds = time.perf_counter() - begin
    status = Path("/proc/self/status").read_text()
    resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024 / 1e6
    result = {
        "import": seconds,
        "rss": resident,
        "installed": installed_size(package, module),
        "version": module.version.GIT_VERSION if package == "tapeflow" else f"{package} {module.__version__}",
    }
    if package == "tapeflow":
        loaded = [m for m in sys.modules if any(m == f or m.startswith(f + ".") for f in FOREIGN)]
        result["foreign"] = len(loaded)
    print(json.dumps(result))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(sys.argv[1])
