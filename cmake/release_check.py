"""Checks what is about to be released: `release_check.py FILE...`, the wheels and the source archive.

The version is the same wherever it is written; the change log has entries for it; wheels carry their licences, list
what they bundle and have its licence; no file of a build is in the source archive, and what a build needs is. Prints
what is wrong, a line each; the exit code is 1 where something is.
"""

import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sbom import bill

ROOT = Path(__file__).parent.parent
# Where the version stands, and the pattern of its line.
PLACES = {
    "src/tapeflow/core/release.py": r'^GIT_VERSION = "tapeflow-(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## ([\d.]+)",
}
NEEDED = (
    "pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "cmake/notices.py", "native/module.cc", "PKG-INFO",
)  # fmt: skip


def release() -> str:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def versions(expected: str, root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the versions in the sources."""
    for name, pattern in PLACES.items():
        found = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        if found is None:
            yield f"{name} has no version"
        elif found[1] != expected:
            yield f"{name} has version {found[1]}, pyproject.toml {expected}"


def wheel(path: Path, expected: str) -> Iterator[str]:
    """What is wrong with a wheel."""
    if path.name.split("-")[1] != expected:
        yield f"{path.name} is not of version {expected}"
    if "-linux_" in path.name:
        yield f"{path.name} runs on this system only: cmake/wheels.sh makes those for others"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    for ending in (".dist-info/licenses/LICENSE", "tapeflow/py.typed"):
        if not any(n.endswith(ending) for n in names):
            yield f"{path.name} has no {ending.rpartition('/')[2]}"
    try:
        bill(str(path))
    except SystemExit as problem:
        yield f"{path.name}: {problem}"


def sources(path: Path, expected: str) -> Iterator[str]:
    """What is wrong with the source archive."""
    if path.name != f"tapeflow-{expected}.tar.gz":
        yield f"{path.name} is not of version {expected}"
    with tarfile.open(path) as archive:
        names = [n.partition("/")[2] for n in archive.getnames()]
    for name in NEEDED:
        if name not in names:
            yield f"{path.name} has no {name}"
    for name in names:
        if re.search(r"\.(so(\.\d+)*|pyc|o)$", name):
            yield f"{path.name} has {name}, which a build makes"


def problems(files: list[Path]) -> Iterator[str]:
    expected = release()
    yield from versions(expected)
    if not files:
        yield "there is nothing to release"
    for path in files:
        yield from (wheel if path.suffix == ".whl" else sources)(path, expected)


if __name__ == "__main__":
    found = list(problems([Path(name) for name in sys.argv[1:]]))
    print("\n".join(found) or f"tapeflow {release()}: nothing is wrong")
    sys.exit(bool(found))
