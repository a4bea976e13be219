"""`tf.train.QueueRunner`: threads that fill queues while a session trains."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import context, errors
from tapeflow.core.public import public, public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.interchange import meta_graph
from tapeflow.graph.interchange.variable_defs import in_scope, prepend_scope, strip_scope
from tapeflow.graph.run.session import get_default_session

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation
    from tapeflow.graph.run.session import Session
    from tapeflow.ops.queue.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
    from tapeflow.train.coordinator import Coordinator

_COLLECTION = "queue_runners"
_EAGER = (
    "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data into "
    "your model."
)
_logger = logging.getLogger("tensorflow")


@public_methods
class QueueRunner:
    """Runs operations that enqueue, each in a thread of its own.

    Args:
      queue: the queue they fill.
      enqueue_ops: the operations.
      close_op, cancel_op: close the queue, and close it with what waits for room; made if they are not given.
      queue_closed_exception_types: exceptions that say that the input has ended.
      queue_runner_def: a QueueRunnerDef to take all of this from.

    Raises RuntimeError if operations run eagerly, ValueError and TypeError for arguments that do not fit.
    """

    def __init__(
        self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
        queue_runner_def=None, import_scope=None,
    ):  # fmt: skip
        if context.executing_eagerly():
            raise RuntimeError(_EAGER)
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
        else:
            self._take(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        # How many threads run, by session.
        self._runs = weakref.WeakKeyDictionary()
        self._exceptions = []

    def _take(
        self, queue: FIFOQueue | PaddingFIFOQueue | RandomShuffleQueue, enqueue_ops: Sequence[Any],
        close_op: Operation | None, cancel_op: Operation | None, closed_types: Sequence[type] | None,
    ):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, enqueue_ops
        if closed_types is not None and not (
            isinstance(closed_types, tuple)
            and closed_types
            and all(isinstance(t, type) and issubclass(t, errors.OpError) for t in closed_types)
        ):
            raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
                            f"but saw: {closed_types}")  # fmt: skip
        self._closed_types = closed_types or (errors.OutOfRangeError,)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )

    def _read(self, definition, scope: str):
        graph = get_default_graph()

        def element(name: str):
            return graph.as_graph_element(prepend_scope(name, scope))

        self._queue = element(definition.queue_name)
        self._enqueue_ops = [element(name) for name in definition.enqueue_op_name]
        self._close_op = element(definition.close_op_name)
        self._cancel_op = element(definition.cancel_op_name)
        codes = definition.queue_closed_exception_types
        self._closed_types = tuple(errors.exception_type_from_error_code(c) for c in codes) or (
            errors.OutOfRangeError,
        )

    @property
    def queue(self):
        """The queue that is filled."""
        return self._queue

    @property
    def enqueue_ops(self):
        """The operations that fill it."""
        return self._enqueue_ops

    @property
    def close_op(self):
        """What closes the queue."""
        return self._close_op

    @property
    def cancel_op(self):
        """What closes the queue and cancels what waits for room."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self):
        """Exceptions that say that the input has ended."""
        return self._closed_types

    @property
    def exceptions_raised(self):
        """The exceptions of threads that had no coordinator to tell."""
        return self._exceptions

    @property
    def name(self):
        """The name of the queue."""
        return self._queue.name

    def _run(self, sess: Session, enqueue_op: Operation, coord: Coordinator | None = None):
        """What a thread does."""
        counted = True
        try:
            enqueue = sess.make_callable(enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._closed_types:
                    with self._lock:
                        self._runs[sess] -= 1
                        counted = False
                        last = self._runs[sess] == 0
                    if last:
                        self._run_quietly(sess, self._close_op)
                    return
        except Exception as error:
            if coord and coord.joined:  # its session was closed: nobody waits for it any more
                _logger.debug("Ignored exception: %s", error)
            elif coord:
                coord.request_stop(error)
            else:
                _logger.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions.append(error)
                raise
        finally:
            if counted:
                with self._lock:
                    self._runs[sess] -= 1

    def _run_quietly(self, sess: Session, op: Operation):
        try:
            sess.run(op)
        except Exception as error:  # the session may have been closed meanwhile
            _logger.debug("Ignored exception: %s", error)

    def _close_on_stop(self, sess: Session, cancel_op: Operation, coord: Coordinator):
        coord.wait_for_stop()
        self._run_quietly(sess, cancel_op)

    def create_threads(
        self, sess: Session, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ):
        """The threads that fill the queue in a session; none if they run already.

        Args:
          coord: a Coordinator that receives their exceptions, and stops them.
          daemon: whether the process may end while they run.
          start: whether they are started.
        """
        with self._lock:
            if self._runs.get(sess, 0) > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._exceptions = []
        threads = [
            threading.Thread(
                target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}"
            )
            for op in self._enqueue_ops
        ]
        if coord:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None):
        """The QueueRunnerDef; None if the queue is not in the scope."""
        if not in_scope(self.queue.name, export_scope):
            return None
        made = protos.QueueRunnerDef(
            queue_name=strip_scope(self.queue.name, export_scope),
            close_op_name=strip_scope(self._close_op.name, export_scope),
            cancel_op_name=strip_scope(self._cancel_op.name, export_scope),
        )
        made.enqueue_op_name.extend(strip_scope(op.name, export_scope) for op in self._enqueue_ops)
        made.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(t) for t in self._closed_types
        )
        return made

    @staticmethod
    def from_proto(queue_runner_def, import_scope: str | None = None):
        """The QueueRunner that a QueueRunnerDef describes, of the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


meta_graph.MADE_OF_PROTOS[_COLLECTION] = (protos.QueueRunnerDef, QueueRunner.from_proto)


@public
def add_queue_runner(qr: QueueRunner, collection: str = _COLLECTION):
    """Add a QueueRunner to a collection of the graph, for `start_queue_runners`.

    Args:
      qr: a QueueRunner.
      collection: the name of the collection.
    """
    get_default_graph().add_to_collection(collection, qr)


@public
def start_queue_runners(
    sess: Session | None = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
    collection: str = _COLLECTION,
):
    """Start the threads of all QueueRunners in a collection of the graph; returns the threads.

    Raises RuntimeError if operations run eagerly, ValueError without a session, TypeError for what is none.

    Args:
      sess: the session; None: the default one.
      coord: a `Coordinator` that ends the threads (optional).
      daemon: whether the program may end before the threads.
      start: whether the threads are started.
      collection: the name of the collection.
    """
    if context.executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to "
                             "tf.start_queue_runners(sess=sess)")  # fmt: skip
    if not hasattr(sess, "make_callable"):
        if hasattr(sess, "run_step_fn"):  # a monitored session starts them itself
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    threads = []
    with sess.graph.as_default():
        for runner in get_default_graph().get_collection(collection):
            threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads
