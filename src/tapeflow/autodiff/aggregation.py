"""How gradients that meet are to be added: names that programs give. Here they are always added at once."""

from tapeflow.api import api


@api("AggregationMethod")
class AggregationMethod:
    """Ways to add gradients."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2
