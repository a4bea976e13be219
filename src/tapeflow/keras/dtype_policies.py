"""`keras.dtype_policies`: in which dtypes layers compute and keep their weights, one by one or by their paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from tapeflow.core.annotations import PathLike
from tapeflow.core.public import boundaries
from tapeflow.keras import dtype_policy
from tapeflow.keras.dtype_policy import (
    DTypePolicy,
    FloatDTypePolicy,
    Int4DTypePolicy,
    QuantizedDTypePolicy,
    QuantizedFloat8DTypePolicy,
    deserialize,
    get,
    serialize,
)

__all__ = [
    "DTypePolicy",
    "DTypePolicyMap",
    "FloatDTypePolicy",
    "Int4DTypePolicy",
    "QuantizedDTypePolicy",
    "QuantizedFloat8DTypePolicy",
    "deserialize",
    "get",
    "serialize",
]


class DTypePolicyMap(DTypePolicy, MutableMapping):
    """Policies by the paths of layers; a key may be a regular expression, which must match a whole path.

    Args:
      default_policy: the policy of layers for which there is none, by default the global one.
      policy_map: policies by path.
    """

    _keras_module = "keras.dtype_policies"

    def __init__(self, default_policy=None, policy_map=None):
        self._given = None if default_policy is None else get(default_policy)
        self._policies = {}
        for path, policy in dict(policy_map or {}).items():
            self[path] = policy

    @property
    def name(self):
        """ "map_" and the name of the default policy."""
        return f"map_{self.default_policy.name}"

    @property
    def default_policy(self):
        """The policy of layers for which there is none."""
        return get(self._given)

    @property
    def compute_dtype(self):
        """The dtype of computations by the default policy, by name."""
        return self.default_policy.compute_dtype

    @property
    def variable_dtype(self):
        """The dtype of weights by the default policy, by name."""
        return self.default_policy.variable_dtype

    @property
    def quantization_mode(self):
        """How the default policy quantizes weights."""
        return self.default_policy.quantization_mode

    def of_path(self, path: PathLike):
        """The policy of the layer with a path."""
        return self[path]

    def __getitem__(self, path):
        if path in self._policies:
            return self._policies[path]
        found = [key for key in self._policies if re.fullmatch(key, path)]
        if len(found) > 1:
            raise ValueError(f"Path '{path}' matches multiple dtype policy specification keys: {found}.")
        return self._policies[found[0]] if found else self.default_policy

    def __setitem__(self, path: PathLike, policy):
        if path in self._policies:
            raise ValueError(
                f"{path} already exist in the DTypePolicyMap with value {self._policies[path]}. Please make sure to "
                "not use duplicated keys."
            )
        self._policies[path] = get(policy)

    def __delitem__(self, path: PathLike):
        del self._policies[path]

    def __contains__(self, path):
        return path in self._policies

    def __len__(self):
        return len(self._policies)

    def __iter__(self):
        return iter(self._policies)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        if not isinstance(other, DTypePolicyMap):
            return NotImplemented
        return self._given == other._given and self._policies == other._policies

    def __repr__(self):
        mapping = [(path, policy.name) for path, policy in self._policies.items()]
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={mapping}>"

    def get_config(self):
        """The constructor's arguments."""
        policies = {path: dtype_policy.to_config(policy) for path, policy in self._policies.items()}
        return {"default_policy": self._given and self._given.name, "policy_map": policies}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """A map from the constructor's arguments."""
        policies = {path: deserialize(policy, custom_objects) for path, policy in config["policy_map"].items()}
        return cls(config["default_policy"], policies)


dtype_policy.CLASSES[DTypePolicyMap.__name__] = DTypePolicyMap
boundaries(globals())
