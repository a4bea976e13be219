"""Names that are not there: every namespace says where they are, or what is spelled like them."""

import importlib
import pickle
import traceback
from types import ModuleType

import pytest

import tapeflow as tf
from tapeflow.alias import missing
from tapeflow.compat import v1
from tapeflow.core import spelling


def find(root, space):
    """The namespace `space` of a module; None where the package has none."""
    for part in filter(None, space.split(".")):
        root = getattr(root, part, None)
    return root if isinstance(root, ModuleType) and root.__name__.startswith("tapeflow") else None


SPACES = [
    (root, space)
    for root, names in (("tf", tf), ("tf.compat.v1", v1))
    for space in missing.names()
    if find(names, space) is not None
]


def missing_name(space, name):
    """What is said where a namespace lacks `name`; the traceback ends here."""
    with pytest.raises(AttributeError) as caught:
        getattr(space, name)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}
    return str(caught.value)


@pytest.mark.parametrize(("root", "space"), SPACES, ids=[f"{root}.{space}" for root, space in SPACES])
def test_a_mistyped_name_of_each_namespace(root, space):
    module = find(v1 if root == "tf.compat.v1" else tf, space)
    names = [n for n in missing.names()[space] if len(n) > 4 and hasattr(module, n)]
    typed = [name[:-2] + name[-1] + name[-2] for name in names]
    for name, wrong in zip(names, typed, strict=True):
        if name[-1] != name[-2] and not hasattr(module, wrong):
            said = missing_name(module, wrong)
            assert f"has no attribute {wrong!r}" in said
            assert f".{name}" in said or len(spelling.nearest(wrong, names)) > 2
            break
    assert "has no attribute 'nothing_like_that_is_there'" in missing_name(module, "nothing_like_that_is_there")


def only_in_v1():
    """(space, name) of what TensorFlow has in 1.x only and tapeflow has in compat.v1."""
    for space, names in missing.names().items():
        here, there = find(tf, space), find(v1, space)
        aliases = here is None or here.__name__ != f"tapeflow.{space}".rstrip(".")
        if aliases or there is None or space.startswith("contrib"):
            continue
        for name, era in names.items():
            if era == "1" and name not in dir(here) and name in dir(there) and not hasattr(here, name):
                yield space, name


def test_each_name_of_1x_is_said_to_be_in_compat_v1():
    found = list(only_in_v1())
    assert len(found) > 150
    for space, name in found:
        said = missing_name(find(tf, space), name)
        assert "It is a name of TensorFlow 1.x" in said
        assert f"It is here as tf.compat.v1.{space}.{name}.".replace("..", ".") in said, said


def test_names_are_suggested_from_where_programs_find_them():
    assert "Nearest here: tf.nn.relu" in missing_name(tf, "relu")
    assert "tf.image.resize" in missing_name(tf.image, "rezise")
    assert "tf.float32" in missing_name(tf, "flaot32")
    assert "tf.errors.InvalidArgumentError" in missing_name(tf.errors, "InvalidArgument")


def test_modules_that_hold_parts_are_not_suggested():
    assert "tf.data.dataset" not in missing_name(tf.data, "DataSet")


def test_missing_names_are_attribute_errors_in_every_way():
    assert not hasattr(tf, "relu")
    assert getattr(tf, "relu", None) is None
    with pytest.raises(ImportError):
        from tapeflow import relu  # noqa: F401
    with pytest.raises(AttributeError) as caught:
        tf.relu  # noqa: B018
    assert caught.value.name == "relu"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_names_with_two_underscores_are_python_s():
    assert missing_name(tf, "__wrapped__") == "module 'tapeflow' has no attribute '__wrapped__'"


def test_modules_that_are_loaded_later_explain_too():
    module = importlib.import_module("tapeflow.keras.applications")
    assert "ResNet50" in missing_name(tf.keras.applications, "ResNet5O")
    assert module is tf.keras.applications


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("rellu", ["relu", "tanh"], ["relu"]),
        ("adm", ["Adam", "adam", "Nadam"], ["adam", "Nadam"]),
        ("Adm", ["Adam", "adam"], ["Adam"]),
        ("xyz", ["relu"], []),
        ("relu", ["relu", "selu"], ["selu"]),
    ],
)
def test_nearest(name, known, expected):
    assert spelling.nearest(name, known) == expected


def test_did_you_mean():
    assert spelling.did_you_mean("rellu", ["relu"]) == "Did you mean 'relu'?"
    assert spelling.did_you_mean("elu", ["relu", "selu", "celu"]).count(" or ") == 1
    assert spelling.did_you_mean("xyz", ["relu"]) == ""
