"""How the methods of Dataset make datasets of what the modules of this package return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.data.dataset_class import dataset_class
from tapeflow.data.options import merged
from tapeflow.data.parts import has_effects, own_options


def build(arguments: Sequence[Any], *parents):
    """A dataset of the arguments that a module made, with the options of the datasets it is made of."""
    made = dataset_class().of(*arguments)
    made._parents = parents
    made._effects = any(has_effects(dataset) for dataset in parents)
    known = [own_options(dataset) for dataset in parents if own_options(dataset) is not None]
    if known:
        made._options = merged(*known)
    return made
