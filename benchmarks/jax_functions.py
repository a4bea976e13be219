"""The cases of functions in JAX, each under `jax.jit`; each waits for its result."""

import functools
import time

import inputs
import jax
import jax.numpy as jnp
from jax_api import mlp_step


def package():
    return "jax"


def cases():
    small = {"a": jnp.asarray(inputs.array(1, 10, 10)), "b": jnp.asarray(inputs.array(2, 10, 10))}
    wait = {"wait": jax.block_until_ready}
    loop = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, x: x + i, jnp.int32(0)))
    chain = jax.jit(lambda x: jnp.sum(jnp.tanh(x * 2 + 1) * jnp.exp(-x * x)))
    return {
        "op": ("wait(a + b)", {**small, **wait}),
        "call": ("wait(f(a, b))", {"f": jax.jit(lambda a, b: a + b), **small, **wait}),
        "range_sum": ("wait(f(n))", {"f": loop, "n": jnp.int32(1000), **wait}),
        "mlp_step": ("step()", {"step": mlp_step()}),
        "lstm_1": ("wait(step(w, b, xs))", {**lstm(1), **wait}),
        "lstm_32": ("wait(step(w, b, xs))", {**lstm(32), **wait}),
        "chain": ("wait(f(x))", {"f": chain, "x": jnp.asarray(inputs.array(1, 1_000_000)), **wait}),
    }


def measures():
    jax.jit(lambda x: x + 1.0)(jnp.float32(1.0))  # what the first function of a process costs
    names = lstm(32)
    begin = time.perf_counter()
    jax.block_until_ready(names["step"](names["w"], names["b"], names["xs"]))
    return {"first_call": time.perf_counter() - begin}


@functools.cache
def lstm(batch):
    """The loss and its gradients of a cell unrolled over all steps; made once, for it takes long."""
    xs, w, b = (jnp.asarray(a) for a in inputs.lstm(batch))

    def loss(w, b, xs):
        h = c = jnp.zeros((batch, inputs.LSTM_SIZE))
        for x in xs:
            i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ w + b, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return jnp.mean(jnp.square(h))

    step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    return {"step": step, "w": w, "b": b, "xs": xs}
