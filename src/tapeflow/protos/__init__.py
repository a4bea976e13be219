"""TensorFlow's protobuf messages, by name: `protos.GraphDef`, `protos.DataType`.

Each is built when it is first asked for, from the tables in this package; until then protobuf is not imported.
"""

from typing import Any

from tapeflow.protos import building


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # what Python itself asks modules for
        raise AttributeError(f"module 'tapeflow.protos' has no attribute {name!r}")
    value = globals()[name] = building.build(name)
    return value


def __dir__() -> list[str]:
    return building.top_level_names()
