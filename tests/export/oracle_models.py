"""Runs SavedModels in TensorFlow: `oracle_models.py FOLDER`.

The files are those of c_api_client.py; the results go to NAME.python.npz.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

for file in sorted(Path(sys.argv[1]).glob("*.json")):
    model = tf.saved_model.load(str(file.with_suffix("")))
    with np.load(file.with_suffix(".npz"), allow_pickle=True) as arrays:
        given = {name: tf.constant(arrays[name]) for name in arrays.files}
    results = model.signatures["serving_default"](**given)
    np.savez(file.with_suffix(".python.npz"), **{name: y.numpy() for name, y in results.items()})
