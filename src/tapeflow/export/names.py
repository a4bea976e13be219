"""What exported models call their results."""

from __future__ import annotations

from typing import Any


def result_names(function: Any, count: int) -> list[str]:
    """The keys of a function that returns a dict, else "output_0" and so on; one for each of `count` results."""
    results = function.structured_outputs
    if isinstance(results, dict) and len(results) == count:
        return [str(key) for key in sorted(results)]
    return [f"output_{i}" for i in range(count)]
