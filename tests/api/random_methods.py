"""Random calls of methods and operators of objects, and what they print, as lines of Python for `oracle_calls.py`.

    python random_methods.py --seed 1 --calls 3000 [--of ragged,texts] FILE

An expression is drawn from those of a topic in `random_methods.txt`; `{name}` stands for another draw.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
import warnings

import oracle_calls

import tapeflow as tf

SOURCE = pathlib.Path(__file__).with_suffix(".txt")


def sections():
    """The choices of the file, by their kind and name: lines, or single words."""
    found = {}
    for line in SOURCE.read_text().splitlines():
        heading = re.fullmatch(r"(topic|choices|words) (\w+)", line)
        if heading:
            of_words, own = heading[1] == "words", found.setdefault((heading[1] == "topic", heading[2]), [])
        elif line and line[0] != "#":
            own += line.split() if of_words else [line]
    return found


SECTIONS = sections()
TOPICS = [name for topic, name in SECTIONS if topic]


class Draw:
    """Draws lines; the same seed draws the same ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def filled(self, text):
        """A text with a draw in each of its places; `{{` and `}}` are braces."""

        def one(match):
            if match[0] in ("{{", "}}"):
                return match[0][0]
            return self.filled(self.random.choice(SECTIONS[False, match[1]]))

        return re.sub(r"\{\{|\}\}|\{(\w+)\}", one, text)


def lines(seed, calls, topics, works):
    """So many random lines, most of which work."""
    draw = Draw(seed)
    while calls:
        line = draw.filled(draw.random.choice(SECTIONS[True, draw.random.choice(topics)]))
        if works(line) or draw.random.random() < 0.2:
            yield line
            calls -= 1


def main():
    """Write random lines to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--of", default=",".join(TOPICS), help="topics, with commas")
    parser.add_argument("file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    known = oracle_calls.names(tf)

    def works(line):
        return "value" in oracle_calls.answer(tf, known, line)

    with open(given.file, "w") as file:
        for line in lines(given.seed, given.calls, given.of.split(","), works):
            file.write(line + "\n")
            file.flush()


if __name__ == "__main__":
    main()
