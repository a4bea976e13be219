"""`python -m tapeflow.doctor`: what it reads in a program, and what it says of it."""

import subprocess
import sys

import pytest

from tapeflow import doctor


def read(tmp_path, text):
    file = tmp_path / "program.py"
    file.write_text(text)
    return {(use.name, int(use.place.rpartition(":")[2])): use for use in doctor.uses_in(str(file))}


def examine(*arguments):
    command = [sys.executable, "-m", "tapeflow.doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import tensorflow as tf\ntf.nn.relu(1)", {"tensorflow", "tensorflow.nn.relu"}),
        ("import tensorflow\ntensorflow.add", {"tensorflow", "tensorflow.add"}),
        ("import tensorflow.compat.v1 as tf\ntf.Session()", {"tensorflow.compat.v1", "tensorflow.compat.v1.Session"}),
        ("from tensorflow import keras as k\nk.layers.Dense(3)",
         {"tensorflow.keras", "tensorflow.keras.layers.Dense"}),
        ("from tensorflow.python.ops import *", {"tensorflow.python.ops"}),
        ("import tensorflow as tf\nslim = tf.contrib.slim\nslim.conv2d(slim.x)",
         {"tensorflow", "tensorflow.contrib.slim", "tensorflow.contrib.slim.conv2d", "tensorflow.contrib.slim.x"}),
        ("import tensorflow as tf\nt = tf\nt = 3\nt.x", {"tensorflow"}),
        ("import tensorboard, numpy as tf\nfrom . import tensorflow\ntf.x", set()),
    ],
)  # fmt: skip
def test_names_that_a_program_uses(tmp_path, code, names):
    assert {name for name, _ in read(tmp_path, code)} == names


def test_keywords_and_tries(tmp_path):
    code = """
import tensorflow as tf
try:
    tf.zeros(3, dtype=tf.int32)
except AttributeError:
    tf.ones(3)
try:
    tf.add(1, 2)
except ValueError:
    pass
"""
    uses = read(tmp_path, code)
    assert uses["tensorflow.zeros", 4].keywords == ("dtype",)
    assert uses["tensorflow.zeros", 4].tried
    assert not uses["tensorflow.ones", 6].tried
    assert not uses["tensorflow.add", 8].tried


@pytest.mark.parametrize(
    ("code", "old"),
    [
        ("import tensorflow as tf\ntf.Session(); tf.placeholder(tf.float32)", True),
        ("import tensorflow as tf\ntf.contrib.slim.conv2d", True),
        ("import tensorflow as tf\ntf.function; tf.GradientTape", False),
        ("import tensorflow as tf\ntf.compat.v1.Session()", False),
        ("import tensorflow as tf\ntf.add(1, 2)", False),
    ],
)
def test_which_tensorflow_it_was_written_for(tmp_path, code, old):
    assert doctor.of_1x(list(read(tmp_path, code).values())) is old


def test_report_of_a_program(tmp_path):
    file = tmp_path / "old.py"
    file.write_text(
        "import tensorflow as tf\n"
        "raise SystemExit('it was run')\n"
        "x = tf.placeholder(tf.float32, [None])\n"
        "tf.contrib.no_such.thing(x)\n"
        "tf.reduce_sum(x, axis=0, no_such_argument=1)\n"
        "tf.Session.no_such_method\n"
        "try:\n"
        "    tf.no_such_name\n"
        "except AttributeError:\n"
        "    pass\n"
    )
    done = examine(file)
    assert done.returncode == 1, done.stderr
    assert "it was run" not in done.stdout + done.stderr
    first, rest = done.stdout.split("Missing:")
    missing, tried = rest.split("Tried by the code")
    assert "TensorFlow 1.x" in first
    assert "tensorflow.contrib.no_such" in missing
    assert f"{file}:4" in missing
    assert "tensorflow.reduce_sum is there, but not its argument 'no_such_argument'" in missing
    assert "tensorflow.Session has no attribute 'no_such_method'" in missing
    assert "placeholder" not in missing
    assert "tensorflow.no_such_name" in tried


def test_a_good_program_and_its_nearest_names(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("import tensorflow as tf\nprint(tf.nn.relu([1.0]), tf.data.Dataset.range(3))\n")
    bad.write_text("import tensorflow as tf\ntf.nn.rellu\n")
    done = examine("--v2", good)
    assert done.returncode == 0
    assert "Nothing is missing." in done.stdout
    done = examine("--v2", good, bad)
    assert done.returncode == 1
    assert "tf.nn.relu" in done.stdout


def test_packages_and_folders_are_read_whole(tmp_path):
    package = tmp_path / "inside"
    package.mkdir()
    (package / "__init__.py").write_text("1 / 0\n")
    (package / "part.py").write_text("import tensorflow as tf\ntf.add\n")
    (package / "old.py").write_text("print 'Python 2'\n")
    done = examine(tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("2 files, 2 names of TensorFlow 2.x.")
    assert "1 more file was not read" in done.stdout
    assert "old.py: skipped" in done.stderr
    assert examine("json.decoder").stdout.startswith("1 file, 0 names")
    assert examine("json").returncode == 0


@pytest.mark.parametrize("text", ["print 'Python 2'\n", "# A title\n\nSome *text*.\n", "x = " + "1 + " * 3000 + "1\n"])
def test_what_cannot_be_read_is_no_good_news(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    done = examine(path)
    assert done.returncode == 2
    assert "skipped" in done.stderr
    assert "Nothing is missing" not in done.stdout


def test_wrong_arguments(tmp_path):
    assert examine().returncode == 2
    assert examine("--v3", tmp_path).returncode == 2
    done = examine("no_such_package_anywhere")
    assert done.returncode == 2
    assert "is no Python file" in done.stderr
    assert examine("--help").stdout.startswith("Reports which names")
