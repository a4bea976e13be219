"""The order of what needs each other, such as the nodes of a graph."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")


def in_order(needs: Mapping[Key, Iterable[Key]], rank: Callable[[Key], Any]) -> list[Key]:
    """What can follow one another, each after all that it needs; of several that can be next, that of the least rank.

    Args:
      needs: for each what it needs, of the same.
      rank: differs for each.

    Returns:
      All but those that are in a cycle, or need one.
    """
    waiting: dict[Key, int] = {}
    followers: dict[Key, list[Key]] = {}
    for key, sources in needs.items():
        waiting[key] = 0
        for source in sources:
            waiting[key] += 1
            followers.setdefault(source, []).append(key)
    ready = [(rank(key), key) for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, key = heapq.heappop(ready)
        order.append(key)
        for follower in followers.get(key, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (rank(follower), follower))
    return order
