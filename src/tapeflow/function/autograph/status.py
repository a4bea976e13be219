"""Whether the code that runs is being converted, and functions converted as it says."""

from __future__ import annotations

import enum
import threading
from typing import Any

from tapeflow.core import context
from tapeflow.core.decorator import rewrap, unwrap
from tapeflow.function.autograph import convert


class Status(enum.Enum):
    """Whether called functions are converted."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A block in which called functions are converted, or not."""

    def __init__(self, status: Status, options: Any = None):
        self.status, self.options = status, options

    def __enter__(self) -> ControlStatusCtx:
        _blocks.stack.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _blocks.stack.pop()


class _Blocks(threading.local):
    def __init__(self) -> None:
        self.stack: list[ControlStatusCtx] = []


_blocks = _Blocks()


def control_status_ctx() -> ControlStatusCtx:
    """What holds for functions that are called here: that of the block around, else of the function being traced."""
    if _blocks.stack:
        return _blocks.stack[-1]
    graph = context.current_graph()
    if graph is None or not getattr(graph, "building_function", False):
        return ControlStatusCtx(Status.UNSPECIFIED)
    return ControlStatusCtx(Status.ENABLED if graph.converts else Status.DISABLED)


def tf_convert(f: Any, ctx: Any, convert_by_default: bool = True, user_requested: bool = False) -> Any:
    """`f`, converted where `ctx`, which `control_status_ctx` gave, says so.

    Args:
      f: a function, method or callable object; decorators around it stay.
      ctx: a `ControlStatusCtx`.
      convert_by_default: whether to convert where nothing is said.
      user_requested: whether functions of libraries that are otherwise left alone are converted too.
    """
    decorators, inside = unwrap(f)
    if ctx.status is Status.DISABLED or (ctx.status is Status.UNSPECIFIED and not convert_by_default):
        made = convert.do_not_convert(inside)
    else:
        made = convert.tf_convert(inside, user_requested=user_requested)
    return rewrap(f, inside, made) if decorators and made is not inside else made if not decorators else f
