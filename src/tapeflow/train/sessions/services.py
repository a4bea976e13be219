"""The threads of a `Supervisor`, and what it finds in a graph."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core.annotations import TensorLike
from tapeflow.graph.build.collections import GraphKeys, global_variables
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.ops.io.summary_rows import MergeSummary
from tapeflow.train.coordinator import LooperThread
from tapeflow.train.global_step import global_step

if TYPE_CHECKING:
    from tapeflow.graph.run.session import BaseSession


logger = logging.getLogger("tensorflow")


def collected(key: TensorLike, make: Callable[..., Any]):
    """The first item of a collection of the graph, or a new one, put there; None if there is neither."""
    graph = get_default_graph()
    found = graph.get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        graph.add_to_collection(key, made)
    return made


def merged_summaries():
    found = get_default_graph().get_collection(GraphKeys.SUMMARIES)
    return MergeSummary(found) if found else None


def default_step(graph: Graph):
    """What counts the steps: that of the graph's collection, else an integer variable of this name, or None."""
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if found:
        return found[0]
    named = [v for v in global_variables() if v.name == "global_step:0" and v.dtype.base_dtype.is_integer]
    return named[0] if named else None


def step_of(sess: BaseSession, step: int):
    return global_step(sess, step)


class _Service(LooperThread):
    """A thread beside a session, whose graph is its default."""

    def __init__(self, sv, sess: BaseSession, seconds):
        super().__init__(sv.coord, seconds)
        self._sv, self._sess = sv, sess

    def run(self):
        with self._sess.graph.as_default():
            super().run()


class SummaryThread(_Service):
    """Writes summaries every so many seconds."""

    def __init__(self, sv, sess: BaseSession):
        super().__init__(sv, sess, sv.save_summaries_secs)

    def run_loop(self):
        sv = self._sv
        if sv.global_step is not None:
            summary, step = self._sess.run([sv.summary_op, sv.global_step])
        else:
            summary, step = self._sess.run(sv.summary_op), None
        if sv.summary_writer:
            logger.info("Recording summary at step %s.", step)
            sv.summary_writer.add_summary(summary, step)


class StepCounterThread(_Service):
    """Writes how many steps a second takes."""

    def __init__(self, sv, sess: BaseSession):
        super().__init__(sv, sess, sv.save_summaries_secs)
        self._tag = f"{sv.global_step.op.name}/sec"

    def start_loop(self):
        self._last_time = time.time()
        self._last_step = global_step(self._sess, self._sv.global_step)

    def run_loop(self):
        step = global_step(self._sess, self._sv.global_step)
        now = time.time()
        seconds, steps = now - self._last_time, step - self._last_step
        self._last_time, self._last_step = now, step
        speed = steps / seconds if seconds else float("inf")
        value = protos.Summary.Value(tag=self._tag, simple_value=speed)
        self._sv.summary_writer.add_summary(protos.Summary(value=[value]), step)
        logger.info("%s: %g", self._tag, speed)


class CheckpointThread(_Service):
    """Writes a checkpoint every so many seconds."""

    def __init__(self, sv, sess: BaseSession):
        super().__init__(sv, sess, sv.save_model_secs)

    def run_loop(self):
        sv = self._sv
        logger.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            log = protos.SessionLog(
                status=protos.SessionLog.CHECKPOINT, checkpoint_path=sv.save_path
            )
            sv.summary_writer.add_session_log(log, global_step(self._sess, sv.global_step))
