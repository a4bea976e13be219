"""Collects the licences and notices of what the native code bundles: `notices.py FOLDER COMPONENT...`.

Bundled are oneDNN's library, and, linked statically, nanobind with the hash map that it contains. The OpenMP runtime is
the system's and is not bundled.
"""

import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

# Component: the package that it comes in, and the notices there.
SOURCES = {
    "onednn": ("onednn-cpu-gomp", ("share/doc/onednn/LICENSE", "share/doc/onednn/THIRD-PARTY-PROGRAMS")),
    "nanobind": ("nanobind", ("licenses/LICENSE",)),
    "robin-map": ("nanobind", ("tsl/robin_map.h",)),
}


def located(package: str, ending: str) -> Path:
    for file in distribution(package).files or ():
        if str(file).endswith(ending):
            return Path(str(file.locate())).resolve()
    raise SystemExit(f"{package} has no {ending}, which has to be in the wheel with it")


def collect(component: str, folder: Path) -> None:
    package, endings = SOURCES[component]
    folder.mkdir(parents=True, exist_ok=True)
    for ending in endings:
        file = located(package, ending)
        if file.suffix == ".h":  # its first comment is the licence
            comment = file.read_text().partition("*/")[0].splitlines()[1:]
            text = "\n".join(line.removeprefix(" *").strip() for line in comment)
            (folder / "LICENSE").write_text(text.strip() + "\n")
        else:
            shutil.copyfile(file, folder / file.name)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        collect(name, Path(sys.argv[1]) / name)
