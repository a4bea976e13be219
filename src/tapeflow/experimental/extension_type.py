"""tf.experimental.extension_type: what can be asked of extension types."""

from __future__ import annotations

from typing import Any

from tapeflow.core.public import public
from tapeflow.core.specs.extension_fields import values_of
from tapeflow.core.specs.extension_type import ExtensionType


@public
def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an extension type by their names."""
    return dict(values_of(value))


__all__ = ["as_dict"]
