"""Turning eager execution on."""

from __future__ import annotations

import sys

from tapeflow.core import context
from tapeflow.core.errors import UnimplementedError


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Operations run at once from now on; see `tf.enable_eager_execution`."""
    context.enable_eager_execution(config, device_policy, execution_mode)


def enable_remote_eager_execution(*args, **kwargs):
    """Raises UnimplementedError: operations run in this process."""
    raise UnimplementedError(None, None, "Eager execution on other machines is not available.")


def connect_to_remote_host(remote_host=None, job_name: str = "worker"):
    """Raises UnimplementedError: operations run in this process."""
    raise UnimplementedError(None, None, "Eager execution on other machines is not available.")


def set_server_def(server_def, keep_alive_secs: int = 600):
    """Raises UnimplementedError: operations run in this process."""
    raise UnimplementedError(None, None, "Eager execution on other machines is not available.")


def in_graph_mode():
    """Whether operations build a graph."""
    return not context.executing_eagerly()


def run(main=None, argv=None):
    """Turns eager execution on, then calls main(argv) and leaves with its result."""
    context.enable_eager_execution()
    main = main or sys.modules["__main__"].main
    sys.exit(main(sys.argv if argv is None else argv))
