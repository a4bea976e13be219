"""Functions that train, saved here and run by TensorFlow too, and what they leave in their variables."""

# By name: of the optimizer in tf.keras.optimizers, its arguments, and whether only some rows have a gradient.
STEPS = {
    "adam_rows": ("Adam", {}, True),
    "adamax_rows": ("Adamax", {}, True),
    "amsgrad_rows": ("Adam", {"amsgrad": True}, True),
    "centered_rmsprop": ("RMSprop", {"centered": True}, False),
    "lion": ("Lion", {}, False),
    "lion_rows": ("Lion", {}, True),
    "nadam": ("Nadam", {}, False),
    "nadam_rows": ("Nadam", {}, True),
    "rmsprop": ("RMSprop", {}, False),
    "rmsprop_rows": ("RMSprop", {}, True),
}


def _step(tf, optimizer, weights, rows):
    def step(chosen):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.gather(weights, chosen) if rows else weights) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return tf.identity(weights)

    return tf.function(step, autograph=False, input_signature=[tf.TensorSpec([None], tf.int32)])


def make(tf):
    """A module with a function for each of `STEPS`, that returns the variable after a step."""
    module = tf.Module()
    for name, (kind, arguments, rows) in STEPS.items():
        weights = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        step = _step(tf, getattr(tf.keras.optimizers, kind)(0.1, **arguments), weights, rows)
        setattr(module, name, step)
        setattr(module, f"{name}_variables", list(step.get_concrete_function().variables))
    return module


def look_at(tf, module):
    """What each function returns, called twice."""
    found = {}
    for name in STEPS:
        step = getattr(module, name)
        step(tf.constant([0, 2, 0]))
        found[name] = step(tf.constant([2])).numpy().tolist()
    return found
