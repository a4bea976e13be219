"""The pytest plugin: `pytest -p tapeflow.pytest` runs a suite that imports `tensorflow` on tapeflow.

The plugin acts when it is loaded, before the suite's modules are. `--tapeflow-v1`, or TAPEFLOW_V1=1 in the
environment, gives the namespace of 1.x.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import tapeflow
from tapeflow.alias import install_as_tensorflow

install_as_tensorflow(v1="--tapeflow-v1" in sys.argv or os.environ.get("TAPEFLOW_V1", "") not in ("", "0"))


def pytest_addoption(parser: Any) -> None:
    """The option."""
    parser.addoption(
        "--tapeflow-v1", action="store_true", help="tensorflow has the names of TensorFlow 1.x"
    )


def pytest_report_header(config: Any) -> str:
    """What stands at the head of the report."""

    names = "1.x" if config.getoption("--tapeflow-v1") or os.environ.get("TAPEFLOW_V1") else "2.x"
    return f"tensorflow: {tapeflow.version.GIT_VERSION}, the names of {names}"
