"""Binding of arguments to input signatures and to traces, their names, and warnings of frequent traces."""

import copy
import functools
import gc
import logging
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.function import tracing_warnings

SCALAR = tf.TensorSpec([], tf.float32)


def twice(x):
    return x * 2


class Named:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64, name="given")])
    def method(self, value):
        return value

    @tf.function
    def without_self(self, value):
        return value

    @tf.function
    def with_self(self, value):
        return self.factor * value


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (lambda x: x.append(tf.constant(0.0)), [tf.constant(1.0)]),
        (lambda x: x.reverse(), [tf.constant(1.0), tf.constant(2.0)]),
        (lambda x: x.pop("a"), {"a": tf.constant(1.0), "b": 2}),
        (lambda x: x[0]["a"].append(x[1].pop()), [{"a": []}, [tf.constant(1.0)]]),
    ],
)
def test_arguments_that_a_trace_changes_raise(change, value):
    def body(first, changed, **more):
        change(changed)

    with pytest.raises(ValueError, match=r"body\(first, changed, \*\*more\) should not modify .*: changed"):
        tf.function(body, autograph=False)(1, value)
    tf.function(lambda x: change(copy.copy(x)) if isinstance(x, dict) else None, autograph=False)(value)


def test_values_that_no_trace_can_be_known_by_raise():
    same = tf.function(lambda x: 1.0)
    for value in (set(), [{"a": set()}], type("Unhashable", (), {"__hash__": None})()):
        with pytest.raises(TypeError, match="Could not generate a generic TraceType"):
            same(value)
    with pytest.raises(TypeError, match=r"weakref input .* not supported"):
        same(weakref.ref(Named()))


@pytest.mark.parametrize(
    ("function", "specs", "text"),
    [
        (lambda a, b: a, 1, "missing type constraint for b"),
        (lambda a, b, *c: a, 1, "missing type constraint for b"),
        (functools.partial(lambda a, b, c: a, 1), 1, "missing type constraint for c"),
        (lambda a: a, 3, "contains 2 extra type constraints"),
        (lambda a, *, k: a, 2, "keyword-only parameter `k` must have a default value"),
    ],
)
def test_input_signatures_that_do_not_fit_their_function_raise(function, specs, text):
    with pytest.raises(TypeError, match=text):
        tf.function(function, input_signature=[SCALAR] * specs)


