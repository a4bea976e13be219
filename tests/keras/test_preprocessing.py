"""Sequences, texts, images and folders as arrays and datasets; files and small utilities."""

import hashlib
import json
import pathlib
import zipfile

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
sequence, text, image = (
    keras.preprocessing.sequence,
    keras.preprocessing.text,
    keras.preprocessing.image,
)


def test_sequences():
    lists = [[1], [1, 2], [1, 2, 3]]
    assert sequence.pad_sequences(lists, 2).tolist() == [[0, 1], [1, 2], [2, 3]]
    padded = sequence.pad_sequences(lists, 2, truncating="post", padding="post", value=9)
    assert padded.tolist() == [[1, 9], [1, 2], [1, 2]]
    vectors = [[[1, 1]], [[2, 1], [2, 2]]]
    assert sequence.pad_sequences(vectors).tolist() == [[[0, 0], [1, 1]], [[2, 1], [2, 2]]]
    with pytest.raises(ValueError, match="iterables"):
        sequence.pad_sequences([1, 2])
    with pytest.raises(ValueError, match="Truncating type"):
        sequence.pad_sequences(lists, 2, truncating="left")
    table = sequence.make_sampling_table(3)
    np.testing.assert_allclose(table, [0.00315225, 0.00315225, 0.00547597], rtol=1e-4)
    pairs, labels = sequence.skipgrams([1, 2, 3], 4, window_size=1, negative_samples=1.0, seed=1)
    assert sorted(p for p, y in zip(pairs, labels) if y) == [[1, 2], [2, 1], [2, 3], [3, 2]]
    series = sequence.TimeseriesGenerator(
        np.arange(10), np.arange(10), 3, sampling_rate=2, batch_size=2
    )
    x, y = series[0]
    assert x.tolist() == [[0, 2], [1, 3]]
    assert y.tolist() == [3, 4]
    assert len(series) == 4
    assert json.loads(series.to_json())["config"]["length"] == 3


def test_texts():
    tokens = text.Tokenizer(num_words=4, oov_token="?")
    tokens.fit_on_texts(["The cat, the dog!", "a cat"])
    assert tokens.word_index == {"?": 1, "the": 2, "cat": 3, "dog": 4, "a": 5}
    assert tokens.texts_to_sequences(["the cow dog"]) == [[2, 1, 1]]
    assert tokens.sequences_to_texts([[2, 3, 9]]) == ["the cat ?"]
    assert tokens.texts_to_matrix(["cat cat"], "count").tolist() == [[0, 0, 0, 2]]
    again = text.tokenizer_from_json(tokens.to_json())
    assert again.get_config() == tokens.get_config()
    assert text.hashing_trick("a b a", 10, "md5") == text.hashing_trick("a b a", 10, "md5")
    assert text.text_to_word_sequence("A,b c", lower=False) == ["A", "b", "c"]
    with pytest.raises(ValueError, match="Unknown vectorization mode"):
        tokens.texts_to_matrix(["cat"], "best")


