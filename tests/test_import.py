"""What `import tapeflow` costs, and what it leaves alone."""

import json
import re
import subprocess
import sys

import pytest

PROBE = """
import json, sys
before = set(sys.modules)
import numpy
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
        "ml_dtypes",
        "tapeflow.core",
        "tapeflow.ops",
        "tapeflow.autodiff",
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
    assert len(imported["own"]) <= 10, imported["own"]


def test_is_small(imported):
    assert imported["MB"] <= 60


def test_lazy_packages_load_on_first_use():
    code = (
        "import sys, tapeflow as tf; assert 'tapeflow.keras' not in sys.modules; "
        "tf.keras.layers.Dense; tf.data.Dataset; "
        "assert 'tapeflow.keras' in sys.modules and 'tapeflow.data' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The first thing that a program does, and the modules of operations that it loads at most.
FIRST_USES = {
    "tf.constant([1.0]) + 1.0": 60,
    "tf.constant([[1, 2], [3, 4]])[0, 1]": 60,
    "tf.constant([tf.constant(1.0), 2.0])": 60,
    "-tf.constant(2.0) ** 2": 60,
    "~tf.constant([True, False])": 60,
    "tf.constant(1) == 1": 60,
    "np.float32(2) * tf.constant([1.0])": 60,
    "[x for x in tf.constant([1, 2])]": 60,
    "tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])) + tf.zeros((2, 1))": 70,
    "tf.raw_ops.AddV2(x=1.0, y=2.0)": None,
    "tf.convert_to_tensor(tf.Variable(1.0)) * 2.0": None,
    "tf.SparseTensor([[0, 1]], [1.0], [2, 2]) * tf.constant([[2.0, 3.0]])": None,
    "tf.ragged.constant([[1], [2, 3]]) + 1": None,
    "tf.compat.v1.Session(graph=tf.compat.v1.get_default_graph()).graph.as_default()": None,
    "tf.function(lambda x: x + x)(tf.constant(1.0))": None,
    "tf.strings.length(tf.ragged.constant([['a'], ['bc', 'd']]))": None,
    "tf.keras.activations.relu(tf.constant([-1.0, 1.0]))": None,
    "tf.data.Dataset.range(3).map(lambda x: x * 2).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)": None,
    "tf.constant(1.0).T": None,
    "__import__('tapeflow.ops.table', fromlist=['']).REGISTRY['Sin'](0.0)": None,
}
FIRST_USE = """
import sys
import numpy as np, tapeflow as tf
try:
    print(repr({expression}))
except Exception as error:
    print(type(error).__name__, error)
print(len([name for name in sys.modules if name.startswith("tapeflow.ops.")]), file=sys.stderr)
"""


@pytest.mark.parametrize("expression", FIRST_USES)
def test_the_first_use_loads_what_it_needs(expression):
    """It gives what the expression gives in a process that has loaded everything."""
    command = [sys.executable, "-c", FIRST_USE.format(expression=expression)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = f"import tapeflow.raw_ops, tapeflow.compat.v1, tapeflow.keras\ndir(tapeflow.raw_ops)\n{command[2]}"
    after = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert without_addresses(done.stdout) == without_addresses(after.stdout)
    most = FIRST_USES[expression]
    assert most is None or int(done.stderr.split()[-1]) <= most


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_unknown_name_is_an_attribute_error():
    import tapeflow as tf

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tf.no_such_name
