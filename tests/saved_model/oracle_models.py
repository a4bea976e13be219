"""Run by a Python that has TensorFlow: `save FOLDER`, or `load FOLDER...`, which prints what it found as JSON."""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

sys.path.insert(0, os.path.dirname(__file__))
import checks
import crosses
import ctc_losses
import custom_gradients
import dataset_functions
import everything
import loops
import old_parsers
import parsers
import training_steps

PARTS = {
    "checks": checks, "crosses": crosses, "datasets": dataset_functions, "parsers": parsers, "old_parsers": old_parsers,
    "training": training_steps, "ctc": ctc_losses, "loops": loops,
    "custom_gradients": custom_gradients,
}  # fmt: skip

if sys.argv[1].startswith("save_"):
    tf.saved_model.save(PARTS[sys.argv[1][5:]].make(tf), sys.argv[2])
elif sys.argv[1].startswith("load_"):
    part = PARTS[sys.argv[1][5:]]
    print(json.dumps(part.look_at(tf, tf.saved_model.load(sys.argv[2]))))
elif sys.argv[1] == "save":
    everything.save(tf, sys.argv[2])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        w = tf.compat.v1.get_variable("w", initializer=[[1.0], [2.0]], use_resource=False)
        y = tf.matmul(x, w, name="y")
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.saved_model.simple_save(session, f"{sys.argv[2]}/graph", {"x": x}, {"y": y})
else:
    found = [everything.look_at(tf, tf.saved_model.load(path)) for path in sys.argv[2:4]]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], sys.argv[2])
        look = meta.signature_def["look"]
        keys = {look.inputs["k"].name: ["b", "x", "q", "?"]}
        found.append(session.run(look.outputs["output_0"].name, keys).tolist())
    graph = tf.saved_model.load(sys.argv[4])
    found.append(graph.signatures["serving_default"](tf.ones([1, 2]))["y"].numpy().tolist())
    keras = tf.saved_model.load(sys.argv[5])
    found.append(keras(tf.ones([2, 4])).numpy().tolist())
    print(json.dumps(found))
