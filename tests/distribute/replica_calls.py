"""Calls of strategies with two replicas on two CPUs, by name: with TensorFlow and here they print the same lines."""

import sys

import numpy as np


def calls(tf):
    """A dict: what is called -> a function that returns tensors, distributed values, or lists of them."""
    host = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
    found = {}
    strategies = {
        "mirrored": tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
        "central": tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0"),
        "one": tf.distribute.OneDeviceStrategy("/cpu:0"),
    }
    for name, strategy in strategies.items():
        for what, function in _of(tf, strategy).items():
            found[f"{name} {what}"] = function
    return found


def _of(tf, strategy):
    context = tf.distribute.get_replica_context

    def values(function):
        return strategy.experimental_distribute_values_from_function(lambda c: function(c.replica_id_in_sync_group))

    matrices = values(lambda i: tf.constant([[1.0, 2.0], [3.0, 4.0]]) * (i + 1))
    uneven = values(lambda i: tf.constant([i + 1] * (i + 1)))
    found = {}
    for op in ("SUM", "MEAN", "MAX"):
        for axis in (None, 0, 1):
            found[f"reduce {op} {axis}"] = lambda op=op, axis=axis: strategy.reduce(op, matrices, axis=axis)
    for op in ("SUM", "MEAN"):
        found[f"reduce uneven {op}"] = lambda op=op: strategy.reduce(op, uneven, axis=0)
    found["gather 0"] = lambda: strategy.gather(matrices, 0)
    found["gather 1"] = lambda: strategy.gather(matrices, 1)
    found["gather uneven"] = lambda: strategy.gather(uneven, 0)
    steps = {"all_gather uneven": (lambda x: context().all_gather(x, 0), uneven)}
    for op in ("SUM", "MEAN"):
        steps[f"all_reduce {op}"] = (lambda x, op=op: context().all_reduce(op, x), matrices)
        steps[f"all_reduce of a list {op}"] = (lambda x, op=op: context().all_reduce(op, [x, x * 2.0]), matrices)
        steps[f"gradient of {op}"] = (_gradient(tf, lambda x, op=op: context().all_reduce(op, x) * x), matrices)
        steps[f"merge_call {op}"] = (
            lambda x, op=op: context().merge_call(lambda s, y: s.reduce(op, y, axis=0), (x,)), matrices)  # fmt: skip
    for axis in (0, 1):
        steps[f"all_gather {axis}"] = (lambda x, axis=axis: context().all_gather(x, axis), matrices)
        steps[f"gradient of all_gather {axis}"] = (
            _gradient(tf, lambda x, axis=axis: context().all_gather(x, axis) ** 2), matrices)  # fmt: skip
    for what, (step, given) in steps.items():
        found[f"{what}, eager"] = lambda step=step, given=given: strategy.run(step, (given,))
        found[f"{what}, function"] = lambda step=step, given=given: tf.function(
            lambda: strategy.run(step, (given,)))()  # fmt: skip
    for aggregation in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        for how in ("assign", "assign_add", "assign_sub"):
            found[f"{how} {aggregation}"] = lambda a=aggregation, how=how: _assigned(tf, strategy, values, a, how)
    for size, batch in ((8, 4), (7, 4), (9, 4), (3, 1)):
        found[f"rows {size} in batches of {batch}"] = lambda size=size, batch=batch: [
            strategy.experimental_local_results(x)
            for x in strategy.experimental_distribute_dataset(tf.data.Dataset.range(size).batch(batch))
        ]
    return found


def _gradient(tf, function):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    return run


def _assigned(tf, strategy, values, aggregation, how):
    with strategy.scope():
        variable = tf.Variable(10.0, aggregation=tf.VariableAggregation[aggregation])
    strategy.run(lambda x: getattr(variable, how)(x), (values(lambda i: tf.constant(i + 1.0)),))
    return tf.identity(variable)


def shown(value):
    """A result as text: the class of an error, or the elements."""
    if isinstance(value, (list, tuple)):
        return [shown(x) for x in value]
    if hasattr(value, "values") and not callable(value.values):
        return [shown(x) for x in value.values]
    return np.asarray(value).tolist()


def lines(tf):
    """For each call its name and its result."""
    made = []
    for name, function in calls(tf).items():
        try:
            result = shown(function())
        except (ValueError, TypeError, RuntimeError, tf.errors.OpError) as error:
            result = type(error).__name__
        made.append(f"{name}: {result}")
    return made


if __name__ == "__main__":
    import tensorflow

    sys.stdout.write("\n".join(lines(tensorflow)) + "\n")
