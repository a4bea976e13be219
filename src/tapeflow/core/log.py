"""The log: Python's logger "tensorflow", the one whose level programs set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.api import api

if TYPE_CHECKING:
    import logging


@api("get_logger")
def get_logger() -> logging.Logger:
    """The logger that everything here writes to; on standard error, unless the program handles it otherwise."""
    import logging  # 5 ms that few programs need
    import sys

    logger = logging.getLogger("tensorflow")
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    return logger
