"""`tf.contrib.session_bundle`: models in files as they were before SavedModels, written and read."""

from tapeflow.contrib.session_bundle import constants, exporter, gc, manifest_pb2, session_bundle
