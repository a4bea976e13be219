"""Who may take part in a cluster beyond this machine: keys and a token, which the environment of each process names.

- `TAPEFLOW_CLUSTER_CERT`, `TAPEFLOW_CLUSTER_KEY`, `TAPEFLOW_CLUSTER_CA`: files in PEM; each process shows the first to
  the others, and believes those that the authority in the third has signed. They are given together.
- `TAPEFLOW_CLUSTER_TOKEN`: a secret that all processes share and send with each call. Without keys it can be read by
  who listens.
- `TAPEFLOW_CLUSTER_INSECURE=1`: neither is wanted, on a network of your own.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tapeflow.core.errors import InvalidArgumentError, PermissionDeniedError, UnauthenticatedError

_FILES = ("TAPEFLOW_CLUSTER_CERT", "TAPEFLOW_CLUSTER_KEY", "TAPEFLOW_CLUSTER_CA")
_TOKEN = "TAPEFLOW_CLUSTER_TOKEN"
_INSECURE = "TAPEFLOW_CLUSTER_INSECURE"
HEADER = "authorization"


class Keys(NamedTuple):
    """Certificates in PEM: this process's own, its key, and that of the authority."""

    certificate: bytes
    key: bytes
    authority: bytes


def keys() -> Keys | None:
    """The keys of this process; None if it has none.

    Raises InvalidArgumentError where only some of the files are named, or one cannot be read.
    """
    named = [os.environ.get(name, "") for name in _FILES]
    if not any(named):
        return None
    if not all(named):
        raise InvalidArgumentError(None, None, f"{', '.join(_FILES)} are set together, or not at all")
    try:
        return Keys(*(Path(name).read_bytes() for name in named))
    except OSError as error:
        raise InvalidArgumentError(None, None, f"A file of the cluster's keys cannot be read: {error}") from None


def metadata() -> tuple[tuple[str, str], ...]:
    """What is sent with each call."""
    token = os.environ.get(_TOKEN, "")
    return ((HEADER, f"Bearer {token}"),) if token else ()


def check_token(given: Iterable[tuple[str, str | bytes]]) -> None:
    """Raises UnauthenticatedError for the metadata of a call without the token of this process."""
    token = os.environ.get(_TOKEN, "")
    if not token:
        return
    found = next((value for key, value in given if key == HEADER), "")
    text = found.decode(errors="replace") if isinstance(found, bytes) else found
    if not hmac.compare_digest(text.encode(), f"Bearer {token}".encode()):
        raise UnauthenticatedError(None, None, f"The call has not the token of this cluster ({_TOKEN})")


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:  # another name, which may stand for any address
        return False


def check_exposure(host: str) -> None:
    """Raises PermissionDeniedError where a server would listen beyond this machine without any protection."""
    if is_loopback(host) or keys() is not None or os.environ.get(_TOKEN) or os.environ.get(_INSECURE) == "1":
        return
    raise PermissionDeniedError(
        None, None,
        f"A server at '{host}' would run graphs for whoever reaches it. Set {', '.join(_FILES)} or {_TOKEN} in all "
        f"processes of the cluster, or {_INSECURE}=1 on a network of your own.",
    )  # fmt: skip
