"""What the base installation offers works without the optional libraries, or says which extra brings them."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tapeflow
from tapeflow.core import extras

# Imports of the optional libraries fail in the process that runs this.
HIDDEN = """
import sys
for name in ("scipy", "h5py", "PIL", "jax", "grpc", "grpc_health", "prometheus_client", "httptools", "uvicorn"):
    sys.modules[name] = None
import numpy as np
import tapeflow as tf
"""


def run(program):
    environment = {**os.environ, "PYTHONPATH": str(Path(tapeflow.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN + program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported():
    run("""
import importlib, pkgutil
need_extras = (
    "tapeflow.xla", "tapeflow.export.program", "tapeflow.export.stablehlo", "tapeflow.serving.",
    "tapeflow.cluster.grpc_",
)
for module in pkgutil.walk_packages(tf.__path__, "tapeflow.", onerror=lambda name: None):
    if module.name.startswith(("tapeflow._onednn", *need_extras)) or module.name.endswith("__main__"):
        continue
    importlib.import_module(module.name)
""")


def test_linear_algebra_and_special_functions():
    run("""
a = np.array([[4.0, 1.0], [1.0, 3.0]])
tf.linalg.cholesky_solve(tf.linalg.cholesky(a), np.ones((2, 1)))
for function in (tf.linalg.lu, tf.linalg.sqrtm, tf.linalg.expm, tf.linalg.det):
    function(a)
tf.linalg.logm(a + 0j)
tf.linalg.triangular_solve(a, np.ones((2, 1)))
x = tf.constant([0.25, 0.5])
special = [getattr(tf.math.special, name) for name in dir(tf.math.special) if not name.startswith("_")]
assert len(special) > 15
for function in [*special, tf.math.erfinv, tf.math.ndtri, tf.math.lgamma, tf.math.digamma]:
    function(x)
for function in (tf.math.igamma, tf.math.igammac, tf.math.zeta, tf.math.polygamma):
    function(tf.constant([1.0, 2.0]), x)
tf.math.betainc(x, x, x)
tf.keras.initializers.get("glorot_uniform")
assert not any(name.startswith("scipy") for name, module in sys.modules.items() if module)
""")


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        ("tf.math.sobol_sample(2, 3)", "scipy"),
        ("tf.io.decode_jpeg(b'\\xff\\xd8\\xff')", "image"),
        ("tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))]).save('m.h5')", "hdf5"),
        ("tf.keras.preprocessing.image.apply_affine_transform(np.ones((2, 2, 1)), theta=3)", "scipy"),
    ],
)
def test_the_error_names_the_extra(call, extra, tmp_path):
    out = run(f"""
import os
os.chdir({str(tmp_path)!r})
try:
    {call}
except ImportError as error:
    print(error)
""")
    assert f"pip install 'tapeflow[{extra}]'" in out


def test_every_extra_is_declared():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert {extra for _, extra in extras._EXTRAS.values()} <= set(project["optional-dependencies"])
