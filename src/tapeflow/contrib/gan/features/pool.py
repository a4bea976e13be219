"""A pool of older tensors, so that a discriminator does not forget."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1


def tensor_pool(
    input_values: dict[str, Any], pool_size: int = 50, pooling_probability: float = 0.5, name: str = "tensor_pool"
):
    """The values, or with a probability older ones from a pool, where the values take their place.

    Args:
      input_values: a tensor, or a structure of tensors.
      pool_size: how many are kept; 0: none. Until so many have come the values are given back.
      pooling_probability: how often an older one is given back.

    Raises ValueError for a negative size.
    """
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    flat = v1.nest.flatten(input_values)
    with v1.name_scope(f"{name}_pool_queue", values=[*flat, pooling_probability]):
        queue = v1.RandomShuffleQueue(pool_size, 0, [value.dtype for value in flat])

        def fill():
            with v1.control_dependencies([queue.enqueue(flat)]):
                return [v1.identity(value) for value in flat]

        def exchange():
            older = queue.dequeue()
            older = list(older) if isinstance(older, (list, tuple)) else [older]
            with v1.control_dependencies(older), v1.control_dependencies([queue.enqueue(flat)]):
                chosen = v1.random_uniform([]) < pooling_probability
                return v1.cond(
                    chosen,
                    lambda: [v1.identity(value) for value in older],
                    lambda: [v1.identity(value) for value in flat],
                    strict=True,
                )

        outputs = v1.cond(queue.size() < pool_size, fill, exchange, strict=True)
        for value, output in zip(flat, outputs, strict=True):
            output.set_shape(value.shape)
    return v1.nest.pack_sequence_as(input_values, outputs)
