"""Objects of a SavedModel whose classes are not known."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.checkpoint.following import AutoTrackable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.saved_model.resources import TrackableResource
from tapeflow.saved_model.restored.functions import RestoredFunction


class RestoredObject(AutoTrackable):
    """An object of a SavedModel, whose class is not known."""

    _saved_identifier = "_generic_user_object"


class RestoredCallable(RestoredObject):
    """One that had a function `__call__`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["__call__"](*args, **kwargs)


class RestoredOptimizer(RestoredObject):
    """An optimizer: variables that belong to others."""

    _slots: dict[tuple[int, str], tuple[Any, Any]]

    def __init__(self) -> None:
        self.__dict__["_slots"] = {}

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return list(dict.fromkeys(name for _, name in self._slots))

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable. Raises KeyError if there is none."""
        return self._slots[id(var), name][1]

    def add_slot(self, variable: Any, name: str, slot: Any) -> None:
        self._slots[id(variable), name] = (variable, slot)


class RestoredResource(TrackableResource):
    """A table or another resource: made by a function of the model, anew in each process."""

    def _create_resource(self) -> Any:
        return self.__dict__["_create_resource"]()

    def _saved_functions(self) -> dict[str, Any]:
        functions = {k: v for k, v in vars(self).items() if isinstance(v, RestoredFunction)}
        return {**self._trackable_children(), **functions}

    @property
    def resource_handle(self) -> Any:
        """The handle, made when it is first asked for."""
        if self._handle is None:
            make = self.__dict__["_create_resource"]
            self.__dict__["_handle"] = make.concrete_functions[0].call_flat([])
        return self._handle

    def _saving_functions(self) -> Any:
        """The functions that give and take the contents; None for what is filled once."""
        return self.__dict__.get("_contents")

    def _checkpoint_tensors(self) -> dict[str, Any]:
        pair = self._saving_functions()
        if pair is None:
            return {}
        ends = [part["name"].numpy().decode() for part in pair[0](convert_to_tensor(""))]

        def read(place: int) -> Any:
            return pair[0](convert_to_tensor(""))[place]["tensor"].numpy()

        return {"table": {end: functools.partial(read, i) for i, end in enumerate(ends)}}
