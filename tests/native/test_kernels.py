"""Native kernels read the attrs and inputs of their rows by name, and the names are those of the rows."""

import re
from pathlib import Path

import pytest

from tapeflow import _native
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

KERNELS = [
    file
    for file in sorted((Path(__file__).parents[2] / "native/kernels").rglob("*"))
    if file.suffix in (".cc", ".h")
]
# The first and the second of two inputs are clear enough; lists and loops have no names.
BY_POSITION = re.compile(r"\battrs *(?:\[|\+)|\b(?:c|call)\.in\[(?:[2-9]|\d\d)")

FLOAT = ("T", 1 << 1, 1, False)
INDEX = ("Tidx", 1 << 3, 3, False)
INPUTS = [("input", 0, 0, False, 0), ("reduction_indices", 1, 0, False, 0)]
OUTPUTS = [("output", 0, -1, 0, False, 0, -1)]
KEEP_DIMS = ("keep_dims", 2, False, False, None)


def test_kernels_read_by_name():
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in KERNELS
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if BY_POSITION.search(line)
    ]
    assert len(KERNELS) > 50
    assert not found, f"name them with TAPEFLOW_ATTRS and TAPEFLOW_INPUTS (native/kernel.h): {found}"


def test_a_row_takes_kernels_with_its_names():
    assert _native.Op("Sum", [FLOAT, INDEX], INPUTS, OUTPUTS, [KEEP_DIMS]).native_dtypes() == [1, 2, 3, 9]


def test_other_attrs_are_refused():
    message = r"kernel of Sum for float32 reads the attrs \(keep_dims\), but the row has \(keepdims\)"
    with pytest.raises(ValueError, match=message):
        _native.Op("Sum", [FLOAT, INDEX], INPUTS, OUTPUTS, [("keepdims", *KEEP_DIMS[1:])])


@pytest.mark.parametrize("attrs", [[], [KEEP_DIMS, ("more", *KEEP_DIMS[1:])]], ids=["fewer", "more"])
def test_fewer_or_more_attrs_are_refused(attrs):
    with pytest.raises(ValueError, match=r"reads the attrs \(keep_dims\)"):
        _native.Op("Sum", [FLOAT, INDEX], INPUTS, OUTPUTS, attrs)


def test_attrs_that_a_kernel_does_not_read_are_refused():
    with pytest.raises(ValueError, match=r"Abs for float32 reads the attrs \(\), but the row has \(keep_dims\)"):
        _native.Op("Abs", [FLOAT], [("x", 0, 0, False, 0)], OUTPUTS, [KEEP_DIMS])


def test_inputs_in_another_order_are_refused():
    inputs = [(name, 0, 0, False, 0) for name in ("t", "clip_value_max", "clip_value_min")]
    message = r"inputs \(t, clip_value_min, clip_value_max\), but the row has \(t, clip_value_max, clip_value_min\)"
    with pytest.raises(ValueError, match=message):
        _native.Op("ClipByValue", [FLOAT], inputs, OUTPUTS, [])


def test_each_kernel_has_a_row():
    load_all_rows()
    assert set(_native.Op._with_kernels()) - set(REGISTRY) == set()
