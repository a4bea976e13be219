"""Damaged models, each run in a process of its own: `lite_mutations.py SEED COUNT MODEL...` fails if one ends it."""

import os
import random
import signal
import sys
from pathlib import Path

import numpy as np

import tapeflow as tf
from tapeflow.lite import interface


def mutated(model, rng):
    """A model with a few changed bytes, or with a changed number in one of its objects."""
    if rng.random() < 0.7:
        data = bytearray(model)
        for _ in range(rng.choice([1, 2, 8])):
            place = rng.randrange(len(data) - 4)
            number = rng.choice([0, 1, -1, 2, 255, 1 << 30, -(1 << 31), rng.randrange(1 << 16)])
            data[place : place + 4] = (number & 0xFFFFFFFF).to_bytes(4, "little")
        return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
    opened = interface.unpacked(model)
    for _ in range(rng.choice([1, 2])):
        _change(opened, rng)
    try:
        return interface.packed(opened)
    except Exception:  # what cannot be written need not be read
        return model


def _change(value, rng):
    """Changes a number in some object below `value`."""
    while True:
        fields = [k for k, v in vars(value).items() if v is not None] if hasattr(value, "__dict__") else []
        name = rng.choice(fields)
        inner = getattr(value, name)
        if isinstance(inner, (int, float)) and not isinstance(inner, bool):
            setattr(value, name, rng.choice([0, 1, 2, 3, 5, 77, max(0, int(inner) - 1), int(inner) + 1]))
            return
        if isinstance(inner, np.ndarray):
            inner = inner.tolist()
            setattr(value, name, inner)
        if isinstance(inner, list) and inner:
            place = rng.randrange(len(inner))
            if isinstance(inner[place], (int, float)):
                inner[place] = rng.choice([0, 1, -1, 2, 7, 100, int(inner[place]) + 1])
                return
            inner = inner[place]
        if not hasattr(inner, "__dict__") or not vars(inner):
            return
        value = inner


def attempt(model):
    """Runs a model once."""
    interpreter = tf.lite.Interpreter(model_content=model, num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], np.zeros(detail["shape"], detail["dtype"]))
    interpreter.invoke()
    for detail in interpreter.get_output_details():
        interpreter.get_tensor(detail["index"])
    interpreter.get_signature_list()


def crashes(seed, models_given, count):
    """How many of so many mutations end the process that runs them."""
    rng, ended = random.Random(seed), []
    for number in range(count):
        content = mutated(rng.choice(models_given), rng)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                attempt(content)
            except (ValueError, RuntimeError, MemoryError, TypeError, UnicodeDecodeError, OverflowError):
                pass
            except BaseException as error:
                print(number, repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            ended.append((number, status))
            if "KEEP" in os.environ:
                Path(f"{os.environ['KEEP']}_{seed}_{number}").write_bytes(content)
    return ended


if __name__ == "__main__":
    given = [Path(name).read_bytes() for name in sys.argv[3:]]
    found = crashes(int(sys.argv[1]), given, int(sys.argv[2]))
    print(found)
    sys.exit(bool(found))
