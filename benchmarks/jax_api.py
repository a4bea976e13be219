"""The cases in JAX, compiled where a program would compile them; each waits for its result."""

import inputs
import jax
import jax.numpy as jnp


def package():
    return "jax"


def cases():
    a, b = jnp.float32(1.5), jnp.float32(2.5)
    small = {"a": jnp.asarray(inputs.array(1, 10, 10)), "b": jnp.asarray(inputs.array(2, 10, 10))}
    million = {"jnp": jnp, "x": jnp.asarray(inputs.array(1, 1_000_000))}
    million["y"] = jnp.asarray(inputs.array(2, 1_000_000))
    square = jax.jit(jax.grad(lambda w: (w * w)[0, 0]))
    images, filters = (jnp.asarray(array) for array in inputs.conv())
    forward = jax.jit(convolution)
    backward = jax.jit(jax.grad(lambda x, k: jnp.mean(convolution(x, k) ** 2), argnums=(0, 1)))
    convs = {"x": images, "k": filters, "wait": jax.block_until_ready}
    return {
        "add_scalar": ("(a + b).block_until_ready()", {"a": a, "b": b}),
        "add_10x10": ("(a + b).block_until_ready()", small),
        "add_function": ("add(a, b).block_until_ready()", {"add": jnp.add, "a": a, "b": b}),
        "matmul_10x10": ("matmul(a, b).block_until_ready()", {"matmul": jnp.matmul, **small}),
        "tape_square": (
            "grad(w).block_until_ready()",
            {"grad": square, "w": jnp.asarray([[3.0]])},
        ),
        "mlp_step": ("step()", {"step": mlp_step()}),
        "add_1m": ("(x + y).block_until_ready()", million),
        "tanh_1m": ("jnp.tanh(x).block_until_ready()", million),
        "matmul_1000": (
            "(x @ x).block_until_ready()",
            {"x": jnp.asarray(inputs.array(3, 1000, 1000))},
        ),
        "conv": ("wait(step(x, k))", {"step": forward, **convs}),
        "conv_grad": ("wait(step(x, k))", {"step": backward, **convs}),
    }


def convolution(x, k):
    return jax.lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def mlp_step():
    x, y, layers = inputs.mlp()
    state = jax.tree.map(jnp.asarray, layers)

    def loss(layers):
        h = x
        for w, b in layers:
            h = jnp.tanh(h @ w + b)
        return jnp.mean(jnp.square(h - y))

    @jax.jit
    def update(layers):
        value, gradients = jax.value_and_grad(loss)(layers)
        return value, jax.tree.map(lambda p, g: p - 0.01 * g, layers, gradients)

    def step():
        nonlocal state
        value, state = update(state)
        return jax.block_until_ready(value)

    return step
