"""Preprocessing layers. Numbers that are not obvious were computed by TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers


def image(*shape):
    return np.random.default_rng(0).uniform(0, 255, size=shape).astype("float32")


def test_normalization_learns_statistics():
    x = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, 50.0]], "float32")
    layer = layers.Normalization()
    layer.adapt(x)
    expected = (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    in_batches = layers.Normalization()
    in_batches.adapt(tf.data.Dataset.from_tensor_slices(x).batch(2))
    np.testing.assert_allclose(in_batches(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    back = layers.Normalization(mean=x.mean(0), variance=x.var(0), invert=True)
    np.testing.assert_allclose(back(expected).numpy(), x, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="both `mean` and `variance`"):
        layers.Normalization(mean=1.0)


@pytest.mark.parametrize("axis", [-1, None])
def test_the_mean_of_nothing_is_nan(axis):
    layer = layers.Normalization(axis=axis)
    layer.adapt(np.zeros([0, 3], "float32"))
    assert np.isnan(layer.adapt_mean).all()
    assert np.isnan(layer.adapt_variance).all()
    layer = layers.Normalization(axis=axis)
    layer.adapt(tf.data.Dataset.from_tensor_slices(np.zeros([0, 3], "float32")).batch(2))
    assert layer.adapt_mean.numpy().sum() == 0


def test_bins():
    layer = layers.Discretization([0.0, 1.0])
    np.testing.assert_array_equal(layer(np.array([[-1.0, 0.0, 0.5, 2.0]])).numpy(), [[0, 1, 1, 2]])
    learned = layers.Discretization(num_bins=4)
    learned.adapt(np.arange(100.0, dtype="float32"))
    np.testing.assert_allclose(learned.bin_boundaries, [24.0, 49.0, 74.0], rtol=1e-5)
    again = layers.Discretization.from_config(learned.get_config())
    assert again.bin_boundaries == learned.bin_boundaries
    with pytest.raises(ValueError, match="You need to set either"):
        layers.Discretization()


def test_hashes_are_those_of_tensorflow():
    letters = [["A"], ["B"], [""], ["C"], ["D"]]
    assert layers.Hashing(3, mask_value="")(letters).numpy().ravel().tolist() == [1, 1, 0, 2, 2]
    assert layers.Hashing(3, salt=[133, 137])(letters).numpy().ravel().tolist() == [1, 2, 2, 1, 0]
    pair = tf.constant(["A", "B", "A", "B", "A"]), tf.constant([101, 101, 101, 102, 102])
    assert layers.HashedCrossing(5)(pair).numpy().tolist() == [1, 4, 1, 1, 3]

    @tf.function
    def crossed(a, b):
        return layers.HashedCrossing(5)((a, b))

    assert crossed(*pair).numpy().tolist() == [1, 4, 1, 1, 3]


def test_vocabularies():
    words, data = ["a", "b", "c"], tf.constant([["a", "c", "z"], ["c", "c", "b"]])
    assert layers.StringLookup(vocabulary=words)(data).numpy().tolist() == [[1, 3, 0], [3, 3, 2]]
    count = layers.StringLookup(vocabulary=words, output_mode="count")(data)
    assert count.numpy().tolist() == [[1, 1, 0, 1], [0, 0, 1, 2]]
    learned = layers.StringLookup()
    learned.adapt(data)
    assert learned.get_vocabulary() == ["[UNK]", "c", "z", "b", "a"]
    again = layers.StringLookup.from_config(learned.get_config())
    again.set_vocabulary(learned.get_vocabulary())
    assert again(data).numpy().tolist() == learned(data).numpy().tolist()
    back = layers.StringLookup(vocabulary=words, invert=True)
    assert back(tf.constant([1, 0], tf.int64)).numpy().tolist() == [b"a", b"[UNK]"]
    with pytest.raises(ValueError, match="repeated"):
        layers.StringLookup(vocabulary=["a", "a"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="in vocabulary"):
        layers.StringLookup(vocabulary=words, num_oov_indices=0)(data)
    with pytest.raises(RuntimeError, match="must set the layer's vocabulary"):
        layers.StringLookup(output_mode="count")(data)


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (layers.StringLookup, ["a"]), (layers.IntegerLookup, [1]), (layers.TextVectorization, ["a"]),
        (lambda: layers.StringLookup(invert=True), [1]), (lambda: layers.StringLookup(num_oov_indices=0), ["a"]),
    ],
)  # fmt: skip
def test_layers_that_have_no_vocabulary_yet(made, given):
    layer = made()
    x = tf.constant(given)
    for call in (layer, tf.function(layer.__call__), keras.Sequential([keras.Input((), dtype=x.dtype), made()])):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            call(x)


def test_vocabularies_in_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nb\n")
    layer = layers.StringLookup(vocabulary=str(path))
    assert layer.get_vocabulary() == ["[UNK]", "a", "b"]
    learned = layers.TextVectorization()
    learned.adapt(["x y x"])
    learned.save_assets(str(tmp_path))
    again = layers.TextVectorization()
    again.load_assets(str(tmp_path))
    assert again.get_vocabulary() == ["", "[UNK]", "x", "y"]


def test_texts():
    text = ["foo qux bar", "Qux, baz! foo?"]
    layer = layers.TextVectorization(output_sequence_length=4)
    layer.adapt(text)
    assert layer.get_vocabulary() == ["", "[UNK]", "qux", "foo", "baz", "bar"]
    assert layer(text).numpy().tolist() == [[3, 2, 5, 0], [2, 4, 3, 0]]
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype=tf.string), layer])
    assert model(tf.constant([["foo zap"]])).numpy().tolist() == [[3, 1, 0, 0]]
    with pytest.raises(ValueError, match="Unknown value for `split`"):
        layers.TextVectorization(split="lines")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("RandomFlip", {"seed": 1}),
        ("RandomRotation", {"factor": 0.2}),
        ("RandomZoom", {"height_factor": 0.2, "width_factor": 0.1}),
        ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}),
        ("RandomShear", {"x_factor": 0.2, "y_factor": 0.1}),
        ("RandomPerspective", {}),
        ("RandomElasticTransform", {}),
        ("RandomBrightness", {"factor": 0.2}),
        ("RandomContrast", {"factor": 0.2}),
        ("RandomHue", {"factor": 0.2}),
        ("RandomSaturation", {"factor": (0.2, 0.5)}),
        ("RandomColorJitter", {"brightness_factor": 0.1, "contrast_factor": 0.1, "hue_factor": 0.1}),
        ("RandomColorDegeneration", {"factor": 0.5}),
        ("RandomGrayscale", {}),
        ("RandomInvert", {}),
        ("RandomPosterization", {"factor": 4}),
        ("RandomSharpness", {"factor": 0.5}),
        ("RandomGaussianBlur", {}),
        ("RandomErasing", {}),
        ("Solarization", {"addition_factor": 0.1, "threshold_factor": 0.5}),
        ("AutoContrast", {}),
        ("Equalization", {}),
        ("MixUp", {}),
        ("CutMix", {}),
        ("AugMix", {}),
        ("RandAugment", {}),
    ],
)
def test_random_changes_keep_shapes_and_range(name, arguments):
    layer, x = getattr(layers, name)(**arguments), image(2, 8, 7, 3)
    y = layer(x, training=True).numpy()
    assert y.shape == x.shape
    assert y.min() >= -1e-2
    assert y.max() <= 255.01
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == {**layer.get_config(), "name": again.name}

    @tf.function
    def changed(batch):
        return layer(batch, training=True)

    assert changed(tf.constant(x)).shape == x.shape
    assert layer(x[0], training=True).shape == x[0].shape
    if name != "AutoContrast":
        np.testing.assert_allclose(layer(x, training=False).numpy(), x)


def test_boxes_and_masks_follow_the_images():
    layer = layers.RandomTranslation(
        (0.25, 0.25), (0.5, 0.5), fill_mode="constant", bounding_box_format="xyxy"
    )
    data = {
        "images": image(1, 8, 8, 3),
        "segmentation_masks": np.ones([1, 8, 8, 1], "int32"),
        "bounding_boxes": {
            "boxes": np.array([[[1.0, 1.0, 3.0, 2.0]]], "float32"),
            "labels": np.array([[7]]),
        },
    }
    changed = layer(data, training=True)
    np.testing.assert_allclose(changed["bounding_boxes"]["boxes"], [[[5.0, 3.0, 7.0, 4.0]]])
    mask = changed["segmentation_masks"].numpy()[0, :, :, 0]
    assert mask.sum() == 6 * 4
    assert not mask[:2].any()
    assert not mask[:, :4].any()


def test_sizes():
    x = image(2, 6, 5, 3)
    np.testing.assert_array_equal(layers.CenterCrop(4, 3)(x).numpy(), x[:, 1:5, 1:4])
    assert layers.Resizing(3, 4)(x).shape == (2, 3, 4, 3)
    assert layers.RandomCrop(4, 3)(x, training=True).shape == (2, 4, 3, 3)
    assert layers.RandomHeight((0.5, 0.5))(x, training=True).shape == (2, 9, 5, 3)
    assert layers.RandomWidth((0.2, 0.2))(x, training=True).shape == (2, 6, 6, 3)
    pipeline = layers.Pipeline([layers.Rescaling(1 / 255.0), layers.CenterCrop(2, 2)])
    assert pipeline(x).shape == (2, 2, 2, 3)
    boxes = {"images": x, "bounding_boxes": {"boxes": np.ones([2, 1, 4]), "labels": np.ones([2, 1])}}
    fitted = layers.MaxNumBoundingBoxes(3)(boxes)["bounding_boxes"]
    assert fitted["boxes"].shape == (2, 3, 4)
    assert fitted["labels"].numpy()[0].tolist() == [1, -1, -1]


def test_adaptive_pooling():
    x = np.arange(5.0, dtype="float32").reshape(1, 5, 1)
    assert layers.AdaptiveAveragePooling1D(2)(x).numpy().ravel().tolist() == [1.0, 3.0]
    assert layers.AdaptiveMaxPooling1D(3)(x).numpy().ravel().tolist() == [1.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="output_size"):
        layers.AdaptiveMaxPooling2D((1, 2, 3))


def test_spectrograms():
    sound = np.sin(np.arange(400, dtype="float32") * 2 * np.pi / 8)[None, :, None]
    spectrum = layers.STFTSpectrogram(mode="psd", frame_length=64, expand_dims=True)(sound).numpy()
    assert spectrum.shape == (1, 11, 33, 1)
    assert spectrum[0, 5, :, 0].argmax() == 8
    mel = layers.MelSpectrogram(fft_length=64, sequence_stride=32, num_mel_bins=8)(sound[..., 0])
    assert mel.shape == (1, 8, 13)


def test_a_table_of_a_layer_in_a_saved_model(tmp_path):
    class Looks(tf.Module):
        def __init__(self):
            self.lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b"])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look(self, words):
            return self.lookup(words)

    tf.saved_model.save(Looks(), tmp_path)
    assert tf.saved_model.load(tmp_path).look(tf.constant(["b", "z"])).numpy().tolist() == [2, 0]


@pytest.mark.parametrize("kind", ["StringLookup", "TextVectorization"])
def test_learned_frequencies_in_a_file(kind, tmp_path):
    layer = getattr(tf.keras.layers, kind)(output_mode="tf_idf")
    layer.adapt(["a", "a", "b"])
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), layer])
    x = tf.constant([["a"], ["b"], ["z"]])
    expected = model(x).numpy()
    assert len(np.unique(expected)) > 3  # frequencies differ
    model.save(tmp_path / "model.keras")
    np.testing.assert_allclose(tf.keras.models.load_model(tmp_path / "model.keras")(x), expected, rtol=1e-6)


def test_own_files_of_a_base_class(tmp_path):
    """A class that inherits how it reads and writes its variables does so as its base."""

    class Stored(tf.keras.layers.Layer):
        number = 1.0

        def call(self, x):
            return x * self.number

        def save_own_variables(self, store):
            store["number"] = np.float32(self.number)

        def load_own_variables(self, store):
            self.number = float(store["number"][()])

    class Derived(Stored):
        pass

    model = tf.keras.Sequential([tf.keras.Input((1,)), Derived()])
    model.layers[-1].number = 3.0
    model.save_weights(tmp_path / "m.weights.h5")
    other = tf.keras.Sequential([tf.keras.Input((1,)), Derived()])
    other.load_weights(tmp_path / "m.weights.h5")
    assert other.layers[-1].number == 3.0
