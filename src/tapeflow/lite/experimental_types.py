"""Names of `tf.lite.experimental` that others build upon."""

from __future__ import annotations

import enum


class OpResolverType(enum.Enum):
    """Which kernels an interpreter uses.

    AUTO: the runtime's choice. BUILTIN: its fastest ones. BUILTIN_REF: those that show how an op is defined.
    BUILTIN_WITHOUT_DEFAULT_DELEGATES: its own ones, without delegates that are applied unasked.
    """

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3
