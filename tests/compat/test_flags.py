"""Flags, read by our own reader."""

import pytest

from tapeflow.v1 import flag_values as own


@pytest.fixture
def values():
    made = own.FlagValues()
    own.DEFINE_string("name", "x", "A name.", made)
    own.DEFINE_integer("steps", 3, "How many.", made, lower_bound=1)
    own.DEFINE_float("rate", 0.1, "How fast.", made)
    own.DEFINE_boolean("fast", False, "Whether.", made)
    own.DEFINE_list("parts", "a,b", "Which.", made)
    own.DEFINE_multi_integer("n", [1], "Numbers.", made)
    own.DEFINE_enum("mode", "train", ["train", "test"], "What.", made)
    return made


@pytest.mark.parametrize(
    ("words", "name", "want"),
    [
        ([], "steps", 3),
        (["--steps=5"], "steps", 5),
        (["--steps", "5"], "steps", 5),
        (["-steps", "0x10"], "steps", 16),
        (["--fast"], "fast", True),
        (["--nofast"], "fast", False),
        (["--fast=true"], "fast", True),
        (["--parts=u, v"], "parts", ["u", "v"]),
        (["--n=2", "--n=3"], "n", [2, 3]),
        (["--rate=2"], "rate", 2.0),
        (["--mode=test"], "mode", "test"),
    ],
)
def test_values(values, words, name, want):
    assert values(["program", *words]) == ["program"]
    assert getattr(values, name) == want


def test_what_is_no_flag_is_left(values):
    assert values(["program", "file", "--steps=4", "--", "--name=y"]) == ["program", "file", "--name=y"]
    assert values(["program", "--unknown=1"], known_only=True) == ["program", "--unknown=1"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--unknown"], own.UnrecognizedFlagError),
        (["--steps=many"], own.IllegalFlagValueError),
        (["--steps=0"], own.IllegalFlagValueError),
        (["--mode=other"], own.IllegalFlagValueError),
        (["--fast=perhaps"], own.IllegalFlagValueError),
        (["--name"], own.Error),
    ],
)
def test_errors(values, words, error):
    with pytest.raises(error):
        values(["program", *words])


def test_reading_before_parsing(values):
    with pytest.raises(own.UnparsedFlagAccessError):
        _ = values.steps
    with pytest.raises(AttributeError):
        _ = values.other


def test_required_and_defined_twice(values):
    own.DEFINE_string("must", None, "It.", values, required=True)
    with pytest.raises(own.IllegalFlagValueError, match="--must"):
        values(["program"])
    with pytest.raises(own.DuplicateFlagError):
        own.DEFINE_string("name", "", "", values)
