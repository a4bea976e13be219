"""TensorFlow's protobuf messages, by name: `protos.GraphDef`, `protos.DataType`.

Each is built when it is first asked for, from the tables in this package; until then protobuf is not imported.
"""

from typing import Any

from tapeflow.api import api_value
from tapeflow.protos import building


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # what Python itself asks modules for
        raise AttributeError(f"module 'tapeflow.protos' has no attribute {name!r}")
    value = globals()[name] = building.build(name)
    return value


def __dir__() -> list[str]:
    return building.top_level_names()

api_value("AttrValue", v1="AttrValue")
api_value("ConfigProto", v1="ConfigProto")
api_value("Event", v1="Event")
api_value("GPUOptions", v1="GPUOptions")
api_value("GraphDef", v1="GraphDef")
api_value("GraphOptions", v1="GraphOptions")
api_value("HistogramProto", v1="HistogramProto")
api_value("LogMessage", v1="LogMessage")
api_value("MetaGraphDef", v1="MetaGraphDef")
api_value("NameAttrList", v1="NameAttrList")
api_value("NodeDef", v1="NodeDef")
api_value("OptimizerOptions", v1="OptimizerOptions")
api_value("RunMetadata", v1="RunMetadata")
api_value("RunOptions", v1="RunOptions")
api_value("SessionLog", v1="SessionLog")
api_value("Summary", v1="Summary")
api_value("SummaryMetadata", v1="SummaryMetadata")
api_value("TensorInfo", v1="TensorInfo")
