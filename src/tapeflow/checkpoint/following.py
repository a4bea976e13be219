"""What a checkpoint follows: the objects held by an object, by name, and the variables at the ends.

An object is followed when it has `_trackable_children()`, a dict of objects by name, or is a variable, or a list,
tuple or dict that holds such. Objects with `_checkpoint_values()` save values of their own: {attribute: (get, set)}.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.structures.data_structures import wrap_or_unwrap
from tapeflow.core.tracking.trackable import AutoTrackable as AutoTrackable
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.core.tracking.trackable import attached as attached
from tapeflow.core.tracking.trackable import children as children
from tapeflow.core.tracking.trackable import is_trackable as is_trackable
from tapeflow.core.tracking.trackable import look_again as look_again
from tapeflow.core.tracking.trackable import restorable_children as restorable_children
from tapeflow.core.tracking.trackable import waiting as waiting


def told(value: Any) -> Any:
    """A list or dict that tells what is put into it; anything else as it is."""
    return wrap_or_unwrap(value) if type(value) in (list, dict) else value


class PythonState(Trackable):
    """A value that is no tensor in a checkpoint: `serialize()` gives a string, `deserialize(string)` takes it."""

    def serialize(self) -> Any:
        """The state as a string."""
        raise NotImplementedError("Abstract method")

    def deserialize(self, string_value: Any) -> None:
        """Takes the state from a string."""
        raise NotImplementedError("Abstract method")

    def _checkpoint_values(self) -> dict[str, Any]:
        return {"py_state": (self.serialize, self.deserialize)}
