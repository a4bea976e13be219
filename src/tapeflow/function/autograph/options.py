"""What programs may ask of AutoGraph: optional features, and options of single loops."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.api import api
from tapeflow.core.public import boundaries


@api("autograph.experimental.Feature")
class Feature(enum.Enum):
    """Optional features of the conversion.

    `EQUALITY_OPERATORS` converts `==` and `!=`, and `BUILTIN_FUNCTIONS` converts `print`, which then prints values
    when the function runs. Assertions, lists and other builtins are always converted, and control dependencies and name
    scopes need no conversion: these features are accepted and change nothing.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All features but one or several."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


@api("autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Set options of the loop in whose body it is called; outside of a loop that goes into the graph it does nothing.

    Args:
      parallel_iterations: as of `tf.while_loop`.
      swap_memory: as of `tf.while_loop`.
      maximum_iterations: after how many rounds the loop ends at last.
      shape_invariants: a list of pairs (variable, shape), of the shapes that variables keep.
    """


boundaries(globals())
