"""The fingerprint of a SavedModel: numbers that tell it from others."""

from __future__ import annotations

import hashlib
import os
import uuid
from typing import Any

from tapeflow import protos
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public, public_methods
from tapeflow.saved_model import constants
from tapeflow.saved_model.constants import FINGERPRINT_FILENAME

_NUMBERS = (
    "saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
    "checkpoint_hash",
)  # fmt: skip


class FingerprintException(Exception):
    """There is no fingerprint that can be read."""


@public_methods
class Fingerprint:
    """Numbers that are equal where models are; equal to a message or dict of the same numbers."""

    def __init__(
        self, saved_model_checksum: int | None = None, graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None, saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None, version=None,
    ):
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto):
        """The fingerprint of a message, or of its bytes."""
        if isinstance(proto, bytes):
            proto = protos.FingerprintDef.FromString(proto)
        return cls(*(getattr(proto, name) for name in _NUMBERS), proto.version)

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Fingerprint) or hasattr(other, "saved_model_checksum"):
            return all(getattr(self, name) == getattr(other, name) for name in _NUMBERS)
        return isinstance(other, dict) and all(
            name in other and other[name] == getattr(self, name) for name in _NUMBERS
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        lines = "".join(f"  {name}: {getattr(self, name)}\n" for name in _NUMBERS)
        return f"SavedModel Fingerprint\n{lines}"

    __repr__ = __str__

    def singleprint(self):
        """The numbers of what the model computes as one text. Raises ValueError if one of them is missing."""
        parts = [getattr(self, name) for name in _NUMBERS[1:]]
        if any(part is None for part in parts):
            raise ValueError("Encounted invalid fingerprint values.")
        return "/".join(map(str, parts))


@public
def read_fingerprint(export_dir):
    """The fingerprint of the SavedModel in a folder. Raises FingerprintException if there is none."""
    from google.protobuf.message import DecodeError

    path = os.path.join(local_path(export_dir), FINGERPRINT_FILENAME)
    try:
        with open(path, "rb") as file:
            return Fingerprint.from_proto(file.read())
    except (OSError, DecodeError) as error:
        raise FingerprintException(f"Unable to read fingerprint: {path}: {error}.") from None


def fingerprint_of(meta: Any, data: bytes, variables: str) -> bytes:
    """Numbers that tell one model from another."""
    with open(
        os.path.join(variables, f"{constants.VARIABLES_FILENAME}.index"), "rb"
    ) as file:
        index = file.read()

    def number(content: bytes) -> int:
        return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")

    signatures = b"".join(
        key.encode() + meta.signature_def[key].SerializeToString(deterministic=True)
        for key in sorted(meta.signature_def)
    )
    made = protos.FingerprintDef(
        saved_model_checksum=number(data),
        graph_def_program_hash=number(meta.graph_def.SerializeToString(deterministic=True)),
        signature_def_hash=number(signatures),
        saved_object_graph_hash=number(meta.object_graph_def.SerializeToString(deterministic=True)),
        checkpoint_hash=number(index),
        uuid=str(uuid.uuid4().int >> 64),
    )
    made.version.producer = 1
    return made.SerializeToString()
