"""Tables encoded by `keras.utils.FeatureSpace`."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
FeatureSpace = keras.utils.FeatureSpace
TABLE = {"i": np.array([10, 20, 10, 30]), "n": np.array([0.0, 2.0, 4.0, 2.0], "float32")}


def space(**kwargs):
    return FeatureSpace({"n": "float_normalized", "i": "integer_categorical"}, **kwargs)


def test_columns_are_encoded_and_joined_by_name():
    features = space()
    features.adapt(tf.data.Dataset.from_tensor_slices(TABLE))
    found = features(TABLE).numpy()
    assert found.shape == (4, 5)
    assert found[:, :4].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]
    np.testing.assert_allclose(found[:, 4], [-(2**0.5), 0, 2**0.5, 0], rtol=1e-5, atol=1e-6)
    row = features({name: column[2] for name, column in TABLE.items()})
    np.testing.assert_allclose(row.numpy(), found[2], rtol=1e-6)


def test_models_and_files_of_feature_spaces(tmp_path):
    features = space()
    features.adapt(TABLE)
    model = keras.Model(features.get_inputs(), features.get_encoded_features())
    expected = features(TABLE).numpy()
    rows = tf.data.Dataset.from_tensor_slices(TABLE).batch(4)
    np.testing.assert_allclose(model.predict(rows, verbose=0), expected, rtol=1e-6)
    features.save(tmp_path / "space.keras")
    again = keras.models.load_model(tmp_path / "space.keras")
    np.testing.assert_allclose(again(TABLE).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureSpace({}), "cannot be None or empty"),
        (lambda: FeatureSpace({"a": "zz"}), "Invalid feature type: zz"),
        (lambda: FeatureSpace({"a": "float"}, output_mode="x"), "Invalid value for argument `output_mode`"),
        (lambda: FeatureSpace({"a": "float"}, crosses=[("a", "b")]), "unknown features"),
        (lambda: space().get_inputs(), "You need to call `.adapt"),
        (lambda: space().adapt([1]), "can only be called on a tf.data.Dataset"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
