"""Serving of SavedModels by TensorFlow Serving's gRPC and REST API: `python -m tapeflow.serve`.

It needs the extra `serving`; nothing else of the package imports it.
"""
