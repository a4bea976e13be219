"""`tf.profiler.experimental.server`: there is no service that takes profiles."""

from tapeflow.core.public import public
from tapeflow.summary.profiling import no_service


@public
def start(port):
    """Raises UnimplementedError: profiles are taken by the process itself."""
    raise no_service("server.start")


__all__ = ["start"]
