"""Random calls of rows in graphs, whose inputs are partly known, against TensorFlow's shape inference.

The calls are those of the rows' samples, with placeholders of varied shapes in place of the inputs. Where TensorFlow
refuses a call, the rules do; and they know at least as much of the results' shapes. That what they know besides is
right is for `test_shape_rules.py`. What TensorFlow accepts may be refused: some kernels check what its rules do not.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import pickle
import random
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

SEED = 11
SAMPLES = 4  # of each row
VARIANTS = 6  # of each sample

_FFT = "TensorFlow's rule takes the shape for that of the input, whatever the lengths are"
_ROWS = "TensorFlow takes numbers of rows and columns that are not known yet for none"
_BAND = "TensorFlow takes diagonals that are not known yet for a single one, and overlooks some shapes of several"
_BLOCKS = "TensorFlow wants to know how many dimensions have blocks"
_RESERVED = "the two outputs that nobody reads are scalars here, empty vectors in TensorFlow"

# Rows whose rules say less than TensorFlow's on purpose, or something else.
_BORDERS = "TensorFlow takes borders that are not known for none"
DIFFERENT = {
    "FusedPadConv2D": _BORDERS,
    "FusedResizeAndPadConv2D": _BORDERS,
    "ParallelConcat": "TensorFlow refuses inputs of unknown shape, which are checked when it runs",
    "UniformQuantizedDot": "The shapes of scales are checked when it runs",
    "ApproxTopK": "TensorFlow refuses a k of 0",
    "BatchToSpaceND": _BLOCKS,
    "ConcatV2": "TensorFlow refuses a list of one tensor",
    "DenseBincount": "TensorFlow's rule says a scalar for a scalar, where its kernel returns a vector",
    "DenseCountSparseOutput": "TensorFlow overlooks that weights of unknown size may be empty",
    "ExtractVolumePatches": "TensorFlow's rule has three spatial dimensions, two of them where one is unknown",
    "FFTND": _FFT,
    "FusedBatchNormGrad": _RESERVED,
    "FusedBatchNormGradV2": _RESERVED,
    "FusedBatchNormGradV3": _RESERVED,
    "IFFTND": _FFT,
    "IRFFTND": _FFT,
    "MatrixDiagV2": _ROWS,
    "MatrixDiagV3": _ROWS,
    "MatrixSetDiagV2": _BAND,
    "MatrixSetDiagV3": _BAND,
    "RFFTND": _FFT,
    "RaggedCountSparseOutput": "TensorFlow's rule takes the rank of the values, which are always a vector",
    "RandomIndexShuffle": "TensorFlow refuses seeds of unknown size",
    "SoftmaxCrossEntropyWithLogits": "TensorFlow overlooks that a known dimension of 1 may broadcast",
    "SpaceToBatchND": _BLOCKS,
    "Substr": "TensorFlow refuses sizes of which one is not known",
}


def neighbour(name):
    """A test module beside this one."""
    path = pathlib.Path(__file__).with_name(name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def varied(numbers: random.Random, part):
    """An input as `oracle_shapes.py` reads it: a placeholder of a like shape, or sometimes the value itself."""
    if isinstance(part, list):
        return [varied(numbers, each) for each in part]
    dtype, value = part[0], np.asarray(part[1])
    shape = list(value.shape)
    how = numbers.choice(["same", "same", "size", "size", "rank", "more", "fewer", "other"])
    at = numbers.randrange(len(shape) + 1)
    if how == "rank":
        return dtype, None, None
    if how == "same" and value.size <= 8 and value.dtype.kind in "iub" and numbers.random() < 0.7:
        return dtype, None, value
    if how == "more":
        shape.insert(at, numbers.choice([1, 2, None]))
    elif at < len(shape):
        if how == "size":
            shape[at] = None
        elif how == "fewer":
            shape.pop(at)
        elif how == "other":
            shape[at] += 1
    return dtype, shape, None


def tensors(parts) -> bool:
    """Whether all inputs are of a dtype that another process knows."""
    return all(tensors(p) if isinstance(p, list) else p[0] is not None for p in parts)


def random_calls(seed: int):
    oracle = neighbour("test_oracle")
    numbers, seen, calls = random.Random(seed), Counter(), []
    for row, sample, _ in oracle.samples():
        if sample.raises is not None or seen[row.name] == SAMPLES:
            continue
        seen[row.name] += 1
        name, inputs, attrs = oracle.call_of(row, sample)
        if tensors(inputs.values()):
            for _ in range(VARIANTS):
                calls.append((name, {key: varied(numbers, part) for key, part in inputs.items()}, attrs))
    return calls


def answers(python: str, module: str, calls, folder: pathlib.Path):
    """The shapes, or the error's class, of each call."""
    given, found = folder / "calls", folder / module
    given.write_bytes(pickle.dumps(calls))
    program = str(pathlib.Path(__file__).with_name("oracle_shapes.py"))
    environment = dict(os.environ)
    if module == "tensorflow":
        environment.pop("PYTHONPATH", None)
    subprocess.run(
        [python, program, module, str(given), str(found)], check=True, env=environment, capture_output=True
    )
    return pickle.loads(found.read_bytes())


def as_much_known(ours, theirs) -> bool:
    """Whether each shape of `ours` says what that of `theirs` says, or more."""
    return len(ours) == len(theirs) and all(
        their is None
        or (our is not None
        and len(our) == len(their)
        and all(known in (None, size) for size, known in zip(our, their, strict=True)))
        for our, their in zip(ours, theirs, strict=True)
    )


def differences(seed: int, folder: pathlib.Path):
    """{name of a row: descriptions of the calls that are accepted, or of which less is known, than by TensorFlow}"""
    calls = random_calls(seed)
    found = defaultdict(list)
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", calls, folder)
    ours = answers(sys.executable, "tapeflow", calls, folder)
    for call, their, our in zip(calls, theirs, ours, strict=True):
        if isinstance(our, str):
            wrong = our not in ("ValueError", their)
        else:
            wrong = their == "ValueError" or (isinstance(their, list) and not as_much_known(our, their))
        if wrong:
            found[call[0]].append(f"{call[1]} {call[2]}: {our}, in TensorFlow {their}")
    return len(calls), found


def test_rules_know_as_much_as_tensorflow(tmp_path):
    count, found = differences(SEED, tmp_path)
    assert count > 9000
    assert {name: texts[:3] for name, texts in found.items() if name not in DIFFERENT} == {}
