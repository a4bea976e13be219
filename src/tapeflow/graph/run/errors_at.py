"""Errors of plans: they name the node that failed, and the line of the user's code that made it."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core.errors import FailedPreconditionError, OpError


def amend(error: BaseException, label: Any) -> BaseException:
    """Adds the node to an error of an operation; other errors stay as they are."""
    if (
        not isinstance(error, OpError)
        or getattr(error, "_op", None) is not None
        or not hasattr(label, "defined_at")
    ):
        return error
    file, line, function = label.defined_at
    text = error.message
    suffix = f" [Op:{label.type}]"
    if text.endswith(suffix):
        text = text[: -len(suffix)]
    if isinstance(error, FailedPreconditionError) and label.stateful and not label.effects and label.inputs:
        name = label.inputs[0].op.name
        text = (
            f"Attempting to use uninitialized value {name}: Error while reading resource "
            f"variable {name} from Container: "
            f"localhost. This could mean that the variable was uninitialized. {text}"
        )
    where = f"[[{{{{node {label.name}}}}}]] defined at {file}:{line}, in {function}"
    error._message = f"{text}\n\t {where} [Op:{label.type}]"
    error._op = label
    return error


_native.set_hook("node_error", amend)
