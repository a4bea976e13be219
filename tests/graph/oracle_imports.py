"""Run by a Python that has TensorFlow: imports each pickled GraphDef of standard input.

Writes a pickled list: the text of an error, or "" for a good one.
"""

import os
import pickle
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

if __name__ == "__main__":
    answers = []
    for data in pickle.load(sys.stdin.buffer):
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf.import_graph_def(tf.compat.v1.GraphDef.FromString(data), name="")
            answers.append("")
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(pickle.dumps(answers))
