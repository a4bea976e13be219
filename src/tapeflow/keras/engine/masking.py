"""Masks: which steps of a sequence count. They travel with tensors, as `_keras_mask`, from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._native import Tensor
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.sizes import size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from tapeflow.keras.engine.calling import CallSignature

# Whether any tensor of the process has been given a mask: if not, none need be looked for.
exist = False


def of(inputs: TensorLike | dict[str, Any]):
    """The masks of the inputs, in their structure; None where nothing is masked."""
    if isinstance(inputs, Tensor):
        return getattr(inputs, "_keras_mask", None)
    masks = nest.map_structure(lambda x: getattr(x, "_keras_mask", None), inputs)
    return masks if any(mask is not None for mask in nest.flatten(masks)) else None


def of_call(
    signature: CallSignature, inputs: TensorLike | dict[str, Any], rest: Sequence[Any], kwargs: dict[str, Any]
):
    """The mask of a call: its argument, or else that of its inputs; and kwargs with it, where it is taken."""
    position = signature.mask_position
    if position is not None and len(rest) >= position > 0:
        return rest[position - 1], kwargs
    mask = kwargs.get("mask")
    if mask is None:
        mask = of(inputs)
        if mask is not None and signature.takes_mask:
            kwargs = {**kwargs, "mask": mask}
    return mask, kwargs


def of_arguments(
    signature: CallSignature, inputs: TensorLike | dict[str, Any], rest: Sequence[Any], kwargs: dict[str, Any]
):
    """The keyword arguments of a call with the masks of its arguments, where there are several: `x_mask` for `x`."""
    given = dict(zip(signature.names, (inputs, *rest)))
    tensors = {
        name: x for name, x in {**given, **kwargs}.items() if any(isinstance(each, Tensor) for each in nest.flatten(x))
    }
    if len(tensors) < 2:
        return kwargs
    found = {}
    for name, x in tensors.items():
        wanted = f"{name}_mask"
        if wanted in signature.names and given.get(wanted) is None and kwargs.get(wanted) is None:
            mask = of(x)
            if mask is not None:
                found[wanted] = mask
    return {**kwargs, **found} if found else kwargs


def kept(source: Tensor, tensor: Tensor):
    """A tensor made of another one, with the mask of that."""
    mask = getattr(source, "_keras_mask", None) if exist else None
    if mask is not None:
        set_mask(tensor, mask)
    return tensor


def set_mask(tensor, mask):
    """Gives a tensor a mask."""
    global exist
    tensor._keras_mask = mask
    exist = True


def attach(layer: Any, inputs: TensorLike | dict[str, Any], outputs: TensorLike, mask: TensorLike | None):
    """Gives the outputs of a layer the masks that the layer computes for them."""
    if layer._masks_itself:
        return
    flat = nest.flatten(outputs)
    if flat and all(getattr(x, "_keras_mask", None) is not None for x in flat):
        return
    masks = layer.compute_mask(inputs, mask)
    if masks is None:
        return
    for tensor, output_mask in zip(flat, nest.flatten(masks)):
        if output_mask is not None and isinstance(tensor, Tensor):
            set_mask(tensor, output_mask)


def weighted(output: Tensor, weight, rescale: bool = False):
    """A sample weight with the mask of an output: what is masked counts nowhere.

    With `rescale`, what counts is weighted so that a mean over all is the mean over what counts.
    """
    mask = getattr(output, "_keras_mask", None)
    if mask is None:
        return weight

    dtype = output.dtype if output.dtype.is_floating else "float32"
    mask = cast(mask, dtype)
    if rescale:
        mask = mask * (cast(size(mask), dtype) / (reduce_sum(mask) + 1e-7))
    if weight is None:
        return mask
    weight = cast(convert_to_tensor(weight), dtype)
    if weight.shape.rank == mask.shape.rank + 1:
        weight = squeeze(weight, [-1])
    while weight.shape.rank < mask.shape.rank:
        weight = expand_dims(weight, -1)
    return weight * mask
