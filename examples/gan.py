"""Two networks against each other: one draws digits, the other tells them from real ones.

    python examples/gan.py [--epochs 8] [--images 8000] [--seed 1] [--folder gan]

After every epoch a picture of what is drawn from the same noise: gan/epoch-01.png, -02 ...
"""

import argparse
from pathlib import Path

import numpy as np
import tiles
from progress import Bar

import tapeflow as tf

layers = tf.keras.layers


def generator(noise):
    """Noise (n, noise) -> images (n, 28, 28, 1) in [-1, 1]."""
    return tf.keras.Sequential(
        [
            layers.Dense(7 * 7 * 32, use_bias=False, input_shape=(noise,)),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 32)),
            layers.Conv2DTranspose(16, 5, 2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, 5, 2, padding="same", activation="tanh"),
        ]
    )


def discriminator():
    """Images (n, 28, 28, 1) -> logits (n, 1) of their being real."""
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 5, 2, padding="same", input_shape=(28, 28, 1)),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Conv2D(32, 5, 2, padding="same"),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


def is_called(logits, answer):
    """The cross entropy of logits that should say `answer` for all."""
    return tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=answer * tf.ones_like(logits), logits=logits)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8, help="passes through the images")
    parser.add_argument("--images", type=int, default=8000, help="images to learn from")
    parser.add_argument("--batch", type=int, default=100, help="images a step")
    parser.add_argument("--noise", type=int, default=32, help="numbers that a drawing is made from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("gan"), help="where pictures go")
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    (images, _), _ = tf.keras.datasets.mnist.load_data()
    images = images[: options.images, ..., np.newaxis].astype(np.float32) / 127.5 - 1
    dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images))
    dataset = dataset.batch(options.batch, drop_remainder=True)

    draw, judge = generator(options.noise), discriminator()
    draw_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
    judge_optimizer = tf.keras.optimizers.Adam(4e-4, beta_1=0.5)

    @tf.function
    def step(real):
        noise = tf.random.normal([options.batch, options.noise])
        with tf.GradientTape() as draw_tape, tf.GradientTape() as judge_tape:
            drawn = judge(draw(noise, training=True), training=True)
            draw_loss = is_called(drawn, 1.0)
            judge_loss = is_called(judge(real, training=True), 0.9) + is_called(drawn, 0.0)
        for model, tape, loss, optimizer in (
            (draw, draw_tape, draw_loss, draw_optimizer),
            (judge, judge_tape, judge_loss, judge_optimizer),
        ):
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return draw_loss, judge_loss

    options.folder.mkdir(parents=True, exist_ok=True)
    fixed = tf.random.normal([64, options.noise])
    apart = np.mean(np.abs(draw(fixed).numpy().mean(0) - images.mean(0)))
    print(f"mean drawing is off the mean digit by {apart:.3f} before training")
    for epoch in range(1, options.epochs + 1):
        batches, sums = iter(dataset), np.zeros(2)
        for i in (bar := Bar(len(images) // options.batch, f"epoch {epoch:2}")):
            sums += [float(loss) for loss in step(next(batches))]
            drawn, judged = sums / (i + 1)
            bar.say(f"loss of who draws {drawn:.3f}, who judges {judged:.3f}")
        samples = draw(fixed).numpy()[..., 0] / 2 + 0.5
        tiles.grid(samples).save(options.folder / f"epoch-{epoch:02}.png")
    apart = np.mean(np.abs(draw(fixed).numpy().mean(0) - images.mean(0)))
    print(f"mean drawing is off the mean digit by {apart:.3f} after it")
    print(f"samples, one picture an epoch: {options.folder.resolve()}")


if __name__ == "__main__":
    main()
