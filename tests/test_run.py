"""`python -m tapeflow.run` and `pytest -p tapeflow.pytest`."""

import subprocess
import sys

import pytest

PROGRAM = '''
"""A program."""
import sys
import tensorflow as tf
import beside

flags = tf.compat.v1.app.flags
flags.DEFINE_integer("steps", 3, "How many.")
flags.DEFINE_string("name", default_value="x", docstring="A name.")
FLAGS = flags.FLAGS


def main(argv):
    print(argv[1:], FLAGS.steps, FLAGS.name, beside.VALUE, __file__ == sys.argv[0])


if __name__ == "__main__":
    tf.compat.v1.app.run()
'''


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "tapeflow.run", *arguments],
        capture_output=True, text=True, check=False, cwd=cwd,
    )  # fmt: skip


def test_a_program_with_arguments(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    done = run(str(tmp_path / "program.py"), "--steps=5", "rest")
    assert (done.returncode, done.stdout) == (0, "['rest'] 5 x 7 True\n"), done.stderr


def test_a_module(tmp_path):
    (tmp_path / "mod.py").write_text("import sys, tensorflow as tf\nprint(tf.add(1, 1).numpy(), sys.argv[1:])\n")
    done = run("-m", "mod", "a", cwd=tmp_path)
    assert done.stdout == "2 ['a']\n", done.stderr


def test_exit_codes(tmp_path):
    assert run("-c", "import sys; sys.exit(3)").returncode == 3
    assert run("-c", "1/0").returncode == 1
    missing = run(str(tmp_path / "none.py"))
    assert missing.returncode == 2
    assert "there is no file" in missing.stderr
    assert run().returncode == 2
    assert "usage" in run("--help").stdout.lower() or "python -m tapeflow.run" in run("--help").stdout


def test_an_error_shows_the_line(tmp_path):
    file = tmp_path / "bad.py"
    file.write_text("import tensorflow as tf\n\ntf.reshape([1, 2], [3])\n")
    done = run(str(file))
    assert f'File "{file}", line 3' in done.stderr
    assert "InvalidArgumentError" in done.stderr


@pytest.mark.parametrize("line", ["tf.reshape([1, 2], [3])", "tf.placeholder", "boom()"])
def test_a_traceback_has_the_program_s_lines_only(tmp_path, line):
    file = tmp_path / "bad.py"
    file.write_text(f"import tensorflow as tf\n\ndef f():\n    {line}\n\nf()\n")
    shown = run(str(file)).stderr.splitlines()
    files = [x.split('"')[1] for x in shown if x.lstrip().startswith("File ")]
    assert files == [str(file)] * 2
    assert shown[0] == "Traceback (most recent call last):"


def test_graph_mode_until_the_program_enables_eager_execution(tmp_path):
    file = tmp_path / "graph.py"
    file.write_text(
        "import tensorflow as tf\n"
        "x = tf.placeholder(tf.float32)\n"
        "with tf.Session() as s:\n"
        "    print(s.run(2 * x, {x: 3}))\n"
    )
    assert run("--v1", str(file)).stdout == "6.0\n"


def test_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import tensorflow as tf\n\n\n"
        "class It(tf.test.TestCase):\n"
        "    def test_sum(self):\n"
        "        self.assertAllEqual(tf.add([1], [2]), [3])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tapeflow.pytest", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "tensorflow: tapeflow" in done.stdout
