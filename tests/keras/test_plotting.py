"""Pictures of models: drawn as SVG, and described to Graphviz by pydot."""

import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from tapeflow import keras


def model():
    x = keras.Input((4,), name="x")
    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu", name="first")], name="inner")
    return keras.Model(x, keras.layers.Add(name="sum")([inner(x), keras.layers.Dense(3, name="second")(x)]))


def test_svg_without_graphviz(tmp_path):
    """In a process that finds no pydot."""
    program = textwrap.dedent("""
        import sys
        sys.modules["pydot"] = None  # as if it were not installed
        from tapeflow import keras
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="first")])
        folder = sys.argv[1]
        picture = keras.utils.plot_model(model, f"{folder}/m.png", show_shapes=True, show_layer_names=True)
        print("first" in picture.data, open(f"{folder}/m.svg").read() == picture.data)
        keras.utils.plot_model(model, f"{folder}/n.svg")
        try:
            keras.utils.model_to_dot(model)
        except ImportError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"Without pydot and Graphviz, models are drawn as SVG: {tmp_path}/m.svg is written, not {tmp_path}/m.png.",
        "True True",
        "You must install pydot (`pip install pydot`) for model_to_dot to work.",
    ]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.svg", "n.svg"]


def test_models_that_are_not_built():
    for draw in (keras.utils.plot_model, keras.utils.model_to_dot):
        with pytest.raises(ValueError, match="not yet been built"):
            draw(keras.Sequential([keras.layers.Dense(1)]))


def edges(dot):
    """The edges between boxes, by the names of the layers."""
    text = dot.to_string()
    names = dict(re.findall(r"(\d+) \[label=<.*?<b>(\w+)</b>", text))
    return {(names[a], names[b]) for a, b in re.findall(r"(\d+) -> (\d+)", text)}


def test_graph_of_pydot():
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    dot = keras.utils.model_to_dot(model(), show_shapes=True, show_layer_activations=True, show_trainable=True)
    assert isinstance(dot, pydot.Dot)
    assert edges(dot) == {("x", "inner"), ("x", "second"), ("inner", "sum"), ("second", "sum")}
    text = dot.to_string()
    assert "Input shape: <b>[(None, 3), (None, 3)]</b>" in text
    assert text.count("Activation: <b>linear</b>") == 1
    assert text.count("<b>Trainable</b>") == 2


def test_nested_models_are_clusters():
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    dot = keras.utils.model_to_dot(model(), expand_nested=True)
    assert [cluster.get_label() for cluster in dot.get_subgraphs()] == ["inner"]
    assert edges(dot) == {("x", "first"), ("x", "second"), ("first", "sum"), ("second", "sum")}
    assert isinstance(keras.utils.model_to_dot(model(), subgraph=True), pydot.Cluster)


def test_names_are_escaped():
    pytest.importorskip("pydot", reason="pydot is not installed")
    named = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, name="b>")])
    assert "<b>b&gt;</b> (Dense)" in keras.utils.model_to_dot(named).to_string()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_writes_the_format_asked_for(tmp_path):
    pytest.importorskip("pydot", reason="pydot is not installed")
    keras.utils.plot_model(model(), tmp_path / "m.png", dpi=40)
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    keras.utils.plot_model(model(), str(tmp_path / "m.pdf"), expand_nested=True)
    assert (tmp_path / "m.pdf").read_bytes().startswith(b"%PDF")
