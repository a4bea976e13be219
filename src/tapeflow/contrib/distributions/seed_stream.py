"""Seeds for the random operations of one function, from the one seed that it was given."""

from __future__ import annotations

import hashlib

__all__ = ["SeedStream"]


class SeedStream:
    """Calls give a new seed each, which the seed and the salt decide; None where the seed is None.

    Args:
      seed: an integer, None, or a stream, whose own seed is taken.
      salt: a text that tells this use of the seed from others.
    """

    def __init__(self, seed: int | SeedStream | None, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._count = 0

    def __call__(self) -> int | None:
        self._count += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._count, self._salt))  # so that seeds are those of TensorFlow
        return int(hashlib.sha512(text.encode("utf-8")).hexdigest(), 16)

    @property
    def original_seed(self) -> int | None:
        """The seed that the stream was made with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The text that it was made with."""
        return self._salt
