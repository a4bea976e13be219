"""A saver takes the step as NumPy gives it, which is what a session's run returns."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.mark.parametrize("step", [np.int32(20), np.int64(20), np.array(20), 20])
def test_the_step_of_a_checkpoint(tmp_path, step):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(1.0).initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"), global_step=step)
    assert path.endswith("model-20")
