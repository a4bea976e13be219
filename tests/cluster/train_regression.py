"""A worker that fits y = 1 - 2x + 3z by asynchronous or synchronous gradient descent on parameter servers."""

import ast
import sys

import numpy as np

import tapeflow.compat.v1 as tf

tf.disable_v2_behavior()
spec, job, index, kind, steps, folder = (ast.literal_eval(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:7])
cluster = tf.train.ClusterSpec(spec)
server = tf.train.Server(cluster, job, index)
workers, is_chief = len(spec["worker"]), index == 0
with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None])
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) + b - y))
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    hooks = [tf.train.StopAtStepHook(last_step=int(steps))]
    if kind == "sync":
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, workers, workers)
    train = optimizer.minimize(loss, global_step=step)
    if kind == "sync":
        hooks.append(optimizer.make_session_run_hook(is_chief, num_tokens=0))  # the first step needs all
random = np.random.RandomState(index)
config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
own = 0
with tf.train.MonitoredTrainingSession(
    master=server.target, is_chief=is_chief, hooks=hooks, config=config, checkpoint_dir=folder or None,
    save_checkpoint_steps=20, save_checkpoint_secs=None, log_step_count_steps=None, save_summaries_steps=None,
    stop_grace_period_secs=5,
) as sess:  # fmt: skip
    print("begun", flush=True)
    while not sess.should_stop():
        points = random.randn(64, 2).astype(np.float32)
        _, found, count = sess.run([train, loss, step], {x: points, y: points @ [-2.0, 3.0] + 1.0})
        own += 1
        print("step", count, flush=True)
print("loss", float(found), "own", own, flush=True)
