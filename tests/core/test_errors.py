import pickle

import pytest

from tapeflow.core import errors


def test_facts():
    error = errors.InvalidArgumentError(None, None, "indices = 7 is not in [0, 3) [Op:GatherV2]")
    assert str(error) == error.message == "indices = 7 is not in [0, 3) [Op:GatherV2]"
    assert error.op is None
    assert error.node_def is None
    assert error.error_code == errors.INVALID_ARGUMENT == 3
    assert error.experimental_payloads == {}
    assert isinstance(error, errors.OpError)


def test_each_code_has_a_class():
    for code in range(1, 17):
        error = errors.from_code(code, "text")
        assert error.error_code == code
        assert errors.error_code_from_exception_type(type(error)) == code
        assert errors.exception_type_from_error_code(code) is type(error)
    assert type(errors.from_code(11, "end")) is errors.OutOfRangeError


def test_unknown_code():
    assert type(errors.from_code(77, "text")) is errors.UnknownError
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(77)


def test_pickle():
    error = pickle.loads(pickle.dumps(errors.NotFoundError(None, None, "no such file")))
    assert type(error) is errors.NotFoundError
    assert str(error) == "no such file"
    error = pickle.loads(pickle.dumps(errors.OpError(None, None, "text", 5)))
    assert error.error_code == 5


def test_error_of_a_graph_shows_where_its_operation_was_made():
    class Operation:
        name = "made_here"
        traceback = ('  File "program.py", line 3, in f\n',)

    error = errors.InternalError(None, Operation(), "broken")
    assert str(error) == (
        "broken\n\nOriginal stack trace for 'made_here':\n  File \"program.py\", line 3, in f\n"
    )


def test_subclass_keeps_its_code():
    class Mine(errors.AbortedError):
        pass

    assert Mine(None, None, "text").error_code == errors.ABORTED
    assert errors.exception_type_from_error_code(errors.ABORTED) is errors.AbortedError
