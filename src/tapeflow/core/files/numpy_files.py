"""Files of NumPy's, `.npy` and `.npz`: whatever is wrong with one is a ValueError."""

from __future__ import annotations

import contextlib
import tokenize
import zipfile
import zlib
from collections.abc import Iterator

# What NumPy raises for other files and odd headers, and the library for archives that are damaged, packed in another
# way, or locked.
_DAMAGE = (
    KeyError, TypeError, ValueError, EOFError, NotImplementedError, RuntimeError, SyntaxError, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@contextlib.contextmanager
def damage_is_an_error(message: str) -> Iterator[None]:
    """A block that reads such a file, in which damage becomes a ValueError with this message."""
    try:
        yield
    except _DAMAGE as error:
        raise ValueError(message) from error
