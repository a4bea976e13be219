"""Weights of models in HDF5 as Keras 3 keeps them: a group per object, along the attributes that hold it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.release import keras_2
from tapeflow.keras.engine.functional.model import Functional
from tapeflow.keras.engine.protocol import Protocol
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.layers.low_rank import LowRank
from tapeflow.keras.registry import snake_name
from tapeflow.keras.session import set_values, values_of

# What a model holds that is not in its file: what compile made, and the lists behind `layers`.
_SKIPPED = {"_stack", "_layers", "_listed", "_inputs", "_outputs", "_network", "compiled_loss",
            "compiled_metrics", "optimizer", "loss"}  # fmt: skip


def own_variables(item):
    """The variables of an object that belong to nothing inside of it, those to train first."""
    if hasattr(item, "save_own_variables") and not isinstance(item, Tracked):
        return []
    if hasattr(item, "_own_variables"):
        return item._own_variables()
    return sorted(item._own_weights, key=lambda variable: not variable.trainable)


def children(item):
    """(name, object or container) pairs of what an object holds, by which its file is laid out."""
    held = {name: value for name, value in item._tracked.items() if name not in _SKIPPED}
    held.update(getattr(item, "_held_in_files", {}))
    if isinstance(item, (Functional, Sequential)):
        yield "layers", list(item.layers)
    elif isinstance(getattr(type(item), "layers", None), property):
        held["layers"] = list(item.layers)
    if getattr(item, "compiled", False) and getattr(item, "optimizer", None) is not None:
        held["optimizer"] = item.optimizer
    for name in list(held):
        # What a property without the underscore gives is found by that name.
        public = name.lstrip("_")
        if public != name and not keras_2() and isinstance(getattr(type(item), public, None), property):
            held[public] = held.pop(name)
    for name in sorted(held, key=lambda name: (name.startswith("_"), name)):
        yield name, held[name]


def walk(item: Functional | Sequential):
    """(path, object) pairs of an object and of all that it holds, each once."""
    yield from _walk(item, "", set())


def _walk(item: Any, path: str, seen):
    if isinstance(item, (list, tuple, Mapping)):
        for name, value in named(item):
            yield from _walk(value, _joined(path, name), seen)
    elif id(item) not in seen and isinstance(item, Tracked):
        seen.add(id(item))
        yield path, item
        for name, value in () if _is_plain_optimizer(item) else children(item):
            yield from _walk(value, _joined(path, name), seen)


def named(container):
    """(name, object) pairs of a list or dict: names of classes, numbered."""
    seen: dict[str, int] = {}
    values = container.values() if isinstance(container, Mapping) else container
    for value in values:
        if not isinstance(value, (Tracked, list, tuple, dict)):
            continue
        base = snake_name(type(value))
        number = seen.get(base, 0)
        seen[base] = number + 1
        yield f"{base}_{number}" if number else base, value


def save(item, group):
    """Writes the variables of an object and of all that it holds."""
    for path, part in walk(item):
        if _is_optimizer(part) and getattr(part, "_known", None) is None:
            continue
        own = group.require_group(_joined(path, "vars"))
        own.attrs["name"] = getattr(part, "name", type(part).__name__)
        if hasattr(part, "save_own_variables"):
            part.save_own_variables(_Store(own))
        else:
            for i, value in enumerate(values_of(own_variables(part))):
                put(own, str(i), value)


class _Store:
    """A group as the dict that `save_own_variables` fills."""

    def __init__(self, group):
        self._group = group

    def __setitem__(self, name: str, value: TensorLike):
        put(self._group, name, np.asarray(value))


def put(group: Any, name: str, value: Any):
    """Writes an array; HDF5 has no bfloat16: its words say by an attribute what they are."""
    group[name] = value
    if getattr(getattr(value, "dtype", None), "name", "") == "bfloat16":
        group[name].attrs["dtype"] = "bfloat16"


def _is_optimizer(item):
    return hasattr(item, "apply_gradients")


def _is_plain_optimizer(item):
    return _is_optimizer(item) and not hasattr(item, "dynamic_scale")


def _joined(path: str, name: str):
    return f"{path}/{name}" if path else name


def load(item: Any, file, skip_mismatch: bool = False):
    """Sets the variables of an object and of all that it holds, from a file that `save` has written.

    Raises ValueError for variables that the file has not, or has in another shape or number.
    """
    for path, part in walk(item):
        try:
            group = group_at(file, _joined(path, "vars"))
            if group is None:  # Keras 2 has the attribute, not the property
                group = group_at(file, "/_".join(path.rsplit("/", 1)) + "/vars")
            _load_own(part, group)
        except ValueError as error:
            if not skip_mismatch and not _is_optimizer(part):
                raise
            warnings.warn(f"A layer was not loaded: {error}", stacklevel=3)


def _loads_itself(item):
    """Whether the class of an object, or one that it inherits from, has its own way to read its variables."""
    owner = next((cls for cls in type(item).__mro__ if "load_own_variables" in cls.__dict__), Protocol)
    return getattr(item, "lora_enabled", False) if owner is LowRank else owner is not Protocol


def _load_own(item, group):
    name = getattr(item, "name", type(item).__name__)
    names = list(group) if group is not None else []
    if _loads_itself(item) or _is_optimizer(item):
        if names:
            known = getattr(item, "_known", None)
            if _is_optimizer(item) and known is None:
                return
            item.load_own_variables({n: array_at(group, n) for n in names})
        return
    variables = own_variables(item)
    if len(names) != len(variables):
        if hasattr(item, "built") and not item.built and not variables:
            raise ValueError(
                f"Layer '{name}' was never built and thus it doesn't have any variables. However the "
                f"weights file lists {len(names)} variables for this layer."
            )
        raise ValueError(
            f"Layer '{name}' expected {len(variables)} variables, but received {len(names)} variables "
            f"during loading. Expected: {[v.name for v in variables]}"
        )
    pairs = []
    for i, variable in enumerate(variables):
        expected = tuple(variable.shape.as_list())
        if str(i) not in names:
            raise ValueError(f"Layer '{name}': the file has no variable {i}, only {sorted(names)}")
        shape = tuple(dataset_at(group, str(i)).shape)
        if shape != expected:
            raise ValueError(
                f"A total of 1 objects could not be loaded. Layer '{name}': variable "
                f"{variable.name} has shape {expected}, and the saved one {shape}."
            )
        pairs.append((variable, array_at(group, str(i))))
    set_values(pairs)


def group_at(file: Any, path: str):
    """The group at a path of a file; None where there is none. Raises ValueError for links to other files."""
    import h5py

    group = file
    for part in path.split("/"):
        if part not in group and group.get(part, getlink=True) is None:
            return None
        link = group.get(part, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise ValueError(f"The file of weights has a link out of itself at {path!r}.")
        group = group[part]
        if not isinstance(group, h5py.Group):
            raise ValueError(f"The file of weights has data where a group should be, at {path!r}.")
    return group


def dataset_at(group, name: str):
    """A dataset of numbers in the file itself. Raises ValueError for any other."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"The file of weights has a link out of itself at {name!r}.")
    data = group[name]
    if not isinstance(data, h5py.Dataset) or data.external or data.is_virtual:
        raise ValueError(f"The file of weights has no plain data at {name!r}.")
    return data


def array_at(group, name: str):
    """The array of a dataset; bfloat16, which HDF5 has not, comes back from 16-bit words."""
    data = dataset_at(group, name)
    value = np.asarray(data)
    if data.attrs.get("dtype") in ("bfloat16", b"bfloat16") or value.dtype == "V2":
        import ml_dtypes

        value = value.view(ml_dtypes.bfloat16)
    return value
