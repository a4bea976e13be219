"""The arguments that all optimizers of Keras 3 share, in their order."""

from __future__ import annotations

import functools
import inspect

from tapeflow.core.release import keras_2
from tapeflow.core.spelling import snake_case
from tapeflow.keras import settings

_SHARED = {
    "weight_decay": None,
    "clipnorm": None,
    "clipvalue": None,
    "global_clipnorm": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
    "name": None,
}


def with_shared_arguments(cls):
    """The class, whose constructor takes its own arguments, then the shared ones, by position too."""
    original = cls.__init__
    own = {
        name: p
        for name, p in inspect.signature(original).parameters.items()
        if name not in ("self", "name") and p.kind is p.POSITIONAL_OR_KEYWORD
    }
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shared = [
        inspect.Parameter(name, kind, default=default)
        for name, default in _SHARED.items()
        if name not in own
    ]
    signature = inspect.Signature(
        [
            inspect.Parameter("self", kind),
            *own.values(),
            *shared,
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
    )

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        try:
            given = dict(signature.bind(self, *args, **kwargs).arguments)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.__init__(): {error}") from None
        more = given.pop("kwargs", {})
        del given["self"]
        if isinstance(given.get("weight_decay"), str):  # the name followed in Keras 2
            given["name"] = given.pop("weight_decay")
        if given.get("name") is None:
            given.pop("name", None)
            if not keras_2():
                given["name"] = settings.unique_name(snake_case(cls.__name__))
        original(self, **given, **more)

    __init__.__signature__ = signature
    cls.__init__ = __init__
    return cls
