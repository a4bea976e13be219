"""Answers calls, which are lines of Python, for tapeflow and TensorFlow.

    python oracle_calls.py tensorflow|tapeflow CALLS ANSWERS

reads one call a line, such as `tf.math.cumsum(array([1.0, nan], 'float32'), axis=0)`, and appends one JSON line for
each call that ANSWERS lacks so far: what came back, or the error. If the process dies in a call, the next run answers
it with "died" first.
"""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import json
import math
import os
import pathlib
import resource
import signal
import sys
import tempfile
import warnings

import numpy as np

SECONDS = 20  # for one call
ELEMENTS = 60  # of a dataset
GIGABYTES = 24  # of address space


class TimedOutError(Exception):
    """A call took too long."""


def names(tf):
    """What the calls may mention."""

    def array(values, dtype):
        """An array whose dtype may be one that only `tf` has."""
        return np.array(values, object if dtype == "string" else tf.as_dtype(dtype).as_numpy_dtype)

    def in_function(call, *tensors):
        """The call's value inside of a traced function, which sees the tensors as symbolic ones."""
        return tf.function(call, autograph=False)(*tensors)

    def gradient(call, *tensors):
        """The call's gradients by its inputs."""
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = call(*tensors)
        return tape.gradient(value, tensors)

    def unknown(call, *tensors):
        """The call's value inside of a function that was traced for tensors of which no rank is known."""
        tensors = [tf.convert_to_tensor(each) for each in tensors]
        signature = [tf.TensorSpec(None, each.dtype) for each in tensors]
        return tf.function(call, autograph=False, input_signature=signature)(*tensors)

    def unknown_ragged(call, ragged):
        """The same for a ragged tensor of which only the dtypes and ranks are known."""
        shape, splits = [None] * ragged.shape.rank, ragged.row_splits.dtype
        spec = tf.RaggedTensorSpec(shape, ragged.dtype, ragged.ragged_rank, splits)
        return tf.function(call, autograph=False, input_signature=[spec])(ragged)

    def printed(*values, **options):
        """What `tf.print` prints."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "printed")
            tf.print(*values, output_stream=f"file://{path}", **options)
            return path.read_text()

    def number(element):
        """One number of all tensors of a dataset's element."""
        total = tf.constant(0, tf.int64)
        for each in tf.nest.flatten(element, expand_composites=True):
            if each.dtype == tf.string:
                each = tf.strings.length(each)
            if each.dtype != tf.variant:
                total += tf.reduce_sum(tf.cast(each, tf.int64))
        return total

    return {
        "tf": tf, "np": np, "nan": math.nan, "inf": math.inf, "array": array,
        "in_function": in_function, "gradient": gradient, "unknown": unknown, "unknown_ragged": unknown_ragged,
        "number": number, "printed": printed,
    }  # fmt: skip


def answer(tf, known, line):
    """What a call returns or raises, as JSON can hold it."""
    tf.random.set_seed(1)
    np.random.seed(1)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        return {"value": told(tf, eval(line, dict(known)))}
    except Exception as error:
        return {"error": [c.__name__ for c in type(error).__mro__], "text": str(error)[:300]}
    finally:
        signal.alarm(0)


def told(tf, value):
    """A result: nested lists of [kind, dtype, shape, values]."""
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)):
        return [
            type(value).__name__,
            [told(tf, each) for each in tf.nest.flatten(value, expand_composites=True)],
        ]
    if isinstance(value, tf.data.Dataset):
        return ["dict", pipeline(tf, value)]
    if isinstance(value, dict):
        return ["dict", {str(k): told(tf, v) for k, v in value.items()}]
    if isinstance(value, (list, tuple)):
        return [sequence(value), [told(tf, each) for each in value]]
    if isinstance(value, (np.ndarray, np.generic)):
        return ["array", str(value.dtype), list(value.shape), plain(value)]
    if tf.is_tensor(value):
        if value.dtype in (tf.variant, tf.resource):
            return ["tensor", value.dtype.name, value.shape.as_list(), None]
        # bfloat16, quantized and narrow dtypes are of NumPy classes that differ; their values do not.
        values = value.numpy()
        return ["tensor", value.dtype.name, list(value.shape), plain(values)]
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return ["python", type(value).__name__, [], plain(np.array(value, object))]
    if isinstance(value, tf.DType):
        return ["dtype", value.name]
    if isinstance(value, tf.TensorShape):
        sizes = None if value.rank is None else [each and int(each) for each in value.as_list()]
        return ["python", "TensorShape", [], [str(sizes)]]
    if isinstance(value, tf.TypeSpec):
        return ["python", type(value).__name__, [], [str(value)]]
    return ["object", type(value).__name__]


def pipeline(tf, dataset):
    """A dataset: what it says of its elements, the first ones, and the error that ends them."""
    spec, size = str(dataset.element_spec).replace("tf.", ""), int(dataset.cardinality())
    known = {"spec": ["python", spec, [], None], "cardinality": ["python", str(size), [], None]}
    elements = []
    try:
        for each in itertools.islice(dataset, ELEMENTS):
            elements.append(told(tf, each))
    except TimedOutError:
        raise
    except Exception as error:
        known["error"] = ["python", type(error).__name__, [], None]
    return {"elements": ["list", elements], **known}


def sequence(value):
    """What kind of list or tuple this is, with the names of a named tuple's fields: that is what it prints."""
    kind = "list" if isinstance(value, list) else "tuple"
    return " ".join((kind, *getattr(value, "_fields", ())))


def plain(array):
    """An array's values in one list of numbers or strings."""
    array = np.asarray(array)
    if array.dtype.names:  # quantized
        array = array[array.dtype.names[0]]
    if array.dtype.kind == "c":
        return [[plain(each.real)[0], plain(each.imag)[0]] for each in array.ravel()]
    if array.dtype.kind == "b":
        return [int(each) for each in array.ravel()]
    if array.dtype.kind in "iu":
        return [int(each) for each in array.ravel()]
    if array.dtype.kind in "OSUT":
        return [each if isinstance(each, (int, float)) else str(each) for each in array.ravel()]
    return [float(each) for each in array.ravel()]


def stop(*_):
    """End a call that takes too long."""
    raise TimedOutError


def main(package, calls, answers):
    """Append the answers that are missing."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    tf.zeros([])  # TensorFlow converts arguments otherwise in a process's first call
    known = names(tf)
    lines = pathlib.Path(calls).read_text().splitlines()
    with open(answers, "a+") as file:
        file.seek(0)
        done = file.readlines()
        if done and not done[-1].endswith("\n"):
            file.write("\n")
        for line in lines[len(done) :]:
            faulthandler.dump_traceback_later(
                3 * SECONDS, exit=True
            )  # for what no signal interrupts
            # A mark first: who dies in the call leaves it behind.
            file.write('{"died": true}')
            file.flush()
            text = json.dumps(answer(tf, known, line))
            file.seek(0, 2)
            file.truncate(file.tell() - len('{"died": true}'))
            file.write(text + "\n")
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
