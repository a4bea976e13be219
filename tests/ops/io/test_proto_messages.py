"""Messages decoded and encoded by the names of their types and fields."""

import pytest

import tapeflow as tf


@pytest.mark.parametrize("length", [-(2**62), 0, 1 << 20])
def test_names_whose_class_lies_about_their_length(length):
    """The library of messages would read as many bytes of them."""

    class Name(str):
        def __len__(self):
            return length

    example = tf.train.Example(features=tf.train.Features()).SerializeToString()
    sizes, (values,) = tf.io.decode_proto([example], Name("tensorflow.Example"), [Name("features")], [tf.string])
    assert sizes.numpy().tolist() == [[1]]
    assert tf.io.encode_proto(sizes, [values], [Name("features")], Name("tensorflow.Example")).numpy()[0] == example
    with pytest.raises(tf.errors.InvalidArgumentError, match="No descriptor found"):
        tf.io.decode_proto([example], Name("a.B"), ["features"], [tf.string])


def test_bytes_of_a_message_within_are_written_as_they_are():
    """As TensorFlow does: a damaged message inside is none of its business."""
    found = tf.io.encode_proto([[1]], [[[b"\xff\xff"]]], ["features"], "tensorflow.Example")
    assert found.numpy().tolist() == [b"\n\x02\xff\xff"]
