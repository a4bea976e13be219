"""Training and checkpoints in JAX: every step under `jax.jit`, its state given away to it.

JAX has no files of its own, so that checkpoints are NumPy's; and no data.
"""

import jax
import jax.numpy as jnp
import numpy as np
import training_inputs as inputs


def package():
    return "jax"


def cases():
    return {
        "mlp": by_adam(mlp, cross_entropy, inputs.mlp(), *inputs.digits(128, 784)),
        "cnn": by_adam(cnn, cross_entropy, inputs.cnn(), *inputs.digits(64, 28, 28, 1)),
        "language": language(),
        "block": block(),
        "adam": adam_of_hundred(),
        "table": table(),
        **checkpoint(),
    }


def stateful(update, state, *data):
    """`update(state, *data) -> state, value`, compiled; a case's statement and names."""
    state = jax.tree.map(jnp.array, state)
    update = jax.jit(update, donate_argnums=0)
    data = [jnp.asarray(part) for part in data]

    def step():
        nonlocal state
        state, value = update(state, *data)
        return jax.block_until_ready(value)

    return "step()", {"step": step}


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -jnp.mean(chosen)


def adam_start(parameters):
    zeros = jax.tree.map(np.zeros_like, parameters)
    return parameters, zeros, zeros, np.float32(0)


def adam(state, gradients):
    parameters, m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
    rate = inputs.LEARNING_RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), parameters, m, v)
    return parameters, m, v, t


def by_adam(model, loss_of, parameters, x, y):
    def update(state, x, y):
        loss, gradients = jax.value_and_grad(lambda p: loss_of(model(p, x), y))(state[0])
        return adam(state, gradients), loss

    return stateful(update, adam_start(parameters), x, y)


def mlp(p, x):
    return jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]


def conv(x, kernel):
    names = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=names)


def cnn(p, x):
    x = jax.nn.relu(conv(x, p[0]) + p[1])
    x = jax.nn.relu(conv(x, p[2]) + p[3])
    window = (1, 2, 2, 1)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")
    return mlp(p[4:], x.reshape(len(x), -1))


def language():
    x, y, weights = inputs.language()

    def model(p, words):
        embedding, kernel, recurrent, bias, w, b = p
        given = jnp.swapaxes(embedding[words] @ kernel + bias, 0, 1)

        def cell(state, z):
            h, c = state
            i, f, g, o = jnp.split(z + h @ recurrent, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((len(words), inputs.WIDTH))
        _, outputs = jax.lax.scan(cell, (zeros, zeros), given)
        return jnp.swapaxes(outputs, 0, 1) @ w + b

    def update(p, x, y):
        loss, gradients = jax.value_and_grad(lambda p: cross_entropy(model(p, x), y))(p)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        scale = inputs.MOST_NORM / jnp.maximum(norm, inputs.MOST_NORM)
        return jax.tree.map(lambda p, g: p - scale * g, p, gradients), loss

    return stateful(update, weights, x, y)


def block():
    x, y, weights = inputs.block()
    norm = (np.ones(x.shape[-1], "f4"), np.zeros(x.shape[-1], "f4"))

    def normed(x, pair):
        gamma, beta = pair
        variance = jnp.var(x, -1, keepdims=True)
        return (x - jnp.mean(x, -1, keepdims=True)) * jax.lax.rsqrt(variance + 1e-5) * gamma + beta

    def model(p, x):
        def dense(name, x):
            return x @ p[name][0] + p[name][1]

        q, k, v = (dense(name, x).reshape(*x.shape[:2], inputs.HEADS, -1) for name in "qkv")
        seen = jax.nn.dot_product_attention(q, k, v).reshape(x.shape)
        x = normed(x + dense("o", seen), p["norm1"])
        inner = jax.nn.gelu(dense("up", x), approximate=True)
        return normed(x + dense("down", inner), p["norm2"])

    def loss_of(outputs, y):
        return jnp.mean(jnp.square(outputs - y))

    return by_adam(model, loss_of, {**weights, "norm1": norm, "norm2": norm}, x, y)


def adam_of_hundred():
    values, gradients = inputs.hundred()

    def update(state, *gradients):
        state = adam(state, list(gradients))
        return state, jnp.copy(state[0][-1])

    return stateful(update, adam_start(values), *gradients)


def table():
    values, rows, factors = inputs.table()

    # By the gradient of the rows: that of the table would be as large as the table.
    def update(table, rows, factors):
        loss, gradient = jax.value_and_grad(lambda found: jnp.sum(found * factors))(table[rows])
        return table.at[rows].add(-0.1 * gradient), loss

    return stateful(update, values, rows, factors)


def checkpoint():
    values = {key: jnp.asarray(value) for key, value in inputs.gigabyte().items()}
    prefix = inputs.folder() / "jax.npz"

    def save():
        np.savez(prefix, **values)
        inputs.to_disk(prefix)
        return values["v7"][0]

    def restore():
        with np.load(prefix) as file:
            values.update({key: jnp.asarray(file[key]) for key in file.files})
        return jax.block_until_ready(values)["v7"][0]

    return inputs.checkpoint_cases(prefix, save, restore)