def test_defaults_beyond_an_input_signature_are_kept():
    @tf.function(input_signature=[SCALAR])
    def f(x, sign=1, **more):
        return x * sign

    assert f(2.0).numpy() == f(2.0, 1).numpy() == 2
    with pytest.raises(TypeError, match=r"Can not cast -1 to Literal\[1\]"):
        f(2.0, sign=-1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        f(2.0, other=1)
    assert f.get_concrete_function().structured_input_signature[0][1] == 1
    both = tf.function(lambda x, flag=True: x if flag else -x, input_signature=[SCALAR, tf.TensorSpec([], tf.bool)])
    assert [both(1.0).numpy(), both(1.0, flag=False).numpy()] == [1, -1]


@pytest.mark.parametrize(
    ("spec", "value", "expected"),
    [
        (tf.TensorSpec([2], tf.float32), np.ones(2), [1, 1]),
        (tf.TensorSpec([2], tf.float32), np.array([1, 2]), [1, 2]),
        (tf.TensorSpec([None], tf.int32), [1, 2], [1, 2]),
        ([SCALAR], [3.0], [3]),
        ({"a": SCALAR}, {"a": 4}, {"a": 4}),
    ],
)
def test_values_become_what_an_input_signature_wants(spec, value, expected):
    result = tf.function(lambda x: x, input_signature=[spec])(value)
    assert type(result) is type(spec) or isinstance(result, tf.Tensor)
    tf.nest.map_structure(lambda x: np.testing.assert_array_equal(x, tf.nest.flatten(expected)), result)


@pytest.mark.parametrize(
    ("spec", "value", "text"),
    [
        (tf.TensorSpec([2], tf.float32), tf.ones(3), r"Can not cast TensorSpec\(shape=\(3,\)"),
        (tf.TensorSpec([2], tf.float32), tf.ones(2, tf.int32), "dtype=tf.int32.* to .*dtype=tf.float32"),
        ([SCALAR], (1.0,), r"Can not cast \(1.0,\) to list type"),
        ([SCALAR], [1.0, 2.0], "to have length of 1"),
        ({"a": SCALAR}, {"b": 1.0}, "has different keys with the TraceType Dict"),
        ({"a": SCALAR}, [1.0], r"Can not cast \[1.0\] to a Dict type"),
        (tf.RaggedTensorSpec([None, None]), tf.ragged.constant([[1]]), "Can not cast"),
    ],
)
def test_what_an_input_signature_does_not_want_raises(spec, value, text):
    f = tf.function(lambda x: x, input_signature=[spec])
    with pytest.raises(TypeError, match=rf"Binding inputs to tf.function failed due to `.*{text}"):
        f(value)


def test_names_of_arguments():
    @tf.function
    def f(_x, y, *rest, **more):
        return y

    spec = functools.partial(tf.TensorSpec, (), tf.float32)
    concrete = f.get_concrete_function(spec(), {"k": [spec(), spec("own")]}, spec(), **{"a-b": spec(), "z": spec("w")})
    assert [x.op.name for x in concrete.inputs] == ["Placeholder", "y", "own", "rest_0", "a_b", "w"]
    given = [x.op.get_attr("_user_specified_name") for x in concrete.inputs]
    assert given == [b"_x", b"y", b"own", b"rest_0", b"a_b", b"w"]
    args, kwargs = concrete.structured_input_signature
    assert [x.name for x in tf.nest.flatten((args, kwargs))] == ["tensor__x", "y_k_0", "own", "rest_0", "a_b", "w"]
    assert str(concrete.function_type).count("name='own'") == 1
    message = concrete.function_def
    assert message.arg_attr[1].attr["_user_specified_name"].s == b"y"
    with pytest.raises(ValueError, match="Name collision after sanitization"):
        f(1, 2, **{"a-b": 1, "a/b": 2})


def test_a_name_that_is_asked_for_makes_a_trace():
    f = tf.function(lambda x: x)
    first = f.get_concrete_function(tf.TensorSpec(None, tf.float32, "y"))
    assert f.get_concrete_function(tf.TensorSpec(None, tf.float32)) is first
    other = f.get_concrete_function(tf.TensorSpec(None, tf.float32, "z"))
    assert other.structured_input_signature[0][0].name == "z"
    assert other(z=tf.constant(1.0)).numpy() == 1
    with pytest.raises(TypeError, match="missing required arguments: z"):
        other(y=tf.constant(1.0))


def test_methods_of_objects_that_are_gone():
    assert Named().without_self(tf.constant(1.0)).numpy() == 1
    assert [x.op.name for x in Named().method.get_concrete_function().inputs] == ["given"]
    with pytest.raises(ReferenceError, match="object of the traced method 'with_self' no longer exists"):
        Named().with_self(tf.constant(1.0))


def test_traces_name_what_they_miss():
    @tf.function
    def f(x, y=5, *parts, **more):
        return x

    concrete = f.get_concrete_function(1, 2, tf.constant(1.0))
    with pytest.raises(TypeError, match="missing a required argument: 'parts_0'"):
        concrete(1, 2)
    concrete = f.get_concrete_function({"a": tf.constant(1)})
    with pytest.raises(TypeError, match=r"Can not cast .*Tensor.* to a Dict type"):
        concrete(tf.constant(1), 5)
    concrete = f.get_concrete_function(tf.ragged.constant([[1, 2]]))
    for other in (tf.ragged.constant([[1.0]]), tf.ragged.constant([[[1]]])):
        with pytest.raises(TypeError, match="Binding inputs to"):
            concrete(other, 5)


@pytest.mark.parametrize("signature", [None, (SCALAR,)])
def test_functions_are_pickled(signature):
    f = tf.function(twice, input_signature=signature, reduce_retracing=True)
    again = pickle.loads(pickle.dumps(f))
    assert again is not f
    assert again.input_signature == signature
    assert again(tf.constant(2.0)).numpy() == f(tf.constant(2.0)).numpy() == 4


def test_functions_are_freed_at_once():
    gc.disable()
    try:
        f = tf.function(twice)
        f(tf.constant(1.0))
        model = Named()
        model.without_self(tf.constant(1.0))
        gone = [weakref.ref(f), weakref.ref(model.without_self)]
        del f, model
        assert [x() for x in gone] == [None, None]
    finally:
        gc.enable()


def _warnings(caplog, calls):
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        calls()
    return [r for r in caplog.records if "retracing" in r.getMessage()]


def test_frequent_traces_warn_twice(caplog):
    logging.getLogger("tensorflow").propagate = True
    f = tf.function(lambda x: x)
    assert len(_warnings(caplog, lambda: [f(i) for i in range(12)])) == 2
    quiet = tf.function(lambda x: x, reduce_retracing=True)
    assert not _warnings(caplog, lambda: [quiet(i) for i in range(12)])


def test_traces_among_many_calls_do_not_warn(caplog):
    logging.getLogger("tensorflow").propagate = True
    f = tf.function(lambda x: x)

    def calls():
        for i in range(12):
            for _ in range(5):  # all but the first are served by native code
                f(i)

    assert not _warnings(caplog, calls)


def test_functions_made_in_a_loop_warn(caplog):
    logging.getLogger("tensorflow").propagate = True

    def calls():
        for _ in range(5):

            @tf.function
            def f(x):
                return x

            f(1)

    assert len(_warnings(caplog, calls)) == 1


def test_calls_of_many_threads_are_counted():
    calls = tracing_warnings.Calls()

    def work():
        for _ in range(300):
            calls.without_trace(7)
            calls.with_trace(None, str, quiet=True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert calls.recent == sum(calls.served)
    assert calls.recent - calls.served[0] <= 10


def test_concrete_functions_are_those_of_an_earlier_trace_that_serves():
    f = tf.function(lambda x, y: x)
    wide = f.get_concrete_function(tf.TensorSpec([None], tf.float32), 1)
    assert f.get_concrete_function(tf.TensorSpec([3], tf.float32), 1) is wide
    assert f.get_concrete_function(tf.constant([1.0, 2.0]), 1) is wide
    assert f.get_concrete_function(tf.TensorSpec([3], tf.float32), 2) is not wide
    assert f.experimental_get_tracing_count() == 2


def test_tensors_of_a_function_that_has_ended_are_no_arguments():
    kept = []
    tf.function(lambda x: kept.append(x + 1))(tf.constant(1))
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        tf.function(lambda x: x * 2)(kept[0])
