"""A task of a cluster that only serves."""

import ast
import sys

import tapeflow.compat.v1 as tf

spec, job, index = ast.literal_eval(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(spec, job, index)
print("serving", flush=True)
server.join()
