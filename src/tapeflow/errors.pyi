# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.errors import ABORTED as ABORTED
from tapeflow.core.errors import ALREADY_EXISTS as ALREADY_EXISTS
from tapeflow.core.errors import AbortedError as AbortedError
from tapeflow.core.errors import AlreadyExistsError as AlreadyExistsError
from tapeflow.core.errors import CANCELLED as CANCELLED
from tapeflow.core.errors import CancelledError as CancelledError
from tapeflow.core.errors import DATA_LOSS as DATA_LOSS
from tapeflow.core.errors import DEADLINE_EXCEEDED as DEADLINE_EXCEEDED
from tapeflow.core.errors import DataLossError as DataLossError
from tapeflow.core.errors import DeadlineExceededError as DeadlineExceededError
from tapeflow.core.errors import FAILED_PRECONDITION as FAILED_PRECONDITION
from tapeflow.core.errors import FailedPreconditionError as FailedPreconditionError
from tapeflow.core.errors import INTERNAL as INTERNAL
from tapeflow.core.errors import INVALID_ARGUMENT as INVALID_ARGUMENT
from tapeflow.core.errors import InternalError as InternalError
from tapeflow.core.errors import InvalidArgumentError as InvalidArgumentError
from tapeflow.core.errors import NOT_FOUND as NOT_FOUND
from tapeflow.core.errors import NotFoundError as NotFoundError
from tapeflow.core.errors import OK as OK
from tapeflow.core.errors import OUT_OF_RANGE as OUT_OF_RANGE
from tapeflow.core.errors import OpError as OpError
from tapeflow.core.errors import OperatorNotAllowedInGraphError as OperatorNotAllowedInGraphError
from tapeflow.core.errors import OutOfRangeError as OutOfRangeError
from tapeflow.core.errors import PERMISSION_DENIED as PERMISSION_DENIED
from tapeflow.core.errors import PermissionDeniedError as PermissionDeniedError
from tapeflow.core.errors import RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED
from tapeflow.core.errors import ResourceExhaustedError as ResourceExhaustedError
from tapeflow.core.errors import UNAUTHENTICATED as UNAUTHENTICATED
from tapeflow.core.errors import UNAVAILABLE as UNAVAILABLE
from tapeflow.core.errors import UNIMPLEMENTED as UNIMPLEMENTED
from tapeflow.core.errors import UNKNOWN as UNKNOWN
from tapeflow.core.errors import UnauthenticatedError as UnauthenticatedError
from tapeflow.core.errors import UnavailableError as UnavailableError
from tapeflow.core.errors import UnimplementedError as UnimplementedError
from tapeflow.core.errors import UnknownError as UnknownError
__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "AbortedError",
    "AlreadyExistsError",
    "CANCELLED",
    "CancelledError",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "DataLossError",
    "DeadlineExceededError",
    "FAILED_PRECONDITION",
    "FailedPreconditionError",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "InternalError",
    "InvalidArgumentError",
    "NOT_FOUND",
    "NotFoundError",
    "OK",
    "OUT_OF_RANGE",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PERMISSION_DENIED",
    "PermissionDeniedError",
    "RESOURCE_EXHAUSTED",
    "ResourceExhaustedError",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]
