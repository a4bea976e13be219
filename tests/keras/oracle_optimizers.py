"""Steps of every optimizer of Keras 3 with every argument, for tapeflow and TensorFlow.

    python oracle_optimizers.py tensorflow|tapeflow FILE

saves to a JSON file for each case the variables after each step, the learning rate and the config of the optimizer.
"""

import importlib
import json
import sys

import numpy as np

# Arguments of each optimizer's own.
OWN = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}],
    "RMSprop": [{}, {"epsilon": 0.1}, {"rho": 0.7, "momentum": 0.5}, {"epsilon": 0.1, "centered": True},
                {"epsilon": 1e-3, "centered": True, "momentum": 0.9}],
    "Adam": [{}, {"beta_1": 0.5, "beta_2": 0.9}, {"amsgrad": True}, {"epsilon": 1e-2}],
    "AdamW": [{}, {"weight_decay": 0.1}, {"amsgrad": True}],
    "Adamax": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}],
    "Nadam": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}],
    "Adadelta": [{}, {"rho": 0.5, "epsilon": 1e-2}],
    "Adagrad": [{}, {"initial_accumulator_value": 0.5, "epsilon": 1e-2}, {"initial_accumulator_value": 0.0}],
    "Ftrl": [{}, {"learning_rate_power": -0.7, "initial_accumulator_value": 0.3},
             {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02},
             {"l2_shrinkage_regularization_strength": 0.1, "beta": 0.2}],
    "Muon": [{}, {"nesterov": False, "ns_steps": 2, "rms_rate": None},
             {"exclude_layers": ["zz"], "adam_lr_ratio": 0.5, "adam_weight_decay": None, "weight_decay": 0.1}],
    "ScheduleFreeAdamW": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3, "warmup_steps": 3}],
    "Lion": [{}, {"beta_1": 0.5, "beta_2": 0.9}],
    "Lamb": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}],
    "Adafactor": [{}, {"relative_step": False}, {"beta_2_decay": -0.5, "clip_threshold": 0.5, "epsilon_2": 1e-2}],
}  # fmt: skip
SHARED = [
    {"weight_decay": 0.05}, {"clipnorm": 0.5}, {"global_clipnorm": 0.5}, {"clipvalue": 0.1}, {"use_ema": True},
    {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}, {"gradient_accumulation_steps": 2},
    {"gradient_accumulation_steps": 3, "weight_decay": 0.05}, {"loss_scale_factor": 8.0},
    {"gradient_accumulation_steps": 2, "clipnorm": 0.3, "use_ema": True, "ema_overwrite_frequency": 2},
]  # fmt: skip
SCHEDULES = {
    "ExponentialDecay": [(0.1, 3, 0.5), (0.1, 3, 0.5, True)],
    "PiecewiseConstantDecay": [([2, 4], [0.1, 0.05, 0.01])],
    "PolynomialDecay": [(0.1, 4), (0.1, 4, 0.01, 2.0, True)],
    "InverseTimeDecay": [(0.1, 2, 0.5), (0.1, 2, 0.5, True)],
    "CosineDecay": [(0.1, 4), (0.0, 3, 0.1, "warm", 0.2, 2)],
    "CosineDecayRestarts": [(0.1, 2), (0.1, 2, 1.5, 0.9, 0.1)],
}
STEPS = 6


def cases():
    """(name, class, function of keras that gives the arguments, whether a gradient has some rows only)."""
    for cls, variants in OWN.items():
        for i, own in enumerate(variants):
            yield f"{cls} {i}", cls, lambda keras, own=own: own, False
            yield f"{cls} {i} rate", cls, lambda keras, own=own: {"learning_rate": 0.1, **own}, False
            yield f"{cls} {i} rows", cls, lambda keras, own=own: {"learning_rate": 0.1, **own}, True
        for shared in SHARED:
            yield f"{cls} {shared}", cls, lambda keras, s=shared: {"learning_rate": 0.1, **s}, False
        for name, variants in SCHEDULES.items():
            for args in variants:
                yield f"{cls} {name}{args}", cls, lambda keras, n=name, a=args: {
                    "learning_rate": getattr(keras.optimizers.schedules, n)(*a)}, False  # fmt: skip


def steps(tf, cls, arguments, rows):
    """The variables after each step, and the optimizer."""
    keras = tf.keras
    rng = np.random.RandomState(0)
    start = [rng.normal(size=(3, 2)).astype("float32"), rng.normal(size=(4,)).astype("float32")]
    variables = [keras.Variable(x, name=f"v{i}") for i, x in enumerate(start)]
    optimizer = getattr(keras.optimizers, cls)(**arguments(keras))
    found = []
    for _ in range(STEPS):
        gradients = [tf.constant(rng.normal(size=x.shape).astype("float32")) for x in start]
        if rows:
            gradients[0] = tf.IndexedSlices(tf.gather(gradients[0], [2, 0]), tf.constant([2, 0]), tf.constant([3, 2]))
        optimizer.apply_gradients(zip(gradients, variables))
        found.append([np.asarray(v).tolist() for v in variables])
    optimizer.finalize_variable_values(variables)
    found.append([np.asarray(v).tolist() for v in variables])
    return found, optimizer


def config_of(optimizer):
    """The config, with floats rounded to what float32 keeps."""
    return json.loads(json.dumps(optimizer.get_config(), default=float), parse_float=lambda x: round(float(x), 6))


def main(package, file):
    """Make all steps by a package and write the answers."""
    tf = importlib.import_module(package)
    answers = {}
    for name, cls, arguments, rows in cases():
        try:
            found, optimizer = steps(tf, cls, arguments, rows)
            answers[name] = {"values": found, "rate": float(optimizer.learning_rate),
                             "iterations": int(optimizer.iterations), "config": config_of(optimizer)}  # fmt: skip
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"[:300]
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
