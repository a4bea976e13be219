"""Layers of Keras 3 without weights of their own to compare by: what tapeflow and TensorFlow are compared by.

    python oracle_preprocessing.py tensorflow|tapeflow FILE

runs all cases on one of them and saves the results, or the classes of the errors, to a file.
"""

import importlib
import sys

import numpy as np


def cases(tf):
    """(name, function without arguments), case by case."""
    layers = tf.keras.layers
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 4)).astype("float32")
    image = rng.uniform(0, 255, size=(2, 6, 5, 3)).astype("float32")
    square = rng.uniform(0, 255, size=(2, 8, 8, 3)).astype("float32")
    sound = rng.normal(size=(2, 4000)).astype("float32")
    yield from numbers(tf, layers, x, image, rng)
    yield from categories(tf, layers)
    yield from texts(tf, layers)
    yield from images(layers, image, square)
    yield from sounds(layers, sound)
    yield from attention(layers, rng.normal(size=(2, 4, 8)).astype("float32"))


def adapted(layer, data):
    layer.adapt(data)
    return layer


def numbers(tf, layers, x, image, rng):
    many = rng.normal(size=(500, 1)).astype("float32")
    yield "Rescaling", lambda: layers.Rescaling(1 / 255.0, 0.5)(image)
    norm = layers.Normalization
    yield "Normalization", lambda: adapted(norm(), x)(x)
    yield "Normalization of all", lambda: adapted(norm(axis=None), x)(x)
    yield "Normalization given", lambda: norm(mean=3.0, variance=2.0)(x)
    yield (
        "Normalization back",
        lambda: norm(mean=[1.0, 2, 3, 4], variance=[1.0, 2, 3, 4], invert=True)(x),
    )
    batches = tf.data.Dataset.from_tensor_slices(x).batch(4)
    yield "Normalization of batches", lambda: adapted(norm(), batches)(x)
    yield "Normalization of two axes", lambda: adapted(norm(axis=(1, 3)), image)(image)
    for mode in ("int", "one_hot", "multi_hot", "count"):
        data = x[:, 0] if mode == "one_hot" else x
        yield (
            f"Discretization {mode}",
            lambda m=mode, d=data: layers.Discretization([0.0, 0.5, 1.0], output_mode=m)(d),
        )
    yield (
        "Discretization learned",
        lambda: adapted(layers.Discretization(num_bins=4, epsilon=0.01), many).bin_boundaries,
    )


