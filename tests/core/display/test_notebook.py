"""What notebooks show: tables of elements, of components and of layers, in which texts are escaped."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.display import notebook
from tapeflow.keras.utils.live import curves


def cells(html):
    return html.count("<td>")


def test_tables_of_tensors():
    html = tf.constant([[1.0, 2.5], [3.0, 4.0]])._repr_html_()
    assert "shape=(2, 2), dtype=float32" in html
    assert "<tr><td>1.0</td><td>2.5</td></tr><tr><td>3.0</td><td>4.0</td></tr>" in html
    assert "<tr><td>7</td><td>8</td></tr>" in tf.constant([7, 8])._repr_html_()


def test_other_ranks_are_text():
    assert "<pre>5</pre>" in tf.constant(5)._repr_html_()
    html = tf.zeros([20, 20, 20])._repr_html_()
    assert "<pre>[[[0. 0. 0. ... 0. 0. 0.]" in html
    assert len(html) < 3000
    assert "<pre>[]</pre>" in tf.zeros([0])._repr_html_()


def test_large_tables_are_cut():
    html = tf.zeros([1000, 100])._repr_html_()
    assert cells(html) == 20 * 13
    assert html.endswith("<div>980 more rows, 88 more columns</div>")
    html = tf.range(50)._repr_html_()
    assert cells(html) == 13
    assert html.endswith("<div>38 more elements</div>")


def test_texts_are_escaped():
    html = tf.constant(["<script>x</script>"])._repr_html_()
    assert "<script" not in html
    assert "<td>b&#x27;&lt;script&gt;" in html
    assert "<i>" not in tf.Variable(1.0, name="<i>")._repr_html_()
    assert "<b>" not in tf.data.Dataset.from_tensors({"<b>": 1})._repr_html_()
    assert "<b>" not in tf.keras.Sequential([tf.keras.layers.Dense(1, name="<b>")])._repr_html_()
    assert "<td>" + "x" * 79 + "…</td>" in notebook.array("", np.array(["x" * 100]))


def test_variables():
    html = tf.Variable([1, 2], name="v")._repr_html_()
    assert "name=&#x27;v:0&#x27;, shape=(2,), dtype=int32" in html
    assert "<td>1</td><td>2</td>" in html
    with tf.Graph().as_default():
        assert "tf.Variable &#x27;w:0&#x27; shape=()" in tf.compat.v1.get_variable("w", [])._repr_html_()


def test_datasets():
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": (["x"] * 3, [[1.0]] * 3)}).batch(2)
    html = dataset._repr_html_()
    assert "_BatchDataset: 2 elements" in html
    assert "<tr><td>[&#x27;a&#x27;]</td><td>Tensor</td><td>(None,)</td><td>int32</td></tr>" in html
    assert "<tr><td>[&#x27;b&#x27;][1]</td><td>Tensor</td><td>(None, 1)</td><td>float32</td></tr>" in html
    assert "infinitely many" in dataset.repeat()._repr_html_()
    assert "an unknown number" in dataset.filter(lambda _: True)._repr_html_()
    assert "<td>element</td><td>Dataset</td>" in tf.data.Dataset.range(4).window(2)._repr_html_()


def test_models():
    inner = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, name="first")], name="inner")
    model = tf.keras.Sequential([tf.keras.Input((3,)), inner, tf.keras.layers.Dense(1, name="last")])
    html = model._repr_html_()
    assert "<td>last (Dense)</td><td>(None, 1)</td><td>3</td>" in html
    assert "└ first (Dense)</td><td>(None, 2)</td><td>8</td>" in html
    assert "Total params: 11 (44.00 B)" in html
    assert "0 (unbuilt)" in tf.keras.Sequential([tf.keras.layers.Dense(1)])._repr_html_()


KERNEL = r"""
import json, sys
import nbclient, nbformat
cells = [nbformat.v4.new_code_cell(source) for source in json.loads(sys.argv[1])]
nb = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(nb, kernel_name="python3", timeout=100).execute()
print(json.dumps([cell.outputs for cell in nb.cells]))
"""


@pytest.fixture(scope="module")
def outputs():
    """What the cells of a notebook show in a kernel."""
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package, reason="no kernel is installed")
    sources = [
        "import numpy as np, tapeflow as tf\n"
        "x = np.arange(64, dtype='float32').reshape(32, 2) / 64\n"
        "model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])\n"
        "model.compile('adam', 'mse')\n"
        "_ = model.fit(x, x[:, :1], epochs=3, validation_split=0.25)",
        "_ = model.evaluate(x, x[:, :1])",
        "_ = model.predict(x, verbose=2)",
        "tf.keras.utils.disable_interactive_logging()\n_ = model.fit(x, x[:, :1], epochs=1)",
    ]
    command = [sys.executable, "-c", KERNEL, json.dumps(sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_training_in_a_notebook(outputs):
    (shown,) = outputs[0]  # one output, replaced while the model trained
    assert shown["output_type"] == "display_data"
    html, text = shown["data"]["text/html"], shown["data"]["text/plain"]
    assert text.splitlines()[::2] == ["Epoch 1/3", "Epoch 2/3", "Epoch 3/3"]
    assert html.count("<polyline") == 2
    assert "<th>epoch</th><th>loss</th><th>val_loss</th>" in html
    assert "\x1b" not in text


def test_evaluation_in_a_notebook(outputs):
    (shown,) = outputs[1]
    assert '<progress value="1" max="1">' in shown["data"]["text/html"]


def test_quiet_progress_in_a_notebook_is_text(outputs):
    (shown,) = outputs[2]
    assert (shown["output_type"], shown["name"]) == ("stream", "stdout")
    assert {part["name"] for part in outputs[3]} == {"stderr"}


def test_curves_leave_out_what_is_not_finite():
    svg = curves({"loss": [3.0, float("nan"), 1.0, float("inf")], "<v>": [2.0]})
    first, second = svg.split("<polyline")[1:]
    assert first.split('"')[1].count(",") == 2
    assert second.split('"')[1].count(",") == 1
    assert "&lt;v&gt;" in second
    assert curves({"loss": [float("nan")]}) == ""
