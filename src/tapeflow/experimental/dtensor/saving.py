"""Checkpoints of tensors on meshes: they hold whole tensors, which any layout can be restored to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.checkpoint.objects import Checkpoint
from tapeflow.checkpoint.saving_nodes import restore_v2, save_v2
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.public import boundaries
from tapeflow.experimental.dtensor.transfers import fetch_layout, is_dtensor, relayout, whole
from tapeflow.experimental.dtensor.variables import DVariable


class DTensorCheckpoint(Checkpoint):
    """A `tf.train.Checkpoint`, which saves variables on meshes itself and is to be used instead.

    Args:
      mesh: the mesh.
      root: as of `tf.train.Checkpoint`.
      **kwargs: as of `tf.train.Checkpoint`.
    """

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any):
        super().__init__(root, **kwargs)
        self.__dict__["_mesh"] = mesh


def enable_save_as_bf16(variables: Sequence[Any]) -> None:
    """Have checkpoints keep variables of float32 as bfloat16.

    Args:
      variables: a list of variables; only those that are `DVariable`s of float32 are changed.
    """
    for variable in variables:
        if isinstance(variable, DVariable):
            variable.save_as_bf16 = True


def sharded_save(
    mesh: Mesh, file_prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Sequence[Any]
) -> None:
    """Write tensors to a checkpoint.

    Args:
      mesh: the mesh of the tensors.
      file_prefix: the prefix of the checkpoint.
      tensor_names: the names of the tensors, a list or a vector of strings.
      shape_and_slices: "" for each.
      tensors: tensors or variables, in the same order.
    """
    del mesh
    save_v2(file_prefix, tensor_names, shape_and_slices, [convert_to_tensor(whole(x)) for x in tensors])


def name_based_save(mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: Mapping[str, Any]) -> None:
    """Write tensors to a checkpoint by their names.

    Args:
      mesh: the mesh of the tensors.
      checkpoint_prefix: the prefix of the checkpoint.
      name_tensor_dict: tensors or variables by name.

    Raises:
      ValueError: while a graph is built.
    """
    if not context.executing_eagerly():
        raise ValueError("name based save must run eagerly.")
    names = list(name_tensor_dict)
    sharded_save(mesh, checkpoint_prefix, names, [""] * len(names), list(name_tensor_dict.values()))


def name_based_restore(mesh: Mesh, checkpoint_prefix: str, name_tensor_dict: Mapping[str, Any]) -> dict[str, Any]:
    """Read tensors from a checkpoint by their names.

    Args:
      mesh: the mesh of the tensors.
      checkpoint_prefix: the prefix of the checkpoint.
      name_tensor_dict: for each name a tensor or variable whose dtype, shape and layout the result is to have.

    Returns:
      A dict from the names to tensors on the mesh.

    Raises:
      ValueError: while a graph is built, and for what is on no mesh, or on one of other devices than CPUs.
    """
    del mesh
    if not context.executing_eagerly():
        raise ValueError("name based restore must run eagerly.")
    layouts = {}
    for name, tensor in name_tensor_dict.items():
        layout = fetch_layout(tensor) if is_dtensor(tensor) else None
        if layout is None:
            raise ValueError("Saving/Restoring tensor must be a DTensor")
        if layout.mesh.device_type().upper() != "CPU":
            raise ValueError(
                f"Restoring a non CPU Tensor is not supported currently. Offending tensor name : {name}"
            )
        layouts[name] = layout
    names, kinds = list(name_tensor_dict), [x.dtype for x in name_tensor_dict.values()]
    found = restore_v2(checkpoint_prefix, names, [""] * len(names), kinds)
    flat = found if isinstance(found, (list, tuple)) else [found]
    return OrderedDict((name, relayout(x, layouts[name])) for name, x in zip(names, flat, strict=True))


boundaries(globals())
