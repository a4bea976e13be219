"""What a layer holds: the variables and layers among its attributes, also inside lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tapeflow.checkpoint.following import attached, is_trackable
from tapeflow.core.public import boundary
from tapeflow.core.release import keras_2
from tapeflow.core.tracking.module import Module, SetByInit
from tapeflow.core.tracking.trackable import Trackable, TrackableReference
from tapeflow.keras.engine.autocast import plain
from tapeflow.ops.state.variable import Variable

# Lists of layers that models keep for themselves; checkpoints know the layers by number.
_LISTS = {"_stack", "_layers", "_listed"}


class Tracked(Module):
    """Remembers attributes that hold variables, layers, or containers that may hold them.

    Containers are looked into when asked, so that what is appended to a list later counts too.
    """

    # What the weights and metrics of a layer are gathered from; other objects, such as optimizers, are only tracked
    # for checkpoints.
    _is_layer = False
    _is_metric = False

    _tracked = SetByInit(RuntimeError)
    _tracked_variables = SetByInit(RuntimeError)
    _own_weights = SetByInit(RuntimeError)

    # Whether attributes may be set before `super().__init__()`, as those of layers.
    _may_set_early = True

    def _start_tracking(self):
        own = self.__dict__
        for name, empty in (("_tracked", {}), ("_tracked_variables", {}), ("_own_weights", [])):
            own.setdefault(name, empty)

    @boundary
    def __setattr__(self, name: str, value: Any):
        tracked = self.__dict__.get("_tracked")
        if tracked is None and isinstance(value, (Tracked, Variable, list, tuple, dict)):
            if self._may_set_early:
                self._start_tracking()
                tracked = self._tracked
            elif isinstance(value, (Tracked, Variable)):
                raise RuntimeError(
                    f"It looks like you are subclassing `{type(self).__bases__[0].__name__}` and you "
                    "forgot to call `super().__init__()` before setting attributes."
                )
        if tracked is not None:
            if name in tracked or name in self._tracked_variables:
                self._untrack(name)
            if isinstance(value, Variable):
                variable = plain(value)
                if not any(variable is weight for weight in self._own_weights):
                    self._own_weights.append(variable)
                self._tracked_variables[name] = variable
            elif (
                (isinstance(value, (Tracked, list, tuple, dict)) or is_trackable(value))
                and not name.startswith("__")
                and not isinstance(getattr(type(self), name, None), property)
            ):
                tracked[name] = value
        object.__setattr__(self, name, value)
        if "_pending_restores" in self.__dict__:
            for known_as in {name, self._checkpoint_names.get(name, name)} if tracked is not None else (name,):
                attached(self, known_as, plain(value))

    # The names by which checkpoints of Keras 3 know variables that are attributes of another name.
    _checkpoint_names: ClassVar[dict[str, str]] = {}

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """What checkpoints follow from this object, by name."""
        return self._children_of_keras_2() if keras_2() or save_type != "checkpoint" else self._children_of_keras_3()

    def _restorable_children(self):
        """As `_trackable_children`; checkpoints of Keras 2 are restored by either Keras."""
        found = self._trackable_children()
        return found if keras_2() else self._children_of_keras_2() | found

    def _children_of_keras_2(self):
        """The variables by their names and as attributes, and the attributes that hold others."""
        return dict(self.__dict__.get("_named_weights", {})) | self._tracked_variables | self._tracked_objects()

    def _children_of_keras_3(self):
        """The variables and other objects that are attributes, and the variables that are not, which Keras 3 omits."""
        renamed = self._checkpoint_names
        found = {renamed.get(name, name): variable for name, variable in self._tracked_variables.items()}
        known = {id(variable) for variable in found.values()}
        named = self.__dict__.get("_named_weights", {})
        found |= {name: variable for name, variable in named.items() if id(variable) not in known}
        return found | self._tracked_objects()

    def _tracked_objects(self):
        found = {
            name: value for name, value in self._tracked.items() if name not in _LISTS and is_trackable(value)
        }
        return found | self.__dict__.get("_self_unconditional_dependency_names", {})

    @property
    def _unconditional_dependency_names(self):
        """What checkpoints follow from this object, by name."""
        return dict(self._trackable_children())

    def _lookup_dependency(self, name: str, cached_dependencies=None):
        return self._trackable_children().get(name)

    @property
    def _unconditional_checkpoint_dependencies(self):
        return [TrackableReference(*pair) for pair in self._trackable_children().items()]

    _checkpoint_dependencies = _unconditional_checkpoint_dependencies

    def __delattr__(self, name: str):
        if "_tracked" in self.__dict__:
            self._untrack(name)
        object.__delattr__(self, name)

    def _untrack(self, name: str):
        self._tracked.pop(name, None)
        value = self._tracked_variables.pop(name, None)
        if value is not None and all(v is not value for v in self._tracked_variables.values()):
            self._own_weights[:] = [weight for weight in self._own_weights if weight is not value]

    def _held(self):
        """Layers, metrics and, inside containers and modules, variables, in the order in which they were assigned."""
        held = []
        for value in self._tracked.values():
            _collect(value, held)
        return held

    def _attributes(self):
        # Not the attributes themselves: variables may be wrapped there.
        return {"0": self._own_weights, "1": self._held(), "2": self._sublayers()}

    def _sublayers(self):
        """The layers held directly, each once."""
        seen = {}
        for value in self._held():
            if isinstance(value, Tracked) and is_layer(value):
                seen.setdefault(id(value), value)
        return list(seen.values())

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True):
        """This layer, the layers in it, and with `recursive` those in them, in the order of Keras 3."""
        found = self._walk(deep=True) if recursive else [self, *self._sublayers()]
        return found if include_self else found[1:]

    def _all_layers(self):
        """This layer and all layers in it, each once."""
        return self._walk(deep=False)

    def _walk(self, deep: bool):
        """This layer and all layers in it, each once; `deep`: those in a layer before those beside it."""
        seen, queue = {}, [self]
        while queue:
            layer = queue.pop(0)
            if id(layer) in seen:
                continue
            seen[id(layer)] = layer
            inside = layer._sublayers()
            queue = inside[::-1] + queue if deep and layer is not self else queue + inside
        return list(seen.values())


def is_layer(value: Tracked) -> bool:
    """Whether an object of Keras is a layer."""
    found: bool = value._is_layer
    return found


def is_metric(value: Tracked) -> bool:
    """Whether an object of Keras is a metric."""
    found: bool = value._is_metric
    return found


def _collect(value, held):
    """Add to `held` the layers, metrics and variables that an attribute is or contains."""
    if isinstance(value, Variable):
        held.append(plain(value))
    elif isinstance(value, Tracked):
        if is_layer(value) or is_metric(value):
            held.append(value)
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, Mapping) else value:
            _collect(each, held)
    elif isinstance(value, Module):
        held += [plain(variable) for variable in value.variables]


class Node(Trackable):
    """An object of a checkpoint that is no object here: `children` is a method that gives what it holds, by name."""

    def __init__(self, children: Callable[..., Any]):
        self._children = children

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return self._children()


def listed(items: Sequence[Any]):
    """The items of a list by number, without those that are None."""
    return {str(i): item for i, item in enumerate(items) if item is not None}


class OwnWeights(list):
    """The variables of a layer that are trainable, or not; what is added here becomes the layer's."""

    def __init__(self, weights: Any, trainable: bool):
        super().__init__(weight for weight in weights if weight.trainable is trainable)
        self._weights = weights

    def append(self, variable):
        """Adds a variable, unless the layer has it."""
        if not any(variable is weight for weight in self._weights):
            self._weights.append(plain(variable))
            super().append(variable)

    def extend(self, variables):
        """Adds variables."""
        for variable in variables:
            self.append(variable)

    def __iadd__(self, variables):  # type: ignore[misc]
        self.extend(variables)
        return self


def unique(variables):
    """The variables, each once, in order."""
    seen = {}
    for variable in variables:
        seen.setdefault(id(variable), variable)
    return list(seen.values())
