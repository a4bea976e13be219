"""The check before a release finds what is wrong with versions, wheels and the source archive."""

import importlib.util
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("nanobind")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def check():
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "cmake" / "release_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_the_same_wherever_it_is_written(check):
    assert list(check.versions(check.release())) == []


def test_another_version_is_named_with_its_file(check):
    assert sorted(line.split()[0] for line in check.versions("9.9.9")) == sorted(check.PLACES)


def wheel(path, *left_out):
    names = {
        "tapeflow-1.0.dist-info/METADATA": "Name: tapeflow\nVersion: 1.0\nLicense-Expression: Apache-2.0\n",
        "tapeflow-1.0.dist-info/licenses/LICENSE": "",
        "tapeflow/py.typed": "",
        "tapeflow/_native.cpython-311-x86_64-linux-gnu.so": "",
        "tapeflow/licenses/nanobind/LICENSE": "",
        "tapeflow/licenses/robin-map/LICENSE": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name in names.keys() - set(left_out):
            archive.writestr(name, names[name])
    return path


def test_wheels(check, tmp_path):
    name = "tapeflow-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert list(check.wheel(wheel(tmp_path / name), "1.0")) == []
    assert "not of version 1.1" in "".join(check.wheel(wheel(tmp_path / name), "1.1"))
    assert "has no py.typed" in "".join(check.wheel(wheel(tmp_path / name, "tapeflow/py.typed"), "1.0"))
    unlicensed = wheel(tmp_path / name, "tapeflow/licenses/nanobind/LICENSE")
    assert "bundles nanobind without its licence" in "".join(check.wheel(unlicensed, "1.0"))
    local = wheel(tmp_path / "tapeflow-1.0-cp311-cp311-linux_x86_64.whl")
    assert "this system only" in "".join(check.wheel(local, "1.0"))


def test_source_archives(check, tmp_path):
    def archive(*names):
        with tarfile.open(tmp_path / "tapeflow-1.0.tar.gz", "w:gz") as made:
            for name in names:
                made.addfile(tarfile.TarInfo("tapeflow-1.0/" + name))
        return tmp_path / "tapeflow-1.0.tar.gz"

    assert list(check.sources(archive(*check.NEEDED), "1.0")) == []
    [line] = check.sources(archive(*check.NEEDED, "src/tapeflow/_native.so"), "1.0")
    assert "_native.so, which a build makes" in line
    [line] = check.sources(archive(*set(check.NEEDED) - {"LICENSE"}), "1.0")
    assert line.endswith("has no LICENSE")
