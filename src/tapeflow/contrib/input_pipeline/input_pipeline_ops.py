"""The next string of a list, in each run."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tapeflow.compat import v1
from tapeflow.core.annotations import TensorLike

__all__ = ["obtain_next", "seek_next"]


def obtain_next(string_list_tensor: TensorLike, counter):
    """The string after the one whose number an int64 variable holds, which is moved on; the first follows the last."""
    strings = v1.convert_to_tensor(string_list_tensor)
    place = v1.assign(counter, (counter + 1) % v1.size(strings, out_type=v1.int64))
    return v1.gather(v1.reshape(strings, [-1]), place)


def seek_next(
    string_list: Sequence[str], shuffle: bool = False, seed: int | None = None, num_epochs: int | None = None
):
    """The next string of a list in each run, by variables in the scope `obtain_next`.

    Args:
      string_list: the strings.
      shuffle: whether each round has an order of its own.
      seed: of the order.
      num_epochs: how many rounds there are before OutOfRangeError; by default no end.
    """
    if shuffle and seed:
        random.seed(seed)
    rounds = []
    for _ in range(num_epochs or 1):
        strings = list(string_list)
        if shuffle:
            random.shuffle(strings)
        rounds += strings
    with v1.variable_scope("obtain_next"):
        counter = v1.get_variable(
            "obtain_next_counter", initializer=v1.constant(-1, v1.int64), dtype=v1.int64, trainable=False
        )
        strings = v1.get_variable(
            "obtain_next_expanded_list", initializer=v1.constant(rounds), dtype=v1.string, trainable=False
        )
        if not num_epochs:
            return obtain_next(strings, counter)
        seen = v1.get_variable(
            "obtain_next_filename_counter", initializer=v1.constant(0, v1.int64), dtype=v1.int64, trainable=False
        )
        with v1.control_dependencies([seen.count_up_to(len(rounds))]):
            return obtain_next(strings, counter)
