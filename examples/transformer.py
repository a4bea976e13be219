"""Teaches a small Transformer to sort: it reads letters and writes them in the order of the alphabet.

    python examples/transformer.py [--steps 500] [--length 10] [--seed 1]

Encoder and decoder with multi-head attention written out, the learning rate that warms up and fades,
and at the end greedy decoding, letter by letter.
"""

import argparse
import math

import numpy as np
from progress import Bar

import tapeflow as tf

LETTERS = 26
START = LETTERS  # stands before the first letter that is written
layers = tf.keras.layers


def attend(query, key, value, mask=None):
    """(..., n, depth), (..., m, depth), (..., m, depth) -> (..., n, depth); where mask is 0, no look."""
    scores = tf.matmul(query, key, transpose_b=True) / float(query.shape[-1]) ** 0.5
    if mask is not None:
        scores += (1.0 - mask) * -1e9
    return tf.matmul(tf.nn.softmax(scores), value)


class MultiHeadAttention(layers.Layer):
    """Several looks from each place of `x` at all places of `memory`."""

    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.query, self.key, self.value = (layers.Dense(width) for _ in range(3))
        self.out = layers.Dense(width)

    def split(self, x):
        """(n, time, width) -> (n, heads, time, width / heads)"""
        parts = tf.reshape(x, [tf.shape(x)[0], -1, self.heads, self.width // self.heads])
        return tf.transpose(parts, [0, 2, 1, 3])

    def call(self, x, memory, mask=None):
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        seen = tf.transpose(attend(q, k, v, mask), [0, 2, 1, 3])
        return self.out(tf.reshape(seen, [tf.shape(x)[0], -1, self.width]))


class Block(layers.Layer):
    """Attention to itself, where there is memory attention to that, then a dense layer at each place."""

    def __init__(self, width, heads, reads_memory):
        super().__init__()
        self.attention = MultiHeadAttention(width, heads)
        self.reading = MultiHeadAttention(width, heads) if reads_memory else None
        self.wide, self.narrow = layers.Dense(4 * width, "relu"), layers.Dense(width)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(3)]

    def call(self, x, memory=None, mask=None):
        y = self.norms[0](x)
        x += self.attention(y, y, mask)
        if self.reading is not None:
            x += self.reading(self.norms[1](x), memory)
        return x + self.narrow(self.wide(self.norms[2](x)))


class Transformer(tf.keras.Model):
    """Letters (n, m), and those written so far (n, k) -> logits of the next ones (n, k, LETTERS)."""

    def __init__(self, width=64, heads=4, blocks=2):
        super().__init__()
        self.width = width
        self.embedding = layers.Embedding(LETTERS + 1, width)
        self.encoder = [Block(width, heads, False) for _ in range(blocks)]
        self.decoder = [Block(width, heads, True) for _ in range(blocks)]
        self.norm = layers.LayerNormalization(epsilon=1e-6)
        self.logits = layers.Dense(LETTERS)

    def placed(self, letters):
        """Embeddings with the waves added that tell places apart."""
        place = tf.cast(tf.range(tf.shape(letters)[1]), tf.float32)[:, None]
        speed = tf.exp(-math.log(1e4) * tf.range(0, self.width, 2, tf.float32) / self.width)
        waves = tf.concat([tf.sin(place * speed), tf.cos(place * speed)], 1)
        return self.embedding(letters) * self.width**0.5 + waves

    def call(self, letters, written):
        memory = self.placed(letters)
        for block in self.encoder:
            memory = block(memory)
        x, k = self.placed(written), tf.shape(written)[1]
        no_peeking = tf.linalg.band_part(tf.ones([k, k]), -1, 0)
        for block in self.decoder:
            x = block(x, memory, no_peeking)
        return self.logits(self.norm(x))


class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Rises evenly for `steps` steps, then falls with the root of the step."""

    def __init__(self, peak, steps):
        self.peak, self.steps = peak, steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(step / self.steps, tf.sqrt(self.steps / step))


def task(rng, batch, length):
    """Letters, what the decoder reads, what it is to write: int32 (batch, length)."""
    letters = rng.integers(0, LETTERS, [batch, length], dtype=np.int32)
    answer = np.sort(letters, 1)
    before = np.concatenate([np.full([batch, 1], START, np.int32), answer[:, :-1]], 1)
    return letters, before, answer


def write(model, letters):
    """Greedy decoding: the likeliest letter, again and again."""
    written = np.full([len(letters), 1], START, np.int32)
    for _ in range(letters.shape[1]):
        logits = model(letters, written)[:, -1]
        written = np.concatenate([written, tf.argmax(logits, 1, tf.int32).numpy()[:, None]], 1)
    return written[:, 1:]


def word(codes):
    return "".join(chr(ord("a") + code) for code in codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=64, help="words a step")
    parser.add_argument("--length", type=int, default=10, help="letters of a word")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = Transformer()
    optimizer = tf.keras.optimizers.Adam(WarmUp(3e-3, 60.0), beta_2=0.98, epsilon=1e-9)

    @tf.function
    def step(letters, before, answer):
        with tf.GradientTape() as tape:
            logits = model(letters, before)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answer, logits=logits)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    losses = []
    for _ in (bar := Bar(options.steps)):
        batch = task(rng, options.batch, options.length)
        losses.append(float(step(*(tf.constant(part) for part in batch))))
        bar.say(f"loss {losses[-1]:.3f}")
    print(f"loss {losses[0]:.3f} -> {np.mean(losses[-10:]):.3f}")

    letters, _, answer = task(rng, 100, options.length)
    written = write(model, letters)
    print(f"{np.mean(np.all(written == answer, 1)):.0%} of 100 new words are sorted without a fault")
    for i in range(4):
        print(f"    {word(letters[i])} -> {word(written[i])}")


if __name__ == "__main__":
    main()