def categories(tf, layers):
    encode = layers.CategoryEncoding
    yield "encode multi", lambda: encode(4)(np.array([[0, 1], [0, 0], [1, 2], [3, 1]]))
    yield "encode one", lambda: encode(4, output_mode="one_hot")(np.array([3, 2, 0, 1]))
    weights = np.array([[0.1, 0.2], [0.1, 0.3]])
    yield (
        "encode count",
        lambda: encode(4, output_mode="count")(np.array([[0, 1], [0, 0]]), count_weights=weights),
    )
    letters = [["A"], ["B"], [""], ["D"], ["E"]]
    yield "Hashing", lambda: layers.Hashing(3)(letters)
    yield "Hashing masked", lambda: layers.Hashing(3, mask_value="")(letters)
    yield "Hashing salted", lambda: layers.Hashing(3, salt=[133, 137])(letters)
    yield "Hashing ints", lambda: layers.Hashing(30)(np.array([1, 2, 3, 4]))
    yield (
        "Hashing multi",
        lambda: layers.Hashing(5, output_mode="multi_hot")([["A", "B"], ["B", "C"]]),
    )
    pair = tf.constant(["A", "B", "A", "B", "A"]), tf.constant([101, 101, 101, 102, 102])
    yield "crossing", lambda: layers.HashedCrossing(5)(pair)
    yield "crossing one", lambda: layers.HashedCrossing(5, output_mode="one_hot")(pair)
    words, data = ["a", "b", "c", "d"], tf.constant([["a", "c", "d"], ["d", "z", "b"]])
    lookup = layers.StringLookup
    for name, kwargs in (
        ("plain", {}),
        ("two unknown", {"num_oov_indices": 2}),
        ("masked", {"mask_token": "d"}),
        ("multi", {"output_mode": "multi_hot"}),
        ("count", {"output_mode": "count"}),
        ("tf_idf", {"output_mode": "tf_idf", "idf_weights": [0.25, 0.75, 0.6, 0.4]}),
        ("none unknown", {"num_oov_indices": 0}),
        ("repeated", {"vocabulary": ["a", "a"]}),
    ):
        kwargs = {"vocabulary": words, **kwargs}
        yield f"StringLookup {name}", lambda k=kwargs: lookup(**k)(data)
    yield "StringLookup learned", lambda: adapted(lookup(), data).get_vocabulary()
    yield (
        "StringLookup few",
        lambda: adapted(lookup(max_tokens=3), ["x", "y", "x", "z", "z", "x"]).get_vocabulary(),
    )
    yield "StringLookup learned tf_idf", lambda: adapted(lookup(output_mode="tf_idf"), data)(data)
    back = tf.constant([[1, 3, 4], [4, 0, 2]], "int64")
    yield "StringLookup back", lambda: lookup(vocabulary=words, invert=True)(back)
    numbers_known = [12, 36, 1138, 42]
    some = tf.constant([[12, 1138, 42], [37, 1000, 36]], "int64")
    ints = layers.IntegerLookup
    yield "IntegerLookup", lambda: ints(vocabulary=numbers_known)(some)
    yield "IntegerLookup two", lambda: ints(vocabulary=numbers_known, num_oov_indices=2)(some)
    yield "IntegerLookup back", lambda: ints(vocabulary=numbers_known, invert=True)(back)
    yield "IntegerLookup masked", lambda: ints(vocabulary=[12, 36], mask_token=0)(some)


def texts(tf, layers):
    text = ["foo qux bar", "Qux, baz! foo?"]
    for name, kwargs in (
        ("plain", {}),
        ("two long", {"output_sequence_length": 2}),
        ("five long", {"output_sequence_length": 5, "max_tokens": 4}),
        ("multi", {"output_mode": "multi_hot"}),
        ("count", {"output_mode": "count", "max_tokens": 10, "pad_to_max_tokens": True}),
        ("tf_idf", {"output_mode": "tf_idf"}),
        ("pairs", {"ngrams": 2}),
        ("letters", {"split": "character", "standardize": None}),
    ):
        yield (
            f"TextVectorization {name}",
            lambda k=kwargs: adapted(layers.TextVectorization(**k), text)(text),
        )
    yield "words", lambda: adapted(layers.TextVectorization(ngrams=2), text).get_vocabulary()


