"""`tf.train.Scaffold`: what a monitored session needs of a graph: initializers, summaries, a saver."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.checkpoint.saver import Saver
from tapeflow.core.public import public_methods
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.build.variable_initializers import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.control.grouping import group
from tapeflow.ops.io.summary_rows import MergeSummary
from tapeflow.ops.lookup.tables import tables_initializer


def _first(value, otherwise):
    return otherwise if value is None else value


def _merged_summaries():
    found = get_default_graph().get_collection(GraphKeys.SUMMARIES)
    return MergeSummary(found) if found else None


def saver_or_default():
    """The saver of the graph's collection, or a new one for all variables.

    Raises RuntimeError for several savers.
    """
    graph = get_default_graph()
    found = graph.get_collection(GraphKeys.SAVERS)
    if len(found) > 1:
        raise RuntimeError("More than one item in collection SAVERS. Please indicate which one to use by passing it to "
                           "the constructor.")  # fmt: skip
    if found:
        return found[0]
    saver = Saver(sharded=True, allow_empty=True)
    graph.add_to_collection(GraphKeys.SAVERS, saver)
    return saver


@public_methods
class Scaffold:
    """The parts of a graph that a monitored session runs; `finalize` makes those that were not given.

    Args:
      init_op, init_feed_dict, init_fn: initialise the model where there is no checkpoint; `init_fn(scaffold, session)`.
      ready_op: names of variables that are not initialised.
      ready_for_local_init_op: the same, before `local_init_op` runs.
      local_init_op, local_init_feed_dict: run in each new session.
      summary_op: the merged summaries.
      saver: of checkpoints.
      copy_from_scaffold: a Scaffold to take from what is not given.

    Raises TypeError for a `copy_from_scaffold` that is not a Scaffold.
    """

    def __init__(
        self, init_op=None, init_feed_dict: Mapping[Any, Any] | None = None,
        init_fn: Callable[..., Any] | None = None, ready_op=None, ready_for_local_init_op=None, local_init_op=None,
        summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict: Mapping[Any, Any] | None = None,
    ):  # fmt: skip
        other = copy_from_scaffold
        if other is not None and not isinstance(other, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        self._user_init_fn = _first(init_fn, getattr(other, "_user_init_fn", None))
        function = self._user_init_fn
        self._init_fn = (lambda sess: function(self, sess)) if function else None
        self._init_op = _first(init_op, getattr(other, "init_op", None))
        self._init_feed_dict = _first(init_feed_dict, getattr(other, "init_feed_dict", None))
        self._ready_op = _first(ready_op, getattr(other, "ready_op", None))
        self._ready_for_local_init_op = _first(
            ready_for_local_init_op, getattr(other, "ready_for_local_init_op", None)
        )
        self._local_init_op = _first(local_init_op, getattr(other, "local_init_op", None))
        self._local_init_feed_dict = _first(
            local_init_feed_dict, getattr(other, "local_init_feed_dict", None)
        )
        self._summary_op = _first(summary_op, getattr(other, "summary_op", None))
        self._saver = _first(saver, getattr(other, "saver", None))

    def finalize(self):
        """Makes the parts that are missing, and makes the graph final. Raises RuntimeError for several of one kind."""
        get = Scaffold.get_or_default
        keys = GraphKeys
        if self._init_op is None:
            self._init_op = get("init_op", keys.INIT_OP, lambda: group(global_variables_initializer()))
        if self._ready_op is None:
            self._ready_op = get("ready_op", keys.READY_OP, report_uninitialized_variables)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = get(
                "ready_for_local_init_op", keys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(get_default_graph().get_collection(keys.GLOBAL_VARIABLES)),
            )  # fmt: skip
        if self._local_init_op is None:
            self._local_init_op = get(
                "local_init_op", keys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = get("summary_op", keys.SUMMARY_OP, _merged_summaries)
        if self._saver is None:
            self._saver = saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        logging.getLogger("tensorflow").info("Graph was finalized.")
        return self

    @property
    def init_op(self):
        """What initialises the variables."""
        return self._init_op

    @property
    def init_feed_dict(self):
        """What is fed to it."""
        return self._init_feed_dict

    @property
    def init_fn(self):
        """What is called with the session after `init_op`."""
        return self._init_fn

    @property
    def ready_op(self):
        """The names of variables that are not initialised."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        """The same, before `local_init_op` runs."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self):
        """What initialises each session."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self):
        """What is fed to it."""
        return self._local_init_feed_dict

    @property
    def summary_op(self):
        """The merged summaries, or None."""
        return self._summary_op

    @property
    def saver(self):
        """What writes checkpoints."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[..., Any]):
        """The item of a collection, or a new one, put there. Raises RuntimeError for several items."""
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f'More than one item in the collection "{collection_key}". Please indicate which one to '
                               f"use by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to "
                               "use)")  # fmt: skip
        if found:
            return found[0]
        op = default_constructor()
        if op is not None:
            graph.add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op():
        """Initialises local variables and tables."""
        return group(local_variables_initializer(), tables_initializer())
