"""Rows of the nodes that graphs are made of: values that are given, functions and what calls them, Python, messages."""

from tapeflow.ops.node_rows import node
from tapeflow.ops.signature import (
    dtype,
    func,
    func_list,
    shape,
    shape_list,
    string,
    tensor,
    type_list,
)

node("Const", "-> output: dtype", {"value": tensor, "dtype": dtype})
node("Placeholder", "-> output: dtype", {"dtype": dtype, "shape": shape(None)})
node("PlaceholderV2", "-> output: dtype", {"dtype": dtype, "shape": shape})
node("PlaceholderWithDefault", "input: dtype -> output: dtype", {"dtype": dtype, "shape": shape}, forwards=True)
node("ControlTrigger", "->")
node("IdentityN", "input: T -> output: T", {"T": type_list}, forwards=True)
node("None", "->")
node("GraphDefVersion", "-> version: int32", stateful=True)
node("RequiresOlderGraphVersion", "-> version: int32", stateful=True)
node(
    "If", "cond: Tcond, input: Tin -> output: Tout",
    {"Tcond": dtype, "Tin": type_list, "Tout": type_list, "then_branch": func, "else_branch": func,
     "output_shapes": shape_list([])}, stateful=True,
)  # fmt: skip
node(
    "StatelessIf", "cond: Tcond, input: Tin -> output: Tout",
    {"Tcond": dtype, "Tin": type_list, "Tout": type_list, "then_branch": func, "else_branch": func,
     "output_shapes": shape_list([])},
)  # fmt: skip
node(
    "Case", "branch_index: int32, input: Tin -> output: Tout",
    {"Tin": type_list, "Tout": type_list, "branches": func_list, "output_shapes": shape_list([])}, stateful=True,
)  # fmt: skip
node(
    "StatelessCase", "branch_index: int32, input: Tin -> output: Tout",
    {"Tin": type_list, "Tout": type_list, "branches": func_list, "output_shapes": shape_list([])},
)  # fmt: skip
node(
    "While", "input: T -> output: T",
    {"T": type_list, "cond": func, "body": func, "output_shapes": shape_list([]), "parallel_iterations": 10},
    stateful=True,
)  # fmt: skip
node(
    "StatelessWhile", "input: T -> output: T",
    {"T": type_list, "cond": func, "body": func, "output_shapes": shape_list([]), "parallel_iterations": 10},
)  # fmt: skip
node(
    "StatefulPartitionedCall", "args: Tin -> output: Tout",
    {"Tin": type_list, "Tout": type_list, "f": func, "config": "", "config_proto": "", "executor_type": ""},
    stateful=True, calls=True,
)  # fmt: skip
node(
    "PartitionedCall", "args: Tin -> output: Tout",
    {"Tin": type_list, "Tout": type_list, "f": func, "config": "", "config_proto": "", "executor_type": ""},
    calls=True,
)  # fmt: skip
node(
    "EagerPyFunc", "input: Tin -> output: Tout",
    {"token": string, "Tin": type_list, "Tout": type_list, "is_async": False}, stateful=True, touches="python",
)  # fmt: skip
node(
    "PyFunc", "input: Tin -> output: Tout", {"token": string, "Tin": type_list, "Tout": type_list}, stateful=True,
    touches="python",
)  # fmt: skip
node(
    "PyFuncStateless", "input: Tin -> output: Tout", {"token": string, "Tin": type_list, "Tout": type_list},
    touches="python",
)  # fmt: skip
node("Assert", "condition: bool, data: T ->", {"T": type_list, "summarize": 3}, stateful=True)
node(
    "StringFormat", "inputs: T -> output: string",
    {"T": type_list, "template": "%s", "placeholder": "%s", "summarize": 3},
)  # fmt: skip
node(
    "PrintV2", "input: string ->", {"output_stream": "stderr", "end": "\n"}, stateful=True, touches="files",
    less=("output_stream", ("stderr", "stdout", "log(info)", "log(warning)", "log(error)"), "streams"),
)  # fmt: skip
node(
    "Print", "input: T, data: U -> output: T",
    {"T": dtype, "U": type_list, "message": "", "first_n": -1, "summarize": 3}, stateful=True, touches="streams",
)  # fmt: skip
