"""The objects of a program that a checkpoint follows, and those that a checkpoint has."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.checkpoint.object_graph import Walk
from tapeflow.checkpoint.reading import load_checkpoint

__all__ = ["dot_graph_from_checkpoint", "list_objects", "object_metadata"]

_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def object_metadata(save_path: str) -> Any:
    """The graph of the objects in a checkpoint, a `CheckpointableObjectGraph`.

    Raises ValueError for a checkpoint that has none: one of a `tf.train.Saver`.
    """
    reader = load_checkpoint(save_path)
    if not reader.has_tensor(_GRAPH_KEY):
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is missing the key '
            f'"{_GRAPH_KEY}"). Likely it was created with a name-based saver and does not contain an object '
            "dependency graph."
        )
    return protos.TrackableObjectGraph.FromString(reader.get_tensor(_GRAPH_KEY))


def list_objects(root_trackable: Any) -> list[Any]:
    """All objects that a checkpoint of an object has, slots of optimizers among them."""
    return list(Walk(root_trackable).objects)


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')


def dot_graph_from_checkpoint(save_path: str) -> str:
    """The graph of the objects in a checkpoint, in the language of Graphviz.

    Variables are blue points, slots orange ones and optimizers red ones; edges are named as attributes are.
    """
    reader, graph = load_checkpoint(save_path), object_metadata(save_path)
    shapes, kinds = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    slots = {slot.slot_variable_node_id for node in graph.nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(graph.nodes):
        if [attribute.name for attribute in node.attributes] == ["VARIABLE_VALUE"]:
            (value,) = node.attributes
            color, what = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
            key = value.checkpoint_key
            lines.append(
                f'N_{number} [shape=point label="" color={color} width=.25 tooltip="{what} '
                f'{_quoted(value.full_name)} shape={list(shapes[key])} {kinds[key].name}"]'
            )
        elif node.slot_variables:
            lines.append(f'N_{number} [shape=point label="" width=.25 color=red,tooltip="Optimizer"]')
        else:
            lines.append(f'N_{number} [shape=point label="" width=.25]')
        for child in node.children:
            lines.append(f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]')
        for slot in node.slot_variables:
            place = slot.slot_variable_node_id
            lines.append(f'N_{number} -> N_{place} [label="{_quoted(slot.slot_name)}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{place} [style=dotted]")
    return "\n".join([*lines, "}", ""])
