"""Functions of ragged and sparse tensors and of strings in a graph where no size is known: the same as eagerly."""

import json
import pathlib
import runpy

import pytest

import tapeflow as tf

HERE = pathlib.Path(__file__)
ANSWERS = runpy.run_path(str(HERE.with_name("function_calls.py")))
CALLED = {
    name: runpy.run_path(str(HERE.with_name(f"{name}_calls.py")))
    for name in ("text", "ragged", "sparse")
}
# What only a concrete tensor, or Python, can answer. Of nested arrays of float64 graphs make float32, as in TensorFlow.
EAGER_ONLY = (
    "constant(np.", "function(", "gradient(", "repr(", "numpy", "to_list", "shape_of", ".shape", "list(", "even",
)  # fmt: skip


def scope_of(name):
    scope = {"tf": tf, "np": ANSWERS["np"]}
    exec(CALLED[name]["SETUP"], scope)
    return scope


def spec_of(value):
    if isinstance(value, tf.SparseTensor):
        return tf.SparseTensorSpec([None] * value.shape.rank, value.dtype)
    inner = value.flat_values.shape.as_list()[1:]
    shape = [None] * (1 + value.ragged_rank) + inner
    return tf.RaggedTensorSpec(shape, value.dtype, value.ragged_rank, value.row_splits.dtype)


SCOPES = {name: scope_of(name) for name in CALLED}
VALUES = {
    name: {k: v for k, v in scope.items() if isinstance(v, (tf.SparseTensor, tf.RaggedTensor))}
    for name, scope in SCOPES.items()
}


def cases():
    for name, called in CALLED.items():
        written = json.loads(called["VECTORS"].read_text())
        for call in called["CALLS"]:
            want = written[call]
            if isinstance(want, str) or any(leaf[0] == "python" for leaf in want):
                continue
            if not any(part in call for part in EAGER_ONLY):
                yield pytest.param(name, call, want, id=f"{name}-{call}")


@pytest.mark.parametrize(("name", "call", "want"), list(cases()))
def test_call_in_a_graph(name, call, want):
    values = VALUES[name]

    def traced(*given):
        return eval(call, {**SCOPES[name], **dict(zip(values, given, strict=True))})

    signature = [spec_of(v) for v in values.values()]
    got = tf.function(traced, input_signature=signature)(*values.values())
    ANSWERS["same"](ANSWERS["leaves"](got), want)
