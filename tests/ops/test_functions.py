"""Public functions against what TensorFlow answered to the same calls; see function_calls.py."""

import json
import pathlib
import runpy

import numpy as np
import pytest

import tapeflow as tf

CALLED = runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))
WRITTEN = json.loads(CALLED["VECTORS"].read_text())
# float32 on both sides, summed in another order.
TOLERANCE = {"float32": 2e-4, "float64": 1e-6, "float16": 1e-2}


@pytest.mark.parametrize("call", CALLED["CALLS"])
def test_function_does_as_tensorflow(call):
    got, want = CALLED["answers"](tf, [call])[call], WRITTEN[call]
    assert isinstance(got, str) == isinstance(want, str), (got, want)
    if isinstance(want, str):
        assert got == want
        return
    assert [dtype for dtype, _ in got] == [dtype for dtype, _ in want]
    for (dtype, mine), (_, theirs) in zip(got, want, strict=True):
        if dtype in TOLERANCE:
            np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
        else:
            assert mine == theirs
