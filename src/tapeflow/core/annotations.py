"""Types for the signatures of public functions. Nothing checks them while a program runs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from tapeflow.core.dtypes import DType

# What `convert_to_tensor` takes, and every object that takes part in dispatch, which no narrower type can say.
TensorLike: TypeAlias = Any

# What `as_dtype` takes.
DTypeLike: TypeAlias = DType | str | type | np.dtype | int