def test_images_change(rng):
    pytest.importorskip("scipy")
    x = rng.random((5, 6, 3)) * 255
    kept = image.apply_affine_transform(x, row_axis=0, col_axis=1, channel_axis=2)
    assert kept is x
    moved = image.apply_affine_transform(x, tx=1, row_axis=0, col_axis=1, channel_axis=2, order=0)
    np.testing.assert_allclose(moved[:-1], x[1:])
    turned = image.apply_affine_transform(
        x[:, :5], theta=180, row_axis=0, col_axis=1, channel_axis=2
    )
    np.testing.assert_allclose(turned, x[::-1, :5][:, ::-1], rtol=1e-6)
    shifted = image.apply_channel_shift(x, 300)
    assert shifted.max() <= x.max()
    change = image.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
    batch = rng.random((20, 4, 4, 3))
    change.fit(batch)
    out = next(change.flow(batch, batch_size=20, shuffle=False))
    np.testing.assert_allclose(out.mean(axis=(0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(out.std(axis=(0, 1, 2)), 1, atol=1e-3)
    flow = image.ImageDataGenerator(horizontal_flip=True, rotation_range=9, zoom_range=0.1).flow(
        batch, np.arange(20), batch_size=8, seed=3
    )
    assert len(flow) == 3
    assert flow[2][0].shape == (4, 4, 4, 3)
    with pytest.raises(ValueError, match="same length"):
        change.flow(batch, np.arange(3))
    resized = image.smart_resize(np.ones((4, 8, 3)), (2, 2))
    assert resized.shape == (2, 2, 3)


@pytest.fixture
def folder(tmp_path, rng):
    pytest.importorskip("PIL")
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        for i in range(5):
            keras.utils.save_img(tmp_path / name / f"{i}.png", rng.random((6, 7, 3)))
            (tmp_path / name / f"{i}.txt").write_text(f"{name} {i}")
    return tmp_path


def test_folders_of_images(folder, capsys):
    train, kept = keras.utils.image_dataset_from_directory(
        folder, image_size=(4, 4), batch_size=3, validation_split=0.4, subset="both", seed=1,
        label_mode="categorical",
    )  # fmt: skip
    assert "Found 10 files belonging to 2 classes." in capsys.readouterr().out
    assert train.class_names == ["cats", "dogs"]
    assert [tuple(x.shape) for x, _ in train] == [(3, 4, 4, 3)] * 2
    assert sum(len(y) for _, y in kept) == 4
    assert next(iter(train))[1].shape == (3, 2)
    flow = image.ImageDataGenerator(rescale=1 / 255).flow_from_directory(
        folder, (4, 4), batch_size=4
    )
    x, y = flow[0]
    assert x.shape == (4, 4, 4, 3)
    assert x.max() <= 1
    assert y.shape == (4, 2)
    with pytest.raises(ValueError, match="seed"):
        keras.utils.image_dataset_from_directory(folder, validation_split=0.2, subset="training")
    loaded = keras.utils.load_img(
        folder / "cats" / "0.png", target_size=(3, 2), color_mode="grayscale"
    )
    assert keras.utils.img_to_array(loaded).shape == (3, 2, 1)


def test_folders_of_texts(folder):
    dataset = keras.utils.text_dataset_from_directory(
        folder, batch_size=10, shuffle=False, verbose=False
    )
    texts, labels = next(iter(dataset))
    assert texts.numpy()[0] == b"cats 0"
    assert labels.numpy().tolist() == [0] * 5 + [1] * 5


def test_series():
    dataset = keras.utils.timeseries_dataset_from_array(
        np.arange(10.0), np.arange(10.0) * 10, 3, sequence_stride=2, sampling_rate=2, batch_size=2
    )
    batches = [(x.numpy().tolist(), y.numpy().tolist()) for x, y in dataset]
    assert batches[0] == ([[0, 2, 4], [2, 4, 6]], [0, 20])
    assert len(batches) == 2
    left, right = keras.utils.split_dataset(np.arange(10), right_size=3)
    assert [int(x) for x in right] == [7, 8, 9]
    assert len(left) == 7
    with pytest.raises(ValueError, match="sequence_length"):
        keras.utils.timeseries_dataset_from_array(np.arange(5), None, 9)


def test_files(tmp_path):
    source = tmp_path / "source.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("a.txt", "hello")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    arguments = {"origin": source.as_uri(), "cache_dir": tmp_path / "cache"}
    path = keras.utils.get_file("data.zip", file_hash=digest, **arguments)
    source.unlink()
    assert keras.utils.get_file("data.zip", file_hash=digest, **arguments) == path
    unpacked = keras.utils.get_file("data.zip", extract=True, **arguments)
    assert pathlib.Path(unpacked, "a.txt").read_text() == "hello"
    with pytest.raises(OSError, match="fetch failure"):
        keras.utils.get_file("other.zip", **arguments)
    hostile = tmp_path / "hostile.zip"
    with zipfile.ZipFile(hostile, "w") as archive:
        archive.writestr("../out.txt", "bad")
    with pytest.raises(ValueError, match="outside of itself"):
        keras.utils.get_file(
            "hostile.zip", hostile.as_uri(), extract=True, cache_dir=tmp_path / "cache"
        )


def test_small_utilities(tmp_path):
    keras.utils.set_random_seed(3)
    a = tf.random.uniform([2]).numpy()
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(tf.random.uniform([2]).numpy(), a)
    config = keras.utils.Config(a=1)
    config.b = [1, 2]
    config.freeze()
    with pytest.raises(ValueError, match="frozen"):
        config.c = 3
    assert json.loads(config.to_json()) == {"a": 1, "b": [1, 2]}
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="first")])
    assert keras.utils.get_source_inputs(model.output)[0] is model.input
    assert keras.utils.standardize_dtype(int) == keras.backend.standardize_dtype("int") == "int64"
    queue = keras.utils.OrderedEnqueuer(Numbers())
    queue.start()
    batches = queue.get()
    assert [next(batches) for _ in range(4)] == [0, 1, 2, 0]
    queue.stop()


class Numbers(keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index
