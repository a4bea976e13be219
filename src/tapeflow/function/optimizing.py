"""`tensorflow.python.grappler.tf_optimizer`: a GraphDef made smaller before it is written or converted."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context
from tapeflow.function.freezing import Copy
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange.importing import import_nodes
from tapeflow.graph.run.planning import limited

_FETCHES = "train_op"


def optimize_graph(
    config_proto: Any,
    metagraph: Any,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
    strip_default_attributes: bool = False,
) -> Any:
    """Return the part of a graph that its results need, with calls inlined and constants folded.

    Args:
      config_proto: not used: which optimizers run does not depend on it.
      metagraph: a `MetaGraphDef`. Its collection "train_op" and its signatures name the results.
      verbose: not used.
      graph_id: not used.
      cluster: not used.
      strip_default_attributes: not used.

    Returns:
      A GraphDef, in which operations that are results or inputs of signatures keep their names.

    Raises:
      ValueError: nothing names results, or a name is not in the graph.
    """
    names = list(metagraph.collection_def[_FETCHES].node_list.value) if _FETCHES in metagraph.collection_def else []
    for signature in metagraph.signature_def.values():
        for infos in (signature.inputs, signature.outputs):
            names += [infos[key].name for key in sorted(infos)]
    if not names:
        raise ValueError(f"The MetaGraphDef names no results: it has no collection {_FETCHES!r} and no signatures.")
    with context.init_scope():
        whole, made = FuncGraph("graph"), FuncGraph("graph")
    with whole.as_default():
        import_nodes(metagraph.graph_def, name="")
    made.limits = whole.limits
    known = {op.name: op for op in whole.operations}
    wanted = {name: name.removeprefix("^").partition(":")[0] for name in names}
    missing = [name for name, node in wanted.items() if node not in known]
    if missing:
        raise ValueError(f"These results are not in the graph: {', '.join(missing)}")
    fetched = list({node: known[node] for node in wanted.values()}.values())
    with made.as_default():
        limited(whole.limits, lambda: Copy(made, fetched).add(whole, [], targets=fetched))
    return made.as_graph_def()
