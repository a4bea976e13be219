import numpy as np
import pytest

import tapeflow as tf


@pytest.fixture(autouse=True)
def no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))


def save(path, n=3, **replaced):
    arrays = {
        "x_train": np.zeros((n, 28, 28), np.uint8),
        "y_train": np.zeros(n, np.uint8),
        "x_test": np.ones((1, 28, 28), np.uint8),
        "y_test": np.ones(1, np.uint8),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{k: v for k, v in (arrays | replaced).items() if v is not None})
    return path


def test_subset_has_shapes_dtypes_and_all_digits():
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    assert x_train.shape == (8000, 28, 28)
    assert y_train.shape == (8000,)
    assert x_test.shape == (2000, 28, 28)
    assert y_test.shape == (2000,)
    assert {a.dtype for a in (x_train, y_train, x_test, y_test)} == {np.dtype(np.uint8)}
    assert set(y_train) == set(y_test) == set(range(10))
    assert x_train.min() == 0
    assert x_train.max() == 255


def test_path_names_a_full_set(tmp_path):
    (x_train, _), _ = tf.keras.datasets.mnist.load_data(save(tmp_path / "full.npz", n=5))
    assert x_train.shape == (5, 28, 28)


def test_keras_own_cache_is_used(tmp_path):
    save(tmp_path / "keras" / "datasets" / "mnist.npz", n=4)
    (x_train, _), _ = tf.keras.datasets.mnist.load_data()
    assert len(x_train) == 4


def test_missing_file_in_a_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.npz"):
        tf.keras.datasets.mnist.load_data(tmp_path / "no.npz")


def test_missing_array_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"part\.npz is not an MNIST file"):
        tf.keras.datasets.mnist.load_data(save(tmp_path / "part.npz", y_test=None))


def test_other_file_is_an_error(tmp_path):
    file = tmp_path / "text.npz"
    file.write_text("hello")
    with pytest.raises(ValueError, match=r"text\.npz is not an MNIST file"):
        tf.keras.datasets.mnist.load_data(file)
