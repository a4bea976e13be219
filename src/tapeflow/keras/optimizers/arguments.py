"""The arguments that all optimizers of Keras 3 share, in their order."""

from __future__ import annotations

import functools
import inspect

from tapeflow.core.release import keras_2
from tapeflow.core.spelling import snake_case
from tapeflow.keras import docstrings, settings

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
# What the docstring of every optimizer says of them.
_SAID = docstrings.entries("""
  weight_decay: the part, times the learning rate, by which variables shrink at every step; None for 0.
  clipnorm: the largest norm of each gradient; larger ones are scaled down. None for any.
  clipvalue: the largest absolute value of the elements of gradients; None for any.
  global_clipnorm: the largest norm of all gradients together; None for any.
  use_ema: whether a moving average of each variable is kept, which it becomes at the end of `fit`.
  ema_momentum: the weight of the past in these averages, from 0 to 1.
  ema_overwrite_frequency: after how many steps variables become their averages; None for never.
  loss_scale_factor: what `scale_loss` multiplies losses by, and gradients are divided by; None for 1.
  gradient_accumulation_steps: the number of calls, at least 2, whose mean gradient makes one update; None for 1.
  name: the prefix of the names of the variables that the optimizer makes.
  **kwargs: `decay` and `lr` as in Keras 2, and `jit_compile`, which changes nothing.
""")


def with_shared_arguments(cls):
    """The class, whose constructor takes its own arguments, then the shared ones, by position too.

    Its docstring describes its own arguments; entries for the shared ones are added.
    """
    original = cls.__init__
    own = {
        name: p
        for name, p in inspect.signature(original).parameters.items()
        if name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD
    }
    if "clipnorm" in own:  # lists the shared ones itself, in an order of its own
        own["name"] = own["name"].replace(default=None)
    else:
        own.pop("name", None)
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
    cls.__doc__ = docstrings.with_entries(cls.__doc__, _SAID)
    return cls
