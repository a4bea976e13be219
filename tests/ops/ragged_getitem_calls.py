"""Random keys of ragged tensors, and what TensorFlow finds at them, eagerly and in functions.

`python ragged_getitem_calls.py`, run by a Python that has TensorFlow, writes ragged_getitem_vectors.json anew;
test_functions.py holds the package to it.
"""

import pathlib
import random
import runpy

VECTORS = pathlib.Path(__file__).with_name("ragged_getitem_vectors.json")

SETUP = """
R = tf.RaggedTensor
k = tf.constant
flat = tf.ragged.constant([[3, 1, 4], [], [1, 5], [9]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], []]])
wide = R.from_nested_row_splits(np.arange(20).reshape(10, 2), [[0, 2, 2, 4], [0, 3, 6, 8, 10]])
even = R.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]]), 2)
none = R.from_row_splits([], [0])

def found(function, x):
    try:
        out = function(x)
        return out.to_list() if isinstance(out, R) else out.numpy().tolist()
    except (IndexError, TypeError, ValueError, tf.errors.InvalidArgumentError) as e:
        if isinstance(e, IndexError):
            return "IndexError"
        return "InvalidArgumentError or ValueError" if not isinstance(e, TypeError) else "TypeError"

def traced(function, x):
    return found(tf.function(function), x)

def error(function):
    try:
        return function()
    except Exception as e:
        return str(e)
"""

_RANKS = {"flat": 2, "deep": 3, "wide": 4, "even": 3, "none": 2}


def _number(rng: random.Random) -> str:
    number = str(rng.choice((-4, -3, -2, -1, 0, 0, 1, 1, 2, 3, 5)))
    return f"k({number})" if rng.random() < 0.2 else number


def _key(rng: random.Random) -> str:
    kind = rng.randrange(8)
    if kind < 3:
        return _number(rng)
    if kind < 6:
        step = rng.choice(("", "", "", ":2", ":-1", ":3"))
        start, stop = (_number(rng) if rng.random() < 0.6 else "" for _ in range(2))
        return f"{start}:{stop}{step}"
    return "..." if kind == 6 else ("None" if rng.random() < 0.5 else ":")


def _calls(rng: random.Random):
    for _ in range(260):
        name = rng.choice(tuple(_RANKS))
        keys = [_key(rng) for _ in range(rng.randrange(1, _RANKS[name] + 1))]
        if keys.count("...") > 1 or (keys[0] == "None" and len(keys) > 1):  # TensorFlow wraps ragged rows alone
            continue
        yield f"found(lambda x: x[{', '.join(keys)}], {name})"
        # A row out of range ends loops, eagerly. TensorFlow takes no number within rows of one length in a graph.
        if name != "even" and "k(" not in keys[0] and not keys[0].lstrip("-").isdigit():
            yield f"traced(lambda x: x[{', '.join(keys)}], {name})"


CALLS = [
    *dict.fromkeys(_calls(random.Random(5))),
    "found(lambda x: x[[]], deep)",
    "found(lambda x: x[[0, 1]], deep)",
    "error(lambda: flat[4])",
    "error(lambda: flat[..., 0, 0, 0])",
    "error(lambda: flat[:, 'a':'b'])",
    "error(lambda: flat[:, 0.5:])",
    "error(lambda: flat[:, 1:3:0.5])",
    "error(lambda: flat[:, 1])",
    "len([row for row in flat])",
]

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](VECTORS, CALLS, SETUP)
