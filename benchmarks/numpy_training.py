"""What NumPy and the system itself take: rows in a random order, and bytes to and from the disk."""

import os

import numpy as np
import training_inputs as inputs


def package():
    return "numpy"


def cases():
    return {"shuffle": shuffle(), **disk()}


def shuffle():
    examples = inputs.examples()
    random = np.random.default_rng()

    def epoch(of_batch=len):
        order = random.permutation(len(examples))
        starts = range(0, len(order), 32)
        return sum(of_batch(examples[order[start : start + 32]]) for start in starts)

    return "epoch()", {"epoch": epoch}, "epoch(lambda batch: batch.sum(dtype='f8'))"


def disk():
    """The gigabyte as bytes: written and synced, read into memory that is there, and again from the disk."""
    values = inputs.gigabyte()
    prefix = inputs.folder() / "bytes"

    def save():
        with open(prefix, "wb", buffering=0) as file:
            for value in values.values():
                file.write(value)
        inputs.to_disk(prefix)
        return values["v7"][0]

    def restore():
        with open(prefix, "rb", buffering=0) as file:
            for value in values.values():
                file.readinto(value)
        return values["v7"][0]

    found = inputs.checkpoint_cases(prefix, save, restore)

    def copy():
        """As `cp` and `sync` do it, within the file system."""
        to = prefix.with_name("copied")
        with open(prefix, "rb") as source, open(to, "wb") as target:
            left = os.path.getsize(prefix)
            while left:
                left -= os.sendfile(target.fileno(), source.fileno(), None, left)
        inputs.to_disk(to)
        return values["v7"][0]

    return {**found, "copy": ("copy()", {"copy": copy})}
