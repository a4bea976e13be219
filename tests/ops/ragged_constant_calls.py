"""Nested lists given to `tf.ragged.constant` and `constant_value`, and what TensorFlow makes of them.

The lists are made at random: of even and uneven rows, with scalars at one depth or at several, with and without a
ragged rank and the shape of inner values. `python ragged_constant_calls.py`, run by a Python that has TensorFlow,
writes ragged_constant_vectors.json anew; test_functions.py holds the package to it.
"""

import pathlib
import random
import runpy

VECTORS = pathlib.Path(__file__).with_name("ragged_constant_vectors.json")

SETUP = """
c = tf.ragged.constant
v = tf.compat.v1.ragged.constant_value
A = np.array

def parts(x):
    splits = [s.tolist() for s in getattr(x, "nested_row_splits", ())]
    flat = A(getattr(x, "flat_values", x))
    shape = x.shape.as_list() if hasattr(x.shape, "as_list") else list(x.shape)
    return flat.dtype.kind, str(shape), str(flat.tolist()), str(splits)

def error(function):
    try:
        return parts(function())
    except (ValueError, TypeError) as e:
        return str(e)
"""


def _nested(rng: random.Random, depth: int, even: tuple[int, ...]) -> str:
    """The text of lists in lists; the last of `even` are the sizes of dense inner values."""
    if depth == 0:
        return str(rng.randrange(10))
    if depth > 1 and rng.random() < 0.03:
        depth -= 1  # a scalar too high
    size = even[-depth] if depth <= len(even) and rng.random() < 0.97 else rng.choice((0, 1, 2, 2, 3))
    text = "[" + ", ".join(_nested(rng, depth - 1, even) for _ in range(size)) + "]"
    return f"A({text})" if depth == 1 and rng.random() < 0.1 else text


def _calls(rng: random.Random):
    for _ in range(220):
        depth = rng.randrange(0, 5)
        even = tuple(rng.choice((1, 2, 2, 3)) for _ in range(rng.randrange(0, 3)))
        given = [_nested(rng, depth, even)]
        if rng.random() < 0.5:
            given.append(f"ragged_rank={rng.choice((-1, 0, 1, 1, 2, 2, 3))}")
        if even and rng.random() < 0.4:
            given.append(f"inner_shape={even!r}")
        yield f"error(lambda: v({', '.join(given)}))"
        yield f"parts(c({', '.join(given)}))"


CALLS = [
    *dict.fromkeys(_calls(random.Random(2))),
    "error(lambda: v(A(12), ragged_rank=1))",
    "error(lambda: v([], inner_shape=(0, 100, 20)))",
    "error(lambda: v([], ragged_rank=2, inner_shape=(100, 20)))",
    "error(lambda: v([[]], inner_shape=(1, 0)))",
    "error(lambda: v(A([]), ragged_rank=1, inner_shape=(100, 20)))",
    "c(c([[1], [2, 3]]))",
]

# A reason is given by the array library, in words that its versions change.
DIFFERENCES: dict[str, list[list[str]]] = {}

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](VECTORS, CALLS, SETUP)
