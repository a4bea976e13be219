"""`Session` of 1.x: runs parts of a graph, and owns the values of its variables."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api, providers
from tapeflow.core import dtypes, errors
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries, public, public_methods
from tapeflow.core.threads.waiting import Cancellation
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import graph_def
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import order, session_handles
from tapeflow.graph.run.fetching import Fetches, fed, feed_tensors
from tapeflow.graph.run.resolving import Resolver
from tapeflow.graph.run.shared import Shared
from tapeflow.graph.tensor import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.core.errors import InvalidArgumentError

_Eager = _native.EagerTensor


class _Defaults(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Any] = []


_defaults = _Defaults()


class _Step:
    """What a session does for one combination of fetches and feeds."""

    __slots__ = ("edits", "plan", "fetches", "keep", "feeds")

    def __init__(self, edits: int, plan: Any, fetches: Fetches, keep: Any, feeds: Any):
        self.edits = edits  # those of the graph when the plan was made
        self.plan = plan
        self.fetches = fetches
        self.keep = keep  # objects whose ids are in the key under which this is found
        self.feeds = feeds


class _Partial:
    """A run in parts: what was fed and computed so far."""

    def __init__(self, fetches: Fetches, feeds: list[SymbolicTensor]):
        self.allowed = {id(x) for x in fetches.tensors} | {id(x) for x in fetches.operations}
        self.feeds = feeds
        self.known: dict[int, tuple[SymbolicTensor, Any]] = {}
        self.done: set[Any] = set()


def _engine(session: BaseSession, target: str, config: Any) -> Any:
    """What makes and runs the plans of a session: this process, or a server."""
    if target and target != "local":
        return providers.load("targets").engine(session, target, config)
    return Resolver(Shared(), config, session._cancellation)


@public_methods
class BaseSession:
    """Runs operations of a graph.

    Args:
      target: "" (this process), or the target of a server, such as "grpc://localhost:2222".
      graph: None: the default graph.
      config: a ConfigProto.

    Raises TypeError for arguments of wrong types, NotFoundError for a target of no known kind, and the errors of
    servers that cannot be reached.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config=None):
        if graph is None:
            self._graph: Graph = get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        else:
            self._graph = graph
        if target and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None and not hasattr(config, "gpu_options"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._timeout = 0 if config is None else config.operation_timeout_in_ms
        self._target = target if isinstance(target, bytes) else (target or "").encode()
        self._config = config
        self._closed = False
        self._aborted = False
        self._lock = threading.RLock()
        self._steps: dict[Any, _Step] = {}
        # What `_known_plan` found, with the edits of the graph at that time.
        self._plans: dict[Any, tuple[int, Any]] = {}
        self._partial: dict[str, _Partial] = {}
        self._cancellation = Cancellation()
        self._engine: Any = _engine(self, self._target.decode(), config)

    @property
    def graph(self):
        return self._graph

    @property
    def graph_def(self):
        """The graph as a GraphDef."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self):
        return self._target

    @property
    def session_id(self):
        return id(self)

    def list_devices(self):
        """Descriptions of the devices that operations can run on."""
        self._check_open()
        return self._engine.devices()

    def close(self):
        """Frees what the session holds. Further runs raise RuntimeError."""
        self._cancellation.cancel()
        with self._lock:
            was_closed, self._closed = self._closed, True
            self._steps.clear()
            self._plans.clear()
        if not was_closed:
            self._engine.close()

    def abort(self) -> None:
        """Let all further runs raise AbortedError: the resources of its server were reset."""
        self._cancellation.cancel()
        self._aborted = True

    def __del__(self):
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._aborted:
            raise errors.AbortedError(None, None, f"Session {self.session_id} is not found: its server was reset.")

    def run(
        self, fetches: TensorLike | Operation, feed_dict: dict[Any, Any] | dict[str, Any] | None = None, options=None,
        run_metadata=None,
    ):
        """The values of `fetches`: a tensor, operation, name, or a nested structure of such.

        Args:
          feed_dict: values in place of tensors.
          options: a RunOptions; with a trace level, `run_metadata` gets the times of the operations, with
            `output_partition_graphs` the graph that ran.

        Raises RuntimeError in a closed session, TypeError and ValueError for fetches and feeds that do not fit, and
        the errors of operations.
        """
        self._check_open()
        if (
            type(fetches) is SymbolicTensor
            and not feed_dict
            and options is None
            and not self._timeout
        ):
            step = self._steps.get(id(fetches))
            if step is not None and step.edits == self._graph.edits:
                return step.plan()[0].numpy()
        return self._run(fetches, feed_dict, options, run_metadata)

    def _run(self, fetches: Any, feed_dict: Any, options: Any, metadata: Any) -> Any:
        graph = self._graph
        if graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        pairs: list[tuple[SymbolicTensor, Any]] = []
        if feed_dict:
            pairs = feed_tensors(graph, feed_dict)
        if metadata is not None:
            metadata.Clear()  # it tells of this run only
        feeds = [x for x, _ in pairs]
        step = self._step(fetches, feeds)
        values = self._execute(step, [v for _, v in pairs], options, metadata)
        tells = metadata is not None and options is not None and options.output_partition_graphs
        if tells and not metadata.partition_graphs:
            ran = order.needed(graph, step.fetches.tensors, step.fetches.operations, [])
            metadata.partition_graphs.add().CopyFrom(graph_def.of_operations(graph, ran, counted=False))
        return step.fetches.rebuild([_plain(v) for v in values])

    def _execute(
        self, step: _Step, values: list[Any], options: Any, metadata: Any
    ) -> Sequence[Any]:
        timeout = (0 if options is None else options.timeout_in_ms) or self._timeout
        return self._engine.execute(step.plan, values, options, metadata, timeout)

    def _step(self, fetches: Any, feeds: list[SymbolicTensor]) -> _Step:
        """The plan for these fetches and feeds; made on first use and when operations have changed."""
        key: Any = _fetch_key(fetches)
        if feeds and key is not None:
            key = (key, tuple(map(id, feeds)))
        step = None if key is None else self._steps.get(key)
        if step is not None and step.edits == self._graph.edits:
            return step
        with self._lock, self._graph.lock:
            taken = Fetches(self._graph, fetches)
            edits = self._graph.edits
            step = _Step(edits, self._known_plan(taken, feeds), taken, fetches, feeds)
            # `run` gives the values of steps that it knows without looking at them.
            if key is not None and all(x.dtype != dtypes.variant for x in taken.tensors):
                self._steps[key] = step
        return step

    def _known_plan(self, fetches: Fetches, feeds: list[SymbolicTensor]) -> Any:
        """The plan for fetches of any structure; those of the same tensors and operations share one."""
        parts = (fetches.tensors, fetches.operations, feeds)
        key = tuple(tuple(map(id, part)) for part in parts)
        edits, plan = self._plans.get(key, (None, None))
        if edits != self._graph.edits:
            edits = self._graph.edits
            plan = self._plan(*parts)
            self._plans[key] = (edits, plan)
        return plan

    def _plan(
        self,
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Operation],
        feeds: Sequence[SymbolicTensor],
    ) -> Any:
        return self._engine.plan(self._graph, tensors, targets, feeds)

    # Runs in parts, and prepared ones.

    def partial_run_setup(self, fetches, feeds=None):
        """A handle for `partial_run` of these fetches with these feeds."""
        self._check_open()
        taken = Fetches(self._graph, fetches)
        found = []
        for feed in feeds or []:
            try:
                found.append(
                    self._graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
                )
            except (TypeError, ValueError, KeyError) as error:
                raise TypeError(f"Cannot interpret feed_list key as Tensor: {error}") from None
        if not taken.tensors and not taken.operations:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute."
            )
        handle = f"{','.join(x.name for x in found)};{len(self._partial)}"
        self._partial[handle] = _Partial(taken, found)
        return handle

    def partial_run(self, handle, fetches, feed_dict=None):
        """Continues a run: `feed_dict` adds to what was fed, and nothing is computed twice.

        Raises InvalidArgumentError or ValueError for fetches and feeds that were not set up, or are given twice.
        """
        self._check_open()
        state = self._partial.get(handle)
        if state is None:
            raise errors.InvalidArgumentError(
                None, None, f"Must run 'setup' before performing partial runs! ({handle})"
            )
        for x, value in feed_tensors(self._graph, feed_dict or {}):
            if all(x is not known for known in state.feeds):
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {x.name} was not specified in partial_run_setup."
                )
            if id(x) in state.known:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {x.name} has already been fed."
                )
            state.known[id(x)] = (x, value)
        taken = Fetches(self._graph, fetches)
        for x in (*taken.tensors, *taken.operations):
            if id(x) not in state.allowed:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {x.name} was not specified in partial_run_setup."
                )
            if id(x) in state.done:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {x.name} has already been fetched."
                )
        needed = order.needed(
            self._graph, taken.tensors, taken.operations, [x for x, _ in state.known.values()]
        )
        for op in needed:
            if op.type == "Placeholder" and id(op.outputs[0]) not in state.known:
                raise errors.InvalidArgumentError(
                    None, op, f"You must feed a value for placeholder tensor '{op.name}': what is fetched depends on it"
                )
        kept = [
            y for op in needed if op.type != "Const" for y in op.outputs if id(y) not in state.known
        ]
        targets = [op for op in taken.operations if op not in state.done]
        known = list(state.known.values())
        plan = self._plan([*taken.tensors, *kept], targets, [x for x, _ in known])
        values = self._engine.execute(plan, [v for _, v in known], None, None, self._timeout)
        for x, value in zip(kept, values[len(taken.tensors) :], strict=True):
            state.known[id(x)] = (x, value)
        state.done |= {id(x) for x in (*taken.tensors, *taken.operations)} | set(targets)
        return taken.rebuild([_plain(v) for v in values[: len(taken.tensors)]])

    def make_callable(self, fetches: Operation, feed_list=None, accept_options: bool = False):
        """A function of the values of `feed_list` that returns what `run(fetches)` would."""
        self._check_open()
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("Argument `feed_list` must be a list or tuple.")
        feeds = [
            self._graph.as_graph_element(x, allow_tensor=True, allow_operation=False)
            for x in feed_list or ()
        ]

        def call(*values, **kwargs):
            self._check_open()
            options = kwargs.pop("options", None) if accept_options else None
            metadata = kwargs.pop("run_metadata", None) if accept_options else None
            if kwargs:
                raise TypeError(f"unexpected keyword arguments: {', '.join(kwargs)}")
            if len(values) != len(feeds):
                raise ValueError(f"Expected {len(feeds)} values for the feeds, got {len(values)}.")
            step = self._step(fetches, feeds)
            given = [fed(self._graph, x, v) for x, v in zip(feeds, values, strict=True)]
            return step.fetches.rebuild(
                [_plain(v) for v in self._execute(step, given, options, metadata)]
            )

        return call

    def _make_callable_from_options(self, callable_options):
        """As `make_callable`, from a CallableOptions message, which may feed tensors by other tensors."""
        names = list(callable_options.fetch)
        targets = list(callable_options.target)
        sources = {each.to_tensor: each.from_tensor for each in callable_options.tensor_connection}

        def call(*values, **kwargs):
            feeds = dict(zip(callable_options.feed, values, strict=True))
            if sources:
                return self._run_connected(names, targets, feeds, sources)
            return self.run(names + targets, feeds)[: len(names)]

        return call

    def _run_connected(
        self, names: list[str], targets: list[str], feeds: dict[str, Any], sources: dict[str, str]
    ) -> list[Any]:
        """Values of `names`, in which the tensors of `sources` are fed by those that they name; nothing runs twice."""
        first = list(dict.fromkeys(sources.values()))
        rest = [name for name in dict.fromkeys(names) if name not in first]
        handle = self.partial_run_setup([*first, *rest, *targets], [*feeds, *sources])
        try:
            found = dict(zip(first, self.partial_run(handle, first, feeds), strict=True))
            connected = {name: found[source] for name, source in sources.items()}
            if rest or targets:
                values = self.partial_run(handle, rest + targets, connected)
                found.update(zip(rest, values, strict=False))
        finally:
            del self._partial[handle]
        return [found[name] for name in names]

    # As the default.

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """A block in which `eval` and `run` of tensors and operations use this session."""
        _defaults.sessions.append(self)
        try:
            yield self
        finally:
            if self in _defaults.sessions:
                _defaults.sessions.reverse()
                _defaults.sessions.remove(self)
                _defaults.sessions.reverse()


def _plain(value: Any) -> Any:
    """A fetched value as NumPy has it."""
    if value.dtype == dtypes.variant:
        number = dtypes.variant.as_datatype_enum
        raise errors.InternalError(None, None, f"Tensorflow type {number} not convertible to numpy dtype.")
    if value.dtype == dtypes.resource:
        return session_handles.taken(value)
    return value.numpy()


def _fetch_key(fetches: Any) -> Any:
    if isinstance(fetches, (SymbolicTensor, Operation)) or hasattr(fetches, "_as_graph_element"):
        return id(fetches)
    if isinstance(fetches, str):
        return fetches
    if isinstance(fetches, (list, tuple)):
        parts = [_fetch_key(x) for x in fetches]
        return None if None in parts else (type(fetches), tuple(parts))
    if isinstance(fetches, dict):
        parts = [_fetch_key(x) for x in fetches.values()]
        return None if None in parts else (type(fetches), tuple(fetches), tuple(parts))
    return None


@api(v1="Session")
class Session(BaseSession):
    """A session; as a context manager it and its graph are the defaults, and it is closed at the end."""

    _entered: Any = None

    def __enter__(self):
        stack = contextlib.ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        self._entered = [*(self._entered or []), stack]
        return self

    def __exit__(self, exc_type: type | None, exc_value: InvalidArgumentError | None, exc_traceback):
        self._entered.pop().close()
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Closes the sessions of a server, and forgets the variables and other resources that they share.

        Args:
          target: that of the server; other sessions share nothing.
          containers: the names of the containers that are meant; None for all.

        Raises NotFoundError for an unknown target.
        """
        name = target.decode() if isinstance(target, bytes) else target
        if name and name != "local":
            providers.load("targets").reset(name, containers, config)


@api(v1="InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default from its creation until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config=None):
        super().__init__(target, graph, config)
        self._given = graph
        if graph is not None:
            self._scope: Any = graph.as_default()
            self._scope.__enter__()
        _defaults.sessions.append(self)

    def close(self):
        super().close()
        if self in _defaults.sessions:
            _defaults.sessions.remove(self)
        if self._given is not None and self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = None


@api(v1="get_default_session")
@public
def get_default_session():
    """The innermost default session of this thread, or None."""
    return _defaults.sessions[-1] if _defaults.sessions else None


def _default_session(graph: Graph, session: Any, task: str) -> Any:
    if session is not None:
        if session.graph is not graph:
            raise ValueError(
                f"Cannot use the given session to {task}: the {task.split()[-1]}'s graph is "
                "different from the session's graph."
            )
        return session
    session = get_default_session()
    if session is None:
        raise ValueError(
            f"Cannot {task} using `{'eval' if 'tensor' in task else 'run'}()`: No default "
            "session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to the call"
        )
    if session.graph is not graph:
        raise ValueError(
            f"Cannot use the default session to {task}: the {task.split()[-1]}'s graph is different from the session's "
            "graph. Pass an explicit session to the call."
        )
    return session


def evaluate(x: SymbolicTensor, feed_dict: Any, session: Any) -> Any:
    """The value of a tensor."""
    return _default_session(x.graph, session, "evaluate tensor").run(x, feed_dict)


def run_operation(op: Operation, feed_dict: Any, session: Any) -> None:
    """Run an operation."""
    _default_session(op.graph, session, "execute operation").run(op, feed_dict)


boundaries(globals())
