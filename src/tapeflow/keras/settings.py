"""Settings of Keras that hold for the whole process, and the counters behind layer names."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.context import current_graph, name_scope
from tapeflow.graph.build.placeholders import placeholder_with_default

settings = {
    "floatx": "float32",
    "epsilon": 1e-7,
    "image_data_format": "channels_last",
    "learning_phase": None,
    "max_epochs": None,
    "max_steps_per_epoch": None,
    "flash_attention": None,
}
# For each graph of 1.x, and for eager execution, the counts of names so far.
_name_counts: dict[str, int] = defaultdict(int)
_counts_of_graphs: weakref.WeakKeyDictionary[Any, dict[str, int]] = weakref.WeakKeyDictionary()
_counting = threading.Lock()
_phases_of_graphs: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def floatx():
    """The dtype of new layers: "float16", "bfloat16", "float32" or "float64"."""
    return settings["floatx"]


def set_floatx(value: Any):
    """Changes the dtype of new layers. Raises ValueError for other names."""
    if value not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(
            f"Unknown `floatx` value: {value}. Expected one of float16, float32, float64"
        )
    settings["floatx"] = str(value)


def epsilon():
    """The small number that keeps logarithms and quotients finite."""
    return settings["epsilon"]


def set_epsilon(value: Any):
    """Changes the small number that keeps logarithms and quotients finite."""
    settings["epsilon"] = float(value)


def image_data_format():
    """Where channels are in images: "channels_first" or "channels_last"."""
    return settings["image_data_format"]


def set_image_data_format(data_format: str):
    """Changes where channels are in images. Raises ValueError for other names."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown `data_format`: {data_format}")
    settings["image_data_format"] = data_format


def max_epochs():
    """The most epochs that `fit` runs; None for as many as it is asked for."""
    return settings["max_epochs"]


def set_max_epochs(max_epochs):
    """Limits the epochs of all calls of `fit`; None for no limit."""
    settings["max_epochs"] = max_epochs


def max_steps_per_epoch():
    """The most steps of an epoch of `fit`, and of `evaluate` and `predict`; None for all."""
    return settings["max_steps_per_epoch"]


def set_max_steps_per_epoch(max_steps_per_epoch):
    """Limits the steps of all epochs; None for no limit."""
    settings["max_steps_per_epoch"] = max_steps_per_epoch


def enable_flash_attention():
    """Lets layers and `keras.ops` choose a flash attention where there is one: on the CPU there is none."""
    settings["flash_attention"] = None


def disable_flash_attention():
    """Computes attention without a flash attention."""
    settings["flash_attention"] = False


def is_flash_attention_enabled():
    """None if a flash attention may be chosen, False after `disable_flash_attention`."""
    return settings["flash_attention"]


def at_most(number: int | None, limit: int | None):
    """A number, or the limit where that is less; None is no number and no limit."""
    if number is None or limit is None:
        return limit if number is None else number
    return min(number, limit)


def in_plain_graph():
    """Whether a graph of 1.x is being built, and no function."""
    graph = current_graph()
    return graph is not None and not graph.building_function


def learning_phase():
    """1 while training, else 0, for layers called without `training`; in a graph of 1.x a tensor that can be fed."""
    known = settings["learning_phase"]
    if known is not None:
        return known
    graph = current_graph()
    if graph is None or graph.building_function:
        return 0
    if graph not in _phases_of_graphs:
        with graph.as_default(), name_scope(""):
            _phases_of_graphs[graph] = placeholder_with_default(
                False, shape=(), name="keras_learning_phase"
            )
    return _phases_of_graphs[graph]


def learning_phase_is_set():
    """Whether set_learning_phase was called."""
    return settings["learning_phase"] is not None


def set_learning_phase(value: Any):
    """Fixes whether layers called without `training` train. Raises ValueError but for 0 and 1."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    settings["learning_phase"] = int(value)


def _counts():
    """The counts of names: each graph that a program builds has its own."""
    graph = current_graph()
    while getattr(graph, "building_function", False):
        graph = graph.enclosing_graph
    if graph is None:
        return _name_counts
    return _counts_of_graphs.setdefault(graph, defaultdict(int))


def unique_name(base: str, zero_based: bool = True):
    """`base` the first time, then base_1, base_2, ... (base_1 at first when not zero_based)."""
    number = get_uid(base) - (1 if zero_based else 0)
    return base if number == 0 else f"{base}_{number}"


def get_uid(prefix: str = ""):
    """The next number for names that begin with `prefix`, from 1."""
    with _counting:
        counts = _counts()
        counts[prefix] += 1
        return counts[prefix]


def reset_uids():
    """Lets layer names begin again."""
    _name_counts.clear()
    _counts_of_graphs.clear()


def clear_session(free_memory: bool = True):
    """Let layer names begin again and forget the learning phase.

    Args:
      free_memory: accepted as in Keras 3; memory is freed when nothing refers to it.
    """
    reset_uids()
    settings["learning_phase"] = None


def normalize_data_format(value: str | None):
    """A data format, the global one for None. Raises ValueError for other names."""
    value = image_data_format() if value is None else value
    lowered = value.lower() if isinstance(value, str) else value
    if lowered not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return lowered


def default_dtype(dtype):
    """A DType, of floatx for None."""
    return dtypes.as_dtype(floatx() if dtype is None else dtype)
