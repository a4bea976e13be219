"""How the methods of Dataset make datasets of what the modules of this package return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.data.dataset_class import dataset_of
from tapeflow.data.options import merged
from tapeflow.data.parts import parts_of


def build(arguments: Sequence[Any], *parents):
    """A dataset of the arguments that a module made, with the options of the datasets it is made of."""
    made = dataset_of(*arguments)
    parts, inherited = parts_of(made), [parts_of(dataset) for dataset in parents]
    parts.parents = parents
    parts.has_effects = any(each.has_effects for each in inherited)
    known = [each.options for each in inherited if each.options is not None]
    if known:
        parts.options = merged(*known)
    return made
