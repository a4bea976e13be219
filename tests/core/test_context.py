import contextlib
import threading

import pytest

import tapeflow as tf
from tapeflow.core import context, device, errors


@pytest.fixture
def gpu():
    added = device.add_device("GPU")
    yield added
    device.remove_device(added)
    context.reset_devices()


class Graph:
    """What `context` needs of a graph."""

    def __init__(self, building_function=False):
        self.building_function = building_function
        self.scopes = []

    def name_scope(self, name):
        return contextlib.nullcontext(f"graph:{name}")

    def get_name_scope(self):
        return "in_graph"

    @contextlib.contextmanager
    def device(self, name):
        self.scopes.append(name)
        yield
        self.scopes.pop()


def test_name_scopes():
    with context.name_scope("a") as scope:
        assert scope == "a/"
        with context.name_scope("b") as scope:
            assert scope == "a/b/"
        with context.name_scope("b") as scope:
            assert scope == "a/b/"
        with context.name_scope("c/d") as scope:
            assert scope == "a/c/d/"
        with context.name_scope("root/") as scope:
            assert scope == "root/"
        with context.name_scope("") as scope:
            assert scope == ""
        assert context.current_name_scope() == "a/"
    assert context.current_name_scope() == ""


def test_name_scope_can_be_entered_again_while_entered():
    scope = context.name_scope("q")
    with scope as outer, scope as inner:
        assert (outer, inner) == ("q/", "q/q/")
    assert context.current_name_scope() == ""


def test_name_scope_of_1x():
    with context.name_scope_v1(None, "default", [1]) as scope:
        assert scope == "default/"
        with context.name_scope_v1(None) as scope:
            assert scope == ""
    for wrong in (lambda: context.name_scope_v1(3), lambda: context.name_scope(None)):
        with pytest.raises(ValueError, match="name for name_scope must be a string"):
            wrong()


def test_threads_have_their_own_scopes():
    seen = []
    with context.name_scope("a"):
        thread = threading.Thread(target=lambda: seen.append(context.current_name_scope()))
        thread.start()
        thread.join()
    assert seen == [""]


def test_device(gpu):
    told = []
    context.on_device_change.append(told.append)
    try:
        with context.device("/gpu:0"):
            assert context.device_index() == gpu.index
            assert context.device_name() == "/device:GPU:0"
            with context.device("/task:0"):
                assert context.device_name() == "/task:0/device:GPU:0"
            with context.device(None):
                assert context.device_index() == 0
            with context.device(device.DeviceSpec(device_type="CPU", device_index=0)):
                assert context.device_index() == 0
        assert context.device_index() == 0
    finally:
        context.on_device_change.remove(told.append)
    assert told == [1, 0, 1, 0, 1, 0]


def test_device_is_left_by_an_exception(gpu):
    with pytest.raises(KeyError), context.device("gpu:0"):
        raise KeyError
    assert context.device_index() == 0


def test_absent_device():
    device.set_soft_placement(False)
    scope = context.device("/gpu:0")
    try:
        with pytest.raises(errors.InvalidArgumentError, match="Could not satisfy device specification"):
            scope.__enter__()
    finally:
        device.set_soft_placement(True)
    assert context.device_index() == 0


def test_wrong_device_argument():
    with pytest.raises(ValueError, match=r"Expecting a string device name. Got <class 'int'>\(3\)"):
        context.device(3).__enter__()
    with pytest.raises(RuntimeError, match=r"tf.device does not support functions"):
        context.device_v1(lambda op: "/cpu:0")


def test_graph_scope():
    graph = Graph()
    assert context.executing_eagerly()
    with context.name_scope("a"), context.graph_scope(graph):
        assert not context.executing_eagerly()
        assert context.current_graph() is graph
        assert context.current_name_scope() == "in_graph/"
        with context.name_scope("b") as scope:
            assert scope == "graph:b"
        with context.device("/gpu:7"):
            assert graph.scopes == ["/gpu:7"]
        with context.eager_mode():
            assert context.executing_eagerly()
        assert not context.executing_eagerly()
    assert context.executing_eagerly()


def test_a_block_left_late_heals_those_left_half():
    outer = context.graph_scope(None)
    outer.__enter__()
    context.graph_scope(Graph()).__enter__()
    outer.__exit__(None, None, None)
    assert context.executing_eagerly()
    assert float(tf.add(1.0, 2.0)) == 3.0


def test_a_block_left_after_those_around_changes_nothing():
    outer, inner = context.graph_scope(Graph()), context.graph_scope(Graph())
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert context.executing_eagerly()
    assert float(tf.add(1.0, 2.0)) == 3.0


def test_blocks_that_were_not_entered():
    for block in (context.graph_scope(None), context.pause_recording()):
        with pytest.raises(RuntimeError, match="has not been entered"):
            block.__exit__(None, None, None)


def test_eager_mode_decorates():
    @context.eager_mode()
    def countdown(n):
        assert context.executing_eagerly()
        return n and countdown(n - 1)

    with context.graph_scope(Graph()):
        assert countdown(3) == 0
        assert not context.executing_eagerly()


def test_init_scope_leaves_functions_only():
    with context.graph_scope(Graph()) as graph:
        with context.graph_scope(Graph(building_function=True)), context.init_scope():
            assert context.current_graph() is graph
        with context.init_scope():
            assert context.current_graph() is graph
    with context.graph_scope(Graph(building_function=True)), context.init_scope():
        assert context.executing_eagerly()
    with context.name_scope("a"), context.init_scope():
        assert context.current_name_scope() == "a/"


def test_graph_mode_of_the_process():
    context.disable_eager_execution()
    try:
        assert not context.executing_eagerly()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(context.executing_eagerly()))
        thread.start()
        thread.join()
        assert seen == [False]
    finally:
        context.enable_eager_execution()
    assert context.executing_eagerly()


def test_enable_eager_execution_rejects():
    with pytest.raises(TypeError, match=r"config must be a tf.ConfigProto, but got <class 'int'>"):
        context.enable_eager_execution(config=3)
    with pytest.raises(ValueError, match=r"device_policy must be one of .* but got 77"):
        context.enable_eager_execution(device_policy=77)
    with pytest.raises(ValueError, match=r"execution_mode must be one of .* but got 77"):
        context.enable_eager_execution(execution_mode=77)
    with context.graph_scope(Graph()), pytest.raises(ValueError, match="at program startup"):
        context.enable_eager_execution()


def test_execution_mode():
    with context.execution_mode(context.ASYNC):
        assert context.get_execution_mode() == context.ASYNC
        context.async_wait()
    assert context.get_execution_mode() == context.SYNC


def test_tensor_equality():
    told = []
    context.on_tensor_equality_change.append(told.append)
    try:
        context.disable_tensor_equality()
        assert not context.tensor_equality()
        context.enable_tensor_equality()
        assert context.tensor_equality()
    finally:
        context.on_tensor_equality_change.remove(told.append)
    assert told == [False, True]
