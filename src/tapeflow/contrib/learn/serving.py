"""Functions that feed exported models, and strategies of exporting them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.contrib.learn.experiment import ExportStrategy
from tapeflow.estimator.export import ServingInputReceiver, build_parsing_serving_input_receiver_fn
from tapeflow.estimator.exporters import delete_old


class InputFnOps(collections.namedtuple("InputFnOps", "features labels default_inputs")):
    """Features and labels of a model, and a dict of the placeholders that they are made of."""


def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """A function that takes serialized `tf.train.Example`s, and parses them by a spec."""
    receive = build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size)

    def input_fn():
        made = receive()
        return InputFnOps(made.features, None, made.receiver_tensors)

    return input_fn


def receiver_fn_of(serving_input_fn: Callable[..., Any]):
    """A function that returns a ServingInputReceiver, for one that may return InputFnOps."""

    def receive():
        made = serving_input_fn()
        if isinstance(made, InputFnOps):
            return ServingInputReceiver(made.features, made.default_inputs)
        return made

    return receive


def make_export_strategy(
    serving_input_fn: Callable[..., Any], default_output_alternative_key=None,
    assets_extra: Mapping[Any, Any] | None = None, as_text: bool = False, exports_to_keep: int = 5,
    strip_default_attrs=None,
):  # fmt: skip
    """An ExportStrategy "Servo" that writes SavedModels.

    Args:
      serving_input_fn: returns InputFnOps, or a ServingInputReceiver.
      assets_extra: a dict of files to add.
      exports_to_keep: how many exports stay; None: all.
    """

    def export(
        estimator, export_dir_base: str, checkpoint_path: str | None = None, eval_result: dict[str, Any] | None = None
    ):
        path = estimator.export_saved_model(
            export_dir_base, receiver_fn_of(serving_input_fn), assets_extra, as_text, checkpoint_path
        )
        if exports_to_keep is not None:
            delete_old(export_dir_base, exports_to_keep)
        return path

    return ExportStrategy("Servo", export, strip_default_attrs)
