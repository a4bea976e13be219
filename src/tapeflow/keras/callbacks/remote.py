"""Numbers of epochs, sent to a server."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
import warnings
from typing import Any

import numpy as np

from tapeflow.keras.callbacks.base import Callback


class RemoteMonitor(Callback):
    """Posts the numbers of every epoch to `root + path`, as a form field or as JSON.

    Args:
      root: the address of the server.
      path: the path on it.
      field: the name of the form field that has the numbers as JSON.
      headers: a dict of HTTP headers.
      send_as_json: whether the body is the JSON itself.
    """

    def __init__(
        self, root: str = "http://localhost:9000", path: str = "/publish/epoch/end/", field: str = "data",
        headers=None, send_as_json: bool = False,
    ):
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        record = {"epoch": epoch}
        for name, value in (logs or {}).items():
            record[name] = value.item() if isinstance(value, np.generic) else value
        headers = dict(self.headers or {})
        if self.send_as_json:
            body = json.dumps(record).encode()
            headers.setdefault("Content-Type", "application/json")
        else:
            body = urllib.parse.urlencode({self.field: json.dumps(record)}).encode()
        request = urllib.request.Request(self.root + self.path, data=body, headers=headers)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except (urllib.error.URLError, OSError):
            warnings.warn(f"Could not reach RemoteMonitor root server at {self.root}", stacklevel=2)
