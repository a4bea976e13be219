"""Extension types in the signatures of functions of a SavedModel."""

import subprocess
import sys
import typing

import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.core.specs.anonymous_extension_type import AnonymousExtensionType
from tapeflow.saved_model import structures


class Masked(tf.experimental.ExtensionType):
    __name__ = "tests.Masked"
    values: tf.Tensor
    mask: tf.Tensor
    scale: int = 1
    sizes: tuple[int, ...] = ()
    names: typing.Mapping[str, int] = {}


class Unnamed(tf.experimental.ExtensionType):
    values: tf.Tensor


class Model(tf.Module):
    @tf.function
    def __call__(self, x):
        return Masked(x.values * 2, ~x.mask, x.scale + 1, x.sizes, x.names)

    @tf.function
    def make(self, values):
        return [Masked(values, values > 1, sizes=(1, 2), names={"a": 1})]


@pytest.fixture
def saved(tmp_path):
    model = Model()
    model(Masked([1.0, 2.0], [True, False], names={"b": 2, "a": 1}))
    model.make(tf.constant([1.0, 2.0]))
    tf.saved_model.save(model, tmp_path / "model")
    return tmp_path / "model"


def test_values_of_a_known_class(saved):
    loaded = tf.saved_model.load(saved)
    result = loaded(Masked([1.0, 2.0], [True, False], names={"b": 2, "a": 1}))
    assert type(result) is Masked
    assert (result.values.numpy().tolist(), result.mask.numpy().tolist()) == ([2, 4], [False, True])
    assert (result.scale, dict(result.names)) == (2, {"a": 1, "b": 2})
    with pytest.raises(ValueError, match=r"Expected these arguments to match one of the following 1 option"):
        loaded(Masked([1.0, 2.0], [True, False]))


def test_values_of_a_class_that_is_not_there(saved):
    program = f"""
import tapeflow as tf
[made] = tf.saved_model.load({str(saved)!r}).make(tf.constant([1.0, 3.0]))
print(type(made).__name__, made.mask.numpy().tolist(), made.sizes, dict(made.names), bool(made == made))
print(type(made._type_spec).__qualname__)
try:
    made.sizes = 3
except AttributeError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [
        "AnonymousExtensionType [False, True] (1, 2) {'a': 1} True",
        "AnonymousExtensionTypeSpec",
        "Cannot set attribute `sizes`. AnonymousExtensionType instances are immutable.",
    ]


def test_classes_without_a_name_cannot_be_saved(tmp_path):
    with pytest.raises(TypeError, match="No encoder for object"):
        structures.encode(tf.type_spec_from_value(Unnamed([1.0])))
    with pytest.raises(ValueError, match="already been registered"):

        class Other(tf.experimental.ExtensionType):
            __name__ = "tests.Masked"

    with pytest.raises(ValueError, match="must be a string"):

        class Another(tf.experimental.ExtensionType):
            __name__ = 3


def spec_message():
    return structures.encode(tf.type_spec_from_value(Masked([1.0], [True])))


def test_specs_in_files():
    message = spec_message()
    assert structures.decode_proto(message) == tf.type_spec_from_value(Masked([1.0], [True]))
    message.type_spec_value.type_spec_class_name = "tests.NotThere.Spec"
    anonymous = structures.decode_proto(message)
    assert isinstance(anonymous, AnonymousExtensionType.Spec)
    assert structures.decode_proto(spec_message()) != anonymous


def damaged(change):
    message = spec_message()
    change(message.type_spec_value.type_state.tuple_value.values)
    return message


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda fields: fields.pop(), "has the fields"),
        (lambda fields: fields[0].tuple_value.values.pop(), "malformed"),
        (lambda fields: fields[0].CopyFrom(protos.StructuredValue(int64_value=3)), "malformed"),
        (lambda fields: fields[0].tuple_value.values[0].CopyFrom(protos.StructuredValue(int64_value=3)), "malformed"),
        (lambda fields: fields[0].tuple_value.values[1].CopyFrom(protos.StructuredValue(int64_value=3)), "values"),
    ],
)
def test_damaged_specs_raise(change, error):
    with pytest.raises(ValueError, match=error):
        structures.decode_proto(damaged(change))


@pytest.mark.parametrize("name", ["_values", "__class__", "_from_components", "flatten", "a b", ""])
def test_fields_of_unknown_classes_hide_nothing(name):
    message = spec_message()
    message.type_spec_value.type_spec_class_name = "tests.NotThere.Spec"
    message.type_spec_value.type_state.tuple_value.values[0].tuple_value.values[0].string_value = name
    with pytest.raises(ValueError, match="cannot be a field"):
        structures.decode_proto(message)
