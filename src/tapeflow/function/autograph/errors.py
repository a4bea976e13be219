"""What AutoGraph raises, and how its errors say where in the user's program they happened."""

from __future__ import annotations

import inspect
import linecache
import os

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class AutoGraphError(Exception):
    """Base class of AutoGraph's own errors."""


class ConversionError(AutoGraphError):
    """A function cannot be converted."""


class SourceNotFound(ConversionError):
    """The source of a function is not there, or is not the one it was compiled from."""


class UnsupportedSyntax(ConversionError):
    """A function uses a construct that is not converted."""


def user_location() -> str:
    """The innermost line of the program outside of this package, as a traceback shows it."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    code, line = frame.f_code, frame.f_lineno
    text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
    return f'\n\n  File "{code.co_filename}", line {line}, in {code.co_name}' + (
        f"\n    {text}" if text else ""
    )


def at_user_line(kind: type[Exception], message: str) -> Exception:
    """An exception whose message ends with the line of the user's program that is being run."""
    return kind(message + user_location())
