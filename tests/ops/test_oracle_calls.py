"""Freshly generated calls against TensorFlow itself, beside those whose answers are written down.

TF_PYTHON names a Python that has TensorFlow; it is run as another process.
"""

import json
import os
import pathlib
import runpy
import subprocess

import pytest

import tapeflow as tf

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

HERE = pathlib.Path(__file__).parent
ANSWERS = HERE / "function_calls.py"
ASK = """
import json, pathlib, runpy, sys
calls, setup = json.load(sys.stdin)
runpy.run_path(sys.argv[1])["write"](pathlib.Path(sys.argv[2]), calls, setup)
"""


@pytest.mark.parametrize("name", ["regex", "size"])
@pytest.mark.parametrize("seed", [2, 3])
def test_generated_calls_do_as_tensorflow(name, seed, tmp_path):
    called = runpy.run_path(str(HERE / f"{name}_calls.py"))
    # TensorFlow wraps what int32 cannot hold; here that is an error (see size_calls.py).
    calls = [call for call in called["calls"](seed, 100) if "dtype=tf.int32" not in call]
    vectors = tmp_path / "vectors.json"
    done = subprocess.run(
        [os.environ["TF_PYTHON"], "-c", ASK, str(ANSWERS), str(vectors)],
        input=json.dumps([calls, called["SETUP"]]), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(vectors.read_text())
    own = runpy.run_path(str(ANSWERS))
    ours = own["answers"](tf, calls, called["SETUP"])
    differing = []
    for call in calls:
        try:
            own["same"](ours[call], theirs[call])
        except AssertionError as error:
            differing.append((call, str(error)))
    assert not differing
