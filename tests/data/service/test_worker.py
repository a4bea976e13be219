"""What a worker of the data service makes, in this process: no Ray is needed."""

import pytest

import tapeflow as tf
from tapeflow.data.service.worker import _Stream


def test_elements_before_an_error_are_kept():
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
    stream = _Stream(data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")))
    found, ended = stream.next(16)
    assert ([float(x) for (x,) in found], ended) == ([1.0, 0.5], False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        stream.next(16)
    found, ended = stream.next(16)
    assert ([float(x) for (x,) in found], ended) == ([0.25], True)


def test_a_closed_pass_has_no_more_elements():
    stream = _Stream(tf.data.Dataset.range(5))
    assert len(stream.next(2)[0]) == 2
    stream.close()
    assert stream.next(2) == ([], True)
