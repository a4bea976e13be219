"""`keras.utils.Config`: a dict whose items are attributes."""

from __future__ import annotations

import json
import threading
from typing import Any

from tapeflow.core.annotations import TensorLike


class Config:
    """A dict of what JSON can say, also by attributes; `freeze` keeps it as it is.

    Args:
      **kwargs: the first items.

    >>> config = tf.keras.utils.Config(rate=0.1)
    >>> config.steps = 3
    >>> config.as_dict()
    {'rate': 0.1, 'steps': 3}
    """

    __attrs__ = None

    def __init__(self, **kwargs):
        self._config = dict(kwargs)
        self._frozen = False
        self._lock = threading.Lock()

    def _set(self, name: str, value: Any):
        if self._frozen:
            raise ValueError("Cannot mutate attribute(s) because the config is frozen.")
        json.dumps(value)  # raises TypeError for what JSON cannot say
        self._config[name] = value

    @property
    def frozen(self):
        """Whether nothing can be changed."""
        return self._frozen

    def freeze(self):
        """Lets nothing be changed any more."""
        self._frozen = True

    def unfreeze(self):
        """Lets items be changed."""
        self._frozen = False

    def __setattr__(self, name: str, value: Any):
        if name.startswith("_") or name == "frozen":
            object.__setattr__(self, name, value)
        else:
            self._set(name, value)

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in self._config:
            raise AttributeError(f"The Config has no attribute {name!r}.")
        return self._config[name]

    def __setitem__(self, name: str, value: TensorLike):
        self._set(name, value)

    def __getitem__(self, name: str):
        return self._config[name]

    def __delitem__(self, name: str):
        if self._frozen:
            raise ValueError("Cannot mutate attribute(s) because the config is frozen.")
        del self._config[name]

    def __contains__(self, name: str):
        return name in self._config

    def __len__(self):
        return len(self._config)

    def __iter__(self):
        return iter(self._config)

    def keys(self):
        """The names."""
        return self._config.keys()

    def values(self):
        """The values."""
        return self._config.values()

    def items(self):
        """(name, value) pairs."""
        return self._config.items()

    def get(self, keyname, value: TensorLike | None = None):
        """The value of a name, or `value` where there is none."""
        return self._config.get(keyname, value)

    def pop(self, *args):
        """Removes a name and returns its value."""
        if self._frozen:
            raise ValueError("Cannot mutate attribute(s) because the config is frozen.")
        return self._config.pop(*args)

    def update(self, *args, **kwargs):
        """Sets several items."""
        for name, value in dict(*args, **kwargs).items():
            self._set(name, value)

    def as_dict(self):
        """The items as a dict."""
        return dict(self._config)

    def to_json(self):
        """The items as JSON."""
        return json.dumps(self._config)

    def __eq__(self, other):
        return isinstance(other, Config) and self._config == other._config

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"<Config {self._config}>"
