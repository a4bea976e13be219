"""How the elements of a dataset are shared out among workers, and among programs."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.core.public import boundaries


class ShardingPolicy(enum.IntEnum):
    """Which elements each worker makes.

    OFF: all, in an order of its own. DYNAMIC: those of the parts of the sources that it asked for, each of which one
    worker gets. FILE: those of its part of the files, DATA: every n-th, FILE_OR_DATA: of files where there are some;
    these three need `worker_addresses` in the `DispatcherConfig`. HINT: as calls of `shard` in the dataset say.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class CrossTrainerCache:
    """Says that several programs read the same elements.

    Args:
      trainer_id: the name of this program among them.

    Raises:
      ValueError: an empty name.
    """

    def __init__(self, trainer_id: str):
        if not trainer_id:
            raise ValueError(
                "tf.data service cross-trainer cache requires a non-empty trainer ID."
            )
        self.trainer_id = trainer_id


_MODES = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}


def policy_of(processing_mode: Any) -> ShardingPolicy:
    """The policy that a processing mode names. Raises ValueError for another value."""
    if isinstance(processing_mode, ShardingPolicy):
        return processing_mode
    if isinstance(processing_mode, str) and processing_mode in _MODES:
        return _MODES[processing_mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f"`\"parallel_epochs\"`, or `\"distributed_epoch\"`. Got {processing_mode!r}."
    )


boundaries(globals())
