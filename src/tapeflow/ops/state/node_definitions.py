"""Rows of the nodes of variables as references, as the first versions of TensorFlow had them."""

from tapeflow.ops.node_rows import node
from tapeflow.ops.signature import dtype, integer, shape, string

node("Variable", "-> ref: &dtype", {"shape": shape, "dtype": dtype, "container": "", "shared_name": ""}, stateful=True)
node(
    "VariableV2", "-> ref: &dtype", {"shape": shape, "dtype": dtype, "container": "", "shared_name": ""},
    stateful=True,
)  # fmt: skip
node("TemporaryVariable", "-> ref: &dtype", {"shape": shape, "dtype": dtype, "var_name": ""}, stateful=True)
node("DestroyTemporaryVariable", "ref: &T -> value: T", {"T": dtype, "var_name": string})
node("CountUpTo", "ref: &T -> output: T", {"limit": integer, "T": dtype})
node("DebugGradientRefIdentity", "input: &T -> output: &T", {"T": dtype})
node("IsVariableInitialized", "ref: &dtype -> is_initialized: bool", {"dtype": dtype})
node("RefIdentity", "input: &T -> output: &T", {"T": dtype}, forwards=True)
node("DisableCopyOnRead", "resource: resource ->", stateful=True)
