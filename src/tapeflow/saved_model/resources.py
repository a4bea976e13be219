"""`TrackableResource`: an object behind a handle, made and filled by functions that a SavedModel takes along."""

from __future__ import annotations

from typing import Any

from tapeflow.checkpoint.following import AutoTrackable
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.function.function import Function


@public_methods
class TrackableResource(AutoTrackable):
    """A resource of one's own: subclasses say how it is made, filled and freed.

    `_create_resource()` returns the handle, `_initialize()` fills what it stands for, `_destroy_resource()` frees it.
    """

    _handle: Any = None

    def __init__(self, *args: Any, **kwargs: Any):
        self.__dict__["_device"] = kwargs.get("device", args[0] if args else "")

    def _create_resource(self) -> Any:
        """A handle of a new resource."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Fills the resource; nothing by default."""

    def _destroy_resource(self) -> Any:
        """Frees the resource; nothing by default."""

    @property
    def resource_handle(self) -> Any:
        """The handle of the resource, which is made when it is first asked for."""
        if self._handle is None:
            with context.init_scope():
                self.__dict__["_handle"] = self._create_resource()
        return self._handle

    def _saving_functions(self) -> Any:
        """Functions that give and take the contents; None: checkpoints keep none."""

    def _saved_functions(self) -> dict[str, Any]:
        def _creator() -> Any:
            return self._create_resource()

        def _initializer() -> Any:
            self._initialize()
            return convert_to_tensor(1)

        def _destroyer() -> Any:
            self._destroy_resource()
            return convert_to_tensor(1)

        names = {
            "_create_resource": _creator,
            "_initialize": _initializer,
            "_destroy_resource": _destroyer,
        }
        made = {
            name: Function(f, input_signature=(), autograph=False) for name, f in names.items()
        }
        return {**self._trackable_children(), **made}
