"""The order of what needs each other."""

from tapeflow.graph.topology import in_order


def test_each_follows_what_it_needs_and_the_least_comes_first():
    needs = {"a": [], "b": ["d", "d"], "c": [], "d": ["c"]}
    assert in_order(needs, lambda key: key) == ["a", "c", "d", "b"]
    assert in_order(needs, lambda key: -ord(key)) == ["c", "d", "b", "a"]


def test_what_is_in_a_cycle_or_needs_one_is_left_out():
    assert in_order({1: [], 2: [3], 3: [2], 4: [3], 5: [1]}, lambda key: key) == [1, 5]
