"""The bill of materials lists what a wheel bundles, and refuses what it does not know."""

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

nanobind = pytest.importorskip("nanobind")
ROOT = Path(__file__).parents[1]
METADATA = """Metadata-Version: 2.4
Name: tapeflow
Version: 0.1.0
License-Expression: Apache-2.0
Requires-Dist: numpy<3,>=2.0
Requires-Dist: scipy>=1.11; extra == "scipy"
"""


@pytest.fixture
def sbom():
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "cmake" / "sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(path, *more):
    files = {
        "tapeflow-0.1.0.dist-info/METADATA": METADATA,
        "tapeflow/_native.cpython-311-x86_64-linux-gnu.so": "",
        "tapeflow/licenses/nanobind/LICENSE": "",
        "tapeflow/licenses/robin-map/LICENSE": "",
        **dict(more),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)


def test_lists_what_is_bundled_and_needed(sbom, tmp_path):
    bill = sbom.bill(wheel(tmp_path / "w.whl"))
    found = {c["name"]: c["version"] for c in bill["components"]}
    header = (Path(nanobind.__file__).parent / "ext/robin_map/include/tsl/robin_growth_policy.h").read_text()
    for number in found.pop("robin-map").split("."):
        assert re.search(rf"TSL_RH_VERSION_\w+ {number}\b", header)
    assert found == {"nanobind": version("nanobind"), "numpy": version("numpy")}
    assert bill["dependencies"][0]["dependsOn"] == [c["bom-ref"] for c in bill["components"]]


def test_an_unknown_library_and_a_missing_licence_are_refused(sbom, tmp_path):
    with pytest.raises(SystemExit, match=r"libother.so.1 is bundled, but not known"):
        sbom.bill(wheel(tmp_path / "w.whl", ("tapeflow/lib/libother.so.1", "")))


def test_a_bundled_library_needs_its_licence(sbom, tmp_path, monkeypatch):
    monkeypatch.setitem(sbom.BUNDLED, r"tapeflow/lib/libother\.so\.1", ("other", "numpy", "MIT"))
    with pytest.raises(SystemExit, match="bundles other without its licence"):
        sbom.bill(wheel(tmp_path / "w.whl", ("tapeflow/lib/libother.so.1", "")))


def test_the_openmp_runtime_of_wheels_for_old_systems(sbom, tmp_path):
    bill = sbom.bill(
        wheel(
            tmp_path / "w.whl",
            ("tapeflow.libs/libgomp-12ab34cd.so.1", "library"),
            ("tapeflow/licenses/libgomp/LICENSE", ""),
            ("tapeflow/licenses/libgomp/VERSION", "10.2.1-6\n"),
        )
    )
    [found] = [c for c in bill["components"] if c["name"] == "libgomp"]
    assert found["version"] == "10.2.1-6"
    assert found["licenses"] == [{"expression": "GPL-3.0-or-later WITH GCC-exception-3.1"}]
    assert found["hashes"][0]["content"] == hashlib.sha256(b"library").hexdigest()


@pytest.mark.slow
def test_the_wheel_itself(sbom, tmp_path):
    """Every shared library of the built wheel is ours or listed, with its hash and its notices."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True)
    [path] = tmp_path.glob("*.whl")
    printed = subprocess.run([sys.executable, ROOT / "cmake" / "sbom.py", path], capture_output=True, check=True)
    bill = json.loads(printed.stdout)
    bundled = [c for c in bill["components"] if "hashes" in c]
    hashes = {c["evidence"]["occurrences"][0]["location"]: c["hashes"][0]["content"] for c in bundled}
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        foreign = [n for n in names if ".so" in n and not n.startswith(("tapeflow/_native.", "tapeflow/_onednn."))]
        assert {n: hashlib.sha256(archive.read(n)).hexdigest() for n in foreign} == hashes
    if foreign:
        assert "tapeflow/licenses/onednn/THIRD-PARTY-PROGRAMS" in names
