"""Run by TensorFlow: loads the models of a folder, saves their outputs, and saves them again.

    python oracle_saving.py FOLDER
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf

folder = pathlib.Path(sys.argv[1])
INPUTS = {
    "sequential": np.ones((2, 4), np.float32),
    "functional": [np.ones((1, 5, 3), np.float32)] * 2,
    "recurrent": np.ones((2, 5), np.float32),
}
for kind, x in INPUTS.items():
    model = tf.keras.models.load_model(folder / f"{kind}.keras")
    found = tf.nest.flatten(model(x))
    np.savez(folder / f"{kind}.npz", **{str(i): np.asarray(y) for i, y in enumerate(found)})
    model.save(folder / f"{kind}_again.keras")
