"""Run by a Python that has TensorFlow: runs each pickled (GraphDef, feeds, fetches) of standard input.

Writes a pickled list: the arrays that were fetched, or the text of an error.
"""

import os
import pickle
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

if __name__ == "__main__":
    answers = []
    for data, feeds, fetches in pickle.load(sys.stdin.buffer):
        try:
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                tf.import_graph_def(tf.compat.v1.GraphDef.FromString(data), name="")
                answers.append(session.run(fetches, feeds))
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(pickle.dumps(answers))
