"""Whether tracebacks leave out the package's own frames."""

from __future__ import annotations

import os

from tapeflow.api import api
from tapeflow.core.public import public

# The core reads it whenever an exception leaves a public function.
_SETTING = "TAPEFLOW_FULL_TRACEBACK"


@api("debugging.enable_traceback_filtering")
@public
def enable_traceback_filtering():
    """Leave the package's own frames out of tracebacks, as is done from the start."""
    os.environ.pop(_SETTING, None)


@api("debugging.disable_traceback_filtering")
@public
def disable_traceback_filtering():
    """Show all frames in tracebacks."""
    os.environ[_SETTING] = "1"


@api("debugging.is_traceback_filtering_enabled")
@public
def is_traceback_filtering_enabled():
    """Whether tracebacks leave out the package's own frames."""
    return not os.environ.get(_SETTING)
