"""What is saved where there is no room leaves what was saved before, no half files, and an error with a name."""

import contextlib
import glob
import os
import resource

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("h5py")
keras = tf.keras
Dataset = tf.data.Dataset


@contextlib.contextmanager
def no_file_larger_than(size):
    """A block in which files end at `size` bytes, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _model():
    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(100), keras.layers.Dense(3)])
    model.compile("adam", "mse")
    return model


def _files(folder):
    return {os.path.join(where, name) for where, _, names in os.walk(folder) for name in names}


def _first_kernel(model):
    return model.get_weights()[0]


def _loaded(path):
    return _first_kernel(keras.models.load_model(path))


def _with_weights(path):
    model = _model()
    model.load_weights(path)
    return _first_kernel(model)


_MODELS = {
    "m.keras": (keras.Model.save, _loaded),
    "m.h5": (keras.Model.save, _loaded),
    "saved_model": (keras.Model.save, _loaded),
    "w.h5": (keras.Model.save_weights, _with_weights),
    "w.weights.h5": (keras.Model.save_weights, _with_weights),
    "weights": (keras.Model.save_weights, _with_weights),
}


@pytest.mark.parametrize("room", [0, 5000, 30000])
@pytest.mark.parametrize("name", _MODELS)
def test_models(tmp_path, name, room):
    save, load = _MODELS[name]
    path = str(tmp_path / name)
    model = _model()
    save(model, path)
    before, kernel = _files(tmp_path), _first_kernel(model)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    with no_file_larger_than(room), pytest.raises(OSError, match=r"too large.*'"):
        save(model, path)
    assert _files(tmp_path) == before
    np.testing.assert_array_equal(load(path), kernel)


@pytest.mark.parametrize("room", [0, 100, 4000])
def test_datasets(tmp_path, room):
    path = str(tmp_path / "saved")
    Dataset.range(20).save(path)
    before = _files(tmp_path)
    with no_file_larger_than(room), pytest.raises((OSError, tf.errors.OpError)):
        Dataset.range(3000).save(path)
    assert _files(tmp_path) == before
    assert len(list(Dataset.load(path))) == 20
    cached = Dataset.range(3000).cache(str(tmp_path / "cache"))
    with no_file_larger_than(room), pytest.raises((OSError, tf.errors.OpError)):
        list(cached)
    assert _files(tmp_path) == before
    assert len(list(cached)) == 3000


def test_events_wait_until_there_is_room(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    failed = 0
    with writer.as_default(), no_file_larger_than(2000):
        for step in range(100):
            try:
                tf.summary.scalar("x", 1.0, step=step)
            except OSError as error:
                failed += "events" in str(error)
        (path,) = glob.glob(str(tmp_path / "events*"))
        assert 0 < len(list(tf.compat.v1.train.summary_iterator(path))) < 100
    assert failed
    writer.flush()
    steps = [event.step for event in tf.compat.v1.train.summary_iterator(path) if event.summary.value]
    assert steps == list(range(100))


def test_backups_stay(tmp_path):
    model, backup = _model(), keras.callbacks.BackupAndRestore(str(tmp_path), delete_checkpoint=False)
    data = np.ones([2, 100]), np.ones([2, 3])
    model.fit(*data, verbose=0, callbacks=[backup])
    kernel = _first_kernel(model)
    with no_file_larger_than(5000), pytest.raises(OSError, match="too large"):
        model.fit(*data, epochs=2, verbose=0, callbacks=[backup])
    other = _model()
    other.fit(*data, epochs=1, verbose=0, callbacks=[backup])
    np.testing.assert_array_equal(_first_kernel(other), kernel)
