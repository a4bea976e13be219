"""Warm-up: requests that are stored with a model, run before it serves others."""

from __future__ import annotations

import os
from itertools import islice

from google.protobuf.message import DecodeError

from tapeflow.core.errors import DataLossError
from tapeflow.core.files import tf_record
from tapeflow.serving.inference import Inference, message
from tapeflow.serving.servable import Servable

_FILE = os.path.join("assets.extra", "tf_serving_warmup_requests")
_MOST_RECORDS = 1000


class _Only:
    """A store of the one version that is not served yet."""

    def __init__(self, servable: Servable):
        self._servable = servable

    def use(self, spec: object) -> Servable:
        return self._servable


def warm_up(servable: Servable) -> None:
    """Runs the stored requests of a version. Raises what they raise, DataLossError for damaged records."""
    path = os.path.join(servable.folder, _FILE)
    if not os.path.isfile(path):
        return
    runner = Inference(_Only(servable), None, 1 << 31)  # type: ignore[arg-type]
    for record in islice(tf_record.records(path), _MOST_RECORDS):
        try:
            log = message("PredictionLog").FromString(record)
        except DecodeError as error:
            raise DataLossError(None, None, f"Failed to parse warmup record: {error}") from None
        kind = log.WhichOneof("log_type")
        if kind == "predict_log":
            runner.predict(log.predict_log.request)
        elif kind == "classify_log":
            runner.classify(log.classify_log.request)
        elif kind == "regress_log":
            runner.regress(log.regress_log.request)
        elif kind == "multi_inference_log":
            runner.multi_inference(log.multi_inference_log.request)
