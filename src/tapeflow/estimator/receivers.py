"""Functions that feed exported models features and labels."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor_v1 as convert_to_tensor
from tapeflow.core.convert import is_tensor
from tapeflow.core.public import boundaries
from tapeflow.data.dataset import Dataset
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.graph.graph import Graph


class SupervisedInputReceiver(
    collections.namedtuple("SupervisedInputReceiver", "features labels receiver_tensors")
):
    """Features and labels of a model, and the tensors that they are made of: a dict, or one."""

    def __new__(cls, features: dict[str, Any], labels: TensorLike, receiver_tensors: dict[str, Any]):
        for name, given in (
            ("features", features), ("labels", labels), ("receiver_tensors", receiver_tensors)
        ):  # fmt: skip
            if given is None:
                raise ValueError(f"{name} must be defined.")
        if not isinstance(receiver_tensors, dict):
            receiver_tensors = {"input": receiver_tensors}
        return super().__new__(cls, features, labels, receiver_tensors)


def build_raw_supervised_input_receiver_fn(
    features: dict[str, Any], labels: Tensor | dict[str, Any], default_batch_size: int | None = None
):
    """A function that takes features and labels as they are: placeholders of the shapes and dtypes of tensors.

    Args:
      features, labels: dicts of tensors (or arrays), or one.
      default_batch_size: the first dimension of all.

    Raises ValueError for names that both have.
    """
    both = isinstance(features, dict) and isinstance(labels, dict)
    common = set(features) & set(labels) if both else set()
    if common:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {sorted(common)}"
        )

    def placeholders(given: Tensor | dict[str, Any], default: str):
        made = {}
        for name, value in (given if isinstance(given, dict) else {default: given}).items():
            tensor = value if is_tensor(value) else convert_to_tensor(value)
            shape = tensor.shape.as_list()
            shape[0] = default_batch_size
            made[name] = placeholder(tensor.dtype, shape, name)
        return made

    def receiver():
        inputs, wanted = placeholders(features, "input"), placeholders(labels, "label")
        return SupervisedInputReceiver(
            dict(inputs) if isinstance(features, dict) else inputs["input"],
            dict(wanted) if isinstance(labels, dict) else wanted["label"],
            {**inputs, **wanted},
        )

    return receiver


def build_supervised_input_receiver_fn_from_input_fn(input_fn: Callable[..., Any], **input_fn_args):
    """`build_raw_supervised_input_receiver_fn` of what an input function returns."""
    with Graph().as_default():
        result = input_fn(**input_fn_args)
        if isinstance(result, Dataset):
            result = result.make_one_shot_iterator().get_next()
        features, labels = result
    return build_raw_supervised_input_receiver_fn(features, labels)


boundaries(globals())
