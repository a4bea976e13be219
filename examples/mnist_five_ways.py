"""Reads handwritten digits with one network, trained in five styles, and compares them.

    python examples/mnist_five_ways.py [--epochs 6] [--batch 100] [--seed 1]

    tape         loss and gradients by tf.GradientTape, step by step
    tf.function  the same step, traced once and run as a graph
    minimize     optimizer.minimize of a loss that is a Python function
    fit          model.compile and model.fit
    session      placeholders, a training op and session.run, as in TensorFlow 1.x
"""

import argparse
import time

import numpy as np
from progress import Bar

import tapeflow as tf

v1 = tf.compat.v1


def network(seed):
    """Images (n, 784) -> logits (n, 10); the seed decides the first weights."""
    start = tf.keras.initializers.GlorotUniform
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(64, "relu", kernel_initializer=start(seed), input_shape=(784,)),
            tf.keras.layers.Dense(10, kernel_initializer=start(seed + 1)),
        ]
    )


def loss_of(logits, labels):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def accuracy(model, images, labels):
    return float(np.mean(np.argmax(model(images).numpy(), 1) == labels))


def adam():
    return tf.keras.optimizers.Adam(2e-3)


def with_tape(batches, test, seed, wrap=lambda step: step, words="tape"):
    model, optimizer = network(seed), adam()

    @wrap
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(model(images), labels)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    losses = []
    for i in (bar := Bar(len(batches), f"{words:12}")):
        images, labels = batches[i]
        losses.append(float(step(tf.constant(images), tf.constant(labels))))
        bar.say(f"loss {losses[-1]:.3f}")
    return losses, accuracy(model, *test)


def with_function(batches, test, seed):
    return with_tape(batches, test, seed, tf.function, "tf.function")


def with_minimize(batches, test, seed):
    model, optimizer = network(seed), adam()
    losses = []
    for i in (bar := Bar(len(batches), f"{'minimize':12}")):

        def loss(images=batches[i][0], labels=batches[i][1]):
            losses.append(loss_of(model(images), labels))
            return losses[-1]

        optimizer.minimize(loss, model.trainable_variables)
        bar.say(f"loss {float(losses[-1]):.3f}")
    return [float(value) for value in losses], accuracy(model, *test)


def with_fit(batches, test, seed):
    model = network(seed)
    losses = []

    class Listen(tf.keras.callbacks.Callback):
        """fit reports the mean so far of an epoch: the loss of a step is the difference."""

        def on_train_begin(self, logs=None):
            self.bar = Bar(len(batches), f"{'fit':12}")
            self.steps = iter(self.bar)
            next(self.steps)

        def on_train_batch_end(self, batch, logs=None):
            losses.append(logs["loss"] * (batch + 1) - sum(losses))
            self.bar.say(f"loss {losses[-1]:.3f}")
            next(self.steps, None)

    model.compile(adam(), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(batches), (tf.float32, tf.int32), ([None, 784], [None])
    )
    model.fit(dataset, epochs=1, verbose=0, callbacks=[Listen()])
    return [float(value) for value in losses], accuracy(model, *test)


def with_session(batches, test, seed):
    with tf.Graph().as_default():
        images = v1.placeholder(tf.float32, [None, 784])
        labels = v1.placeholder(tf.int32, [None])
        logits = network(seed)(images)
        loss = loss_of(logits, labels)
        train = v1.train.AdamOptimizer(2e-3, epsilon=1e-7).minimize(loss)
        losses = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for i in (bar := Bar(len(batches), f"{'session':12}")):
                feed = {images: batches[i][0], labels: batches[i][1]}
                losses.append(float(session.run([loss, train], feed)[0]))
                bar.say(f"loss {losses[-1]:.3f}")
            guesses = np.argmax(session.run(logits, {images: test[0]}), 1)
    return losses, float(np.mean(guesses == test[1]))


WAYS = {
    "tape": with_tape,
    "tf.function": with_function,
    "minimize": with_minimize,
    "fit": with_fit,
    "session": with_session,
}


def digits(epochs, batch, seed, limit):
    """All batches of the training, in order, and the test set."""
    (images, labels), test = tf.keras.datasets.mnist.load_data()
    images, labels = flat(images[:limit], labels[:limit])
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(images)) for _ in range(epochs)]
    chosen = [order[i : i + batch] for order in orders for i in range(0, len(order), batch)]
    return [(images[c], labels[c]) for c in chosen], flat(*test)


def flat(images, labels):
    return images.reshape(-1, 784).astype(np.float32) / 255, labels.astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6, help="passes through the training images")
    parser.add_argument("--batch", type=int, default=100, help="images a step")
    parser.add_argument("--images", type=int, default=8000, help="images to train with")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    batches, test = digits(options.epochs, options.batch, options.seed, options.images)
    rows = []
    for name, train in WAYS.items():
        begin = time.perf_counter()
        losses, right = train(batches, test, options.seed)
        rows.append((name, losses, right, time.perf_counter() - begin))
    for name, losses, right, seconds in rows:
        fall = f"loss {losses[0]:.3f} -> {np.mean(losses[-10:]):.3f}"
        print(f"{name:12} {fall}   test accuracy {right:.2%}   {seconds:5.2f} s")


if __name__ == "__main__":
    main()
