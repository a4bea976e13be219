"""The errors of operations: one class for each status code, all derived from `OpError`.

An error raised by an eager operation ends its message with the operation's name:
`indices = 7 is not in [0, 3) [Op:GatherV2]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.api import api, api_value

# The numbers of error_codes.proto.
OK = 0
api_value("OK", "errors.OK")
CANCELLED = 1
api_value("CANCELLED", "errors.CANCELLED")
UNKNOWN = 2
api_value("UNKNOWN", "errors.UNKNOWN")
INVALID_ARGUMENT = 3
api_value("INVALID_ARGUMENT", "errors.INVALID_ARGUMENT")
DEADLINE_EXCEEDED = 4
api_value("DEADLINE_EXCEEDED", "errors.DEADLINE_EXCEEDED")
NOT_FOUND = 5
api_value("NOT_FOUND", "errors.NOT_FOUND")
ALREADY_EXISTS = 6
api_value("ALREADY_EXISTS", "errors.ALREADY_EXISTS")
PERMISSION_DENIED = 7
api_value("PERMISSION_DENIED", "errors.PERMISSION_DENIED")
RESOURCE_EXHAUSTED = 8
api_value("RESOURCE_EXHAUSTED", "errors.RESOURCE_EXHAUSTED")
FAILED_PRECONDITION = 9
api_value("FAILED_PRECONDITION", "errors.FAILED_PRECONDITION")
ABORTED = 10
api_value("ABORTED", "errors.ABORTED")
OUT_OF_RANGE = 11
api_value("OUT_OF_RANGE", "errors.OUT_OF_RANGE")
UNIMPLEMENTED = 12
api_value("UNIMPLEMENTED", "errors.UNIMPLEMENTED")
INTERNAL = 13
api_value("INTERNAL", "errors.INTERNAL")
UNAVAILABLE = 14
api_value("UNAVAILABLE", "errors.UNAVAILABLE")
DATA_LOSS = 15
api_value("DATA_LOSS", "errors.DATA_LOSS")
UNAUTHENTICATED = 16
api_value("UNAUTHENTICATED", "errors.UNAUTHENTICATED")

_class_of_code: dict[int, type[OpError]] = {}


@api("errors.OpError", v1="OpError")
class OpError(Exception):
    """An operation failed. `message` says why, `error_code` is one of the constants of this module.

    `op` and `node_def` are the operation of a graph that failed, or None for an eager operation.
    """

    _code = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        payloads = args[0] if args else None
        # Libraries that make an error again with the arguments of another class give its code here.
        self._payloads = dict(payloads) if isinstance(payloads, Mapping) else {}

    def __init_subclass__(cls, code: int | None = None, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls._code = code
            _class_of_code[code] = cls

    def __reduce__(self) -> Any:
        # Operations of a graph do not travel; the message already holds what is to be read.
        if type(self) is OpError:
            return OpError, (None, None, self._message, self._error_code)
        return type(self), (None, None, self._message)

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Any:
        return self._op

    @property
    def node_def(self) -> Any:
        return self._node_def

    @property
    def error_code(self) -> int:
        return self._error_code

    @property
    def experimental_payloads(self) -> dict[str, bytes]:
        return self._payloads

    def __str__(self) -> str:
        trace = getattr(self._op, "traceback", None)
        if not trace:
            return self._message
        lines = [f"\nOriginal stack trace for {self._op.name!r}:"]
        for frame in trace:
            if isinstance(frame, str):
                lines.append(frame.rstrip("\n"))
            else:
                lines.append(f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        return "\n".join([self._message, *lines, ""])


class _CodedError(OpError):
    """What all the classes below share: the code comes from the class."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any):
        super().__init__(node_def, op, message, self._code, *args)


@api("errors.CancelledError")
class CancelledError(_CodedError, code=CANCELLED):
    """The operation was cancelled, for instance by closing its session."""


@api("errors.UnknownError")
class UnknownError(_CodedError, code=UNKNOWN):
    """The cause is not known, or comes from a system with other codes."""


@api("errors.InvalidArgumentError")
class InvalidArgumentError(_CodedError, code=INVALID_ARGUMENT):
    """An argument has a wrong value, shape or type."""


@api("errors.DeadlineExceededError")
class DeadlineExceededError(_CodedError, code=DEADLINE_EXCEEDED):
    """The operation did not finish in the time it was given."""


@api("errors.NotFoundError")
class NotFoundError(_CodedError, code=NOT_FOUND):
    """Something asked for, a file for instance, is not there."""


@api("errors.AlreadyExistsError")
class AlreadyExistsError(_CodedError, code=ALREADY_EXISTS):
    """Something to be created is already there."""


@api("errors.PermissionDeniedError")
class PermissionDeniedError(_CodedError, code=PERMISSION_DENIED):
    """The caller may not do this."""


@api("errors.ResourceExhaustedError")
class ResourceExhaustedError(_CodedError, MemoryError, code=RESOURCE_EXHAUSTED):
    """Something has run out, usually memory: `except MemoryError` catches it too."""


@api("errors.FailedPreconditionError")
class FailedPreconditionError(_CodedError, code=FAILED_PRECONDITION):
    """The state does not allow this, such as an uninitialized variable."""


@api("errors.AbortedError")
class AbortedError(_CodedError, code=ABORTED):
    """The operation was aborted, usually by a concurrent one."""


@api("errors.OutOfRangeError")
class OutOfRangeError(_CodedError, code=OUT_OF_RANGE):
    """The end of a range was passed, such as the end of a dataset."""


@api("errors.UnimplementedError")
class UnimplementedError(_CodedError, code=UNIMPLEMENTED):
    """The operation does not support these arguments."""


@api("errors.InternalError")
class InternalError(_CodedError, code=INTERNAL):
    """An invariant that the implementation relies on does not hold."""


@api("errors.UnavailableError")
class UnavailableError(_CodedError, code=UNAVAILABLE):
    """A service is not available at present."""


@api("errors.DataLossError")
class DataLossError(_CodedError, code=DATA_LOSS):
    """Data is lost or damaged, such as a truncated file."""


@api("errors.UnauthenticatedError")
class UnauthenticatedError(_CodedError, code=UNAUTHENTICATED):
    """The caller did not say who they are."""


@api("errors.OperatorNotAllowedInGraphError")
class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for something only a value can give, such as its truth."""


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of a code. Raises KeyError for a number that is no code."""
    return _class_of_code[error_code]


def error_code_from_exception_type(cls: type) -> int:
    """The code of a class; `UNKNOWN` for a class that is not one of these."""
    return getattr(cls, "_code", UNKNOWN)


def from_code(code: int, message: str) -> OpError:
    """The error that a code of the native core stands for, ready to be raised."""
    return _class_of_code.get(code, UnknownError)(None, None, message)  # type: ignore[call-arg]
