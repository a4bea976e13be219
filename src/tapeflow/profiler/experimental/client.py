"""`tf.profiler.experimental.client`: there is no service that takes profiles of other processes."""

from tapeflow.core.public import public
from tapeflow.summary.profiling import no_service


@public
def trace(
    service_addr,
    logdir,
    duration_ms,
    worker_list="",
    num_tracing_attempts=3,
    options=None,
):
    """Raises UnimplementedError: profiles are taken by the process itself."""
    raise no_service("client.trace")


@public
def monitor(service_addr, duration_ms, level=1):
    """Raises UnimplementedError: profiles are taken by the process itself."""
    raise no_service("client.monitor")


__all__ = ["monitor", "trace"]
