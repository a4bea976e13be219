"""HParams: named hyperparameters with types, read from text and JSON."""

from __future__ import annotations

import json
import numbers
import re
from typing import Any

from tapeflow import protos

__all__ = ["HParams", "parse_values"]

_PARAMETER = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])(?:$|,\s*)"
)


# The fields of `HParamDef.HParamType`, by the type of values; bools are integers too.
_FIELDS = {bool: "bool", int: "int64", float: "float", str: "bytes", bytes: "bytes"}


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _unparsable(name: str, var_type: type, value: Any, values: Any) -> ValueError:
    return ValueError(
        f"Could not parse hparam '{name}' of type '{var_type.__name__}' with value '{value}' in {values}"
    )


def _one(name: str, var_type: type, text: str, values: Any) -> Any:
    """A value of the type, of its text. Raises ValueError for one that it cannot be."""
    if var_type is bool:
        if text in ("true", "True"):
            return True
        if text in ("false", "False"):
            return False
        try:
            return bool(int(text))
        except ValueError:
            raise _unparsable(name, var_type, text, values) from None
    if var_type is str and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    try:
        return var_type(text)
    except (TypeError, ValueError):
        raise _unparsable(name, var_type, text, values) from None


def parse_values(values: str, type_map: dict[str, type], ignore_unknown: bool = False) -> dict[str, Any]:
    """{name: value} of `a=1,b=[2,3],c[0]=4`, with the types of the map.

    Raises ValueError for what cannot be read, unknown names (unless they are ignored) and names given twice.
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _PARAMETER.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        if match["value"] is not None:
            value = _one(name, kind, match["value"].strip(), values)
            if match["index"] is None:
                if name in found:
                    raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
                found[name] = value
            else:
                parts = found.setdefault(name, {})
                if not isinstance(parts, dict):
                    raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
                if int(match["index"]) in parts:
                    raise ValueError(f"Multiple assignments to variable '{name}[{match['index']}]' in {values}")
                parts[int(match["index"])] = value
            continue
        if match["index"] is not None:
            raise ValueError(f"Assignment of a list to a list index: {match.group()}")
        if name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        texts = [each.strip() for each in re.split("[ ,]", match["values"]) if each.strip()]
        found[name] = [_one(name, kind, each, values) for each in texts]
    return found


def _cast(name: str, kind: type, value: Any) -> Any:
    """The value as the type. Raises ValueError for one that would change by that."""
    bad = ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    if kind is type(None) or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        return value
    if isinstance(value, bool) != (kind is bool):
        raise bad
    if kind is int and not isinstance(value, numbers.Integral):
        raise bad
    if (kind is str and not isinstance(value, (str, bytes))) or (kind is not str and isinstance(value, str)):
        raise bad
    if isinstance(value, bytes) and kind is str:
        return value.decode()
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise bad from None


class HParams:
    """Hyperparameters as attributes: `HParams(learning_rate=0.1, units=[32, 64])`.

    The first value of each gives its type, which later ones must have.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            self._init_from_proto(hparam_def)
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def: Any) -> None:
        assert isinstance(hparam_def, protos.HParamDef), f"hparam_def must be a HParamDef, got {type(hparam_def)}"
        for name, held in hparam_def.hparam.items():
            kind = held.WhichOneof("kind")
            value = getattr(held, kind)
            value = list(value.value) if kind.endswith("_list") else value
            if kind.startswith("bytes"):
                value = [each.decode() for each in value] if isinstance(value, list) else value.decode()
            self.add_hparam(name, value)

    def to_proto(self, export_scope: Any = None) -> Any:
        """The values as a `HParamDef` message. Raises ValueError for values that are neither numbers nor texts."""
        made = protos.HParamDef()
        for name, value in self.values().items():
            kind, is_list = self._hparam_types[name]
            field = next((field for each, field in _FIELDS.items() if issubclass(kind, each)), None)
            if field is None:
                raise ValueError(f"Unsupported type of the hyperparameter {name}: {kind}")
            if field == "bytes":
                value = [_as_bytes(each) for each in value] if is_list else _as_bytes(value)
            if is_list:
                getattr(made.hparam[name], f"{field}_list").value.extend(value)
            else:
                setattr(made.hparam[name], f"{field}_value", value)
        return made

    def add_hparam(self, name: str, value: Any) -> None:
        """A hyperparameter more. Raises ValueError for a name in use and for an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value. Raises ValueError for one of another type, KeyError for an unknown name."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, each) for each in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Takes a hyperparameter away, where it is there."""
        if hasattr(self, name):
            delattr(self, name)
            self._hparam_types.pop(name, None)

    def parse(self, values: str) -> HParams:
        """Other values, of text such as `a=1,b=[2,3]`. Raises ValueError for what cannot be read."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Other values, by name."""
        for name, value in values_dict.items():
            if isinstance(value, dict):  # single places of a list
                parts = list(getattr(self, name))
                for index, each in value.items():
                    if index >= len(parts):
                        raise ValueError(f"Index {index} is out of range for {name}")
                    parts[index] = each
                value = parts
            self.set_hparam(name, value)
        return self

    def set_model_structure(self, model_structure: Any) -> None:
        """Any object that describes a model."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """What `set_model_structure` was given."""
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as JSON; functions are left out."""

        def left(value: Any) -> Any:
            return {k: left(v) for k, v in value.items()} if isinstance(value, dict) else value

        values = {name: left(value) for name, value in self.values().items() if not callable(value)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Other values, of JSON."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """{name: value}."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of that name, or the default. Raises ValueError for a default of another type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            fits = isinstance(default, list) == is_list
            if not fits:
                raise ValueError(f"default for {key!r} must be {'a list' if is_list else 'no list'}")
            for each in default if is_list else [default]:
                _cast(key, kind, each)
        return getattr(self, key)

    def __contains__(self, key: object) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"
