"""Functions that loop over datasets go into SavedModels as TensorFlow's nodes, and come back."""

import runpy
from pathlib import Path

import pytest

import tapeflow as tf

FUNCTIONS = runpy.run_path(str(Path(__file__).with_name("dataset_functions.py")))
EXPECTED, look_at, make = FUNCTIONS["EXPECTED"], FUNCTIONS["look_at"], FUNCTIONS["make"]


def test_saved_and_loaded_and_saved_again(tmp_path):
    module = make(tf)
    assert look_at(tf, module) == EXPECTED
    tf.saved_model.save(module, tmp_path / "once")
    loaded = tf.saved_model.load(tmp_path / "once")
    assert look_at(tf, loaded) == EXPECTED
    tf.saved_model.save(loaded, tmp_path / "again")
    assert look_at(tf, tf.saved_model.load(tmp_path / "again")) == EXPECTED


def test_a_dataset_of_python_cannot_be_saved(tmp_path):
    dataset = tf.data.Dataset.from_generator(lambda: iter([1.0]), output_signature=tf.TensorSpec([], tf.float32))
    module = tf.Module()
    module.f = tf.function(lambda: dataset.reduce(0.0, lambda a, b: a + b), input_signature=[])
    assert module.f() == 1.0
    with pytest.raises(ValueError, match="which no ops of TensorFlow make \\(from_generator\\)"):
        tf.saved_model.save(module, tmp_path)


def test_a_loop_over_a_dataset_has_a_gradient():
    dataset, w = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]), tf.Variable(2.0)

    @tf.function
    def product():
        total = tf.constant(1.0)
        for x in dataset:
            total *= w * x
        return total

    with tf.GradientTape() as tape:
        y = product()
    assert (float(y), float(tape.gradient(y, w))) == (48.0, 72.0)


def test_iterators_of_a_graph_are_in_its_graph_def():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        dataset = tf.data.Dataset.range(6).map(lambda x: x * 2).batch(2)
        v1.data.make_one_shot_iterator(dataset).get_next(name="at_once")
        iterator = v1.data.make_initializable_iterator(dataset)
        iterator.get_next(name="later")
        start = iterator.initializer.name
    with tf.Graph().as_default(), v1.Session() as session:
        at_once, start, later = v1.import_graph_def(
            graph.as_graph_def(), return_elements=["at_once:0", start, "later:0"], name=""
        )
        for _ in range(2):
            session.run(start)
            assert session.run(later).tolist() == [0, 2]
        assert [session.run(at_once).tolist() for _ in range(3)] == [[0, 2], [4, 6], [8, 10]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(at_once)
