"""Weights in several HDF5 files, and a JSON file that says which group is in which of them."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Sequence

from tapeflow.core.annotations import PathLike
from tapeflow.core.files.whole_files import replace_file
from tapeflow.keras.engine.files.hdf5_files import h5py, hdf5
from tapeflow.keras.saving.archive import opened


def save(fill, path, max_shard_size):
    """Write what `fill` writes into an HDF5 file, in parts.

    Args:
      fill: a function of an open file.
      path: the JSON file; the parts are beside it.
      max_shard_size: the size of a part, in GB of 1024**3 bytes.

    Raises:
      ValueError: for a variable that is larger than a part.
    """
    path = _as_json(path, "Saving")
    folder, limit = os.path.dirname(path), float(max_shard_size) * 1024**3
    if folder:
        os.makedirs(folder, exist_ok=True)
    with h5py().File(io.BytesIO(), "w") as whole:
        fill(whole)
        parts, sizes = _parts(whole, limit)
        base = os.path.splitext(os.path.basename(path))[0].replace(".weights", "")
        weight_map: dict[str, list[str]] = {}
        for number, names in enumerate(parts):
            file = f"{base}_{number:05}.weights.h5"
            for name in names:
                files = weight_map.setdefault("/" + name.rpartition("/")[0], [])
                if file not in files:
                    files.append(file)
            replace_file(os.path.join(folder, file), hdf5(lambda part, names=names: _copy(whole, part, names)))
    listed = {group: files[0] if len(files) == 1 else files for group, files in weight_map.items()}
    config = {"metadata": {"total_size": sum(sizes.values())}, "weight_map": listed}
    replace_file(path, json.dumps(config, indent=4).encode())


def joined(path: PathLike):
    """The contents of all parts, as an open HDF5 file in memory. Raises ValueError for damage."""
    path = _as_json(path, "Loading")
    with open(path, encoding="utf-8") as config:
        try:
            listed = json.load(config)["weight_map"].values()
            files = sorted({file for each in listed for file in ([each] if isinstance(each, str) else each)})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not list the files of weights: {error!r}") from error
    whole = h5py().File(io.BytesIO(), "w")
    for file in files:
        if os.path.basename(file) != file:
            raise ValueError(f"{path} names a file that is not beside it: {file!r}")
        with _opened(os.path.join(os.path.dirname(path), file)) as part:
            _copy(part, whole, _datasets(part))
    return whole


def _opened(path: str):
    return opened(path, path)


def _as_json(path: PathLike, what: str):
    base, end = os.path.splitext(path)
    if end == ".json":
        return path
    warnings.warn(
        f"{what} sharded weights requires `*.json` as the extension. The original path: {path} will be renamed to "
        f"{base}.json.",
        stacklevel=5,
    )
    return f"{base}.json"


def _datasets(file):
    """The names of all arrays of a file."""
    found: list[str] = []

    def see(name: str, item):
        if isinstance(item, h5py().Dataset):
            found.append(name)

    file.visititems(see)
    return found


def _parts(whole, limit):
    """(lists of the names of the arrays of each part, sizes in bytes by name)."""
    sizes = {name: whole[name].size * whole[name].dtype.itemsize for name in _datasets(whole)}
    parts: list[list[str]] = [[]]
    filled = 0
    for name, size in sizes.items():
        if size > limit:
            raise ValueError(
                f"{name} has {size} bytes, which exceeds the maximum shard size {int(limit)}. You can increase the "
                "`max_shard_size` parameter to accommodate the size."
            )
        if filled + size > limit:
            parts.append([])
            filled = 0
        parts[-1].append(name)
        filled += size
    return parts, sizes


def _copy(source, target, names: Sequence[str]):
    """Copies arrays, and the attributes of the groups that they are in."""
    for name in names:
        group = name.rpartition("/")[0]
        made = target.require_group(group) if group else target
        for key, value in source[group or "/"].attrs.items():
            made.attrs[key] = value
        target.create_dataset(name, data=source[name][()])
        for attribute, value in source[name].attrs.items():
            target[name].attrs[attribute] = value
