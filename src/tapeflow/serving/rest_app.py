"""The REST API as an ASGI app."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from google.protobuf import json_format

from tapeflow.core import errors
from tapeflow.serving import json_tensors
from tapeflow.serving.inference import Inference, message
from tapeflow.serving.metrics import Metrics
from tapeflow.serving.store import ModelStore

_PATH = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d{1,18})|/labels/(?P<label>[^/:]+))?"
    r"(?:(?P<metadata>/metadata)|:(?P<method>predict|classify|regress))?"
)
_HTTP = {
    errors.INVALID_ARGUMENT: 400, errors.OUT_OF_RANGE: 400, errors.UNAUTHENTICATED: 401, errors.PERMISSION_DENIED: 403,
    errors.NOT_FOUND: 404, errors.ALREADY_EXISTS: 409, errors.ABORTED: 409, errors.FAILED_PRECONDITION: 412,
    errors.CANCELLED: 499, errors.UNIMPLEMENTED: 501, errors.RESOURCE_EXHAUSTED: 503, errors.UNAVAILABLE: 503,
    errors.DEADLINE_EXCEEDED: 504,
}  # fmt: skip
_MARGIN = 0.05  # seconds for a call to end by itself at its deadline


class Response(NamedTuple):
    """An answer. `last`: the connection ends with it, as the rest of the request is not read."""

    body: bytes
    code: int = 200
    media_type: str = "application/json"
    last: bool = False


class RestApp:
    """Answers HTTP requests: an ASGI app.

    Args:
      inference: answers requests.
      store: the models.
      metrics: counts them.
      max_body_bytes: of a request; a larger one ends with status 413.
      max_buffered_bytes: of all requests that are received or under way; further ones end with status 503.
      read_timeout: seconds in which a body must be there; else status 408.
      timeout: seconds in which a request that has arrived must have its answer; else status 504. A call that is not
        at an end keeps its thread until the op that runs is done.
      threads: how many requests run at a time.
    """

    def __init__(
        self, inference: Inference, store: ModelStore, metrics: Metrics, *, max_body_bytes: int,
        max_buffered_bytes: int, read_timeout: float, timeout: float, threads: int,
    ):  # fmt: skip
        self._inference, self._store, self._metrics = inference, store, metrics
        self._max_body, self._max_buffered = max_body_bytes, max_buffered_bytes
        self._read_timeout, self._timeout, self._buffered = read_timeout, timeout, 0
        self._threads = ThreadPoolExecutor(threads, "rest")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """As in ASGI."""
        response = await self._answer(scope["method"], scope["path"], receive)
        headers = [
            (b"content-type", response.media_type.encode()), (b"content-length", str(len(response.body)).encode()),
        ]  # fmt: skip
        if response.last:
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": response.code, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})

    async def _answer(self, method: str, path: str, receive: Any) -> Response:
        if method in ("GET", "HEAD"):
            return self._about_the_server(path) or await self._run(self._get, path)
        if method != "POST":
            return _error(405, "Method Not Allowed", last=True)
        taken = 0
        parts = []
        try:
            async with asyncio.timeout(self._read_timeout):
                more = True
                while more:
                    part = await receive()
                    if part["type"] == "http.disconnect":
                        return _error(400, "The client has gone")
                    data, more = part.get("body", b""), part.get("more_body", False)
                    taken += len(data)
                    self._buffered += len(data)
                    if taken > self._max_body:
                        return _error(413, f"The request body is larger than {self._max_body} bytes", last=more)
                    if self._buffered > self._max_buffered:
                        return _error(503, "The server is receiving too many bytes", last=more)
                    parts.append(data)
            # It has limits of its own, and raises none of these.
            return await self._run(self._post, path, b"".join(parts))
        except TimeoutError:
            return _error(408, "The request body did not arrive in time", last=True)
        finally:
            self._buffered -= taken

    async def _run(self, function: Any, *arguments: Any) -> Response:
        deadline = time.monotonic() + self._timeout

        def call() -> Response:
            try:
                return function(*arguments, deadline)
            except UnicodeError as error:  # of names in the request: messages have no lone surrogates
                return _error(400, f"Malformed text: {error}")
            except errors.OpError as error:
                return _error(_HTTP.get(error.error_code, 500), error.message)
            except TimeoutError:
                return _late()
            except MemoryError:
                return _error(503, "The request takes more memory than there is")
            except Exception as error:
                return _error(500, f"{type(error).__name__}: {error}")

        try:
            # One that still waits for a thread is taken back when its time is over.
            return await asyncio.wait_for(
                asyncio.get_running_loop().run_in_executor(self._threads, call), self._timeout + _MARGIN
            )
        except TimeoutError:
            return _late()

    def _about_the_server(self, path: str) -> Response | None:
        """What needs no thread, so that it is answered while all are taken."""
        if path == "/monitoring/prometheus/metrics":
            return Response(self._metrics.text(), 200, "text/plain; version=0.0.4")
        if path == "/health":
            ready = self._store.is_ready()
            return _json({"status": "SERVING" if ready else "NOT_SERVING"}, 200 if ready else 503)
        return None

    def _get(self, path: str, deadline: float) -> Response:
        found = _PATH.fullmatch(path)
        if found is None or found["method"]:
            raise _invalid(f"Malformed request: GET {path}")
        spec = _spec(found)
        if not found["metadata"]:
            with self._metrics.measured("GetModelStatus", "REST"):
                return _message(self._inference.status(message("GetModelStatusRequest")(model_spec=spec)))
        with self._metrics.measured("GetModelMetadata", "REST"), self._store.use(spec) as servable:
            signatures = message("SignatureDefMap")()
            for key, signature in servable.signature_defs.items():
                signatures.signature_def[key].CopyFrom(signature)
            described = {
                "model_spec": {"name": servable.name, "signature_name": "", "version": str(servable.version)},
                "metadata": {"signature_def": _plain(signatures)},
            }
        return _json(described)

    def _post(self, path: str, body: bytes, deadline: float) -> Response:
        found = _PATH.fullmatch(path)
        if found is None or not found["method"]:
            raise _invalid(f"Malformed request: POST {path}")
        with self._metrics.measured(found["method"].capitalize(), "REST"):
            request = json_tensors.parse(body)
            key = request.get("signature_name", "")
            if not isinstance(key, str):
                raise _invalid("'signature_name' key must be a string value.")
            spec = _spec(found)
            spec.signature_name = key
            if found["method"] != "predict":
                return self._examples(found["method"], spec, request, deadline)
            with self._store.use(spec) as servable:
                key, signature = servable.signature(key)
                inputs, by_row = json_tensors.inputs_of(request, signature)
                outputs = self._inference.call(servable, key, inputs, deadline)
            return _json(json_tensors.response_of(outputs, by_row))

    def _examples(self, method: str, spec: Any, request: dict[str, Any], deadline: float) -> Response:
        """Classify and Regress: `examples` are objects of features, `context` is one for all of them."""
        examples = request.get("examples")
        if not isinstance(examples, list) or not examples:
            raise _invalid("Expecting 'examples' to be a non-empty list")
        given = message("Input")()
        into = given.example_list
        if "context" in request:
            into = given.example_list_with_context
            _fill(into.context, request["context"])
        for example in examples:
            _fill(into.examples.add(), example)
        if method == "classify":
            asked = message("ClassificationRequest")(model_spec=spec, input=given)
            answer = self._inference.classify(asked, deadline)
            rows = [[[c.label, c.score] for c in each.classes] for each in answer.result.classifications]
            return _json({"results": rows})
        answer = self._inference.regress(message("RegressionRequest")(model_spec=spec, input=given), deadline)
        return _json({"results": [each.value for each in answer.result.regressions]})


def _spec(found: re.Match[str]) -> Any:
    spec = message("ModelSpec")(name=found["name"])
    if found["version"]:
        spec.version.value = int(found["version"])
    elif found["label"]:
        spec.version_label = found["label"]
    return spec


def _fill(example: Any, features: Any) -> None:
    if not isinstance(features, dict):
        raise _invalid("Each example must be an object of features")
    for name, value in features.items():
        values = value if isinstance(value, list) else [value]
        feature = example.features.feature[name]
        try:
            if all(isinstance(v, int) for v in values):
                feature.int64_list.value.extend(values)
            elif all(isinstance(v, (int, float)) for v in values):
                feature.float_list.value.extend(values)
            else:
                feature.bytes_list.value.extend(
                    base64.b64decode(v["b64"], validate=True) if isinstance(v, dict) else v.encode() for v in values
                )
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise _invalid(f"Feature {name} cannot be read: {error}") from None


def _plain(found: Any) -> Any:
    return json_format.MessageToDict(found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def _message(found: Any) -> Response:
    return _json(_plain(found))


def _json(value: Any, code: int = 200, last: bool = False) -> Response:
    # NaN and infinities are written as such, as TensorFlow Serving does.
    return Response(json.dumps(value).encode(), code, last=last)


def _error(code: int, text: str, last: bool = False) -> Response:
    return _json({"error": text}, code, last)


def _late() -> Response:
    return _error(504, "The deadline of the request has passed")


def _invalid(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)
