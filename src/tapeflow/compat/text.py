"""Text as str or bytes, whichever it was given as."""

from __future__ import annotations

import os

from tapeflow.core.annotations import PathLike, TensorLike


def as_bytes(bytes_or_text, encoding: str = "utf-8"):
    """Make bytes of bytes or str.

    Args:
      bytes_or_text: bytes, bytearray or str.
      encoding: the encoding of the bytes.

    Returns:
      bytes.

    Raises:
      TypeError: for anything else.

    >>> tf.compat.as_bytes("abc")
    b'abc'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding: str = "utf-8"):
    """Make a str of bytes or str.

    Args:
      bytes_or_text: bytes or str.
      encoding: the encoding of the bytes.

    Returns:
      A str.

    Raises:
      TypeError: for anything else.

    >>> tf.compat.as_str(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: TensorLike, encoding: str = "utf-8"):
    """Make a str of anything.

    Args:
      value: bytes, which are decoded, or an object for `str`.
      encoding: the encoding of the bytes.

    Returns:
      A str.

    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: PathLike):
    """The str of a path-like object; anything else as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path
