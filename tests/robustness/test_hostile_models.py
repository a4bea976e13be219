"""Files of models that somebody else has made: what they say is data, which names no code and no other files."""

import contextlib
import io
import json
import os
import random
import shutil
import zipfile

import numpy as np
import pytest
from effects import confined

import tapeflow as tf
from tapeflow.core.files import expansion

h5py = pytest.importorskip("h5py")
keras = tf.keras
_NAMED = (tf.errors.OpError, ValueError, OSError, TypeError)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a model in every format."""
    folder = tmp_path_factory.mktemp("models")
    model = _model()
    model.compile("adam", "mse")
    model.fit(np.ones([4, 3]), np.ones([4, 2]), verbose=0)
    model.save(folder / "m.keras")
    model.save(folder / "m.h5")
    model.save_weights(folder / "w.h5")
    model.save_weights(folder / "w.weights.h5")
    model.save_weights(folder / "checkpoint")
    with h5py.File(folder / "other.h5", "w") as file:
        file["0"] = file["kernel"] = np.ones([3, 2])
    return folder


def _model():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="a")], name="s")


def _with(files, tmp_path, layer=None, **members):
    """The `.keras` file with another layer, or other members."""
    with zipfile.ZipFile(files / "m.keras") as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | members
    if layer is not None:
        config = json.loads(members["config.json"])
        config["config"]["layers"][1] = {"module": "keras.layers", "registered_name": None, **layer}
        members["config.json"] = json.dumps(config)
    path = str(tmp_path / "changed.keras")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


_SYSTEM = {"module": "os", "class_name": "function", "config": "system", "registered_name": "system"}


@pytest.mark.parametrize(
    "layer",
    [
        {"module": "os", "class_name": "system", "config": {"command": "touch pwned"}},
        {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "function"},
        {"class_name": "__builtins__", "config": {}},
        {"class_name": "annotations", "config": {}},
        {"module": "keras.utils", "class_name": "get_file", "config": {"fname": "x", "origin": "file:///etc/hosts"}},
        {"class_name": "Dense", "config": {"units": 3, "activation": _SYSTEM}},
        {"class_name": "Dense", "config": {"units": 3, "activation": "os.system"}},
        {"class_name": "Dense", "config": [1, 2]},
        {"class_name": "Dense", "config": {"units": None}},
        {"class_name": "Dense", "config": {"units": 10**30}},
        {"class_name": "Lambda", "config": {"function": ["code", None, None], "function_type": "lambda"}},
        {"class_name": "Lambda", "config": {"function": "system", "function_type": "function", "module": "os"}},
        {"class_name": "Lambda", "config": {"function": {"class_name": "__lambda__", "config": {"code": "YQ=="}}}},
        {"class_name": "StringLookup", "config": {"vocabulary": "/etc/hostname"}},
        {"class_name": "TextVectorization", "config": {"vocabulary": "/etc/hostname"}},
        {"class_name": "TFSMLayer", "config": {"filepath": "/etc"}},
    ],
    ids=lambda layer: f"{layer['class_name']}-{str(layer['config'])[:30]}",
)
def test_a_config_names_no_code_and_no_files(files, tmp_path, layer, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = _with(files, tmp_path, layer)
    with pytest.raises((ValueError, TypeError)) as raised, confined(path):
        keras.models.load_model(path)
    assert len(str(raised.value)) > 20
    assert not os.path.exists("pwned")


def test_files_of_trusted_models(files, tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    lookup = {"class_name": "StringLookup", "config": {"vocabulary": str(tmp_path / "words")}}
    path = str(tmp_path / "changed.h5")
    shutil.copy(files / "m.h5", path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"].append(lookup)
        file.attrs["model_config"] = json.dumps(config)
    with pytest.raises(ValueError, match="safe_mode=False"):
        keras.models.load_model(path)
    model = keras.models.load_model(path, safe_mode=False)
    assert model.layers[-1].get_vocabulary() == ["[UNK]", "a", "b"]


def test_configs_without_end(files, tmp_path):
    deep = {"class_name": "Dense", "config": {"units": 1}}
    for _ in range(300):
        deep = {"class_name": "Sequential", "module": "keras", "config": {"name": "x", "layers": [deep]}}
    with pytest.raises(ValueError, match="does not describe a model"):
        keras.models.load_model(_with(files, tmp_path, deep))
    with pytest.raises(ValueError, match="not JSON"):
        keras.models.load_model(_with(files, tmp_path, **{"config.json": "[" * 10**5}))


def test_weights_that_unpack_to_very_much(files, tmp_path, monkeypatch):
    monkeypatch.setattr(expansion, "LARGEST", 1 << 20)
    path = _with(files, tmp_path, **{"model.weights.h5": b""})
    with zipfile.ZipFile(files / "m.keras") as good, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", good.read("config.json"))
        with archive.open("model.weights.h5", "w") as member:
            member.write(bytes(1 << 22))
    with pytest.raises(ValueError, match="unpacked from"):
        keras.models.load_model(path)


def _external(file, name, other):
    del file[name]
    file[name] = h5py.ExternalLink(str(other), "/kernel" if name.endswith("/kernel") else "/")


@pytest.mark.parametrize("name", ["model_weights", "model_weights/a", "model_weights/a/s", "model_weights/a/s/a/kernel",
                                  "optimizer_weights"])  # fmt: skip
def test_hdf5_that_links_to_other_files(files, tmp_path, name):
    path = str(tmp_path / "m.h5")
    shutil.copy(files / "m.h5", path)
    with h5py.File(path, "r+") as file:
        _external(file, name, files / "other.h5")
    with pytest.raises(ValueError, match="link out of itself"):
        keras.models.load_model(path)


def test_hdf5_that_says_it_is_very_large(files, tmp_path):
    path = str(tmp_path / "m.h5")
    shutil.copy(files / "m.h5", path)
    with h5py.File(path, "r+") as file:
        del file["model_weights/a/s/a/kernel"]
        file.create_dataset("model_weights/a/s/a/kernel", (10**6, 10**6), "f4", chunks=(1000, 1000), compression="gzip")
    with pytest.raises(ValueError, match=r"saved weight with shape \(1000000, 1000000\)"):
        keras.models.load_model(path)


def _damaged(data, rng):
    """The bytes with something cut, lost, or changed."""
    at = rng.randrange(len(data))
    kind = rng.randrange(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[at + rng.randrange(1, 64) :]
    changed = bytearray(data)
    for _ in range(1 if kind == 2 else 10):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _load(path):
    if "checkpoint" in path:
        _model().load_weights(path.partition(".")[0])
    elif "w." in os.path.basename(path):
        _model().load_weights(path)
    else:
        keras.models.load_model(path)


@pytest.mark.parametrize("name", ["m.keras", "m.h5", "w.h5", "w.weights.h5", "checkpoint.index"])
@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes(files, tmp_path, name, seed):
    for other in files.iterdir():
        if other.is_file():
            shutil.copy(other, tmp_path)
    data, path = (files / name).read_bytes(), str(tmp_path / name)
    rng = random.Random(seed)
    for _ in range(40):
        with open(path, "wb") as file:
            file.write(_damaged(data, rng))
        with contextlib.suppress(_NAMED), confined(tmp_path):
            _load(path)


def test_a_group_where_an_array_should_be(files, tmp_path):
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file.create_group("layers/dense/vars/0")
        file["layers/dense/vars/1"] = "text"
    with pytest.raises(ValueError, match="no plain data at '0'"):
        keras.models.load_model(_with(files, tmp_path, **{"model.weights.h5": weights.getvalue()}))


def test_a_heap_that_hdf5_would_read_for_ever(files, tmp_path):
    data = bytearray((files / "m.h5").read_bytes())
    start = data.index(b"GCOL")
    at = start + 16
    while data[at : at + 2] != b"\0\0":  # past the objects, to the free space
        at += 16 + -(-int.from_bytes(data[at + 8 : at + 16], "little") // 8) * 8
    data[at + 8 : at + 16] = bytes(8)
    (tmp_path / "m.h5").write_bytes(data)
    with pytest.raises(ValueError, match="free space of 0 bytes"):
        keras.models.load_model(tmp_path / "m.h5")
