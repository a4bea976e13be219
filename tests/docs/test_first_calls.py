"""What a program does first works: what it needs is loaded by itself, in any order."""

import json
import subprocess
import sys
from pathlib import Path

# Programs of one line that need parts which `import tapeflow` does not load.
PROGRAMS = [
    "tf.SparseTensor([[0, 0]], [1.0], [2, 2]) * tf.ones([2, 2])",
    "tf.SparseTensor([[0, 0]], [1], [2, 2]) / 2",
    "tf.ones([2]) * tf.SparseTensor([[0, 0]], [1.0], [2, 2])",
    "tf.SparseTensor([[0, 0]], [1.0], [2, 2]).shape",
    "tf.convert_to_tensor(tf.IndexedSlices(tf.ones([1]), tf.constant([0]), tf.constant([2])))",
    "tf.print(tf.SparseTensor([[0, 0]], [1.0], [2, 2]), output_stream=sys.stderr)",
    "tf.print(tf.ragged.constant([[1]]), output_stream=sys.stderr)",
    "tf.ragged.constant([[1]]) + 1",
    "str(tf.ragged.constant([[1]])[0])",
    "tf.cast(tf.ragged.constant([[1]]), tf.float32)",
    "tf.cast(tf.SparseTensor([[0, 0]], [1.0], [2, 2]), tf.int32)",
    "tf.function(lambda x: x)(tf.SparseTensor([[0, 0]], [1.0], [2, 2]))",
    "tf.function(lambda: tf.SparseTensor([[0, 0]], [1.0], tf.shape(tf.ones([2, 2]), tf.int64)).shape)()",
    "tf.Variable([1.0])[0].assign(2.0)",
    "tf.type_spec_from_value(tf.ragged.constant([[1]]))",
    "tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0]], [1.0], [2, 2])).element_spec",
    "next(iter(tf.data.Dataset.from_tensors(tf.ragged.constant([[1]]))))",
    "tf.keras.Input((3,)) * 2",
    "tf.vectorized_map(lambda x: x * x, tf.ones([2]))",
    "tf.reduce_sum(tf.ragged.constant([[1]]))",
    "tf.concat([tf.ragged.constant([[1]])] * 2, 0)",
    "tf.zeros_like(tf.ragged.constant([[1]]))",
    "tf.constant([[1.0]]) @ tf.constant([[1.0]])",
    "tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.float32)",
]


def wrong_ones(examples):
    script = Path(__file__).with_name("first_calls.py")
    done = subprocess.run([sys.executable, script], input=json.dumps(examples), text=True, capture_output=True)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.rpartition("WRONG")[2])


def test_programs_of_one_line():
    assert not wrong_ones({program: f">>> import sys\n>>> value = {program}\n" for program in PROGRAMS})


def test_failures_are_seen():
    examples = {"a": ">>> tf.no_such_name\n", "b": ">>> 1\n1\n", "c": ">>> import os; os.abort()\n"}
    assert set(wrong_ones(examples)) == {"a", "c"}
