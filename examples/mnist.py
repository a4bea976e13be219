"""Trains a small convolutional network on MNIST, eagerly, and draws what happened.

Ten thousand real handwritten digits come with the package: 8,000 to train with, 2,000 to test.

    python examples/mnist.py [--epochs 8] [--batch 84] [--images 8000] [--device gpu] [--picture mnist.png]
"""

import argparse
import time
from pathlib import Path

import numpy as np
import picture
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import tapeflow as tf


class MNISTModel(tf.keras.Model):
    """Two convolutions with pooling, then two dense layers: images -> logits of the ten digits."""

    def __init__(self):
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(16, 5, padding="same", activation="relu")
        self.conv2 = tf.keras.layers.Conv2D(32, 5, padding="same", activation="relu")
        self.pool = tf.keras.layers.MaxPooling2D()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(128, activation="relu")
        self.dropout = tf.keras.layers.Dropout(0.5)
        self.dense2 = tf.keras.layers.Dense(10)

    def call(self, images, training=False):
        x = self.pool(self.conv1(images))
        x = self.pool(self.conv2(x))
        x = self.dropout(self.dense1(self.flatten(x)), training=training)
        return self.dense2(x)


def as_inputs(images, labels):
    """uint8 (n, 28, 28) -> float32 (n, 28, 28, 1) in [0, 1]; labels as int32."""
    return images[..., np.newaxis].astype(np.float32) / 255, labels.astype(np.int32)


def loss(logits, labels):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def accuracy(logits, labels):
    return tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == labels, tf.float32))


def train_step(model, optimizer, images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        value = loss(logits, labels)
    gradients = tape.gradient(value, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return value, accuracy(logits, labels)


def predict(model, images, batch=500):
    return tf.concat([model(images[i : i + batch]) for i in range(0, len(images), batch)], 0)


def train(model, images, labels, epochs, batch):
    """Trains with a progress bar; returns the loss of every step, and images per second."""
    optimizer = tf.keras.optimizers.Adam(2e-3)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.shuffle(len(images)).repeat(epochs).batch(batch)
    losses, seen, smooth_loss, smooth_accuracy = [], 0, None, None
    columns = (
        TextColumn("training"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[report]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=len(images) * epochs, report="")
        begin = time.perf_counter()
        for step, (x, y) in enumerate(dataset):
            value, right = (float(t) for t in train_step(model, optimizer, x, y))
            losses.append(value)
            seen += len(x)
            rate = seen / (time.perf_counter() - begin)
            smooth_loss = value if step == 0 else 0.95 * smooth_loss + 0.05 * value
            smooth_accuracy = right if step == 0 else 0.95 * smooth_accuracy + 0.05 * right
            report = f"loss {smooth_loss:.3f}  accuracy {smooth_accuracy:.1%}  {rate:,.0f} images/s"
            progress.update(bar, completed=seen, report=report)
    return losses, rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8, help="passes through the training images")
    parser.add_argument("--batch", type=int, default=84, help="images a step")
    parser.add_argument("--images", type=int, help="how many images to train and test with; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="where the model lives and operations run: cpu, gpu, gpu:1")
    parser.add_argument("--picture", type=Path, default=Path("mnist.png"), help="file to draw")
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    train_set, test_set = tf.keras.datasets.mnist.load_data()
    train_set, test_set = ([part[: options.images] for part in each] for each in (train_set, test_set))
    images, labels = as_inputs(*train_set)
    test_images, test_labels = as_inputs(*test_set)
    print(f"{len(images):,} digits to train with, {len(test_images):,} to test")

    tf.config.set_soft_device_placement(False)  # no device of that name: an error, not the host
    with tf.device(options.device):
        model = MNISTModel()
        losses, rate = train(model, images, labels, options.epochs, options.batch)
        logits = predict(model, test_images)
    print(f"trained on {model.trainable_variables[0].device.rpartition('device:')[2]}")
    test_accuracy = float(accuracy(logits, test_labels))
    guesses = tf.argmax(logits, 1).numpy()
    wrong = np.flatnonzero(guesses != test_labels)
    print(f"test accuracy {test_accuracy:.2%} ({len(wrong)} of {len(test_images):,} wrong)")

    picture.draw(
        losses,
        [(test_set[0][i], int(test_labels[i]), int(guesses[i])) for i in wrong],
        f"{test_accuracy:.2%} of {len(test_images):,} unseen digits read correctly",
        f"{len(losses):,} eager steps of {options.batch} images, {rate:,.0f} images/s",
    ).save(options.picture)
    print(f"loss curve and misread digits: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
