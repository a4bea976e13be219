"""Run by a Python that has TensorFlow: writes the `OpList` of all its ops to standard output."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

from tensorflow.python.client import pywrap_tf_session

sys.stdout.buffer.write(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
