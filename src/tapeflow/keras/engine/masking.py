"""Masks: which steps of a sequence count. They travel with tensors, as `_keras_mask`, from layer to layer."""

from __future__ import annotations

from tapeflow._native import Tensor
from tapeflow.core import nest

# Whether any tensor of the process has been given a mask: if not, none need be looked for.
exist = False


def of(inputs):
    """The masks of the inputs, in their structure; None where nothing is masked."""
    if isinstance(inputs, Tensor):
        return getattr(inputs, "_keras_mask", None)
    masks = nest.map_structure(lambda x: getattr(x, "_keras_mask", None), inputs)
    return masks if any(mask is not None for mask in nest.flatten(masks)) else None


def of_call(signature, inputs, rest, kwargs):
    """The mask of a call, as told or else that of its inputs; and kwargs with it, where it is taken."""
    position = signature.mask_position
    if position is not None and len(rest) >= position > 0:
        return rest[position - 1], kwargs
    mask = kwargs.get("mask")
    if mask is None:
        mask = of(inputs)
        if mask is not None and signature.takes_mask:
            kwargs = {**kwargs, "mask": mask}
    return mask, kwargs


def set_mask(tensor, mask):
    """Gives a tensor a mask."""
    global exist
    tensor._keras_mask = mask
    exist = True


def attach(layer, inputs, outputs, mask):
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
