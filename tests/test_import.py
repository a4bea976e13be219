"""What `import tapeflow` costs, and what it leaves alone."""

import json
import subprocess
import sys

import pytest

PROBE = """
import json, sys
before = set(sys.modules)
import numpy, ml_dtypes
dependencies = set(sys.modules)
import tapeflow
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
resident = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
print(json.dumps({
    "loaded": sorted(set(sys.modules) - before),
    "own": sorted(set(sys.modules) - dependencies),
    "MB": int(resident[0]) * 1024 / 1e6 if resident else 0,
}))
"""


@pytest.fixture(scope="module")
def imported():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "name",
    [
        "jax",
        "keras",
        "matplotlib",
        "google.protobuf",
        "scipy",
        "tensorflow",
        "PIL",
        "rich",
        "tapeflow.keras",
        "tapeflow.linalg",
        "tapeflow.nn",
        "tapeflow.data",
        "tapeflow.saved_model",
        "tapeflow.xla",
        "tapeflow.contrib",
        "tapeflow.compat",
    ],
)
def test_leaves_alone(imported, name):
    loaded = [m for m in imported["loaded"] if m == name or m.startswith(name + ".")]
    assert not loaded


def test_loads_few_modules(imported):
    # Time is too noisy to test; the number of modules is what it is made of.
    assert len(imported["own"]) <= 150, imported["own"]


def test_is_small(imported):
    assert imported["MB"] <= 60


def test_lazy_packages_load_on_first_use():
    code = (
        "import sys, tapeflow as tf; assert 'tapeflow.keras' not in sys.modules; "
        "tf.keras.layers.Dense; tf.data.Dataset; "
        "assert 'tapeflow.keras' in sys.modules and 'tapeflow.data' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error():
    import tapeflow as tf

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tf.no_such_name
