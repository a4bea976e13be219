"""Learns to write like a text, character by character, with an LSTM; the text is this project's licence.

    python examples/char_rnn.py [--text FILE] [--steps 600] [--units 128] [--seed 1]
"""

import argparse
from pathlib import Path

import numpy as np
from progress import Bar

import tapeflow as tf

LICENSE = Path(__file__).parents[1] / "LICENSE"


class CharRNN(tf.keras.Model):
    """Characters (n, time) -> logits of the character that follows each, and the LSTM's state."""

    def __init__(self, characters, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(characters, 32)
        self.lstm = tf.keras.layers.LSTM(units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(characters)

    def call(self, inputs, state=None):
        outputs, *state = self.lstm(self.embedding(inputs), initial_state=state)
        return self.dense(outputs), state


def excerpts(codes, batch, length, rng):
    """Random excerpts (batch, length + 1): what is read, and one character more to foretell."""
    starts = rng.integers(0, len(codes) - length, batch)
    return tf.constant(codes[starts[:, None] + np.arange(length + 1)])


def write(model, letters, seed_text, length, temperature, rng):
    """`length` more characters, each drawn from what the model expects after those before."""
    places = {letter: i for i, letter in enumerate(letters)}
    logits, state = model(tf.constant([[places[c] for c in seed_text if c in places]]))
    written = []
    for _ in range(length):
        p = tf.nn.softmax(logits[0, -1] / temperature).numpy().astype(np.float64)
        written.append(rng.choice(len(letters), p=p / p.sum()))
        logits, state = model(tf.constant([[written[-1]]]), state)
    return seed_text + "".join(letters[i] for i in written)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, default=LICENSE, help="a text file to learn from")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=32, help="excerpts a step")
    parser.add_argument("--length", type=int, default=48, help="characters of an excerpt")
    parser.add_argument("--units", type=int, default=128, help="units of the LSTM")
    parser.add_argument("--temperature", type=float, default=0.5, help="boldness of the writing")
    parser.add_argument("--write", type=int, default=300, help="characters to write at the end")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    text = " ".join(options.text.read_text(encoding="utf-8").split())
    letters, codes = np.unique(np.array(list(text)), return_inverse=True)
    codes = codes.astype(np.int32)
    print(f"{len(codes):,} characters of {options.text.name}, {len(letters)} different ones")

    model = CharRNN(len(letters), options.units)
    optimizer = tf.keras.optimizers.Adam(5e-3, clipnorm=5.0)

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            logits, _ = model(batch[:, :-1])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=batch[:, 1:], logits=logits)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    losses = []
    for _ in (bar := Bar(options.steps)):
        losses.append(float(step(excerpts(codes, options.batch, options.length, rng))))
        bar.say(f"loss {losses[-1]:.3f}  perplexity {np.exp(losses[-1]):.2f}")
    print(f"loss {losses[0]:.3f} -> {np.mean(losses[-10:]):.3f}")
    print(write(model, list(letters), "The ", options.write, options.temperature, rng))


if __name__ == "__main__":
    main()
