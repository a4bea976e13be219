"""Random control flow of 1.x: TensorFlow builds it, and writes the graphs and what they compute to a folder.

    python oracle_control_flow.py FOLDER COUNT
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FEEDS = [
    {"x:0": [0.1, -0.5, 2.0], "p:0": True, "n:0": 3},
    {"x:0": [1.0, 2.0, 3.0], "p:0": False, "n:0": 5},
    {"x:0": [-1.0, 0.0, 0.3], "p:0": True, "n:0": 0},
]


class Program:
    """Fills the default graph as `seed` says: nodes `out`, perhaps `x_gradient`, `w_gradient` and `updated`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.x = v1.placeholder(tf.float32, [3], name="x")
        self.p = v1.placeholder(tf.bool, [], name="p")
        self.n = v1.placeholder(tf.int32, [], name="n")
        start = v1.constant_initializer([0.5, 1.0, 2.0])
        self.w = v1.get_variable("w", [3], initializer=start, use_resource=self.random.random() < 0.5)
        values = [self.x]
        for _ in range(self.random.randrange(1, 4)):
            values.append(self.value(values, 3))
        out = tf.identity(tf.add_n(values), name="out")
        if seed % 2:
            for name, y, like in zip("xw", v1.gradients(out, [self.x, self.w]), (self.x, self.w), strict=True):
                tf.identity(tf.zeros_like(like) if y is None else tf.convert_to_tensor(y), name=f"{name}_gradient")
        if self.random.random() < 0.4:
            changed = v1.cond(
                self.p, lambda: v1.assign_add(self.w, [1.0, 1.0, 1.0]), lambda: v1.assign(self.w, tf.zeros([3]))
            )
            with tf.control_dependencies([changed]):
                tf.identity(tf.identity(changed) * 1.0, name="updated")

    def value(self, values, depth):
        """A vector computed of some of `values`."""
        kind = self.random.randrange(12 if depth else 4)
        a, b = self.random.choice(values), self.random.choice(values)
        if kind in (4, 5, 6):
            return self.condition(values, a, b, depth - 1)
        if kind in (7, 8):
            return self.loop(values, a, depth - 1)
        return {
            0: lambda: a * b * 0.5,
            1: lambda: tf.tanh(a) + b,
            2: lambda: a - tf.sin(b) * self.w,
            3: lambda: tf.where(a > b, a, b),
            9: lambda: v1.map_fn(lambda e: e * e + tf.reduce_sum(b), a),
            10: lambda: v1.scan(lambda c, e: c * 0.5 + e, a),
            11: lambda: v1.case(
                [(self.p, lambda: a * 2), (self.n > 3, lambda: self.value(values, depth - 1))], default=lambda: b + 1
            ),
        }[kind]()

    def condition(self, values, a, b, depth):
        preds = [lambda: self.p, lambda: tf.reduce_sum(a) > 1.0, lambda: self.n > 2]
        pred = self.random.choice(preds)()

        def branch():
            found = self.value(values, depth)
            return self.value([*values, found], depth) if self.random.random() < 0.5 else found

        if self.random.random() < 0.3:
            return tf.add_n(v1.cond(pred, lambda: (branch(), a), lambda: (b, branch())))
        return v1.cond(pred, branch, lambda: self.value(values, depth))

    def loop(self, values, a, depth):
        unchanged = self.random.choice(values)

        def body(i, v):
            return i + 1, tf.tanh(self.value([v, unchanged], depth)) + unchanged * 0.1

        def goes_on(i, v):
            return tf.logical_and(i < self.n, tf.reduce_sum(v) < 50.0)

        test = goes_on if self.random.random() < 0.3 else lambda i, v: i < self.n
        return v1.while_loop(test, body, [0, a])[1]


def results(session, initializer, names):
    """What the graph computes for each of FEEDS."""
    found = []
    for feed in FEEDS:
        session.run(initializer)
        each = session.run([f"{name}:0" for name in names if name != "updated"], feed)
        each += session.run(["updated:0"], feed) if "updated" in names else []
        found.append([np.asarray(y).tolist() for y in each])
    return found


def main(folder, count):
    v1.disable_v2_behavior()
    v1.disable_control_flow_v2()
    for seed in range(count):
        graph = tf.Graph()
        with graph.as_default():
            Program(seed)
            initializer = v1.global_variables_initializer()
        message = graph.as_graph_def()
        there = {node.name for node in message.node}
        names = [name for name in ("out", "x_gradient", "w_gradient", "updated") if name in there]
        with v1.Session(graph=graph) as session:
            found = results(session, initializer.name, names)
        (folder / f"{seed}.pb").write_bytes(message.SerializeToString())
        known = {"initializer": initializer.name, "names": names, "results": found}
        (folder / f"{seed}.json").write_text(json.dumps(known))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
