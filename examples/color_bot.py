"""Paints what a colour's name says: an RNN reads the letters and answers with red, green and blue.

    python examples/color_bot.py [names ...] [--epochs 150] [--seed 1] [--picture colors.png]

The picture shows each name with the colour that it has (left) and the one that was guessed (right);
names given on the command line, which nobody painted, have a guess only.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from progress import Bar

import tapeflow as tf

COLORS = """
black 000000, white ffffff, grey 808080, dark grey 404040, light grey c8c8c8, red e01010,
dark red 8b0000, light red ff7878, green 109010, dark green 004d00, light green 90ee90,
blue 1010e0, dark blue 00008b, light blue 90b8f0, yellow f5e010, dark yellow a89000,
light yellow fffaa0, orange ff8c00, dark orange c85a00, light orange ffc080, brown 8b4a1c,
dark brown 4a2810, light brown b98a5e, pink ff90b0, dark pink d84080, light pink ffc8d8,
purple 801080, dark purple 480048, light purple c090d8, violet 8a2be2, dark violet 5a1090,
light violet c8a0f0, turquoise 30c8c0, dark turquoise 108080, light turquoise a0f0e8,
cyan 00e0e8, dark cyan 008b8b, light cyan c8ffff, olive 808000, dark olive 505000,
light olive b0b060, sky blue 78b8f0, sea blue 1060a0, navy blue 000060, night blue 101038,
grass green 40a020, forest green 186018, mint green a0f0c0, olive green 687020, sea green 2e8b57,
lime green 80e020, blood red 880810, brick red b03a2a, wine red 701028, rose red d81850,
cherry red d01030, lemon yellow fff040, sun yellow ffd818, gold d4a818, dark gold a07808,
light gold f0d878, silver c0c0c8, ivory fffff0, sand d8c090, beige f0e8d0, rust b04810,
chocolate 6b3a18, coffee 6a4a30, cream fff8d8, peach ffc8a0, apricot ffb878, salmon fa8072,
coral ff7850, plum 803068, lilac c8a2c8, lavender dcd0f8, indigo 400080, magenta e010d0,
dark magenta 8b008b, light magenta ff98f8, charcoal 303840, slate 607080, steel blue 4682b4,
ice blue c8e8f8, rose f06088, ruby c01048, emerald 28a868, sapphire 1040b0, amber ffb800
"""


class ColorBot(tf.keras.Model):
    """Letters (n, time), 0 after the end -> (n, 3) in [0, 1]."""

    def __init__(self, units):
        super().__init__()
        self.letters = tf.keras.layers.Embedding(128, 24, mask_zero=True)
        self.lstm = tf.keras.layers.LSTM(units)
        self.hidden = tf.keras.layers.Dense(units, "relu")
        self.color = tf.keras.layers.Dense(3, "sigmoid")

    def call(self, names):
        return self.color(self.hidden(self.lstm(self.letters(names))))


def parse():
    entries = (entry.strip().rpartition(" ") for entry in COLORS.replace("\n", " ").split(","))
    return {name: np.frombuffer(bytes.fromhex(hex_), np.uint8) for name, _, hex_ in entries}


def letters_of(names):
    """The names' letters (n, longest) as int32, padded with 0."""
    longest = max(map(len, names))
    codes = [list(name.lower().encode("ascii", "replace").ljust(longest, b"\0")) for name in names]
    return tf.constant(codes, tf.int32)


def draw(rows, columns=3):
    """Rows of a name, its colour or None, and the guess."""
    height, width = 34, 300
    count = -(-len(rows) // columns)
    picture = Image.new("RGB", (columns * width, count * height), (251, 251, 250))
    canvas = ImageDraw.Draw(picture)
    font = ImageFont.load_default(16)
    for i, (name, truth, guess) in enumerate(rows):
        x, y = i // count * width + 8, i % count * height + 4
        if truth is not None:
            canvas.rectangle((x, y, x + 56, y + 26), fill=tuple(truth))
        canvas.rectangle((x + 58, y, x + 114, y + 26), fill=tuple(guess))
        canvas.text((x + 124, y + 4), name, fill=(29, 39, 51), font=font)
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["dark mint", "light cherry red", "night green"])
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--batch", type=int, default=16, help="names a step")
    parser.add_argument("--units", type=int, default=64, help="units of the LSTM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, default=Path("colors.png"), help="file to draw")
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    colors = parse()
    names, truth = list(colors), np.stack(list(colors.values()))
    dataset = tf.data.Dataset.from_tensor_slices((letters_of(names), truth / np.float32(255)))
    dataset = dataset.shuffle(len(names)).batch(options.batch)

    bot, optimizer = ColorBot(options.units), tf.keras.optimizers.Adam(4e-3)

    @tf.function(reduce_retracing=True)
    def step(letters, wanted):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(bot(letters) - wanted))
        gradients = tape.gradient(loss, bot.trainable_variables)
        optimizer.apply_gradients(zip(gradients, bot.trainable_variables))
        return loss

    losses = []
    for _ in (bar := Bar(options.epochs)):
        losses.append(np.mean([float(step(*batch)) for batch in dataset]))
        bar.say(f"loss {losses[-1]:.4f}")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} over {len(names)} names")

    asked = names + options.names
    guesses = np.uint8(np.round(255 * bot(letters_of(asked)).numpy()))
    for name, guess in zip(options.names, guesses[len(names) :]):
        print(f"{name}: #{bytes(guess).hex()}")
    truths = [*truth, *[None] * len(options.names)]
    draw(list(zip(asked, truths, guesses))).save(options.picture)
    print(f"names and colours: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
