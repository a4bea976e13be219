"""Updates of many variables and of a table's rows in JAX, compiled, in memory that is given up."""

import inputs
import jax
import jax.numpy as jnp


def package():
    return "jax"


def cases():
    found = {}
    for size, (start, gradient) in inputs.many().items():
        for key, (n_slots, rule) in DENSE.items():
            trees = [[jnp.array(start) for _ in range(inputs.MANY)]]
            trees += [[jnp.zeros_like(v) for v in trees[0]] for _ in range(n_slots)]
            gradients = [jnp.array(gradient) for _ in trees[0]]
            step = Step(all_of(rule), trees, gradients)
            found[f"{key}_{size}"] = ("step()\nstep.trees[0][-1]", {"step": step})
    table, rows = inputs.rows()
    for key, update in SPARSE.items():
        slots = [] if key == "sparse_sgd" else [jnp.full(table.shape, 0.1)]
        step = Step(update, [jnp.array(table), *slots], jnp.array(rows))
        found[key] = ("step()", {"step": step})
    return found


class Step:
    def __init__(self, update, trees, given):
        self.update = jax.jit(update, donate_argnums=0)
        self.trees, self.given, self.number = trees, given, 0

    def __call__(self):
        self.number += 1
        self.trees, result = self.update(self.trees, self.given, self.number)
        return jax.block_until_ready(result)


def all_of(rule):
    def update(trees, gradients, step):
        trees = list(zip(*(rule(g, step, *state) for g, *state in zip(gradients, *trees))))
        return [list(tree) for tree in trees], trees[0][-1][0, 0]

    return update


def adam(g, step, x, m, v):
    m, v = m + (g - m) * 0.1, v + (g * g - v) * 0.001
    return x - 1e-3 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step) * m / (jnp.sqrt(v) + 1e-7), m, v


def momentum(g, step, x, m):
    m = 0.9 * m - 1e-3 * g
    return x + m, m


def rmsprop(g, step, x, v):
    v = 0.9 * v + 0.1 * g * g
    return x - 1e-3 * g / (jnp.sqrt(v) + 1e-7), v


def looked_up(table, rows):
    """The loss, and its gradient in the rows that were looked up."""
    found = table[rows]
    return jnp.sum(found**2), 2 * found


def sparse_sgd(trees, rows, step):
    loss, grad = looked_up(trees[0], rows)
    return [trees[0].at[rows].add(-1e-3 * grad)], loss


def sparse_adagrad(trees, rows, step):
    table, squares = trees
    loss, grad = looked_up(table, rows)
    places, where = jnp.unique(rows, return_inverse=True, size=len(rows), fill_value=len(table))
    grad = jax.ops.segment_sum(grad, where, len(rows))
    squares = squares.at[places].add(grad * grad)
    return [table.at[places].add(-1e-3 * grad / (jnp.sqrt(squares[places]) + 1e-7)), squares], loss


DENSE = {
    "sgd": (0, lambda g, step, x: (x - 1e-3 * g,)),
    "momentum": (1, momentum),
    "adam": (2, adam),
    "rmsprop": (1, rmsprop),
}
SPARSE = {"sparse_sgd": sparse_sgd, "sparse_adagrad": sparse_adagrad}
