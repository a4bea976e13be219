"""Trains a small network on handwritten digits, and exports it for the page beside this program.

    python examples/web_digits/export_digits.py [--epochs 4] [--seed 1] [--folder examples/web_digits]
"""

import argparse
from pathlib import Path

import numpy as np

import tapeflow as tf
from tapeflow.export import tfjs


def network():
    """Images of 28 by 28 pixels between 0 and 1 -> the probabilities of the ten digits."""
    L = tf.keras.layers
    return tf.keras.Sequential([
        L.Input((28, 28, 1)),
        L.Conv2D(16, 5, strides=2, activation="relu"), L.BatchNormalization(),
        L.Conv2D(32, 3, strides=2, activation="relu"), L.BatchNormalization(),
        L.Flatten(), L.Dropout(0.3), L.Dense(10, activation="softmax"),
    ])  # fmt: skip


def moved(images, rng):
    """The images, each moved by up to two pixels: what is drawn is never quite in the middle."""
    found = np.zeros_like(images)
    for image, into, (down, right) in zip(images, found, rng.integers(-2, 3, (len(images), 2)), strict=True):
        into[:] = np.roll(image, (down, right), (0, 1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4, help="passes through the training images")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where model/ is written")
    options = parser.parse_args()

    tf.keras.utils.set_random_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    (images, labels), test = tf.keras.datasets.mnist.load_data()
    test_images = test[0][..., None].astype(np.float32) / 255
    model = network()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    for epoch in range(options.epochs):
        x = moved(images, rng)[..., None].astype(np.float32) / 255
        history = model.fit(x, labels, batch_size=64, verbose=0).history
        print(f"epoch {epoch + 1}: loss {history['loss'][0]:.3f}, accuracy {history['accuracy'][0]:.1%}")
    print(f"test accuracy {model.evaluate(test_images, test[1], verbose=0)[1]:.2%}")

    call = tf.function(lambda x: model(x, training=False))
    concrete = call.get_concrete_function(tf.TensorSpec([None, 28, 28, 1], tf.float32, "image"))
    print(tfjs.save(concrete, options.folder / "model", quantization="uint16"))


if __name__ == "__main__":
    main()
