"""`keras.distribution`: devices, meshes of them and layouts of tensors, for training on the devices of one process.

Data are parallel over one device, which is what a process has here; several devices or processes are used through
`tf.distribute`. What would split a tensor or a batch over several devices raises NotImplementedError.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import PathLike, TensorLike
from tapeflow.core.config import list_logical_devices
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries

__all__ = [
    "DataParallel",
    "DeviceMesh",
    "LayoutMap",
    "ModelParallel",
    "TensorLayout",
    "distribute_tensor",
    "distribution",
    "get_device_count",
    "initialize",
    "list_devices",
    "set_distribution",
]

_state: dict[str, DataParallel | None] = {"distribution": None}


def list_devices(device_type=None):
    """Return the names of the devices of a type ("cpu", "gpu" or "tpu"), by default of the fastest type there is."""
    if device_type is not None:
        kinds = [device_type.upper()]
    else:
        kinds = ["TPU", "GPU", "CPU"]
    for kind in kinds:
        devices = list_logical_devices(kind)
        if devices:
            return [f"{kind.lower()}:{device.name.rpartition(':')[2]}" for device in devices]
    return []


def get_device_count(device_type=None):
    """Return how many devices of a type there are."""
    return len(list_devices(device_type))


def initialize(job_addresses=None, num_processes=None, process_id=None):
    """Do nothing for one process.

    Args:
      job_addresses: the addresses of the processes, separated by commas.
      num_processes: how many there are; None or 1.
      process_id: which one this is.

    Raises:
      NotImplementedError: for several processes, for which `tf.distribute` is there.
    """
    if num_processes not in (None, 1) or (job_addresses and "," in job_addresses):
        raise NotImplementedError(
            "keras.distribution runs in one process. Use tf.distribute.MultiWorkerMirroredStrategy for several."
        )


class DeviceMesh:
    """Devices as an array whose axes have names.

    Args:
      shape: the sizes of the axes.
      axis_names: their names.
      devices: as many names of devices as the mesh has places, by default those of `list_devices()`.
    """

    def __init__(self, shape: Sequence[Any], axis_names, devices=None):
        if not shape or not axis_names:
            raise ValueError(
                f"Shape and axis_names cannot be empty. Received: shape={shape}, axis_names={axis_names}"
            )
        if len(shape) != len(axis_names):
            raise ValueError(
                "Shape and axis_names should have same size. "
                f"Received: shape={shape}, axis_names={axis_names}"
            )
        devices = np.array(list_devices() if devices is None else devices)
        if int(np.prod(shape)) != devices.size:
            raise ValueError(
                "Shape does not match the number of devices. "
                f"Received: shape={shape}; devices.shape={devices.shape}"
            )
        self._shape, self._axis_names = tuple(shape), list(axis_names)
        self._devices = devices.reshape(self._shape)

    @property
    def shape(self):
        """The sizes of the axes."""
        return self._shape

    @property
    def axis_names(self):
        """The names of the axes."""
        return self._axis_names

    @property
    def devices(self):
        """The names of the devices, an array of the mesh's shape."""
        return self._devices

    def __repr__(self):
        return f"<DeviceMesh shape={self.shape}, axis_names={self.axis_names}>"


class TensorLayout:
    """Along which axes of a mesh the axes of a tensor are split.

    Args:
      axes: for each axis of the tensor the name of an axis of the mesh, or None for one that is not split.
      device_mesh: the mesh.
    """

    def __init__(self, axes, device_mesh=None):
        self._axes, self._device_mesh = tuple(axes), device_mesh
        self._validate()

    def _validate(self):
        if self._device_mesh is None:
            return
        unknown = {axis for axis in self._axes if axis is not None} - set(self._device_mesh.axis_names)
        if unknown:
            raise ValueError(
                "Invalid axis names for Layout. Valid axis names: "
                f"{self._device_mesh.axis_names}, Got {sorted(unknown)}"
            )

    @property
    def axes(self):
        """The names of axes."""
        return self._axes

    @property
    def device_mesh(self):
        """The mesh, None until it is set."""
        return self._device_mesh

    @device_mesh.setter
    def device_mesh(self, mesh):
        if self._device_mesh is not None:
            raise ValueError(f"Cannot override device mesh value. Existing value is {self._device_mesh}")
        self._device_mesh = mesh
        self._validate()

    def __repr__(self):
        return f"<TensorLayout axes={self.axes}, device_mesh={self.device_mesh}>"


