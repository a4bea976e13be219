"""A client that waits for an element of a queue at a target."""

import sys

import tapeflow.compat.v1 as tf

with tf.Graph().as_default(), tf.device("/job:worker/task:0"):
    take = tf.FIFOQueue(2, tf.int32, shared_name="waited_for").dequeue()
    with tf.Session(sys.argv[1]) as session:
        session.run(tf.constant(1))
        print("waiting", flush=True)
        print(session.run(take))
