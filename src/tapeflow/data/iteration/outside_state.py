"""What iterators over a dataset depend on that their own state does not hold."""

from __future__ import annotations

import enum
import logging
from typing import Any

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.data.options import ExternalStatePolicy
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.tracing import Traced
from tapeflow.ops import node_rows


def stateful_operation(dataset: Any) -> str | None:
    """The type of an operation in a function of the dataset that has a state outside of it; None if there is none.

    Those that read tables have none, as datasets fill these.
    """
    _, arguments = parts_of(dataset).record or (None, {})
    for argument in arguments.values():
        if isinstance(argument, Traced):
            for op in argument.graph.operations:
                if op.stateful and (argument.graph.variables or not _only_reads(op)):
                    return op.type
    for parent in parts_of(dataset).parents:
        found = stateful_operation(parent)
        if found is not None:
            return found
    return "PyFunc" if parts_of(dataset).has_effects else None


def _only_reads(op: Any) -> bool:
    """Whether an operation leaves things as they are, or makes a dataset, which is saved with the iterator."""
    node = node_rows.find(op.type)
    return getattr(op.row, "reads_only", False) or (node is not None and node.makes_dataset)


def policy_of(policy: Any) -> ExternalStatePolicy:
    """A policy, also by its name; None: that the iterator cannot be saved. Raises ValueError for another."""
    if policy is None:
        return ExternalStatePolicy.FAIL
    if isinstance(policy, enum.Enum):
        policy = policy.name.lower()
    try:
        return ExternalStatePolicy[policy.upper()]
    except (AttributeError, KeyError):
        raise ValueError(
            "Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received "
            f"{policy!r}."
        ) from None


def heed(dataset: Any, policy: ExternalStatePolicy) -> None:
    """Does what the policy says where the dataset has a state outside of it, before an iterator over it is saved.

    Raises FailedPreconditionError for the policy FAIL.
    """
    if dataset is None or policy is ExternalStatePolicy.IGNORE:
        return
    found = stateful_operation(dataset)
    if found is None:
        return
    if policy is ExternalStatePolicy.FAIL:
        raise FailedPreconditionError(None, None, f"{found} is stateful.")
    logging.getLogger("tensorflow").warning(
        "%s is stateful: its state is not saved with the iterator, and restoring that may give other elements.", found
    )