class LayoutMap(MutableMapping):
    """Layouts by the paths of variables; a key may be a regular expression that a part of a path matches.

    Args:
      device_mesh: the mesh of layouts that are given as tuples of axes.
    """

    def __init__(self, device_mesh):
        self._layouts, self._device_mesh = {}, device_mesh

    @property
    def device_mesh(self):
        """The mesh."""
        return self._device_mesh

    def __getitem__(self, path):
        if path in self._layouts:
            return self._layouts[path]
        found = [key for key in self._layouts if re.search(key, path)]
        if len(found) > 1:
            raise ValueError(f"Path '{path}' matches multiple layout specification keys: {found}. "
                             "Please make sure each tensor/variable path only matches at most one layout "
                             "specification key in the LayoutMap.")  # fmt: skip
        return self._layouts[found[0]] if found else None

    def __setitem__(self, path: PathLike, layout: str):
        if path in self._layouts:
            raise ValueError(
                f"{path} already exist in the LayoutMap with value {self._layouts[path]}. Please make sure to not use "
                "duplicated keys."
            )
        layout = TensorLayout(layout) if isinstance(layout, tuple) else layout
        if not isinstance(layout, TensorLayout):
            raise ValueError(f"{layout} should be a TensorLayout type, got {type(layout)}")
        if layout.device_mesh is None:
            layout.device_mesh = self._device_mesh
        self._layouts[path] = layout

    def __delitem__(self, path: PathLike):
        del self._layouts[path]

    def __len__(self):
        return len(self._layouts)

    def __iter__(self):
        return iter(self._layouts)


class DataParallel:
    """Every device has all variables, and a part of each batch.

    Args:
      device_mesh: a mesh of one axis.
      devices: names of devices, instead of a mesh; by default all.
      auto_shard_dataset: whether several processes get different parts of a dataset.

    Raises:
      NotImplementedError: for more than one device.
    """

    def __init__(self, device_mesh=None, devices=None, auto_shard_dataset: bool = True):
        if device_mesh is None:
            devices = list_devices() if devices is None else list(devices)
            device_mesh = DeviceMesh((len(devices),), ["batch"], devices)
        _refuse_several(device_mesh)
        self._device_mesh = device_mesh
        self.auto_shard_dataset = auto_shard_dataset

    @property
    def device_mesh(self):
        """The mesh."""
        return self._device_mesh

    @property
    def batch_dim_name(self):
        """The axis of the mesh over which batches are split."""
        return self._device_mesh.axis_names[0]

    def get_data_layout(self, data_shape):
        """Return how a batch of a shape is split: along its first axis."""
        return TensorLayout([self.batch_dim_name, *[None] * (len(data_shape) - 1)], self._device_mesh)

    def get_variable_layout(self, variable):
        """Return how a variable is split: not at all."""
        return TensorLayout([None] * len(variable.shape), self._device_mesh)

    def get_tensor_layout(self, path: PathLike):
        """Return None: tensors within a model are not split on purpose."""

    def distribute_dataset(self, dataset):
        """Return the dataset, all of which one process reads."""
        return dataset

    def scope(self):
        """Return a context in which this distribution is the current one."""
        return _Scope(self)

    def __repr__(self):
        return f"<{type(self).__name__} device_mesh={self._device_mesh}>"


class ModelParallel(DataParallel):
    """Variables are split over devices by a map of layouts.

    Args:
      layout_map: layouts by the paths of variables.
      batch_dim_name: the axis of the mesh over which batches are split, by default the first.

    Raises:
      NotImplementedError: for more than one device.
    """

    def __init__(self, *, layout_map=None, batch_dim_name=None, auto_shard_dataset: bool = True):
        if layout_map is None:
            raise ValueError("You must specify a layout_map argument.")
        if not isinstance(layout_map, LayoutMap):
            raise ValueError(f"Argument `layout_map` must be a `LayoutMap` instance. Received: layout_map={layout_map}")
        super().__init__(layout_map.device_mesh, auto_shard_dataset=auto_shard_dataset)
        self._layout_map, self._batch_dim_name = layout_map, batch_dim_name

    @property
    def batch_dim_name(self):
        """The axis of the mesh over which batches are split."""
        return self._batch_dim_name or super().batch_dim_name

    def get_variable_layout(self, variable):
        """Return the layout that the map has for the path of a variable, else one that splits nothing."""
        found = self._layout_map[getattr(variable, "path", None) or variable.name]
        return super().get_variable_layout(variable) if found is None else found

    def get_tensor_layout(self, path: PathLike):
        """Return the layout that the map has for a path, or None."""
        return self._layout_map[path]


def _refuse_several(mesh):
    if mesh.devices.size > 1:
        raise NotImplementedError(
            f"keras.distribution uses one device here, got {mesh}. Use tf.distribute.MirroredStrategy for several."
        )


class _Scope:
    def __init__(self, distribution):
        self._distribution, self._before = distribution, None

    def __enter__(self):
        self._before = distribution()
        set_distribution(self._distribution)
        return self._distribution

    def __exit__(self, *exc_info):
        set_distribution(self._before)


def distribution():
    """Return the current distribution, None at first."""
    return _state["distribution"]


def set_distribution(value: TensorLike):
    """Make a distribution the current one; None for no distribution."""
    if value is not None and not isinstance(value, DataParallel):
        raise ValueError(f"Expected a DataParallel or ModelParallel, got {value!r}")
    _state["distribution"] = value


def distribute_tensor(tensor: TensorLike, layout):
    """Give a tensor a layout, which on one device is the tensor itself.

    Args:
      tensor: a tensor, or what can be converted to one.
      layout: a `TensorLayout`, or None.

    Returns:
      The tensor.

    Raises:
      NotImplementedError: for a layout over more than one device.
    """
    if layout is not None and layout.device_mesh is not None:
        _refuse_several(layout.device_mesh)
    return convert_to_tensor(tensor)


boundaries(globals())
