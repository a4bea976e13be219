"""The code of functions that have no name, in configs.

Keras writes a lambda as its marshalled byte code, which only the same minor version of Python can run. Reading it back
is running somebody's program: it is refused unless the file is trusted.
"""

from __future__ import annotations

import base64
import binascii
import marshal
import sys
import types
from typing import Any

from tapeflow.core.deserialization import deserializing, refuse_unsafe
from tapeflow.core.release import keras_2


def dump(function: Any) -> Any:
    """What the configs of this version of Keras have in place of a lambda."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    defaults = None if function.__defaults__ is None else list(function.__defaults__)
    closure = None if function.__closure__ is None else [cell.cell_contents for cell in function.__closure__]
    parts = [code, defaults, closure]
    if keras_2():
        return parts
    # Keras reads a `Lambda` layer's function by the names, and any other by its value.
    config = {"value": parts, "code": code, "defaults": defaults, "closure": closure}
    return {"class_name": "__lambda__", "config": config}


def load(config: Any) -> Any:
    """The function of such a config.

    Its global names are those of the main program.

    Raises:
      ValueError: in safe mode, or where there is no such code.
    """
    with deserializing():  # a constructor's `from_config` may be called outside of any
        refuse_unsafe("the code of a Python lambda")
    if isinstance(config, dict):
        config = config.get("config", config)
        config = config.get("value") or [config.get(key) for key in ("code", "defaults", "closure")]
    try:
        code, defaults, closure = config
        code = marshal.loads(base64.b64decode(code))
        cells = None if closure is None else tuple(map(types.CellType, closure))
        names = vars(sys.modules["__main__"])
        return types.FunctionType(code, names, "<lambda>", None if defaults is None else tuple(defaults), cells)
    except (TypeError, ValueError, EOFError, binascii.Error) as error:
        raise ValueError(
            f"A config holds the code of a lambda that this Python ({sys.version.split()[0]}) cannot read: {error}. "
            "Make the model again in Python, or save it with a named function."
        ) from error
