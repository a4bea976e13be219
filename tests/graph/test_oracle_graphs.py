"""GraphDefs written here run in TensorFlow with the same results, and TensorFlow's run here."""

import importlib.util
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

SCRIPT = pathlib.Path(__file__).parent / "graph_programs.py"
_spec = importlib.util.spec_from_file_location("graph_programs", SCRIPT)
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


def ask(what, folder):
    done = subprocess.run(
        [os.environ["TF_PYTHON"], str(SCRIPT), what, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def same(ours, theirs):
    assert not isinstance(theirs, str), theirs
    assert len(ours) == len(theirs)
    for mine, its in zip(ours, theirs, strict=True):
        mine, its = np.asarray(mine), np.asarray(its)
        assert mine.shape == its.shape
        if mine.dtype.kind in "OS":
            assert mine.tolist() == its.tolist()
        else:
            np.testing.assert_allclose(mine, its, rtol=2e-6, atol=1e-6)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder with what TensorFlow wrote."""
    folder = tmp_path_factory.mktemp("theirs")
    ask("write", folder)
    return folder


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A folder with what was written here, and TensorFlow's results of it; by program our own results."""
    folder = tmp_path_factory.mktemp("ours")
    results = {}
    for name in programs.PROGRAMS:
        try:
            made, feeds, fetches = programs.build(tf, name)
            results[name] = programs.run(tf, made, feeds, fetches)
        except Exception as error:
            results[name] = error
            made, feeds, fetches = protos.GraphDef(), {}, []
        (folder / f"{name}.pb").write_bytes(made.SerializeToString())
        (folder / f"{name}.feeds").write_bytes(pickle.dumps((feeds, fetches)))
    programs.write_meta_graph(tf, folder)
    ask("run", folder)
    return folder, results


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_written_there_runs_here(name, theirs):
    feeds, fetches, expected = pickle.loads((theirs / f"{name}.pickle").read_bytes())
    assert not isinstance(expected, str), expected
    made = protos.GraphDef.FromString((theirs / f"{name}.pb").read_bytes())
    same(programs.run(tf, made, feeds, fetches), expected)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_written_here_runs_there(name, ours):
    folder, results = ours
    if isinstance(results[name], Exception):
        raise results[name]
    same(results[name], pickle.loads((folder / f"{name}.pickle").read_bytes())[2])


@pytest.mark.parametrize("which", ["theirs", "ours"])
def test_meta_graphs(which, theirs, ours):
    folder = theirs if which == "theirs" else ours[0]
    assert programs.read_meta_graph(tf, folder) == pickle.loads(
        (folder / "model.pickle").read_bytes()
    )
