"""`SaveOptions`, `LoadOptions`, and what is done with the variables of distribution strategies."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from tapeflow.core.public import boundaries


class VariablePolicy(enum.Enum):
    """What is written of variables that live on devices."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    @staticmethod
    def from_obj(obj: Any) -> VariablePolicy:
        """The policy of a policy, of its name in any case, or of None. Raises ValueError for others."""
        if obj is None:
            return VariablePolicy.NONE
        if isinstance(obj, VariablePolicy):
            return obj
        for policy in VariablePolicy:
            if policy.value is not None and policy.value == str(obj).lower():
                return policy
        raise ValueError(f"invalid VariablePolicy value {obj}")


class SaveOptions:
    """How `tf.saved_model.save` saves.

    Args:
      namespace_whitelist: namespaces of ops ("Name>Op") that may be saved.
      function_aliases: names for functions, written with the graph.
      extra_tags: more tags of the graph, besides "serve".
      experimental_variable_policy: whether the devices of variables are written.
      experimental_custom_gradients: whether gradients that programs define are written, as functions.
      experimental_skip_saver: leaves out the nodes that save and restore in sessions.
      The others are kept; nothing here depends on them.
    """

    __slots__ = (
        "namespace_whitelist", "save_debug_info", "function_aliases", "experimental_debug_stripper",
        "experimental_io_device", "experimental_variable_policy", "experimental_custom_gradients",
        "experimental_image_format", "experimental_skip_saver", "experimental_sharding_callback", "extra_tags",
    )  # fmt: skip

    def __init__(
        self,
        namespace_whitelist: Any = None,
        save_debug_info: bool = False,
        function_aliases: Mapping[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ):
        self.namespace_whitelist = _names(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


def _names(given: Any) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise TypeError(
            "`namespace_whitelist` must be a list of strings. Got: "
            f"{given} with type {type(given)}."
        )
    for each in given:
        if not isinstance(each, (str, bytes)):
            raise ValueError(
                "Whitelisted namespace must be a string. Got: " f"{each} of type {type(each)}."
            )
    return [each.decode() if isinstance(each, bytes) else each for each in given]


class LoadOptions:
    """How `tf.saved_model.load` loads.

    Args:
      allow_partial_checkpoint: whether variables may be missing in the checkpoint; they are zero then.
      experimental_skip_checkpoint: whether variables keep no value of the checkpoint.
      The others are kept; nothing here depends on them.
    """

    __slots__ = (
        "allow_partial_checkpoint", "experimental_io_device", "experimental_skip_checkpoint",
        "experimental_variable_policy", "experimental_load_function_aliases",
    )  # fmt: skip

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases


boundaries(globals())
