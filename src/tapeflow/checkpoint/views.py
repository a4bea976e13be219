"""`tf.train.CheckpointView` and `TrackableView`: the objects in a checkpoint, and those of a program, as graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tapeflow import protos
from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.following import children, is_trackable
from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY, Saved, Walk, decode_graph
from tapeflow.checkpoint.saveables import saveable_objects_from_trackable
from tapeflow.core.errors import DataLossError
from tapeflow.core.public import public_methods
from tapeflow.core.tracking.trackable import TrackableReference

if TYPE_CHECKING:
    from tapeflow.checkpoint.objects import Checkpoint


@public_methods
class CheckpointView:
    """The objects in a checkpoint, by number.

    Raises NotFoundError for no checkpoint, ValueError for one without objects, DataLossError for a damaged one.
    """

    def __init__(self, save_path: str):
        path = os.fspath(save_path)
        reader = BundleReader(path)
        if OBJECT_GRAPH_KEY not in reader:
            raise ValueError(f"The specified checkpoint \"{path}\" does not appear to be object-based (saved with TF2) "
                             f'since it is missing the key "{OBJECT_GRAPH_KEY}". Likely it was created with the TF1 '
                             "name-based saver and does not contain an object dependency graph.")  # fmt: skip
        try:
            self._nodes = decode_graph(bytes(reader.read(OBJECT_GRAPH_KEY).item()))
        except ValueError as error:
            raise DataLossError(
                None, None, f"The object graph of the checkpoint {path} is damaged: {error}"
            ) from None

    def children(self, node_id: int):
        """The numbers of the objects that an object holds, by name."""
        return {child["local_name"]: child["node_id"] for child in self._nodes[node_id]["children"]}

    def descendants(self):
        """The numbers of all objects, nearer ones first."""
        found = [0]
        seen = {0}
        for number in found:
            for child in self.children(number).values():
                if child not in seen:
                    seen.add(child)
                    found.append(child)
        return found

    def match(self, obj: Checkpoint):
        """The objects that `obj` holds under the names of the checkpoint, by number."""
        if not is_trackable(obj):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        matched = {0: obj}
        todo = [0]
        seen = {id(obj)}
        for number in todo:
            own = children(matched[number])
            for name, child in self.children(number).items():
                if name in own and child not in matched and id(own[name]) not in seen:
                    matched[child] = own[name]
                    seen.add(id(own[name]))
                    todo.append(child)
        return matched

    def diff(self, obj: Checkpoint):
        """What matches, the numbers of objects that only the checkpoint has, and the objects that only `obj` has."""
        matched = self.match(obj)
        rest = [number for number in self.descendants() if number not in matched]
        known = {id(value) for value in matched.values()}
        return matched, rest, [value for value in Walk(obj).objects if id(value) not in known]


@public_methods
class TrackableView:
    """The objects that an object holds, as checkpoints follow them."""

    def __init__(self, root: Checkpoint):
        self._root = root

    @classmethod
    def children(cls, obj: Checkpoint, save_type: str = "checkpoint", **kwargs):
        """The objects that an object holds, by name."""
        return dict(children(obj, save_type, **kwargs))

    @property
    def root(self):
        """The object at the beginning."""
        return self._root

    def descendants(self):
        """All objects, nearer ones first."""
        return Walk(self._root, with_slots=False).objects


@public_methods
class ObjectGraphView(TrackableView):
    """The objects that an object holds, for who writes them.

    Args:
      root: the object at the beginning.
      attached_dependencies: `TrackableReference`s that the root holds besides its own.
    """

    def __init__(self, root, attached_dependencies=None):
        super().__init__(root)
        self._attached_dependencies = attached_dependencies

    def list_children(self, obj, save_type: str = "checkpoint", **kwargs):
        """The objects that an object holds, as a list of `TrackableReference`."""
        found = [TrackableReference(name, ref) for name, ref in children(obj, save_type, **kwargs).items()]
        return found + list(self.attached_dependencies or ()) if obj is self.root else found

    def children(self, obj, save_type="checkpoint", **kwargs):
        """The objects that an object holds, by name."""
        return dict(self.list_children(obj, save_type, **kwargs))

    @property
    def attached_dependencies(self):
        """What the root holds besides its own."""
        return self._attached_dependencies

    def breadth_first_traversal(self):
        """The objects, nearer ones first, and of each the `TrackableReference`s by which it is reached."""
        found, paths = [self.root], {id(self.root): ()}
        for obj in found:
            for reference in self.list_children(obj):
                if id(reference.ref) not in paths:
                    paths[id(reference.ref)] = (*paths[id(obj)], reference)
                    found.append(reference.ref)
        return found, {obj: paths[id(obj)] for obj in found if _hashable(obj)}

    def serialize_object_graph(self, saveables_cache=None):
        """The saveables of all objects, the graph of the objects as a message, and None."""
        saved = Saved(self.root)
        message = protos.TrackableObjectGraph.FromString(saved.graph)
        by_key = dict(saved.keys_of_objects)
        made = [
            factory(name=key)
            for key, number in by_key.items()
            for attribute, factory in saveable_objects_from_trackable(saved.objects[number]).items()
            if key.endswith(f".ATTRIBUTES/{attribute}")
        ]
        return made, message, None


def _hashable(value):
    return getattr(type(value), "__hash__", None) is not None
