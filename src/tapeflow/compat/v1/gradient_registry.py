"""What programs of 1.x say of the gradients of ops, by the names of the ops."""

from __future__ import annotations

from tapeflow import raw_ops
from tapeflow.core.public import public
from tapeflow.ops.table import REGISTRY

# Names of ops that are no rows, which programs may declare all the same.
_declared: set[str] = set()


@public
def NotDifferentiable(op_type):
    """Declares that the op of that name has no gradient: tapes end there without an error.

    Raises TypeError for a name that is no string, KeyError if the op's gradient is known already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    known = op_type in dir(raw_ops)
    if op_type in _declared or (known and REGISTRY[op_type].gradient_known):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    if known:
        REGISTRY[op_type].gradient(None, "")
    else:
        _declared.add(op_type)


no_gradient = NotDifferentiable
