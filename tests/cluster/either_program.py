"""Programs that this package and TensorFlow run: a task that serves, or a client that prints what it finds.

    either_program.py PACKAGE serve CLUSTER JOB INDEX
    either_program.py PACKAGE client TARGET

The task of a client's nodes is "/job:worker/task:1".
"""

import ast
import importlib
import json
import sys

import numpy as np

package, what, *arguments = sys.argv[1:]
tf = importlib.import_module(f"{package}.compat.v1")
tf.disable_v2_behavior()


def serve(cluster, job, index):
    server = tf.train.Server(ast.literal_eval(cluster), job, int(index))
    print("serving", flush=True)
    server.join()


def client(target):
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
        p = tf.placeholder(tf.float32, [2])
        queue = tf.FIFOQueue(3, tf.int64)
    with tf.device("/job:ps/task:0"):
        y = v * p + w
    loss = tf.reduce_sum(tf.square(w - p))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    either = tf.cond(p[0] > 0, lambda: p * 2, lambda: p * 3)
    looped = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), [0, p])[1]
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(each, {p: [1, 2]}) for each in (y, looped)]
        found.append(session.run(tf.assign_add(v, p), {p: [1, 1]}))
        found += [session.run([either, train], {p: [1, 0]})[0] for _ in range(3)]
        found += [session.run(w), session.make_callable(y, [p])(np.array([1, 1], np.float32))]
        session.run(queue.enqueue_many([[4, 5]]))
        found.append(session.run([queue.dequeue(), queue.size()]))
        names = sorted(each.name for each in session.list_devices() if "CPU" in each.name)
        try:
            session.run(tf.debugging.check_numerics(p, "not a number"), {p: [np.nan, 1]})
        except tf.errors.InvalidArgumentError as error:
            names.append("not a number" in error.message)
    print(json.dumps([np.asarray(each).tolist() for each in found] + [names]))


{"serve": serve, "client": client}[what](*arguments)
