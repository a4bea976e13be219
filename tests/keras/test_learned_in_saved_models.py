"""What layers learned from data, out of SavedModels in the layout of Keras 2, where tables and variables hold it."""

import json

import numpy as np

import tapeflow as tf
from tapeflow import protos
from tapeflow.saved_model import structures

WORDS = ["cat", "dog", "bird"]


def layer_object(**parts):
    """An object with the attributes of a layer."""
    made = tf.Module()
    for name, value in parts.items():
        setattr(made, name, value)
    return made


def table(keys, first=1):
    keys = tf.constant(keys)
    numbers = tf.constant(np.arange(first, first + len(keys)))
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, numbers), -1)


def loaded(path, layer, dtype, held):
    """A Sequential model of one layer that has learned nothing, out of a SavedModel with what it has learned."""
    root = tf.Module()
    setattr(root, "layer-0", held)
    tf.saved_model.save(root, path)
    inputs = {"batch_input_shape": [None, 2], "dtype": dtype, "name": "given"}
    config = {"layers": [{"class_name": "InputLayer", "config": inputs},
                         {"class_name": type(layer).__name__, "config": layer.get_config()}]}  # fmt: skip
    metadata = protos.SavedMetadata()
    metadata.nodes.add(node_id=0, metadata=json.dumps({"class_name": "Sequential", "config": config}))
    (path / "keras_metadata.pb").write_bytes(metadata.SerializeToString())
    return tf.keras.models.load_model(path)


def test_strings(tmp_path):
    model = loaded(tmp_path, tf.keras.layers.StringLookup(), "string", layer_object(lookup_table=table(WORDS)))
    assert model(tf.constant([["bird", "cow"], ["cat", "dog"]])).numpy().tolist() == [[3, 0], [1, 2]]


def test_order_of_a_table_that_is_not_sorted_by_number(tmp_path):
    keys, numbers = tf.constant([7, 5, 9]), tf.constant(np.array([3, 1, 2]))
    held = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.cast(keys, tf.int64), numbers), -1)  # fmt: skip
    model = loaded(tmp_path, tf.keras.layers.IntegerLookup(), "int64", layer_object(lookup_table=held))
    assert model.layers[-1].get_vocabulary(include_special_tokens=False) == [5, 9, 7]


def test_numbers_to_strings(tmp_path):
    keys = tf.lookup.KeyValueTensorInitializer(tf.constant(np.arange(1, 4)), tf.constant(WORDS))
    held = layer_object(lookup_table=tf.lookup.StaticHashTable(keys, "[UNK]"))
    model = loaded(tmp_path, tf.keras.layers.StringLookup(invert=True), "int64", held)
    assert model(tf.constant([[3, 0]], tf.int64)).numpy().tolist() == [[b"bird", b"[UNK]"]]


def test_texts_with_weights(tmp_path):
    weights = tf.Variable([0.5, 1.0, 2.0, 4.0])
    held = layer_object(_lookup_layer=layer_object(lookup_table=table(WORDS), idf_weights=weights))
    layer = tf.keras.layers.TextVectorization(output_mode="tf_idf", split=None)
    layer.adapt([["sun"], ["moon"], ["star"]])  # its size is in the config, its words are not
    model = loaded(tmp_path, layer, "string", held)
    assert model(tf.constant([["bird", "bird"]])).numpy().tolist() == [[0.0, 0.0, 0.0, 8.0]]


def test_bins(tmp_path):
    summary = tf.Variable([[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]], shape=[2, None])
    layer = tf.keras.layers.Discretization(num_bins=2)
    model = loaded(tmp_path, layer, "float32", layer_object(summary=summary))
    assert model.layers[-1].bin_boundaries == [2.0]
    assert model(tf.constant([[1.5, 2.5]])).numpy().tolist() == [[0, 1]]


def test_a_given_vocabulary_stays(tmp_path):
    layer = tf.keras.layers.StringLookup(vocabulary=["sun"])
    model = loaded(tmp_path, layer, "string", layer_object(lookup_table=table(WORDS)))
    assert model.layers[-1].get_vocabulary() == ["[UNK]", "sun"]


def test_functions_of_iterators_can_be_read():
    spec = tf.data.IteratorSpec(tf.TensorSpec([None], tf.string))
    message = protos.StructuredValue()
    message.type_spec_value.type_spec_class = 6
    message.type_spec_value.type_spec_class_name = "IteratorSpec"
    element = message.type_spec_value.type_state.tuple_value.values.add().tensor_spec_value
    element.dtype = tf.string.as_datatype_enum
    element.shape.dim.add(size=-1)
    assert structures.decode(message) == spec