def images(layers, image, square):
    for kwargs in (
        {},
        {"interpolation": "nearest"},
        {"crop_to_aspect_ratio": True},
        {"pad_to_aspect_ratio": True},
        {"interpolation": "bicubic", "antialias": True},
    ):
        yield f"Resizing {kwargs}", lambda k=kwargs: layers.Resizing(4, 7, **k)(image)
    yield "CenterCrop", lambda: layers.CenterCrop(4, 3)(image)
    yield "CenterCrop enlarged", lambda: layers.CenterCrop(8, 3)(image)
    yield "RandomCrop small", lambda: layers.RandomCrop(8, 3)(image, training=True)
    for name, args in (
        ("RandomFlip", ()), ("RandomRotation", (0.2,)), ("RandomZoom", (0.2,)), ("RandomBrightness", (0.2,)),
        ("RandomContrast", (0.2,)), ("RandomHue", (0.2,)), ("RandomInvert", ()), ("RandomErasing", ()),
        ("MixUp", ()), ("CutMix", ()), ("AugMix", ()), ("RandAugment", ()), ("Solarization", ()),
    ):  # fmt: skip
        yield (
            f"{name} at rest",
            lambda n=name, a=args: getattr(layers, n)(*a)(image, training=False),
        )
    train = {"training": True}
    yield "brightness", lambda: layers.RandomBrightness((0.2, 0.2))(image, **train)
    yield "posterized", lambda: layers.RandomPosterization((3, 3))(image, **train)
    yield "grayer", lambda: layers.RandomColorDegeneration((0.3, 0.3))(image, **train)
    yield "gray", lambda: layers.RandomGrayscale(1.0)(image, **train)
    yield "sharper", lambda: layers.RandomSharpness((0.8, 0.8))(image, **train)
    saturation = (0.8, 0.8)
    yield (
        "saturated",
        lambda: layers.RandomSaturation(saturation, value_range=(0, 1))(image / 255, **train),
    )
    yield "inverted", lambda: layers.RandomInvert((1.0, 1.0))(image, **train)
    yield "AutoContrast", lambda: layers.AutoContrast()(image)
    yield "Equalization", lambda: layers.Equalization()(np.round(image), **train)
    clahe = layers.ContrastLimitedAdaptiveHistogramEqualization
    yield "CLAHE", lambda: clahe(tile_grid_size=(2, 2))(image, **train)
    for mode in ("reflect", "wrap", "constant", "nearest"):
        for how in ("bilinear", "nearest"):
            ways = {"fill_mode": mode, "interpolation": how}
            yield (
                f"turned {ways}",
                lambda w=ways: layers.RandomRotation((0.1, 0.1), **w)(square, **train),
            )
            yield (
                f"moved {ways}",
                lambda w=ways: layers.RandomTranslation((0.2, 0.2), (-0.3, -0.3), **w)(
                    square, **train
                ),
            )
            yield (
                f"zoomed {ways}",
                lambda w=ways: layers.RandomZoom((0.3, 0.3), (-0.2, -0.2), **w)(square, **train),
            )
    for size in ("AdaptiveAveragePooling", "AdaptiveMaxPooling"):
        yield f"{size}2D", lambda s=size: getattr(layers, f"{s}2D")((3, 2))(image)
        yield f"{size}1D", lambda s=size: getattr(layers, f"{s}1D")(3)(image[0])
        yield f"{size}3D", lambda s=size: getattr(layers, f"{s}3D")(2)(image[None])


def sounds(layers, sound):
    mel = layers.MelSpectrogram
    yield "mel", lambda: mel(fft_length=256, sequence_stride=128, num_mel_bins=20)(sound)
    other = {"sequence_stride": 100, "sequence_length": 200, "power_to_db": False, "mag_exp": 1.0}
    yield "mel of magnitudes", lambda: mel(fft_length=256, num_mel_bins=20, **other)(sound[0])


def attention(layers, q):
    def weighted(layer, *args):
        layer(*args)
        rng = np.random.default_rng(1)
        layer.set_weights([0.3 * rng.normal(size=w.shape) for w in layer.get_weights()])
        return layer

    grouped, many = layers.GroupQueryAttention, layers.MultiHeadAttention
    yield "grouped", lambda: weighted(grouped(3, 4, 2), q, q)(q, q)
    yield "grouped causal", lambda: weighted(grouped(3, 4, 2), q, q)(q, q, use_causal_mask=True)
    kwargs = {"sliding_window": 2, "use_gate": True}
    yield "grouped window", lambda: weighted(grouped(3, 4, 2, **kwargs), q, q)(q, q)
    yield "heads window", lambda: weighted(many(2, 3, sliding_window=2), q, q)(q, q)
    ids = np.array([[1, 2]])
    both = layers.ReversibleEmbedding
    yield "embedding", lambda: weighted(both(5, 8), ids)(ids)
    yield "embedding back", lambda: weighted(both(5, 8, logit_soft_cap=2.0), ids)(q, reverse=True)
    yield "embedding untied", lambda: weighted(both(5, 8, tie_weights=False), ids)(q, reverse=True)


def results(tf):
    """Arrays by name of the case; the class of the error where one is raised."""
    found = {}
    for name, run in cases(tf):
        try:
            value = run()
        except Exception as error:
            found[name] = np.array(f"raises {type(error).__name__}")
            continue
        value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        found[name] = value.astype(str) if value.dtype == object else value
    return found


if __name__ == "__main__":
    np.savez(sys.argv[2], **results(importlib.import_module(sys.argv[1])))
