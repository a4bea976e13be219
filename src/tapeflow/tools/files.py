"""Messages in files: graphs, meta graphs and SavedModels, in both of the formats that there are."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format

from tapeflow.gfile import GFile, exists


def read_message(message: Any, path: str, binary: bool, what: str) -> Any:
    """Fill a message with a file's content.

    Args:
      message: the message.
      path: the file.
      binary: whether it is in the binary format; else it is text.
      what: what the file is, for the error.

    Returns:
      The message.

    Raises:
      OSError: where there is no such file.
    """
    if not exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    with GFile(path, "rb" if binary else "r") as file:
        if binary:
            message.ParseFromString(file.read())
        else:
            text_format.Merge(file.read(), message)
    return message


def write_message(message: Any, path: str, binary: bool = True) -> None:
    """Write a message to a file.

    Args:
      message: the message.
      path: the file.
      binary: whether in the binary format; else as text.
    """
    with GFile(path, "wb" if binary else "w") as file:
        file.write(message.SerializeToString() if binary else text_format.MessageToString(message))
